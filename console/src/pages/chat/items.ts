import type { AssistantMessageView, CustomView, InterruptView, RunView, ThreadView, UserMessageView } from "handback/client";

/** What the conversation is made of, in the order it happened. */
export type Item =
  | { kind: "user"; seq: number; message: UserMessageView }
  | { kind: "assistant"; seq: number; message: AssistantMessageView }
  | { kind: "question"; seq: number; id: string }
  | { kind: "run"; seq: number; run: RunView }
  | { kind: "activity"; seq: number; id: string }
  | { kind: "unknown"; seq: number; custom: CustomView };

/** What of a thread the conversation is made of: while none of these is another object, the items are the same. */
export type Sources = Pick<ThreadView, "messages" | "interrupts" | "runs" | "activities" | "customs">;

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
export function itemsOf({ messages, interrupts, runs, activities, customs }: Sources): Item[] {
  // Turns whose messages left the conversation, since they were said differently, take their runs along.
  const turns = new Set(messages.map(({ turnId }) => turnId));
  const sources: Item[][] = [
    messages
      .toArray()
      .map((message) =>
        once(message, () =>
          message.role === "user" ? { kind: "user", seq: message.seq, message } : { kind: "assistant", seq: message.seq, message },
        ),
      ),
    interrupts.filter(isQuestion).map((asked) => once(asked, () => ({ kind: "question", seq: asked.seq, id: asked.id }))),
    runs
      .toArray()
      .flatMap((run) =>
        run.endSeq === undefined || !turns.has(run.turnId) ? [] : [once(run, () => ({ kind: "run", seq: run.endSeq ?? 0, run }))],
      ),
    activities
      .filter(({ activityType }) => !activityType.startsWith("graph."))
      .map((activity) => once(activity, () => ({ kind: "activity", seq: activity.seq, id: activity.id }))),
    customs.filter(({ unknown }) => unknown).map((custom) => once(custom, () => ({ kind: "unknown", seq: custom.seq, custom }))),
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
    // Results that come one by one each end a run that still waits: the last of them says it all.
    if (isPause(item) && isPause(merged.at(-1))) merged.pop();
    merged.push(item);
    at[first] = (at[first] ?? 0) + 1;
  }
}

function isPause(item: Item | undefined): boolean {
  return item?.kind === "run" && item.run.outcome?.type === "waiting";
}

const made = new WeakMap<object, Item>();

/** The same item for the same thing, so that only rows are drawn again whose thing has changed. */
function once(source: object, make: () => Item): Item {
  let item = made.get(source);
  if (!item) {
    item = make();
    made.set(source, item);
  }
  return item;
}

/** An approval is shown with its call. */
function isQuestion({ callId }: InterruptView): boolean {
  return callId === undefined;
}

/** Whether an item shows the call, question, step, message or run of this id. */
export function holds(view: ThreadView, item: Item, id: string): boolean {
  if (item.kind === "question") return item.id === id;
  if (item.kind === "run") return String(item.run.seq) === id;
  if (item.kind === "user") return item.message.id === id;
  if (item.kind !== "assistant") return false;
  if (item.message.id === id || view.calls.get(id)?.stepId === item.message.id) return true;
  // What an agent in a node says belongs to the node.
  for (let step = view.steps.get(item.message.id); step?.parent !== undefined; step = view.steps.get(step.parent)) {
    if (step.parent === id) return true;
  }
  return false;
}
