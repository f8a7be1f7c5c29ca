import type { Checkpoint } from "../core/command.ts";
import type { StoredEvent } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { emptyThread, fold, type Thread } from "../core/thread.ts";
import type { Engine } from "./engine.ts";

const PAGE = 1_000;

/** A checkpoint of this thread as a command needs it; another thread's is unknown here. */
export async function findCheckpoint(engine: Engine, key: ThreadKey, id: string): Promise<Checkpoint | undefined> {
  const row = await engine.store.checkpoint(key, id);
  if (!row) return undefined;
  const { thread } = await past(engine, key, row.seq);
  const frame = thread.graph.frames[""];
  if (!frame || !thread.turn) return undefined;
  const { checkpointId, lineageId, superstep, seq, tasks, arrived } = frame;
  const { state, memory, tools, options, turn } = thread;
  return { checkpointId, lineageId, superstep, seq, tasks, arrived, state, memory, agent: turn.agent, tools, options };
}

/** The log up to a seq, without deltas, and what it adds up to. It costs what the log is long: nobody goes back for every message. */
export async function past({ store }: Engine, key: ThreadKey, seq: number): Promise<{ thread: Thread; events: StoredEvent[] }> {
  const thread = { ...emptyThread(), ...(await store.origin(key)) };
  const events: StoredEvent[] = [];
  let after = thread.seq;
  for (;;) {
    const page = await store.read(key, { after, limit: PAGE, deltas: false });
    for (const event of page) {
      if (event.seq > seq) return { thread, events };
      fold(thread, event);
      events.push(event);
    }
    if (page.length < PAGE) return { thread, events };
    after = page.at(-1)?.seq ?? seq;
    await new Promise(setImmediate); // somebody's long thread must not keep all others waiting
  }
}
