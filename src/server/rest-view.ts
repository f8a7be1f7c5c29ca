import { isDelta, type StoredEvent } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { follow } from "../engine/follow.ts";
import type { Door } from "./door.ts";

const NOTHING = new Uint8Array();

export type ViewOptions = {
  after: number;
  /** To the end of the run, or over its waits to the end of the turn. */
  until: "run" | "turn";
  /** How long one wait may last; then the view ends where it is. */
  patience: number;
  signal: AbortSignal;
};

/**
 * What the log says behind a seq, read to its end. Nothing is kept for it: cut off by a restart or a disconnect, the same
 * view is there for whoever asks again. When the server shuts down it ends where it is.
 */
export async function view({ engine, streams }: Door, key: ThreadKey, options: ViewOptions): Promise<StoredEvent[]> {
  const { after, until, patience, signal } = options;
  const events: StoredEvent[] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let failure: { error: unknown } | undefined;
  let calledOff = () => {};
  // Held like a stream, so that the end of the server ends it too; heartbeats have nobody to go to.
  const reader = streams.open(
    async function* (stopped) {
      try {
        for await (const batch of follow(engine, key, { after, until, signal: stopped })) {
          for (const event of batch.events) {
            if (!isDelta(event)) events.push(event);
            if (event.type === "run.started") calledOff();
            if (event.type === "run.ended") calledOff = engine.clock.after(patience, resolve);
          }
          yield NOTHING;
        }
      } catch (error) {
        failure = { error };
      }
    },
    { write: () => true, end: resolve, destroy: resolve },
  );
  const hangUp = () => resolve();
  signal.addEventListener("abort", hangUp, { once: true });
  if (signal.aborted) resolve();
  await over;
  signal.removeEventListener("abort", hangUp);
  calledOff();
  reader.closed();
  if (failure) throw failure.error;
  return events;
}
