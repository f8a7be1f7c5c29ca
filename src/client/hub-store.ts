/** A value that changes, as `useSyncExternalStore` reads it. */
export type Store<T> = {
  getSnapshot(): T;
  /** Calls back after every change; the returned function stops it. */
  subscribe(listener: () => void): () => void;
};

/** A store that its owner writes to. */
export type OwnStore<T> = Store<T> & { set(value: T): void; readonly listeners: number };

/** `first` is called when somebody begins to listen, `last` when nobody does any more. */
export function ownStore<T>(initial: T, { first, last }: { first?: () => void; last?: () => void } = {}): OwnStore<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    getSnapshot: () => value,
    subscribe(listener) {
      // Wrapped, so that the same function may listen twice.
      const entry = () => listener();
      listeners.add(entry);
      if (listeners.size === 1) first?.();
      return () => {
        if (listeners.delete(entry) && listeners.size === 0) last?.();
      };
    },
    set(next) {
      if (Object.is(value, next)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    get listeners() {
      return listeners.size;
    },
  };
}
