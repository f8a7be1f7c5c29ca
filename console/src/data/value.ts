import type { Store } from "handback/client";

/** A store that its owner writes to. */
export type Value<T> = Store<T> & { set(value: T): void };

export function value<T>(initial: T): Value<T> {
  let now = initial;
  const listeners = new Set<() => void>();
  return {
    getSnapshot: () => now,
    subscribe(listener) {
      const entry = () => listener();
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    set(next) {
      if (Object.is(now, next)) return;
      now = next;
      for (const listener of [...listeners]) listener();
    },
  };
}
