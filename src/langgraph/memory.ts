import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { Thread } from "../core/thread.ts";

/** What is kept of a hosted graph: its latest checkpoints by namespace, and what it asked. Plain JSON, in the thread's memory. */
export type Kept = {
  /** The turn whose message the graph has taken. */
  turn?: string;
  /** The graph has finished that turn. */
  done?: true;
  checkpoints: { [namespace: string]: SavedCheckpoint };
  questions: { [interruptId: string]: Question };
  /** Calls of the graph's model that others run, with the ids LangGraph knows them by. */
  calls: { [callId: string]: string };
};

export type SavedCheckpoint = {
  id: string;
  parent?: string;
  checkpoint: Json;
  metadata: Json;
  /** The nodes that led here, where the graph may stop after nodes. */
  ran?: string[];
  /** Pending writes: by task, and by their place in what the task wrote. */
  writes: { [taskId: string]: { [index: string]: { channel: string; value: Json } } };
};

/** A question that is open in the log, and whose it is in the graph. Static breakpoints have no task. */
export type Question = {
  namespace: string;
  checkpoint: string;
  taskId?: string;
  /** LangGraph's own id: the same for every question of a task. */
  id?: string;
  /** How many answers the task already had. */
  answers: number;
};

const NOTHING: Kept = { checkpoints: {}, questions: {}, calls: {} };

/** What the thread's memory holds for the agent of this turn. */
export function keptOf({ memory, turn }: Thread): Kept {
  const kept = isObject(memory) ? memory[turn?.agent ?? ""] : undefined;
  return isObject(kept) ? (kept as unknown as Kept) : NOTHING;
}

/** The barrier of the outermost graph. */
export type Standing = { checkpointId: string; superstep: number };

export function standingAt({ checkpoints }: Kept): Standing {
  const { id = "", metadata } = checkpoints[""] ?? {};
  // LangGraph counts from -1, for what comes in.
  const step = isObject(metadata) && typeof metadata["step"] === "number" ? metadata["step"] : -1;
  return { checkpointId: id, superstep: step + 1 };
}

/** How many answers a task has taken, as its writes say. */
export function taken({ checkpoints }: Kept, namespace: string, taskId: string | undefined): number {
  const writes = taskId === undefined ? undefined : checkpoints[namespace]?.writes[taskId];
  const resume = Object.values(writes ?? {}).find(({ channel }) => channel === "__resume__");
  return Array.isArray(resume?.value) ? resume.value.length : 0;
}

/** Whether the graph still stands where it asked this. */
export function stands(kept: Kept, { namespace, checkpoint, taskId, answers }: Question): boolean {
  return kept.checkpoints[namespace]?.id === checkpoint && taken(kept, namespace, taskId) === answers;
}

/** What the graph asked, was answered, and has not taken yet: LangGraph's ids with their values. A static breakpoint only opens. */
export function unheard(thread: Thread, kept: Kept): { resume: JsonObject; opened: boolean } | undefined {
  const resume: JsonObject = {};
  let opened = false;
  const answers = thread.graph.frames[""]?.answers ?? {};
  for (const [interruptId, question] of Object.entries(kept.questions)) {
    const answer = answers[interruptId];
    if (!answer || !stands(kept, question)) continue;
    if (question.id === undefined) opened = true;
    // LangGraph has no word for a question that was cancelled or has expired.
    else resume[question.id] = answer.status === "resolved" ? (answer.value ?? null) : null;
  }
  return opened || Object.keys(resume).length > 0 ? { resume, opened } : undefined;
}
