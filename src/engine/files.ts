import type { Part, UserMessage } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Engine } from "./engine.ts";

/** A file as it came in a request: bytes that do not belong into the log. */
export type InlineFile = { type: "file"; mediaType: string; data: Uint8Array; name?: string };

/** A message as it came in: with files still inside it. */
export type IncomingMessage = { id: string; name?: string; content: string | (Part | InlineFile)[] };

/** Puts the files of messages beside the log and leaves references behind. */
export async function keepFiles(engine: Engine, key: ThreadKey, messages: readonly IncomingMessage[]): Promise<UserMessage[]> {
  const kept: UserMessage[] = [];
  for (const message of messages) {
    if (typeof message.content === "string") kept.push(message as UserMessage);
    else kept.push({ ...message, content: await Promise.all(message.content.map((part) => keepPart(engine, key, part))) });
  }
  return kept;
}

async function keepPart(engine: Engine, key: ThreadKey, part: Part | InlineFile): Promise<Part> {
  if (part.type === "text" || !("data" in part)) return part;
  const { mediaType, data, name } = part;
  return { type: "file", mediaType, blob: await saveBlob(engine, key, mediaType, data), ...(name !== undefined && { name }) };
}

/** Named by its content, so that a file sent again is stored once. */
export async function saveBlob(engine: Engine, key: ThreadKey, mediaType: string, data: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>));
  const id = `blob_${[...hash.subarray(0, 20)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  await engine.store.saveBlob(key, { id, mediaType, data });
  return id;
}
