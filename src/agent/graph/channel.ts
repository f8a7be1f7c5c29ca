import type { Event } from "../../core/event.ts";

/** Brings what many tasks say at once into the one line of events a step is. */
export type Channel = {
  /** Says an event; resolves when the driver has taken it, and fails when the step is over first. */
  say(event: Event): Promise<void>;
  /** Writes events in one append; resolves when they, and all that was said before, are on disk. */
  commit(events: readonly Event[]): Promise<void>;
  /** No more comes. */
  end(): void;
  events(): AsyncGenerator<Event | readonly Event[]>;
};

export function channel(signal: AbortSignal): Channel {
  type Item = { said: Event | readonly Event[]; taken: () => void; lost: (why: Error) => void };
  let waiting: Item[] = [];
  let batch: Item[] = []; // being taken
  let wake = () => {};
  let ended = false;
  const put = (said: Event | readonly Event[]) => {
    const taken = new Promise<void>((resolve, reject) => {
      if (ended) return reject(new Error("The step is over"));
      waiting.push({ said, taken: resolve, lost: reject });
      wake();
    });
    taken.catch(() => {}); // not everybody waits for it
    return taken;
  };
  const end = () => {
    ended = true;
    wake();
  };
  return {
    say: put,
    commit: put,
    end,
    async *events() {
      signal.addEventListener("abort", end, { once: true });
      try {
        for (;;) {
          batch = waiting;
          waiting = [];
          for (const { said, taken } of batch) {
            yield said;
            taken();
          }
          if (waiting.length > 0) continue;
          if (ended) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        ended = true;
        for (const { lost } of [...batch, ...waiting]) lost(new Error("The step is over"));
        signal.removeEventListener("abort", end);
      }
    },
  };
}
