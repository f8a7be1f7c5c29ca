import { AppError } from "../core/error.ts";
import { EVENT_VERSION, type Event, isDelta, type StoredEvent } from "../core/event.ts";
import { keyName, type ThreadKey } from "../core/ids.ts";
import { emptyThread, FOLD_VERSION, fold, type Thread } from "../core/thread.ts";
import type { Expect } from "../store/store.ts";
import type { Engine } from "./engine.ts";

/** Events that were committed together. Encoded frames are kept beside them, once for each kind of peer. */
export type Batch = { events: readonly StoredEvent[]; frames: Map<string, Uint8Array> };

/** A thread that somebody in this process uses: what its log adds up to, and who is following. */
export type Live = {
  key: ThreadKey;
  thread: Thread;
  followers: Set<(batch: Batch | undefined) => void>;
  /** What was delivered last, for the follower who comes right behind its own command. */
  latest: Batch | undefined;
  /** Stops the run this process drives. */
  driver: { stop: (reason: "cancel" | "timeout" | "shutdown" | "removed") => void } | undefined;
  /** Followers, commands and drivers that hold it. At 0 it may be forgotten. */
  users: number;
  /** The end of the queue: commands and appends on one thread happen one after the other. */
  tail: Promise<unknown>;
  /** Non-delta events since the last snapshot. */
  unsaved: number;
  /** Deleted: whoever holds it must let go and open the thread again. */
  gone: boolean;
  /** Its own news need not be read again. */
  telling: boolean;
  ready: Promise<void>;
  unlisten: () => void;
};

const PAGE = 1_000;

/** Idle threads kept in memory, so that a conversation at human pace is not loaded for every message. */
const KEEP = 256;
const KEEP_ENTRIES = 20_000;

/** Uses a thread while `work` runs. */
export async function using<T>(engine: Engine, key: ThreadKey, work: (live: Live) => Promise<T>): Promise<T> {
  const live = await hold(engine, key);
  try {
    return await work(live);
  } finally {
    release(engine, live);
  }
}

/** Takes hold of a thread, loading it where needed. Every hold needs its `release`. */
export async function hold(engine: Engine, key: ThreadKey): Promise<Live> {
  const name = keyName(key);
  let live = engine.live.get(name);
  if (!live) {
    live = open(engine, key);
    engine.live.set(name, live);
  }
  // Counted before anything is awaited: a thread about to be used must not be forgotten.
  live.users += 1;
  engine.idle.delete(name);
  try {
    await live.ready;
  } catch (error) {
    forget(engine, name, live);
    throw error;
  }
  if (!live.gone) return live;
  live.users -= 1;
  return hold(engine, key);
}

/** Lets go of a thread; the ones used longest ago are forgotten. */
export function release(engine: Engine, live: Live): void {
  live.users -= 1;
  if (live.users > 0 || live.gone) return;
  live.latest = undefined;
  engine.idle.set(keyName(live.key), live);
  let entries = 0;
  for (const { thread } of engine.idle.values()) entries += thread.history.length;
  for (const [name, oldest] of engine.idle) {
    if (engine.idle.size <= KEEP && entries <= KEEP_ENTRIES) return;
    entries -= oldest.thread.history.length;
    forget(engine, name, oldest);
  }
}

/** Drops a thread from memory; the log has it all. */
export function forget(engine: Engine, name: string, live: Live): void {
  engine.idle.delete(name);
  if (engine.live.get(name) === live) engine.live.delete(name);
  live.unlisten();
}

/** Runs `work` when everything queued on this thread before it is done. */
export function queued<T>(live: Live, work: () => Promise<T>): Promise<T> {
  const run = live.tail.then(work, work);
  live.tail = run.catch(() => {});
  return run;
}

/** A request that names itself, and where its sender follows from. */
export type Keyed = { key: string; hash: string; after: number };

/** How long to wait before a store that could not be written is tried again. */
const RETRY_MS = 1_000;

/** Like `queued`, for what a run must not give up: a full disk delays it until there is room again. */
export async function insisted<T>(engine: Engine, live: Live, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await queued(live, work);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "unavailable" || engine.stopping) throw error;
      engine.log({ event: "store.unavailable", thread: live.key.threadId, message: error.message });
      const { promise, resolve } = Promise.withResolvers<void>();
      engine.clock.after(RETRY_MS, resolve);
      await promise;
    }
  }
}

