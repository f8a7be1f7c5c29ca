import type { Shown } from "./decode.ts";
import type { Frame } from "./encode.ts";
import type { Message } from "./messages.ts";

/** Whether a client that keeps a list shows less than the thread holds, or shows what was taken back. */
export function isBehind(messages: readonly Message[], shown: Shown, fresh: ReadonlySet<string>, removed: readonly string[]): boolean {
  if (!shown.list) return false; // it brought only what is new: its list is its own affair
  const held = new Set(messages.map(({ id }) => id));
  if (removed.some((id) => shown.messages.has(id) && !held.has(id))) return true;
  return messages.some(({ id, role, content = "" }) => {
    if ((role !== "user" && role !== "assistant") || fresh.has(id)) return false;
    if (!shown.messages.has(id)) return true;
    const text = shown.texts.get(id);
    return text !== undefined && typeof content === "string" && text.length < content.length && content.startsWith(text);
  });
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
