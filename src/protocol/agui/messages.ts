import type { FilePart, Part, UserMessage } from "../../core/event.ts";
import type { Activity, AssistantEntry, Call, CallPart, Entry, Thread } from "../../core/thread.ts";
import type { Peer } from "./peer.ts";
import { toText } from "./text.ts";

/** A message as AG-UI clients show it. */
export type Message = { id: string; role: "user" | "assistant" | "reasoning" | "tool" | "activity"; [field: string]: unknown };

/** Whom messages are for, and how much of the thread they tell. */
export type MessagesView = {
  peer: Peer;
  /** The files of messages, as base64. One that is not here is named by its id, where the peer knows such names. */
  files?: ReadonlyMap<string, string>;
  /** Only what stood in the log up to this seq. */
  upTo?: number;
  /** Calls that were settled only behind it. */
  unsettled?: ReadonlySet<string>;
};

/** What a thread adds up to as clients show it, with what is being said right now as far as it was said. */
export function toMessages(thread: Thread, view: MessagesView): Message[] {
  const { upTo = Number.POSITIVE_INFINITY } = view;
  const messages: Message[] = [];
  const activities = thread.activities.filter(({ seq }) => seq <= upTo);
  const showUntil = (seq: number) => {
    while (activities[0] && activities[0].seq < seq) messages.push(activityMessage(activities.shift() as Activity));
  };
  for (const entry of thread.history) {
    if (entry.seq > upTo) break;
    showUntil(entry.seq);
    messages.push(...entryMessages(thread, entry, view));
  }
  showUntil(Number.POSITIVE_INFINITY);
  return messages;
}

/** What a user said. Files we keep are told as bytes or by name; a peer that knows no names does without. */
export function userMessage({ id, content, name }: UserMessage, { peer, files }: MessagesView): Message {
  const parts = typeof content === "string" ? content : content.flatMap((part) => contentPart(part, peer, files) ?? []);
  return { id, role: "user", content: parts, ...(name !== undefined && { name }) };
}

/** The blobs that messages up to this seq refer to. */
export function filesIn({ history }: Thread, upTo: number = Number.POSITIVE_INFINITY): Set<string> {
  const ids = new Set<string>();
  for (const entry of history) {
    if (entry.role !== "user" || entry.seq > upTo || typeof entry.content === "string") continue;
    for (const part of entry.content) if (part.type === "file" && "blob" in part) ids.add(part.blob);
  }
  return ids;
}

function entryMessages(thread: Thread, entry: Entry, view: MessagesView): Message[] {
  return entry.role === "user" ? [userMessage(entry, view)] : assistantMessages(thread, entry, view);
}

/** A step as its events build it: calls hang on the step's own message, and their results stand right behind it. */
function assistantMessages(thread: Thread, entry: AssistantEntry, { unsettled }: MessagesView): Message[] {
  const messages: Message[] = [];
  const settled = entry.parts.filter((part) => part.type === "call").toSorted((a, b) => (a.settledAt ?? 0) - (b.settledAt ?? 0));
  const results = settled.flatMap((part) => (part.settlement && !unsettled?.has(part.callId) ? resultMessage(part, part.settlement) : []));
  const toolCalls: unknown[] = [];
  const own: Message = { id: entry.messageId, role: "assistant" };
  const showOwn = () => {
    if (!messages.includes(own)) messages.push(own);
  };
  const call = (id: string, name: string, text: string) => {
    showOwn();
    toolCalls.push({ id, type: "function", function: { name, arguments: text } });
    own["toolCalls"] = toolCalls;
  };
  for (const part of entry.parts) {
    if (part.type === "call") {
      call(part.callId, part.name, JSON.stringify(part.input ?? {}));
    } else if (part.type !== "added") {
      const open = thread.run?.speaking.get(part.messageId);
      const content = open ? open.said.join("") : part.text;
      if (part.type === "reasoning") messages.push({ id: part.messageId, role: "reasoning", content });
      else if (part.messageId !== own.id) messages.push({ id: part.messageId, role: "assistant", content });
      else {
        showOwn();
        own["content"] = content;
      }
    }
  }
  for (const spoken of openCalls(thread)) if (spoken.stepId === entry.stepId) call(spoken.callId, spoken.name, spoken.said.join(""));
  return messages.flatMap((message) => (message === own ? [own, ...results] : [message]));
}

/** Calls whose arguments are still being spoken. */
export function openCalls({ calls }: Thread): Call[] {
  return [...calls.values()].filter(({ phase }) => phase === "started");
}

type Settlement = NonNullable<CallPart["settlement"]>;

function resultMessage({ callId, owner }: CallPart, { messageId, output, error, status }: Settlement): Message {
  const content = output === undefined ? (error ?? "") : toText(output);
  // An error is the field of whoever sent it; the event that tells of ours has no place for one.
  const sent = status === "failed" && owner !== "server" && error !== undefined;
  return { id: messageId, role: "tool", toolCallId: callId, content, ...(sent && { error }) };
}

function activityMessage({ messageId, activityType, content }: Activity): Message {
  return { id: messageId, role: "activity", activityType, content };
}

function contentPart(part: Part, peer: Peer, files: ReadonlyMap<string, string> | undefined): object | undefined {
  if (part.type === "text") return { type: "text", text: part.text };
  const source = sourceOf(part, peer, files);
  return source && { type: kindOf(part.mediaType), source };
}

function sourceOf(part: FilePart, peer: Peer, files: ReadonlyMap<string, string> | undefined): object | undefined {
  const { mediaType } = part;
  const mimeType = mediaType.endsWith("/*") ? {} : { mimeType: mediaType };
  if ("url" in part) return { type: "url", value: part.url, ...mimeType };
  const value = files?.get(part.blob);
  if (value !== undefined) return { type: "data", value, mimeType: mediaType };
  return peer === "agui:1" ? { type: "file", value: part.blob, ...mimeType } : undefined;
}

function kindOf(mediaType: string): string {
  const [kind = ""] = mediaType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}
