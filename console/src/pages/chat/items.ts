import type { AssistantMessageView, CustomView, RunView, ThreadView, UserMessageView } from "handback/client";

/** What the conversation is made of, in the order it happened. */
export type Item =
  | { kind: "user"; seq: number; message: UserMessageView }
  | { kind: "assistant"; seq: number; message: AssistantMessageView }
  | { kind: "question"; seq: number; id: string }
  | { kind: "run"; seq: number; run: RunView }
  | { kind: "activity"; seq: number; id: string }
  | { kind: "unknown"; seq: number; custom: CustomView };

export function keyOf(item: Item): string {
  switch (item.kind) {
    case "user":
    case "assistant":
      return `m${item.message.id}`;
    case "question":
      return `q${item.id}`;
    case "run":
      return `r${item.run.seq}`;
    case "activity":
      return `a${item.id}`;
    case "unknown":
      return `u${item.seq}`;
    default:
      return item satisfies never;
  }
}

/** Merges what a thread shows by place in its log. Each source is in order already, so one pass does. */
export function itemsOf(view: ThreadView): Item[] {
  const sources: Item[][] = [
    view.messages
      .toArray()
      .map(
        (message): Item =>
          message.role === "user" ? { kind: "user", seq: message.seq, message } : { kind: "assistant", seq: message.seq, message },
      ),
    view.interrupts.toArray().flatMap(({ id, seq, callId }): Item[] => (callId === undefined ? [{ kind: "question", seq, id }] : [])),
    view.runs.toArray().flatMap((run): Item[] => (run.endSeq === undefined ? [] : [{ kind: "run", seq: run.endSeq, run }])),
    view.activities
      .toArray()
      .flatMap(({ id, seq, activityType }): Item[] => (activityType.startsWith("graph.") ? [] : [{ kind: "activity", seq, id }])),
    view.customs.toArray().flatMap((custom): Item[] => (custom.unknown ? [{ kind: "unknown", seq: custom.seq, custom }] : [])),
  ].filter((source) => source.length > 0);
  if (sources.length === 1) return sources[0] ?? [];
  const at = sources.map(() => 0);
  const merged: Item[] = [];
  for (;;) {
    let first = -1;
    for (const [i, source] of sources.entries()) {
      const next = source[at[i] ?? 0];
      const best = first < 0 ? undefined : sources[first]?.[at[first] ?? 0];
      if (next && (!best || next.seq < best.seq)) first = i;
    }
    const item = sources[first]?.[at[first] ?? 0];
    if (!item) return merged;
    merged.push(item);
    at[first] = (at[first] ?? 0) + 1;
  }
}