/** Appends, folds and delivers. Only inside `queued`. Throws `conflict` when another process was faster; then `catchUp`. */
export async function append(engine: Engine, live: Live, expect: Expect, events: readonly Event[], request?: Keyed): Promise<void> {
  if (events.length === 0) return;
  if (live.gone) throw new AppError("conflict", "The thread was deleted");
  const at = engine.clock.now();
  const first = await engine.store.append(live.key, expect, events, at, request);
  if (first === live.thread.seq + 1)
    deliver(
      engine,
      live,
      events.map((event, i) => ({ ...event, seq: first + i, at, v: EVENT_VERSION }) as StoredEvent),
    );
  else await catchUp(engine, live);
}

/** Reads what other processes have written since. */
export async function catchUp(engine: Engine, live: Live): Promise<void> {
  for (;;) {
    const events = await engine.store.read(live.key, { after: live.thread.seq, limit: PAGE });
    if (events.length > 0) deliver(engine, live, events);
    if (events.length < PAGE) return;
  }
}

/** Another writer was faster. A call id that is taken looks alike to the store, but looking again does not help. */
export function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === "conflict" && error.field !== "callId";
}

function deliver(engine: Engine, live: Live, events: readonly StoredEvent[]): void {
  for (const event of events) {
    fold(live.thread, event);
    if (!isDelta(event)) live.unsaved += 1;
    if (event.type === "cancel.requested") live.driver?.stop("cancel");
  }
  const batch: Batch = { events, frames: new Map() };
  live.latest = batch;
  for (const follower of live.followers) follower(batch);
  live.telling = true;
  engine.bus.publish(live.key);
  live.telling = false;
}

function open(engine: Engine, key: ThreadKey): Live {
  const live: Live = {
    key,
    thread: emptyThread(),
    followers: new Set(),
    latest: undefined,
    driver: undefined,
    users: 0,
    tail: Promise.resolve(),
    unsaved: 0,
    gone: false,
    telling: false,
    ready: Promise.resolve(),
    unlisten: () => {},
  };
  live.unlisten = engine.bus.listen(key, () => {
    if (!live.telling) queued(live, () => catchUp(engine, live)).catch(() => {}); // a lost wake-up is caught up by the next append
  });
  live.ready = load(engine, live);
  live.tail = live.ready.catch(() => {}); // what comes while it is loaded must not be folded twice
  return live;
}

async function load({ store }: Engine, live: Live): Promise<void> {
  const { key, thread } = live;
  const snapshot = await store.snapshot(key);
  Object.assign(thread, restored(snapshot) ?? (await store.origin(key)));
  for (;;) {
    const events = await store.read(key, { after: thread.seq, limit: PAGE, deltas: false });
    for (const event of events) fold(thread, event);
    live.unsaved += events.length;
    if (events.length < PAGE) break;
  }
  if (!thread.run) return;
  // Deltas matter only for what a run has not finished saying; `fold` takes them late.
  for (const event of await store.read(key, { after: thread.run.seq })) if (isDelta(event)) fold(thread, event);
}

/** What a snapshot holds, unless another release wrote it or it cannot be read: it is a cache, the log has it all. */
function restored(snapshot: { version: number; data: string } | undefined): Partial<Thread> | undefined {
  if (snapshot?.version !== FOLD_VERSION) return undefined;
  try {
    return JSON.parse(snapshot.data) as Partial<Thread>;
  } catch {
    return undefined;
  }
}

/** Writes down what the log adds up to, where reading it again has become as dear as the thread is long. */
export async function saveSnapshot(engine: Engine, live: Live): Promise<void> {
  const { thread, key } = live;
  const idle = !thread.run && thread.calls.size === 0 && thread.interrupts.size === 0;
  if (!idle || live.unsaved < 64 || live.unsaved < thread.history.length) return;
  live.unsaved = 0;
  const { calls, interrupts, run, ...rest } = thread;
  await engine.store.saveSnapshot(key, { seq: thread.seq, version: FOLD_VERSION, data: JSON.stringify(rest) });
}
