import type { JsonObject } from "../core/json.ts";
import type { Wire } from "./request.ts";
import { threadPath } from "./thread-path.ts";
import { mint } from "./time.ts";
import type { Started, ThreadRef } from "./wire.ts";

/** A place in a graph's thread to which it can be taken back, or from which another thread can begin. */
export type Checkpoint = {
  checkpointId: string;
  /** The turn it belongs to. */
  turnId: string;
  superstep: number;
  seq: number;
  at: string;
  /** What is next there. */
  tasks: { taskId: string; node: string }[];
};

/** What is to be different from what was. Another state is for operators only, where a server tells users apart. */
export type Changed = {
  /** Fields to change in the state. */
  state?: JsonObject;
  /** Answers that are there before their questions, by key. */
  resume?: JsonObject;
};

/** Time travel in the threads of graphs. */
export type Checkpoints = {
  /** The checkpoints of a thread, the latest first. */
  list(thread: ThreadRef, query?: { limit?: number; before?: string }): Promise<{ checkpoints: Checkpoint[]; next?: string }>;
  /** A new thread that begins as this one was: at a checkpoint, or at the last one. It runs, unless `run` is false. */
  fork(
    thread: ThreadRef,
    options?: Changed & { checkpointId?: string; threadId?: string; run?: boolean },
  ): Promise<{ threadId: string; seq: number; runId?: string }>;
  /** Takes a thread back to a checkpoint, and lets it run from there again. */
  rerun(thread: ThreadRef, checkpointId: string, options?: Changed & { runId?: string }): Promise<Started>;
};

export function checkpointsOf({ send }: Wire): Checkpoints {
  return {
    list: (thread, query = {}) => send("GET", threadPath(thread, "/checkpoints", query)),
    fork: (thread, options = {}) => send("POST", threadPath(thread, "/fork"), { body: options }),
    // Named by us, so that it can be sent again and goes back once.
    rerun: (thread, checkpointId, options = {}) =>
      send("POST", threadPath(thread, "/runs"), { body: { runId: mint("run"), checkpointId, ...options }, again: true }),
  };
}
