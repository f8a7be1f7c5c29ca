import { keyName, type ThreadKey } from "../core/ids.ts";

/**
 * Says that a thread has news. It carries nothing that is not in the store and may lose or repeat signals:
 * readers go back to the store, so a bus can only make them faster.
 */
export interface Bus {
  publish(key: ThreadKey): void;
  /** Calls `wake` for news of one thread, or of every thread, until the returned function is called. */
  listen(key: ThreadKey | "all", wake: (key: ThreadKey) => void): () => void;
}

/** A bus within one process. */
export function localBus(): Bus {
  const listeners = new Map<string, Set<(key: ThreadKey) => void>>();
  return {
    publish(key) {
      for (const wake of listeners.get(keyName(key)) ?? []) wake(key);
      for (const wake of listeners.get("all") ?? []) wake(key);
    },
    listen(key, wake) {
      const name = key === "all" ? key : keyName(key);
      const set = listeners.get(name) ?? new Set();
      const listener = (news: ThreadKey) => wake(news); // its own, however often the same function listens
      listeners.set(name, set.add(listener));
      return () => {
        if (set.delete(listener) && set.size === 0 && listeners.get(name) === set) listeners.delete(name);
      };
    },
  };
}
