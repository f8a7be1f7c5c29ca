import type { Failure } from "./error.ts";
import type { Event, Outcome } from "./event.ts";
import type { Json } from "./json.ts";
import { asked, cancelOpen, offered, returned } from "./settle.ts";
import { type Call, type OpenStep, preview, type TextPart, type Thread, waits } from "./thread.ts";

/** An agent's answer to "what next?". It never reports an outcome: the log does. */
export type Next = { type: "step" } | { type: "wait" } | { type: "done"; result?: Json } | { type: "fail"; error: Failure };

const HANDBACK = { by: "handback", via: "engine" };

/**
 * The append that ends a step: only now are its calls handed out, asked about or refused.
 * `granted` names the tools a person allowed beforehand, and by which grant.
 */
export function completeStep(
  thread: Thread,
  ended: Extract<Event, { type: "step.ended" }>,
  now: number,
  granted: ReadonlyMap<string, string>,
): Event[] {
  const events: Event[] = [...unfinished(thread, ended.stepId), ended];
  let { ordinal } = thread;
  for (const call of thread.calls.values()) {
    if (call.stepId !== ended.stepId || (call.phase !== "called" && call.phase !== "started")) continue;
    const invalid = call.phase === "started" ? CUT : call.invalid;
    if (invalid !== undefined) {
      events.push(returned(call, "failed", HANDBACK, { error: invalid }));
      continue;
    }
    if (call.approval) {
      events.push(asked(call, now));
      const grant = granted.get(call.name);
      if (grant === undefined) continue;
      const { callId } = call;
      const interruptId = `${callId}:approval`;
      events.push({
        type: "interrupt.answered",
        interruptId,
        callId,
        status: "resolved",
        value: { approved: true },
        by: `grant:${grant}`,
        via: "grant",
      });
    }
    if (call.owner !== "server") events.push(offered(call, ++ordinal, now));
  }
  return events;
}

const CUT = "Cut off before the model had finished";

/** Ends for what a model began and never finished, although it says its step is complete. */
function unfinished({ run, calls }: Thread, stepId: string): Event[] {
  const events: Event[] = [];
  const parts = run?.steps.get(stepId)?.entry?.parts ?? [];
  for (const [messageId, { type, said, part }] of run?.speaking ?? []) {
    if (parts.includes(part)) events.push({ type: `${type}.ended`, messageId, text: said.join("") });
  }
  for (const call of calls.values()) if (call.stepId === stepId && call.phase === "started") events.push(cutOff(call));
  return events;
}

function cutOff({ callId, name, messageId, stepId, owner }: Call): Event {
  return { type: "tool.called", callId, name, messageId, stepId, owner, input: null, invalid: CUT };
}

/** Ends for everything the run left open: what was said stays visible, and is never shown to the model. `isOver` may pick the steps. */
export function closing(thread: Thread, isOver: (step: OpenStep) => boolean = () => true): Event[] {
  if (!thread.run) return [];
  const events: Event[] = [];
  const steps = new Map([...thread.run.steps].filter(([, step]) => isOver(step)));
  const entries = new Set([...steps.values()].map(({ entry }) => entry));
  const spoken = (part: TextPart) => steps.size === thread.run?.steps.size || [...entries].some((entry) => entry?.parts.includes(part));
  for (const [messageId, { type, said, part }] of thread.run.speaking) {
    if (spoken(part)) events.push({ type: `${type}.ended`, messageId, text: said.join("") });
  }
  for (const call of thread.calls.values()) {
    if (!steps.has(call.stepId) || (call.phase !== "started" && call.phase !== "called")) continue;
    if (call.phase === "started") events.push(cutOff(call));
    events.push(returned(call, "cancelled", HANDBACK, { error: CUT }));
  }
  for (const [stepId, { name, parentStepId, place }] of [...steps].reverse()) {
    events.push({
      type: "step.ended",
      stepId,
      name,
      completed: false,
      ...(parentStepId !== undefined && { parentStepId }),
      ...(place && { place }),
    });
  }
  return events;
}

/** The run's ending, decided on the thread as it is now. A cancel that came first wins over whatever the agent thinks. */
export function conclude(thread: Thread, next: Exclude<Next, { type: "step" }>): Event[] {
  if (!thread.run || !thread.turn) return [];
  const { runId, cancel, usage, seq: run } = thread.run;
  const { turnId } = thread.turn;
  const end = (outcome: Outcome): Event => ({ type: "run.ended", runId, turnId, run, outcome, ...(usage.length > 0 && { usage }) });
  const drop = (error: string, outcome: Outcome): Event[] => [...closing(thread), ...dropOpen(thread, error), end(outcome)];
  if (cancel) {
    const { reason } = cancel;
    return drop("The run was cancelled", { type: "cancelled", ...(reason !== undefined && { reason }) });
  }
  switch (next.type) {
    case "wait": {
      const missing = waits(thread);
      if (missing.length > 0) return [...closing(thread), end({ type: "waiting", for: missing })];
      const error: Failure = { code: "internal", message: "The agent waits, but nothing is open" };
      return conclude(thread, { type: "fail", error });
    }
    case "done":
      return drop("The turn is over", { type: "done", ...(next.result !== undefined && { result: next.result }) });
    case "fail":
      return drop("The run failed", { type: "failed", error: next.error });
    default:
      return next satisfies never;
  }
}

/** Cancels what is open, except what `closing` has settled already. */
function dropOpen(thread: Thread, error: string): Event[] {
  const rest = preview(thread);
  for (const event of closing(thread)) if (event.type === "tool.returned") rest.calls.delete(event.callId);
  return cancelOpen(rest, HANDBACK, error);
}
