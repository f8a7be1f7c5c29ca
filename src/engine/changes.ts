import { keyName, type ThreadKey } from "../core/ids.ts";
import type { Engine } from "./engine.ts";

/** What a reader may leave untold. One that is so far behind begins anew, which is shorter. */
const MOST = 10_000;

export type ChangesOptions = {
  wanted: (key: ThreadKey) => boolean;
  /** One thread is told of no more often than this, the first time at once; 0 is as often as it is asked. */
  everyMs: number;
  signal: AbortSignal;
};

/**
 * Threads with news, from this call on until `signal` aborts. It holds names and no news, so that a slow reader costs
 * one entry for each thread however much happens in it. Ends early when the reader has fallen too far behind.
 */
export function changes(
  { bus, clock }: Pick<Engine, "bus" | "clock">,
  { wanted, everyMs, signal }: ChangesOptions,
): AsyncGenerator<ThreadKey[]> {
  const ready = new Map<string, ThreadKey>();
  const told = new Set<string>(); // in this interval
  const later = new Map<string, ThreadKey>(); // changed again since
  let ended = signal.aborted;
  let timer: (() => void) | undefined;
  let wake = () => {};

  const tell = (name: string, key: ThreadKey) => {
    if (everyMs > 0) told.add(name);
    ready.set(name, key);
    wake();
  };
  const nextInterval = () => {
    timer = undefined;
    told.clear();
    for (const [name, key] of later) tell(name, key);
    later.clear();
    if (told.size > 0) timer = clock.after(everyMs, nextInterval);
  };
  const unlisten = bus.listen("all", (key) => {
    if (!wanted(key)) return;
    const name = keyName(key);
    if (told.has(name)) later.set(name, key);
    else tell(name, key);
    if (everyMs > 0) timer ??= clock.after(everyMs, nextInterval);
    if (ready.size + later.size > MOST) stop();
  });
  const stop = () => {
    ended = true;
    unlisten();
    timer?.();
    wake();
  };
  signal.addEventListener("abort", stop, { once: true });

  return (async function* () {
    try {
      for (;;) {
        if (ended) return;
        if (ready.size === 0) {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          await promise;
          continue;
        }
        const keys = [...ready.values()];
        ready.clear();
        yield keys;
      }
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
    }
  })();
}
