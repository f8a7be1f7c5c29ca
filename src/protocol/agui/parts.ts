import { fromBase64 } from "../../core/base64.ts";
import { AppError } from "../../core/error.ts";
import type { Part } from "../../core/event.ts";

/** A content part on the wire: text, seed 003's `binary`, or a typed part with a `source`. */
export type WirePart = { type: string; [field: string]: unknown };

type File = { type: "file"; mediaType: string; data: Uint8Array };

/** Reads one content part. Links are passed on to the model and never fetched by us. */
export function toPart(part: WirePart, field: string): Part | File {
  switch (part.type) {
    case "text":
      return { type: "text", text: text(part["text"], `${field}.text`) };
    case "binary":
      return toBinary(part, field);
    case "image":
    case "audio":
    case "video":
    case "document":
      return toMedia(part, field);
    default:
      throw wrong(`${field}.type`, `${part.type} is no kind of content`);
  }
}

function toBinary(part: WirePart, field: string): Part | File {
  const mediaType = text(part["mimeType"] ?? part["mime_type"], `${field}.mimeType`);
  if (part["data"] !== undefined) return { type: "file", mediaType, data: bytes(text(part["data"], `${field}.data`), `${field}.data`) };
  if (part["id"] !== undefined) return { type: "file", mediaType, blob: text(part["id"], `${field}.id`) };
  const url = link(text(part["url"], `${field}.url`), `${field}.url`);
  if (!mediaType.startsWith("image/")) throw wrong(`${field}.url`, "only images may be given by url; send other files as data or id");
  return { type: "file", mediaType, url };
}

function toMedia(part: WirePart, field: string): Part | File {
  const source = part["source"] as WirePart | undefined;
  if (typeof source !== "object" || source === null) throw wrong(`${field}.source`, "is missing");
  const value = text(source["value"], `${field}.source.value`);
  const mediaType =
    typeof source["mimeType"] === "string" ? source["mimeType"] : `${part.type === "document" ? "application" : part.type}/*`;
  switch (source.type) {
    case "data":
      return { type: "file", mediaType: text(source["mimeType"], `${field}.source.mimeType`), data: bytes(value, `${field}.source.value`) };
    case "url":
      return { type: "file", mediaType, url: link(value, `${field}.source.value`) };
    case "file":
      return { type: "file", mediaType, blob: value };
    default:
      throw wrong(`${field}.source.type`, `must be data, url or file`);
  }
}

function text(value: unknown, field: string): string {
  if (typeof value !== "string" || value === "") throw wrong(field, "must be a text that is not empty");
  return value;
}

function link(value: string, field: string): string {
  const protocol = URL.canParse(value) ? new URL(value).protocol : "";
  if (protocol !== "https:" && protocol !== "http:") throw wrong(field, "must be an http or https url");
  return value;
}

/** Standard base64, with or without a `data:` head. */
function bytes(value: string, field: string): Uint8Array {
  const data = fromBase64(value.replace(/^data:[^,]*;base64,/, ""));
  if (!data) throw wrong(field, "is no base64");
  return data;
}

function wrong(field: string, message: string): AppError {
  return new AppError("invalid", `${field}: ${message}`, { field });
}
