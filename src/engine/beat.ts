import type { Clock } from "../core/clock.ts";

/** A pulse that all runs of a process share: what they have gathered when it comes is committed together, at the price of one. */
export type Beat = {
  /** Whether there was a beat since the time `at`. */
  since(at: number): boolean;
  /** Calls `work` at the next beat with that beat's time; the returned function calls it off. */
  next(work: (at: number) => void): () => void;
  /** Takes note of who speaks: the more do at once, the slower the beat, so that each says more at a time. */
  hear(speaker: object): void;
};

/** So many speak at full pace. For each crowd of this size the beat takes one interval more, up to the slowest. */
const CROWD = 250;
const SLOWEST = 4;
/** Whoever said something in so many milliseconds is speaking. */
const WINDOW = 1_000;

/** A beat every so many milliseconds, with one timer while anybody waits for it; 0 is always. */
export function beat(clock: Clock, everyMs: number): Beat {
  const waiting = new Set<(at: number) => void>();
  let ticking = false;
  const heard = new Set<object>(); // since the window began
  let windowEnd = 0;
  let before = 0; // how many there were in the window before

  const behind = (at: number) => {
    const speaking = Math.max(before, heard.size);
    const interval = everyMs * Math.min(SLOWEST, 1 + Math.floor(speaking / CROWD));
    return (Math.floor(at / interval) + 1) * interval;
  };
  return {
    since: (at) => everyMs === 0 || behind(at) <= clock.now(),
    next(work) {
      if (!ticking) {
        ticking = true;
        const now = clock.now();
        const at = behind(now);
        clock.after(at - now, () => {
          ticking = false;
          const due = [...waiting];
          waiting.clear();
          for (const work of due) work(at);
        });
      }
      waiting.add(work);
      return () => waiting.delete(work);
    },
    hear(speaker) {
      const now = clock.now();
      if (now >= windowEnd) {
        before = now < windowEnd + WINDOW ? heard.size : 0;
        windowEnd = now + WINDOW;
        heard.clear();
      }
      heard.add(speaker);
    },
  };
}
