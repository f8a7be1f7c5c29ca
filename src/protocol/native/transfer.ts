import { z } from "zod";
import { fromBase64, toBase64 } from "../../core/base64.ts";
import { AppError } from "../../core/error.ts";
import type { StoredEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";
import { decodeEvent } from "./events.ts";

/** The first line of an exported thread: by whom, when and what it is. */
export type Header = { handback: string; threadId: string; title?: string; metadata: JsonObject; exportedAt: string };

/** A file that a message of the thread refers to. */
export type BlobLine = { type: "blob"; id: string; mediaType: string; data: Uint8Array };

/** A thread read back from a file. */
export type Transfer = {
  title?: string;
  metadata: JsonObject;
  threadId: string;
  blobs: BlobLine[];
  events: { line: number; event: StoredEvent }[];
};

const header = z.object({
  handback: z.string(),
  threadId: z.string(),
  title: z.exactOptional(z.string()),
  metadata: z.custom<JsonObject>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "must be an object"),
});
const blob = z.object({ type: z.literal("blob"), id: z.string().regex(/^\w{1,100}$/), mediaType: z.string(), data: z.string() });

/** Reads the lines of a file; each is a parsed value and its number. What is wrong is told with the line it is on. */
export function decodeTransfer(lines: Iterable<{ line: number; value: unknown }>): Transfer {
  let head: z.infer<typeof header> | undefined;
  const blobs: BlobLine[] = [];
  const events: Transfer["events"] = [];
  for (const { line, value } of lines) {
    atLine(line, () => {
      if (!head) head = parse(header, value);
      else if ((value as { type?: unknown } | null)?.type === "blob") blobs.push(decodeBlob(value));
      else events.push({ line, event: decodeEvent(value) });
    });
  }
  if (!head) throw new AppError("invalid", "The file is empty");
  const { threadId, title, metadata } = head;
  return { threadId, metadata, blobs, events, ...(title !== undefined && { title }) };
}

/** Says in which line of a file something went wrong. */
export function atLine<T>(line: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `line ${line}: ${error.message}`, { field: `line ${line}`, cause: error });
  }
}

/** A file as a line of an export. */
export function encodeBlob({ type, id, mediaType, data }: BlobLine): JsonObject {
  return { type, id, mediaType, data: toBase64(data) };
}

function decodeBlob(value: unknown): BlobLine {
  const { type, id, mediaType, data: text } = parse(blob, value);
  const data = fromBase64(text);
  if (!data) throw new AppError("invalid", "data: is no base64", { field: "data" });
  return { type, id, mediaType, data };
}

/** The files an event refers to. */
export function blobsOf(event: StoredEvent): string[] {
  if (event.type === "part.added") return "blob" in event.part ? [event.part.blob] : [];
  if (event.type !== "run.started") return [];
  const parts = event.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return parts.flatMap((part) => ("blob" in part ? [part.blob] : []));
}
