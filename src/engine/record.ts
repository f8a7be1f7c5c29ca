import { type Event, isDelta } from "../core/event.ts";
import type { Engine } from "./engine.ts";
import { append, insisted, type Live } from "./live.ts";

/** Writes what a run says, in its order, gathered into few appends. */
export interface Recorder {
  /** Takes an event. Waits only when the store cannot keep up. */
  write(event: Event): Promise<void> | undefined;
  /** Resolves when everything taken so far is in the log. */
  flush(): Promise<void>;
}

/** What may lie in memory before the model has to wait for the store, in characters; an event counts for some besides its text. */
const MOST = 256 * 1024;
const EVENT = 64;

/** Speech of one driver: it is written as long as the run's epoch is still this driver's, and refused from then on. */
export function recorder(engine: Engine, live: Live, epoch: number): Recorder {
  const { clock, coalesceMs } = engine;
  const aggregator = engine.aggregate();
  let waiting: Event[] = [];
  let held = 0;
  /** Something waits that must not be gathered any longer: it goes as soon as the store is free. */
  let urgent = false;
  /** The last event was a delta. */
  let speaking = false;
  let writing: Promise<void> | undefined;
  let failure: unknown;
  let lastWrite = Number.NEGATIVE_INFINITY;
  let timer: (() => void) | undefined;

  const takeAll = () => {
    const events = waiting.concat(aggregator.flush());
    waiting = [];
    held = 0;
    urgent = false;
    lastWrite = clock.now();
    return events;
  };
  const start = () => {
    timer?.();
    timer = undefined;
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
    const due = urgent ? 0 : lastWrite + coalesceMs - clock.now();
    if (due <= 0) start();
    else timer ??= clock.after(due, start);
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
      // What opens something has company coming: its first delta, which goes at once, takes it along.
      if (event.type.endsWith(".started") && coalesceMs > 0) lastWrite = clock.now();
      else if (first || held > MOST || !out.every(isDelta)) urgent = true;
      schedule();
      return held > MOST ? writing : undefined;
    },
    async flush() {
      while (!failure && (writing || held > 0)) {
        urgent = true;
        schedule();
        await writing;
      }
      if (failure) throw failure;
    },
  };
}
