import type { Result } from "../../core/command.ts";
import type { Event } from "../../core/event.ts";
import type { AssistantEntry, Thread } from "../../core/thread.ts";
import type { Shown } from "./decode.ts";
import type { Frame } from "./encode.ts";
import type { Message } from "./messages.ts";

/** Whether a client that keeps a list shows less than the thread held at this seq, or shows what was taken back since. */
export function isBehind({ history }: Thread, upTo: number, shown: Shown, removed: readonly string[]): boolean {
  if (!shown.list) return false; // it brought only what is new: its list is its own affair
  if (removed.some((id) => shown.messages.has(id))) return true;
  for (const entry of history) {
    if (entry.seq > upTo) break;
    if (entry.role === "user" ? !shown.messages.has(entry.id) : entry.parts.some((part) => lacks(shown, part))) return true;
  }
  return false;
}

/** Results a client made up: CopilotKit shows a person's decision as the result of the call it was about. They never counted. */
export function madeUp(results: readonly Result[], events: readonly Event[]): Result[] {
  const decided = new Set(events.flatMap((event) => (event.type === "interrupt.answered" ? [event.callId] : [])));
  return results.filter(({ callId }) => decided.has(callId));
}

/** Whether a client shows something that an assistant said behind this seq. */
export function showsBehind({ history }: Thread, after: number, { messages }: Shown): boolean {
  for (let i = history.length - 1; i >= 0; i -= 1) {
    const entry = history[i];
    if (!entry || entry.seq <= after) return false;
    if (entry.role === "assistant" && entry.parts.some((part) => part.type !== "added" && messages.has(part.messageId))) return true;
  }
  return false;
}

/** Whether a client has not, or not to its end, what an assistant said. Thoughts it may leave out. */
function lacks({ messages, texts, calls }: Shown, part: AssistantEntry["parts"][number]): boolean {
  if (part.type === "reasoning" || part.type === "added") return false;
  // Some clients make one message of a turn's several: then it is there under another's id.
  if (part.type === "call") return !messages.has(part.messageId) && !calls.has(part.callId);
  const text = texts.get(part.messageId);
  if (messages.has(part.messageId)) return text !== undefined && text.length < part.text.length && part.text.startsWith(text);
  return !texts.values().some((longer) => longer.length > part.text.length && longer.includes(part.text));
}

/**
 * The snapshots after which a client shows exactly these messages in this order. Clients put messages they do not know at the end;
 * where that is the wrong place, a first snapshot takes away what must come later.
 */
export function restate(messages: readonly Message[], shown: Shown): Frame[] {
  const held = new Set(messages.map(({ id }) => id));
  const kept = [...shown.messages].filter((id) => held.has(id));
  const known = new Set(kept);
  const order = [...kept, ...messages.map(({ id }) => id).filter((id) => !known.has(id))];
  const wrong = messages.findIndex(({ id }, i) => id !== order[i]);
  const all: Frame = { type: "MESSAGES_SNAPSHOT", messages };
  return wrong < 0 ? [all] : [{ type: "MESSAGES_SNAPSHOT", messages: messages.slice(0, wrong) }, all];
}
