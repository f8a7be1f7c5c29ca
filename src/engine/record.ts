import { type Event, isDelta } from "../core/event.ts";
import type { Engine } from "./engine.ts";
import { append, insisted, type Live } from "./live.ts";

/** Writes what a run says, in its order, gathered into few appends. */
export interface Recorder {
  /** Takes an event. Waits only when the store cannot keep up. */
  write(event: Event): Promise<void> | undefined;
  /** Takes events that belong together: one append has them all, behind what was taken before. Resolves when they are in the log. */
  writeAll(events: readonly Event[]): Promise<void>;
  /** Resolves when everything taken so far is in the log. */
  flush(): Promise<void>;
}

/** What may lie in memory before the model has to wait for the store, in characters; an event counts for some besides its text. */
const MOST = 256 * 1024;
const EVENT = 64;

/** Speech of one driver: it is written as long as the run's epoch is still this driver's, and refused from then on. */
export function recorder(engine: Engine, live: Live, epoch: number): Recorder {
  const { clock, coalesceMs, beat } = engine;
  const aggregator = engine.aggregate();
  const self = {};
  let waiting: Event[] = [];
  let held = 0;
  /** Something waits that must not be gathered any longer: it goes as soon as the store is free. */
  let urgent = false;
  /** The last event was a delta. */
  let speaking = false;
  let writing: Promise<void> | undefined;
  let failure: unknown;
  let lastWrite = Number.NEGATIVE_INFINITY;
  let begun = 0;
  let timer: (() => void) | undefined;

  const takeAll = () => {
    const events = waiting.concat(aggregator.flush());
    waiting = [];
    held = 0;
    urgent = false;
    lastWrite = Math.max(clock.now(), begun);
    return events;
  };
  /** `at`: the beat it starts on, which a timer may be a little early for. */
  const start = (at = 0) => {
    timer?.();
    timer = undefined;
    begun = at;
    let events: Event[] | undefined;
    const writeAll = () => {
      events ??= takeAll();
      return append(engine, live, { epoch }, events);
    };
    writing = insisted(engine, live, writeAll)
      .catch((error: unknown) => {
        failure = error;
      })
      .then(() => {
        writing = undefined;
        schedule();
      });
  };
  const schedule = () => {
    if (writing || held === 0 || failure) return;
    if (urgent || beat.since(lastWrite)) start();
    else timer ??= beat.next(start);
  };
  const flush = async () => {
    while (!failure && (writing || held > 0)) {
      urgent = true;
      schedule();
      await writing;
    }
    if (failure) throw failure;
  };
  return {
    write(event) {
      if (failure) throw failure;
      const out = aggregator.append(event);
      if (coalesceMs === 0) out.push(...aggregator.flush());
      for (const event of out) waiting.push(event);
      held += EVENT + ("delta" in event ? event.delta.length : 0);
      const first = isDelta(event) && !speaking;
      speaking = isDelta(event);
      if (speaking) beat.hear(self);
      if (hasCompany(event) && coalesceMs > 0) lastWrite = clock.now();
      else if (first || held > MOST || !out.every(isDelta)) urgent = true;
      schedule();
      return held > MOST ? writing : undefined;
    },
    writeAll(events) {
      // Nothing is awaited between them, so the next append takes all.
      for (const event of events) {
        for (const out of aggregator.append(event)) waiting.push(out);
        held += EVENT;
      }
      speaking = false;
      return flush();
    },
    flush,
  };
}

/** What opens something is followed by its first delta, which goes at once; a finished task of a graph by its siblings and their barrier. */
function hasCompany(event: Event): boolean {
  return event.type.endsWith(".started") || (event.type === "step.ended" && event.writes !== undefined);
}
