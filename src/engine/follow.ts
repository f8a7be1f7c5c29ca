import type { StoredEvent, Wait } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { waits } from "../core/thread.ts";
import type { Engine } from "./engine.ts";
import { type Batch, hold, type Live, release } from "./live.ts";

/**
 * How long to follow: to the end of the first run, of the turn (over its waits), or for ever. `mine` names what its follower
 * has to do itself: to the end of the turn, or until it waits for such a thing.
 * A follower that has caught up with a thread in which nothing can come any more is at its end.
 */
export type Until = "run" | "turn" | "forever" | { mine: (wait: Wait) => boolean };

/** Events read back at once. Few, because they may be large and a slow reader holds all of them until it has taken them. */
const PAGE = 64;

/** Batches a slow reader may leave lying in memory; behind that it reads from the store at its own pace. */
const BACKLOG = 64;

/** Everything behind `after`, past and future, in the order of the log. Replay and live are one path. */
export async function* follow(
  engine: Engine,
  key: ThreadKey,
  { after, until, signal }: { after: number; until: Until; signal: AbortSignal },
): AsyncGenerator<Batch> {
  const live = await hold(engine, key);
  const reader = attach(live, signal);
  let seq = after;
  try {
    while (!signal.aborted && !live.gone) {
      const head = live.thread.seq;
      const batch = (await reader.next(seq)) ?? (await page(engine, live, seq));
      if (!batch) {
        if (live.thread.seq !== head) continue; // it came while we looked; it may have been the last there is
        if (!more(live, until)) return;
        await reader.news();
        continue;
      }
      seq = batch.events.at(-1)?.seq ?? seq;
      const end = batch.events.findIndex((event) => ends(event, until));
      if (end < 0) {
        yield batch;
        continue;
      }
      const last = end === batch.events.length - 1;
      yield last ? batch : { events: batch.events.slice(0, end + 1), frames: new Map() };
      return;
    }
  } finally {
    reader.detach();
    release(engine, live);
  }
}

function ends(event: StoredEvent, until: Until): boolean {
  if (event.type !== "run.ended" || until === "forever") return false;
  const { outcome } = event;
  return until === "run" || outcome.type !== "waiting" || (typeof until === "object" && outcome.for.some(until.mine));
}

/** Whether anything can still come for somebody who has seen it all. */
function more({ thread }: Live, until: Until): boolean {
  if (until === "forever" || thread.run) return true;
  const open = until === "run" ? [] : waits(thread);
  return open.length > 0 && !(typeof until === "object" && open.some(until.mine));
}

/** What has been committed behind `seq`, read back. */
async function page({ store }: Engine, live: Live, seq: number): Promise<Batch | undefined> {
  if (seq >= live.thread.seq) return undefined;
  const events = await store.read(live.key, { after: seq, limit: PAGE });
  return events.length > 0 ? { events, frames: new Map() } : undefined;
}

type Reader = {
  /** The next batch in memory if it joins on to `seq`. */
  next(seq: number): Promise<Batch | undefined>;
  news(): Promise<void>;
  detach(): void;
};

function attach(live: Live, signal: AbortSignal): Reader {
  let backlog: Batch[] = live.latest ? [live.latest] : [];
  let wake = () => {};
  const take = (batch: Batch | undefined) => {
    if (batch) backlog.push(batch);
    if (backlog.length > BACKLOG) backlog = []; // it will find the gap and read from the store
    wake();
  };
  const stop = () => wake();
  live.followers.add(take);
  signal.addEventListener("abort", stop, { once: true });
  return {
    async next(seq) {
      for (;;) {
        const [batch] = backlog;
        const first = batch?.events[0]?.seq;
        if (!batch || first === undefined || first > seq + 1) return undefined;
        backlog.shift();
        if (first === seq + 1) return batch;
        const rest = batch.events.filter((event) => event.seq > seq);
        if (rest.length > 0) return { events: rest, frames: new Map() };
      }
    },
    async news() {
      if (backlog.length > 0 || signal.aborted || live.gone) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    },
    detach() {
      live.followers.delete(take);
      signal.removeEventListener("abort", stop);
    },
  };
}
