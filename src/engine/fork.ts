import type { RunCommand } from "../core/command.ts";
import { decide } from "../core/decide.ts";
import { AppError } from "../core/error.ts";
import { EVENT_VERSION, type Event, type StoredEvent } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { segment } from "../core/patch.ts";
import { emptyThread, fold, type Thread } from "../core/thread.ts";
import { past } from "./checkpoint.ts";
import { drive } from "./drive.ts";
import type { Engine } from "./engine.ts";
import { append, queued, using } from "./live.ts";
import { relocate, renaming } from "./relocate.ts";

export type ForkOptions = {
  /** Where the copy ends. Default: the last checkpoint, or the end of a thread without any. */
  checkpointId?: string;
  /** The new thread's name; it must be free. */
  threadId: string;
  /** Fields to change in the state. */
  state?: JsonObject;
  /** Lets the fork go on from there at once. `answers` are there before their questions, by key. */
  run?: { runId: string; turnId: string; by: string; via: string; answers?: JsonObject };
};

/**
 * Begins a new thread as a copy of this one up to a checkpoint, where nothing is open. The copy has names of its own, so neither can
 * settle what is the other's, and it outlives its origin. Copy, change and run are one append.
 */
export async function fork(engine: Engine, from: ThreadKey, options: ForkOptions): Promise<{ seq: number; after: number }> {
  if (engine.stopping) throw new AppError("unavailable", "The server is shutting down; try again in a moment");
  const at = await placeOf(engine, from, options.checkpointId);
  const { events: copied } = await past(engine, from, at);
  if (copied.at(-1)?.seq !== at) throw unknown(from); // it was deleted while we read
  const key = { ...from, threadId: options.threadId };
  return using(engine, key, (live) =>
    queued(live, async () => {
      if (await engine.store.thread(key)) throw new AppError("conflict", `Thread ${key.threadId} already exists`, { field: "threadId" });
      const { seq, epoch } = live.thread;
      const { events, after } = await written(engine, { seq, epoch }, copied, { ...options, from: { threadId: from.threadId, seq: at } });
      for (const id of blobsOf(copied)) {
        const blob = await engine.store.blob(from, id);
        if (blob) await engine.store.saveBlob(key, { id, ...blob });
      }
      await append(engine, live, { seq }, events);
      if (live.thread.run) drive(engine, live);
      return { seq: live.thread.seq, after };
    }),
  );
}

/** The seq a fork ends at. */
async function placeOf(engine: Engine, key: ThreadKey, checkpointId: string | undefined): Promise<number> {
  const thread = await engine.store.thread(key);
  if (!thread) throw unknown(key);
  if (checkpointId !== undefined) {
    const row = await engine.store.checkpoint(key, checkpointId);
    if (row) return row.seq;
    throw new AppError("not_found", `There is no checkpoint ${checkpointId} in this thread`, { field: "checkpointId" });
  }
  const [last] = (await engine.store.checkpoints(key, { limit: 1 })).checkpoints;
  if (last) return last.seq;
  if (thread.status === "idle") return thread.seq;
  throw new AppError("conflict", `Thread ${key.threadId} has no checkpoint and is ${thread.status}; wait until it is idle`);
}

function unknown({ threadId }: ThreadKey): AppError {
  return new AppError("not_found", `There is no thread ${threadId}`, { field: "threadId" });
}

const PAGE = 1_000;

type Fork = ForkOptions & { from: { threadId: string; seq: number } };

async function written(
  { ids, clock }: Engine,
  origin: { seq: number; epoch: number },
  copied: readonly StoredEvent[],
  { from, state, run, checkpointId }: Fork,
): Promise<{ events: Event[]; after: number }> {
  const thread: Thread = { ...emptyThread(), ...origin };
  const now = clock.now();
  const events: Event[] = [];
  const add = (event: Event) => {
    fold(thread, { ...event, seq: thread.seq + 1, at: now, v: EVENT_VERSION } as StoredEvent);
    events.push(event);
  };
  const places = renaming(ids, thread);
  for (const { seq, at: _, v: __, ...event } of copied) {
    const moved = relocate(event as Event, places);
    places.moves(seq, moved);
    add(moved);
    if (events.length % PAGE === 0) await new Promise(setImmediate); // others are served meanwhile
  }
  if (state) add({ type: "state.patched", ops: changeOps(thread.state, state) });
  if (thread.run) {
    const { runId, seq: start } = thread.run;
    add({ type: "run.ended", runId, turnId: thread.turn?.turnId ?? "", run: start, outcome: { type: "cancelled", reason: "Forked here" } });
  }
  add({ type: "thread.forked", from });
  if (!run) return { events, after: thread.seq };
  const { answers, ...who } = run;
  const id = checkpointId ?? thread.graph.frames[""]?.checkpointId;
  if (id === undefined) throw new AppError("invalid", "There is nothing to go on with in this thread: send a message", { field: "run" });
  const command: RunCommand = {
    type: "run",
    ...who,
    now,
    messages: [],
    results: [],
    answers: [],
    door: "explicit",
    resume: { checkpointId: id },
  };
  const { events: begun, after } = decide(thread, answers ? { ...command, resume: { checkpointId: id, answers } } : command);
  return { events: [...events, ...begun], after };
}

function changeOps(before: Json, change: JsonObject): Json[] {
  const whole = typeof before === "object" && before !== null && !Array.isArray(before);
  const ops: Json[] = whole ? [] : [{ op: "replace", path: "", value: {} }];
  for (const [key, value] of Object.entries(change)) ops.push({ op: "add", path: `/${segment(key)}`, value });
  return ops;
}

/** The files these events refer to. */
function blobsOf(events: readonly StoredEvent[]): Set<string> {
  const ids = new Set<string>();
  for (const event of events) {
    const parts =
      event.type === "run.started"
        ? event.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
        : event.type === "part.added"
          ? [event.part]
          : [];
    for (const part of parts) if ("blob" in part) ids.add(part.blob);
  }
  return ids;
}
