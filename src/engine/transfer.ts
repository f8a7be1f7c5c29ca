import { decide } from "../core/decide.ts";
import { AppError } from "../core/error.ts";
import { EVENT_VERSION, type Event, type StoredEvent } from "../core/event.ts";
import type { Ids, ThreadKey } from "../core/ids.ts";
import { type JsonObject, sameJson } from "../core/json.ts";
import { conclude } from "../core/step.ts";
import { emptyThread, fold, type Thread, waits } from "../core/thread.ts";
import type { Engine } from "./engine.ts";
import { append, queued, using } from "./live.ts";
import { relocate, renaming } from "./relocate.ts";

/** A log from elsewhere, and the files it refers to. */
export type Foreign = {
  title?: string;
  metadata: JsonObject;
  events: readonly StoredEvent[];
  blobs: readonly { id: string; mediaType: string; data: Uint8Array }[];
};

/**
 * Writes a log from elsewhere as a new thread, in one append and with the time of that append.
 * Whatever is open at its end is cancelled, so nothing imported ever runs or waits. `at` tells where event `i` came from when it is refused.
 */
export async function importThread(
  engine: Engine,
  key: ThreadKey,
  foreign: Foreign,
  at: <T>(i: number, work: () => T) => T = (_, work) => work(),
): Promise<{ seq: number }> {
  if (engine.stopping) throw new AppError("unavailable", "The server is shutting down; try again in a moment");
  return using(engine, key, (live) =>
    queued(live, async () => {
      if (await engine.store.thread(key)) throw new AppError("conflict", `Thread ${key.threadId} already exists`, { field: "threadId" });
      const { seq, epoch } = live.thread;
      const events = adapt(foreign, { seq, epoch, ids: engine.ids, now: engine.clock.now() }, at);
      if (events.length === 0) throw new AppError("invalid", "The file holds no events");
      for (const blob of foreign.blobs) await engine.store.saveBlob(key, blob);
      await append(engine, live, { seq }, events);
      return { seq: live.thread.seq };
    }),
  );
}

type Origin = { seq: number; epoch: number; ids: Ids; now: number };

/** The events as they are written here: renamed, checked one by one against the thread they make, and closed. */
function adapt({ title, metadata, events }: Foreign, { seq, epoch, ids, now }: Origin, at: <T>(i: number, work: () => T) => T): Event[] {
  const thread: Thread = { ...emptyThread(), seq, epoch };
  const written: Event[] = [];
  const add = (event: Event) => {
    fold(thread, { ...event, seq: thread.seq + 1, at: now, v: EVENT_VERSION } as StoredEvent);
    written.push(event);
  };
  const places = renaming(ids, thread);
  for (const [i, { seq: old, at: _, v: __, ...event }] of events.entries()) {
    at(i, () => {
      const moved = relocate(event as Event, places);
      const why = misfit(thread, moved, places.started);
      if (why !== undefined) throw new AppError("invalid", `${moved.type} ${why}`);
      places.moves(old, moved);
      add(moved);
    });
  }
  for (const event of endings(thread, ids, now)) add(event);
  if (thread.calls.size + thread.interrupts.size > 0) throw new AppError("invalid", "The log ends with calls that were never handed out");
  const named = title !== undefined && title !== thread.title;
  const described = !sameJson(metadata, thread.metadata);
  if (named || described) add({ type: "thread.changed", ...(named && { title }), ...(described && { metadata }) });
  return written;
}

/** Why no log of ours could hold this event at this place; the indexes are built on it. */
function misfit(thread: Thread, event: Event, started: ReadonlySet<string>): string | undefined {
  switch (event.type) {
    case "run.started":
      return thread.run && "while a run goes on";
    case "run.ended":
      return thread.run?.seq === event.run ? undefined : "does not end the run that goes on";
    case "run.recovered":
    case "cancel.requested":
    case "step.started":
    case "step.ended":
      return thread.run ? undefined : "outside of a run";
    case "tool.started":
      if (!thread.run) return "outside of a run";
      return started.has(event.callId) ? "for a call that has begun before" : undefined;
    case "tool.called":
    case "call.offered":
    case "call.claimed":
    case "call.released":
    case "tool.returned":
      return thread.calls.has(event.callId) ? undefined : "for a call that is not open";
    case "interrupt.raised":
      return thread.interrupts.has(event.interruptId) ? "for a question that is open" : undefined;
    case "interrupt.answered":
      return thread.interrupts.has(event.interruptId) ? undefined : "for a question that is not open";
    default:
      return undefined;
  }
}

/** What cancels whatever is open at the end of a log. */
function endings(thread: Thread, ids: Ids, now: number): Event[] {
  const [by, reason] = ["handback", "The thread was exported before it ended"];
  if (thread.run) {
    const asked: Event = { type: "cancel.requested", runId: thread.run.runId, by, reason };
    thread.run.cancel ??= { by, reason };
    return [asked, ...conclude(thread, { type: "done" })];
  }
  if (waits(thread).length === 0) return [];
  return decide(thread, { type: "cancel", runId: ids("run"), by, via: "import", now, reason }).events;
}
