import { fromBase64 } from "../../core/base64.ts";
import { AppError } from "../../core/error.ts";
import type { Part } from "../../core/event.ts";

/** A content part on the wire: text, seed 003's `binary`, or a typed part with a `source`. */
export type WirePart = { type: string; [field: string]: unknown };

/** A file whose bytes came with the request. */
export type InlinePart = { type: "file"; mediaType: string; data: Uint8Array; name?: string };

/** Reads one content part. Links are passed on to the model and never fetched by us. A kind we do not know is left out. */
export function toPart(part: WirePart, field: string): Part | InlinePart | undefined {
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
      return undefined; // clients may be newer than we are
  }
}

/** Seed 003's file: `url` for images, otherwise `data` or `id`. */
function toBinary(part: WirePart, field: string): Part | InlinePart {
  const mediaType = mime(part["mimeType"] ?? part["mime_type"], `${field}.mimeType`);
  const name = typeof part["filename"] === "string" && part["filename"] !== "" ? { name: part["filename"] } : {};
  const given = (key: string) => typeof part[key] === "string" && part[key].trim() !== "";
  if (given("url") && mediaType.startsWith("image/")) {
    return { type: "file", mediaType, url: link(text(part["url"], `${field}.url`).trim(), `${field}.url`), ...name };
  }
  if (part["data"] !== undefined && part["data"] !== null) {
    return { type: "file", mediaType, data: bytes(text(part["data"], `${field}.data`), `${field}.data`), ...name };
  }
  if (given("id")) return { type: "file", mediaType, blob: text(part["id"], `${field}.id`), ...name };
  if (given("url")) throw wrong(`${field}.url`, "only images may be given by url; send other files as data or id");
  throw wrong(field, "a file needs its url, its data or its id");
}

function toMedia(part: WirePart, field: string): Part | InlinePart {
  const source = part["source"] as WirePart | undefined;
  if (typeof source !== "object" || source === null) throw wrong(`${field}.source`, "is missing");
  const value = text(source["value"], `${field}.source.value`);
  const named = source["mimeType"] ?? source["mime_type"];
  switch (source.type) {
    case "data": {
      const mediaType = mime(named, `${field}.source.mimeType`);
      if (part.type !== "document" && !mediaType.startsWith(`${part.type}/`)) {
        throw wrong(`${field}.source.mimeType`, `${mediaType} is no kind of ${part.type}`);
      }
      return { type: "file", mediaType, data: bytes(value, `${field}.source.value`) };
    }
    case "url":
      return {
        type: "file",
        mediaType: typeof named === "string" ? mime(named, field) : anyOf(part.type),
        url: link(value, `${field}.source.value`),
      };
    case "file":
      return { type: "file", mediaType: typeof named === "string" ? mime(named, field) : anyOf(part.type), blob: value };
    default:
      throw wrong(`${field}.source.type`, "must be data, url or file");
  }
}

function anyOf(kind: string): string {
  return `${kind === "document" ? "application" : kind}/*`;
}

function mime(value: unknown, field: string): string {
  return text(value, field).trim().toLowerCase();
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
  if (value.startsWith("data:") && !/^data:[^,]*;base64,/.test(value)) throw wrong(field, "a data URL must hold base64 behind a comma");
  const data = fromBase64(value.replace(/^data:[^,]*,/, ""));
  if (!data || data.length === 0) throw wrong(field, "is no base64");
  return data;
}

function wrong(field: string, message: string): AppError {
  return new AppError("invalid", `${field}: ${message}`, { field });
}
