import type { Clock } from "../core/clock.ts";

/** The machine's clock. */
export const clock: Clock = {
  now: () => Date.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Waits, unless the signal aborts first. */
export function pause({ after }: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      calledOff();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const calledOff = after(ms, done);
    signal?.addEventListener("abort", done);
  });
}

const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/** How long to wait after so many failures in a row. Chance keeps a thousand clients from coming back at once. */
export function backoff(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** An id nobody else will think of. */
export function mint(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
