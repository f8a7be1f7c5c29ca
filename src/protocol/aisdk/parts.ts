import { fromBase64 } from "../../core/base64.ts";
import { AppError } from "../../core/error.ts";
import type { Part } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Said } from "./decode.ts";

type WirePart = JsonObject & { type: string };
type File = { type: "file"; mediaType: string; data: Uint8Array; name?: string };

/** What a user said, from the parts of a UI message. Parts that only pages understand (`data-*`) are left to them. */
export function toContent(parts: readonly WirePart[], field: string): Said["content"] {
  const content = parts.flatMap((part, i): (Part | File)[] => {
    if (part.type === "text") return typeof part["text"] === "string" && part["text"] !== "" ? [{ type: "text", text: part["text"] }] : [];
    return part.type === "file" ? [toFile(part, `${field}.parts.${i}`)] : [];
  });
  const [only] = content;
  if (!only) throw wrong(`${field}.parts`, "a message must say something");
  return content.length === 1 && only.type === "text" ? only.text : content;
}

/** A file as a link, or as a `data:` URL, which goes beside the log. */
function toFile({ url, mediaType, filename }: WirePart, field: string): Part | File {
  if (typeof url !== "string" || typeof mediaType !== "string") throw wrong(field, "a file needs url and mediaType");
  const file = { type: "file" as const, mediaType, ...(typeof filename === "string" && { name: filename }) };
  const embedded = /^data:[^,]*;base64,(.*)$/s.exec(url);
  if (embedded) {
    const data = fromBase64(embedded[1] ?? "");
    if (!data) throw wrong(`${field}.url`, "is no base64");
    return { ...file, data };
  }
  const kept = /\/v1\/threads\/[^/]+\/blobs\/(blob_[0-9a-f]{40})$/.exec(url); // as our own history names it
  if (kept?.[1] !== undefined) return { ...file, blob: kept[1] };
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol !== "https:" && protocol !== "http:") throw wrong(`${field}.url`, "must be an http, https or data url");
  return { ...file, url };
}

function wrong(field: string, message: string): AppError {
  return new AppError("invalid", `${field}: ${message}`, { field });
}
