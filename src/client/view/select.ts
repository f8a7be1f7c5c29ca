import type { Usage } from "../../core/event.ts";
import type { CallView, InterruptView, RunView, StepView, ThreadView } from "./view.ts";

/** Remembers what a function made of an object, as long as the object lives. */
export function remembered<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

/** Calls of one step that somebody outside has to answer. */
export type CallGroup = { readonly total: number; readonly answered: number; readonly calls: readonly CallView[] };

/** How many calls of a step are answered: "1 of 2". */
export function groupOf(view: ThreadView, stepId: string): CallGroup {
  const ids = view.steps.get(stepId)?.calls ?? [];
  const calls: CallView[] = [];
  for (const id of ids) {
    const call = view.calls.get(id);
    if (call && (call.offeredAt !== undefined || call.askedAt !== undefined)) calls.push(call);
  }
  return { total: calls.length, answered: calls.filter((call) => call.settledAt !== undefined).length, calls };
}

/** What somebody owes the agent now: calls, also those that wait for approval, and questions of their own. Oldest first. */
export const pendingOf: (view: ThreadView) => readonly (CallView | InterruptView)[] = remembered((view) => {
  const open: (CallView | InterruptView)[] = [];
  // From the end, and no further than there is something to find: old threads have thousands of settled ones.
  for (let i = view.calls.length - 1; i >= 0 && open.length < view.pending; i -= 1) {
    const call = view.calls.at(i);
    if (call && (call.phase === "waiting" || call.phase === "claimed")) open.push(call);
  }
  for (let i = view.interrupts.length - 1; i >= 0 && open.length < view.pending; i -= 1) {
    const interrupt = view.interrupts.at(i);
    if (interrupt?.status === "open" && interrupt.callId === undefined) open.push(interrupt);
  }
  return open.sort((a, b) => a.seq - b.seq);
});

/** How long the answer to a call took: from when somebody was asked, or from the call itself. */
export function latencyOf({ offeredAt, askedAt, calledAt, settledAt }: CallView): number | undefined {
  const from = askedAt ?? offeredAt ?? calledAt;
  return settledAt === undefined || from === undefined ? undefined : settledAt - from;
}

/** What goes on now: the run, the innermost step, and when something last happened. */
export function activeOf(view: ThreadView): { run: RunView; step: StepView | undefined; lastAt: number } | undefined {
  const run = view.runs.at(-1);
  if (run?.state !== "running") return undefined;
  const step = view.steps.findLast(({ state, run: of }) => of < run.seq || state === "running");
  return { run, step: step?.state === "running" ? step : undefined, lastAt: view.at };
}

/** What was said last before a call or question. */
export function linesOf(view: ThreadView, id: string, count = 5): { role: "user" | "assistant"; text: string }[] {
  const seq = view.calls.get(id)?.seq ?? view.interrupts.get(id)?.seq ?? Number.POSITIVE_INFINITY;
  const lines: { role: "user" | "assistant"; text: string }[] = [];
  for (let i = view.messages.length - 1; i >= 0 && lines.length < count; i -= 1) {
    const message = view.messages.at(i);
    if (!message || message.seq > seq) continue;
    const text = message.role === "user" ? message.text : message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (text !== "") lines.push({ role: message.role, text });
  }
  return lines.reverse();
}

/** What a run, or the whole thread, has used. */
export function usageOf(view: ThreadView, run?: number): Usage {
  const sum: Record<string, number> = {};
  const of = run === undefined ? view.runs.toArray() : [view.runs.get(`${run}`)];
  for (const { usage } of of.filter((one) => one !== undefined)) {
    for (const one of usage) {
      for (const [name, value] of Object.entries(one)) if (typeof value === "number") sum[name] = (sum[name] ?? 0) + value;
    }
  }
  return sum;
}

/** A node of a graph as it is now. */
export type NodeView = {
  readonly name: string;
  readonly kind: "node" | "agent" | "model";
  readonly state: StepView["state"];
  /** Of the last visit. */
  readonly startedAt: number;
  readonly ms: number | undefined;
  readonly visits: number;
  readonly attempt: number;
  readonly error: string | undefined;
  /** What it waits for, where it does. */
  readonly interruptId: string | undefined;
  readonly callId: string | undefined;
  /** Every execution, oldest first. */
  readonly steps: readonly StepView[];
};

/** The nodes a turn has been to, by name, in the order they were first reached. Without graph nodes: the model. */
export function nodesOf(view: ThreadView, turnId: string | undefined = view.turns.at(-1)?.id): readonly NodeView[] {
  const byName = new Map<string, StepView[]>();
  const steps = stepsOf(view, turnId);
  const graph = steps.some(({ kind }) => kind !== "model");
  for (const step of steps) {
    if (graph && step.kind === "model") continue;
    const visits = byName.get(step.name);
    if (visits) visits.push(step);
    else byName.set(step.name, [step]);
  }
  return [...byName].map(([name, visits]) => toNode(view, name, visits));
}

/** The steps of one turn. */
export function stepsOf(view: ThreadView, turnId: string | undefined): StepView[] {
  const found: StepView[] = [];
  const since = turnId === undefined ? 0 : (view.turns.get(turnId)?.seq ?? 0);
  for (let i = view.steps.length - 1; i >= 0; i -= 1) {
    const step = view.steps.at(i);
    if (!step || step.seq < since) break;
    if (step.turnId === turnId) found.push(step);
  }
  return found.reverse();
}

function toNode(view: ThreadView, name: string, steps: StepView[]): NodeView {
  const last = steps.at(-1) as StepView;
  const { kind, state, startedAt, endedAt, attempt, error, taskId } = last;
  const open = taskId === undefined ? [] : pendingOf(view).filter((wait) => wait.taskId === taskId);
  const question = open.find((wait): wait is InterruptView => "prompt" in wait);
  const call = open.find((wait): wait is CallView => "owner" in wait);
  const tasks = new Set(steps.map((step) => step.taskId ?? step.id));
  return {
    name,
    kind,
    state: open.length > 0 ? "waiting" : state,
    startedAt,
    ms: endedAt === undefined ? undefined : endedAt - startedAt,
    visits: tasks.size,
    attempt,
    error: error?.message,
    interruptId: question?.id,
    callId: call?.id,
    steps,
  };
}
