import { useSyncExternalStore } from "react";

type Run = { since: number; stop: () => void };

/** What this tab runs right now, by call. It goes on while its card is scrolled out of the page. */
let runs: ReadonlyMap<string, Run> = new Map();
const listeners = new Set<() => void>();

export function useRun(callId: string): Run | undefined {
  return useSyncExternalStore(subscribe, () => runs.get(callId));
}

/** Does it unless it is being done already. */
export async function runOnce(callId: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  if (runs.has(callId)) return;
  const stop = new AbortController();
  set(new Map([...runs, [callId, { since: Date.now(), stop: () => stop.abort() }]]));
  try {
    await work(stop.signal);
  } finally {
    set(new Map([...runs].filter(([id]) => id !== callId)));
  }
}

function set(next: ReadonlyMap<string, Run>): void {
  runs = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
