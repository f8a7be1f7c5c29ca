import { AppError, type Failure, toFailure } from "../../core/error.ts";
import type { Event, Task } from "../../core/event.ts";
import type { Frame } from "../../core/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import { closing } from "../../core/step.ts";
import type { Node } from "./node.ts";
import { seen, type Wish } from "./route.ts";
import { runAgent } from "./run-agent.ts";
import { runFunction, toWish } from "./run-function.ts";
import { type Outcome, placeOf, type Scope, type Stage, type TaskStep } from "./stage.ts";
import { enterGraph, superstep } from "./superstep.ts";

/** How a task came out, after all its tries. */
export type Finished = { type: "done"; wish: Wish } | { type: "suspended" } | { type: "failed"; error: AppError };

type Given = { task: Task; frame: Frame; state: JsonObject };

/** Runs a task in a step of its own, again where it fails and may be retried. */
export async function runTask(stage: Stage, scope: Scope, node: Node, { task, frame, state }: Given): Promise<Finished> {
  const { context, channel } = stage;
  const { taskId, input } = task;
  const path = [...scope.path, task.node];
  const name = nameOf(scope, frame, task);
  const parent = scope.parentStepId === undefined ? {} : { parentStepId: scope.parentStepId };
  for (let attempt = 1; ; attempt += 1) {
    const step: TaskStep = { stepId: context.mint("step"), messageId: context.mint("msg"), name, place: placeOf(context.thread, path) };
    const { stepId, place } = step;
    const kind = node.kind === "node" ? "node" : "agent";
    const again = attempt > 1 ? { attempt } : {};
    void channel.say({ type: "step.started", stepId, name, kind, messageId: step.messageId, ...parent, taskId, ...again, place });
    const ended = (how: Partial<Extract<Event, { type: "step.ended" }>>): Event => ({
      type: "step.ended",
      stepId,
      name,
      completed: false,
      ...parent,
      place,
      ...how,
    });
    try {
      const given = { taskId, input, frame, state: seen(state, input), attempt, step };
      const outcome = await timed(stage, node, (signal) => attend(stage, node, { ...given, signal }));
      if (outcome.type === "suspended") {
        void channel.say(ended({}));
        return outcome;
      }
      void channel.say(ended({ completed: true, writes: outcome.wish as never }));
      return outcome;
    } catch (error) {
      context.signal.throwIfAborted();
      // What it left open inside: a model in mid-sentence, calls that were never handed out.
      await channel.commit([]);
      const inside = closing(context.thread, (open) => open.taskId === taskId && !open.place);
      const retrying = attempt < (node.retry?.attempts ?? 1) && (node.retry?.when(error) ?? false);
      const failed = failureOf(name, error);
      await channel.commit([...inside, ended({ error: failed.failure, ...(retrying && { retrying: true as const }) })]);
      if (!retrying || !node.retry) return { type: "failed", error: failed.error };
      const { delay, maxDelay } = node.retry;
      await pause(stage, Math.round(Math.min(maxDelay, delay * 2 ** (attempt - 1)) * (0.5 + chance(context.mint("retry")) / 2)));
    }
  }
}

type Attempt = {
  taskId: string;
  input: Task["input"];
  frame: Frame;
  state: JsonObject;
  attempt: number;
  step: TaskStep;
  signal: AbortSignal;
};

async function attend(stage: Stage, node: Node, given: Attempt): Promise<Outcome> {
  switch (node.kind) {
    case "node":
      return runFunction(stage, node, given);
    case "agent":
    case "tool":
      return runAgent(stage, node, given);
    case "graph":
      return runGraph(stage, node, given);
    default:
      return node satisfies never;
  }
}

/** A graph inside a task takes all the supersteps it can within one of the graph around it. */
async function runGraph(stage: Stage, node: Extract<Node, { kind: "graph" }>, given: Attempt): Promise<Outcome> {
  const { taskId, state, step, signal } = given;
  const { thread } = stage.context;
  const inner: Scope = { key: taskId, path: step.place.path, name: step.name, parentStepId: step.stepId };
  const { plan } = node.graph;
  if (!thread.graph.frames[taskId]) await enterGraph(stage, plan, inner, toWish(node.input?.(state as never), step.name).update ?? {});
  for (;;) {
    signal.throwIfAborted();
    const frame = thread.graph.frames[taskId];
    if (frame?.tasks.length === 0) return { type: "done", wish: toWish(node.output?.(frame.state as never, state as never), step.name) };
    if ((await superstep(stage, plan, inner)) === "waits") return { type: "suspended" };
  }
}

/** Unique among the steps that are open: nodes inside others carry their names, and each further task of a node its number. */
function nameOf({ name }: Scope, { tasks }: Frame, { node, taskId }: Task): string {
  const same = tasks.length === 1 ? 0 : tasks.filter((task) => task.node === node).findIndex((task) => task.taskId === taskId);
  return `${name === "" ? "" : `${name}/`}${node}${same > 0 ? `#${same + 1}` : ""}`;
}

/** What the log and the doors are told, and what the run fails with. Only an `AppError` is fit for users. */
function failureOf(name: string, error: unknown): { failure: Failure; error: AppError } {
  const { code, message, field } = toFailure(error);
  const why = error instanceof AppError ? `Node ${name} failed: ${message}` : `Node ${name} failed`;
  const thrown = new AppError(code, why, { cause: error instanceof AppError ? error.cause : error, ...(field !== undefined && { field }) });
  return { failure: { code, message: error instanceof AppError ? message : why }, error: thrown };
}

async function timed(stage: Stage, { timeout }: Node, work: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
  const { signal, clock } = stage.context;
  if (timeout === undefined) return work(signal);
  const limit = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<Outcome>();
  const calledOff = clock.after(timeout, () => {
    limit.abort();
    reject(new AppError("timeout", `It took longer than ${timeout} ms`));
  });
  const working = work(AbortSignal.any([signal, limit.signal]));
  working.catch(() => {}); // it may fail after its time, when nobody listens
  try {
    return await Promise.race([late, working]);
  } finally {
    calledOff();
  }
}

async function pause({ context: { clock, signal } }: Stage, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise.finally(cancel);
  signal.throwIfAborted();
}

/** A number from 0 to 1 out of an id: chance comes in through ids and nowhere else. */
function chance(id: string): number {
  let hash = 2166136261;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 16777619) >>> 0;
  return hash / 2 ** 32;
}
