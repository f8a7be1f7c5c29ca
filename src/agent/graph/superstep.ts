import { AppError } from "../../core/error.ts";
import type { Event, Task } from "../../core/event.ts";
import type { Frame } from "../../core/graph.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Next } from "../../core/step.ts";
import type { Thread } from "../../core/thread.ts";
import { freeze, initial, reduce, type Write } from "./field.ts";
import type { Plan } from "./graph.ts";
import type { Node } from "./node.ts";
import { entry, route, type Wish } from "./route.ts";
import { runTask } from "./run-task.ts";
import { type Scope, type Stage, stateOf } from "./stage.ts";
import { viewOf } from "./view.ts";

/** Begins a graph: its first barrier, with the defaults and what it is given in its state. */
export async function enterGraph(stage: Stage, plan: Plan, scope: Scope, update: JsonObject): Promise<void> {
  const before = scope.key === "" ? stage.context.thread.state : {};
  const begun = await initial(plan.fields, before);
  const { state, ops } = await reduce(plan.fields, begun.state, [{ node: "The input", update }]);
  const tasks = entry(plan, plan.routes, () => freeze(state));
  await barrier(stage, scope, { superstep: 0, ops: [...begun.ops, ...ops], tasks, arrived: {} });
}

/**
 * Runs every task of a graph that can run, side by side, and when all are done goes to the next barrier. Tasks that wait keep
 * what the others have finished from taking effect; one that failed fails the step when the others have come as far as they can.
 */
export async function superstep(stage: Stage, plan: Plan, scope: Scope): Promise<"reached" | "waits"> {
  const { thread, signal } = stage.context;
  const frame = thread.graph.frames[scope.key];
  if (!frame) throw new AppError("internal", `There is no graph in ${scope.key || "this thread"}`);
  const state = stateOf(thread, scope.key);
  const wishes = new Map<string, Wish>();
  const failures = new Map<string, AppError>();
  const ready: Task[] = [];
  if (frame.superstep >= plan.maxSteps) throw tooFar(plan.maxSteps);
  const asking = askers(thread);
  for (const task of frame.tasks) {
    if (Object.hasOwn(frame.done, task.taskId)) wishes.set(task.taskId, (frame.done[task.taskId] ?? {}) as Wish);
    else if (canRun(thread, task, frame, nodeOf(plan, task), state, asking)) ready.push(task);
  }
  await side(ready, plan.concurrency, async (task) => {
    const finished = await runTask(stage, scope, nodeOf(plan, task), { task, frame, state });
    if (finished.type === "done") wishes.set(task.taskId, finished.wish);
    if (finished.type === "failed") failures.set(task.taskId, finished.error);
  });
  signal.throwIfAborted();
  // The first in the order of the tasks: what a run fails with does not depend on who was faster.
  for (const { taskId } of frame.tasks) if (failures.has(taskId)) throw failures.get(taskId);
  if (wishes.size < frame.tasks.length) return "waits";
  const finished = frame.tasks.map(({ taskId, node }) => ({ node, wish: wishes.get(taskId) ?? {} }));
  const writes = finished.flatMap(({ node, wish }): Write[] => (wish.update ? [{ node, update: wish.update }] : []));
  const { state: after, ops } = await reduce(plan.fields, state, writes);
  const { next, arrived } = route(plan, plan.routes, finished, () => freeze(after), frame.arrived);
  await barrier(stage, scope, { superstep: frame.superstep + 1, ops, tasks: next, arrived });
  return "reached";
}

type Barrier = { superstep: number; ops: Json[]; tasks: Omit<Task, "taskId">[]; arrived: Frame["arrived"] };

/** State and routing in one append: a resume follows what was decided, not the code as it is then. */
async function barrier({ context, channel }: Stage, { key }: Scope, { superstep, ops, tasks, arrived }: Barrier): Promise<void> {
  const { mint, thread } = context;
  const reached: Event = {
    type: "checkpoint.reached",
    checkpointId: mint("checkpoint"),
    lineageId: thread.turn?.turnId ?? "",
    superstep,
    tasks: tasks.map((task) => ({ taskId: mint("task"), ...task })),
    ...(Object.keys(arrived).length > 0 && { arrived }),
    ...(key !== "" && { parentTaskId: key, ops }),
  };
  await channel.commit(key === "" && ops.length > 0 ? [{ type: "state.patched", ops }, reached] : [reached]);
}

/** What next, for a graph that has begun. */
export function standing(plan: Plan, thread: Thread, key: string): Next {
  const frame = thread.graph.frames[key];
  if (!frame) return { type: "step" };
  if (frame.tasks.length === 0) return { type: "done" };
  if (frame.superstep >= plan.maxSteps) {
    const { code, message } = tooFar(plan.maxSteps);
    return { type: "fail", error: { code, message } };
  }
  const asking = askers(thread);
  const state = stateOf(thread, key);
  let all = true;
  for (const task of frame.tasks) {
    const node = nodeOf(plan, task);
    if (Object.hasOwn(frame.done, task.taskId)) continue;
    if (canRun(thread, task, frame, node, state, asking)) return { type: "step" };
    all = false;
  }
  return { type: all ? "step" : "wait" };
}

/** Whether a task that is not done has something to do: all it asked is answered, all its calls are settled. */
function canRun(thread: Thread, task: Task, frame: Frame, node: Node, state: JsonObject, asking: ReadonlySet<string>): boolean {
  const { taskId } = task;
  switch (node.kind) {
    case "node":
      return !asking.has(taskId);
    case "agent":
    case "tool": {
      for (const call of thread.calls.values()) if (call.taskId === taskId && call.phase === "ready") return true;
      return node.agent.next(viewOf(thread, node, taskId, frame, state)).type !== "wait";
    }
    case "graph":
      return standing(node.graph.plan, thread, taskId).type !== "wait";
    default:
      return node satisfies never;
  }
}

function askers({ interrupts }: Thread): Set<string> {
  const tasks = new Set<string>();
  for (const { taskId } of interrupts.values()) if (taskId !== undefined) tasks.add(taskId);
  return tasks;
}

function nodeOf({ nodes }: Plan, { node: name }: Task): Node {
  const node = nodes.get(name);
  if (node) return node;
  throw new AppError(
    "not_found",
    `The graph has no node ${name} any more, where this turn wants to go on; start again, or go back to an earlier checkpoint`,
  );
}

function tooFar(maxSteps: number): AppError {
  return new AppError("limit", `The graph took ${maxSteps} supersteps and was not done`);
}

/** Does `work` for all, `most` at a time. */
async function side<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  if (items.length <= most) {
    await Promise.all(items.map(work));
    return;
  }
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
