import type { Arrived, StoredEvent, Task } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";

/** What the log adds up to for the graphs of a turn. Plain JSON: snapshots carry it. */
export type GraphState = {
  /** A frame for each graph that runs, by the task it runs in; the outermost one's is `""`. */
  frames: Record<string, Frame>;
  /** Where each task of these frames is, and what it said: places in `history`. */
  tasks: Record<string, { frame: string; entries: number[] }>;
};

/** A graph between two barriers. */
export type Frame = {
  turnId: string;
  lineageId: string;
  checkpointId: string;
  superstep: number;
  /** Where the barrier is in the log. */
  seq: number;
  tasks: Task[];
  /** What the finished tasks want to change at the next barrier. */
  done: Record<string, Json>;
  /** Where each task last failed for good. */
  failed: Record<string, number>;
  /** Answers to what the unfinished tasks asked, by question. */
  answers: Record<string, { status: "resolved" | "cancelled" | "expired"; value?: Json }>;
  arrived: Arrived;
  /** Answers that are there before their questions, by key: a rewind brought them. */
  given?: JsonObject;
  /** The state of a graph inside a task; the outermost one's is the thread's. */
  state?: Json;
};

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

export function emptyGraph(): GraphState {
  return { frames: {}, tasks: {} };
}

/** A copy of what `fold` would change in place. */
export function copyGraph({ frames, tasks }: GraphState): GraphState {
  const copies = Object.entries(frames).map(([key, frame]): [string, Frame] => [
    key,
    {
      ...frame,
      done: { ...frame.done },
      failed: { ...frame.failed },
      answers: { ...frame.answers },
      ...(frame.given && { given: { ...frame.given } }),
    },
  ]);
  return { frames: Object.fromEntries(copies), tasks: { ...tasks } };
}

/** The next barrier of a graph takes the place of its last one, with all that ran inside its tasks. */
export function reach(
  graph: GraphState,
  turnId: string,
  event: Of<"checkpoint.reached">,
  state: (before: Json, ops: Json[]) => Json,
): void {
  const { checkpointId, lineageId = turnId, superstep, tasks, parentTaskId, ops = [], arrived = {}, seq } = event;
  const key = parentTaskId ?? "";
  const before = graph.frames[key];
  leave(graph, key);
  enter(graph, key, {
    turnId,
    lineageId,
    checkpointId,
    superstep,
    seq,
    tasks,
    done: {},
    failed: {},
    answers: {},
    arrived,
    ...(before?.given && { given: before.given }),
    ...(parentTaskId !== undefined && { state: state(before?.state ?? {}, ops) }),
  });
}

/** Puts the outermost graph back to a barrier. */
export function goBackTo(
  graph: GraphState,
  checkpoint: NonNullable<Of<"thread.rewound">["checkpoint"]>,
  answers: JsonObject | undefined,
  seq: number,
): void {
  const { checkpointId, lineageId, superstep, tasks, arrived = {} } = checkpoint;
  const frame = { turnId: lineageId, lineageId, checkpointId, superstep, seq, tasks, done: {}, failed: {}, answers: {}, arrived };
  enter(graph, "", { ...frame, ...(answers && { given: answers }) });
}

function enter(graph: GraphState, key: string, frame: Frame): void {
  graph.frames[key] = frame;
  for (const { taskId } of frame.tasks) graph.tasks[taskId] = { frame: key, entries: [] };
}

function leave(graph: GraphState, key: string): void {
  for (const { taskId } of graph.frames[key]?.tasks ?? []) {
    delete graph.tasks[taskId];
    if (graph.frames[taskId]) leave(graph, taskId);
  }
  delete graph.frames[key];
}

/** The frame a task belongs to, while it is one of the current tasks. */
export function frameOf({ frames, tasks }: GraphState, taskId: string): Frame | undefined {
  const task = tasks[taskId];
  return task && frames[task.frame];
}

/** A task's own step is over: what it wants to change waits for the barrier. */
export function finish(graph: GraphState, taskId: string, { completed, error, retrying, writes = null, seq }: Of<"step.ended">): void {
  const frame = frameOf(graph, taskId);
  if (!frame) return;
  if (completed) frame.done[taskId] = writes;
  else if (error && !retrying) frame.failed[taskId] = seq;
}

/** The mark of an answer that was there before its question. */
export const GIVEN = "given";

/** Keeps the answer to a task's question until the task is done. One that only its failed run dropped is asked again. */
export function hear(
  graph: GraphState,
  taskId: string,
  key: string | undefined,
  { interruptId, status, value, via }: Of<"interrupt.answered">,
): void {
  const frame = frameOf(graph, taskId);
  if (!frame || (status === "cancelled" && via === "engine")) return;
  frame.answers[interruptId] = value === undefined ? { status } : { status, value };
  if (via !== GIVEN || key === undefined) return;
  const { given, holder } = findGiven(graph, taskId, key);
  if (given === undefined || !holder?.given) return;
  const { [key]: _, ...rest } = holder.given;
  holder.given = rest;
}

/** An answer that was there before its question: the nearest one, from the graph that asks outwards. */
export function findGiven(graph: GraphState, taskId: string, key: string): { given?: Json; holder?: Frame } {
  for (let at: string | undefined = taskId; at; at = graph.tasks[at]?.frame) {
    const holder = frameOf(graph, at);
    const given = holder?.given && Object.hasOwn(holder.given, key) ? holder.given[key] : undefined;
    if (holder && given !== undefined) return { given, holder };
  }
  return {};
}
