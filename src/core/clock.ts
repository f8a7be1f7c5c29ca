/** Time comes in through here and nowhere else, so that tests can make it up. */
export interface Clock {
  now(): number;
  /** Calls `work` once after `ms`; the returned function calls it off. */
  after(ms: number, work: () => void): () => void;
}

/** Longest delay a Node timer takes; a longer one would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** The machine's clock. Its timers never keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, work) {
    const timer = setTimeout(work, Math.min(ms, LONGEST));
    (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer);
  },
};
