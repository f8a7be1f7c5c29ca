import type { Clock } from "../core/clock.ts";

export type FakeClock = Clock & {
  /** Lets `ms` pass: fires what is due in order, and lets promises settle before, between and after. */
  advance(ms: number): Promise<void>;
};

/** Time that stands still until it is told to pass. */
export function fakeClock(start = 0): FakeClock {
  type Timer = { at: number; work: () => void };
  const timers: Timer[] = []; // by time, then by age
  let now = start;
  return {
    now: () => now,
    after(ms, work) {
      const timer = { at: now + Math.max(0, ms), work };
      const place = timers.findIndex(({ at }) => at > timer.at);
      timers.splice(place < 0 ? timers.length : place, 0, timer);
      return () => {
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (let timer = timers[0]; timer && timer.at <= until; timer = timers[0]) {
        timers.shift();
        now = timer.at;
        timer.work();
        await settle();
      }
      now = until;
    },
  };
}

/** One turn of the event loop: all promises that can settle without time have settled. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
