import type { Event } from "../core/event.ts";

/** Where a graph that runs by itself hands over what it says and what must be on disk before it goes on. */
export type Outlet = {
  say(events: readonly Event[]): void;
  /** Resolves when it is on disk, or when nobody listens any more. */
  save(): Promise<void>;
  end(error?: unknown): void;
  /** What has come since the last time, and whether something waits to be on disk; `undefined` at the end. Throws what it ended with. */
  take(): Promise<{ events: Event[]; saves: boolean; saved(): void } | undefined>;
  close(): void;
};

export function outlet(): Outlet {
  let events: Event[] = [];
  let saves: (() => void)[] = [];
  let ended: { error?: unknown } | undefined;
  let closed = false;
  let wake = () => {};
  return {
    say(more) {
      events.push(...more);
      wake();
    },
    save() {
      if (closed) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      saves.push(resolve);
      wake();
      return promise;
    },
    end(error) {
      ended ??= { error };
      wake();
    },
    async take() {
      for (;;) {
        if (ended?.error !== undefined) throw ended.error;
        if (events.length + saves.length > 0) break;
        if (ended) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      // What belongs to the same barrier comes in the same round of the loop, and costs no append of its own.
      if (saves.length > 0) await new Promise((resolve) => setImmediate(resolve));
      const taken = saves;
      const said = events;
      [events, saves] = [[], []];
      return {
        events: said,
        saves: taken.length > 0,
        saved: () => {
          for (const done of taken) done();
        },
      };
    },
    close() {
      closed = true;
      for (const done of saves) done();
    },
  };
}
