import type { Event, Part, UserMessage } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Engine } from "./engine.ts";

/** A file as it came in a request: bytes that do not belong into the log. */
export type InlineFile = { type: "file"; mediaType: string; data: Uint8Array; name?: string };

/** A message as it came in: with files still inside it. */
export type IncomingMessage = { id: string; name?: string; content: string | (Part | InlineFile)[] };

/** A file under the name its reference has. */
export type File = { id: string; mediaType: string; data: Uint8Array };

/** Puts references into the place of files. `submit` keeps those whose messages are news, and writes nothing for a request it refuses. */
export async function nameFiles(incoming: readonly IncomingMessage[]): Promise<{ messages: UserMessage[]; files: File[] }> {
  const files: File[] = [];
  const refer = async (part: Part | InlineFile): Promise<Part> => {
    if (part.type === "text" || !("data" in part)) return part;
    const { mediaType, data, name } = part;
    const id = await blobId(data);
    files.push({ id, mediaType, data });
    return { type: "file", mediaType, blob: id, ...(name !== undefined && { name }) };
  };
  const messages: UserMessage[] = [];
  for (const message of incoming) {
    if (typeof message.content === "string") {
      messages.push(message as UserMessage);
      continue;
    }
    const content: Part[] = [];
    for (const part of message.content) content.push(await refer(part)); // one after the other, so that files lie in their order
    messages.push({ ...message, content });
  }
  return { messages, files };
}

/** Keeps the files that these events refer to, beside the log. */
export async function keepFiles(engine: Engine, key: ThreadKey, files: readonly File[], events: readonly Event[]): Promise<void> {
  if (files.length === 0) return;
  const said = events.flatMap((event) => (event.type === "run.started" ? event.messages : []));
  const parts = said.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const wanted = new Set(parts.flatMap((part) => ("blob" in part ? [part.blob] : [])));
  for (const file of files) if (wanted.delete(file.id)) await engine.store.saveBlob(key, file);
}

/** Keeps a file that a model made. */
export async function saveBlob(engine: Engine, key: ThreadKey, mediaType: string, data: Uint8Array): Promise<string> {
  const id = await blobId(data);
  await engine.store.saveBlob(key, { id, mediaType, data });
  return id;
}

/** Named by its content, so that a file sent again is stored once. */
async function blobId(data: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>));
  return `blob_${[...hash.subarray(0, 20)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
