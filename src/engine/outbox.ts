import { keyName } from "../core/ids.ts";
import type { Delivery } from "../store/store.ts";
import { deliver, type ReadResult, textOf } from "./deliver.ts";
import type { Engine } from "./engine.ts";
import type { Webhooks } from "./webhooks.ts";

const EVERY_MS = 500;
const AT_ONCE = 100;

/** To one origin: a receiver that hangs must not hold up the others. */
const AT_ONCE_EACH = 10;
const LOOK = 500;

/**
 * Announces external calls to the callbacks of their threads, from the outbox: at least once each, always under the same id,
 * until somebody has taken them. What is under way when the process dies is still in the outbox when the next one starts.
 */
export function outbox(engine: Engine, hooks: Webhooks, read: ReadResult): { stop(): Promise<void> } {
  const { clock, store, bus } = engine;
  const underWay = new Map<string, { origin: string; work: Promise<void> }>();
  const stop = new AbortController();
  let timer = () => {};
  let round: Promise<void> = Promise.resolve();
  let waiting = false;

  const start = (delivery: Delivery) => {
    const name = JSON.stringify([delivery.app, delivery.id]);
    const { origin } = new URL(delivery.url);
    if (underWay.has(name) || underWay.size >= AT_ONCE) return;
    if (Array.from(underWay.values()).filter((other) => other.origin === origin).length >= AT_ONCE_EACH) return;
    const work = deliver(engine, hooks, read, delivery, stop.signal)
      .catch((error: unknown) => engine.log({ event: "delivery.failed", call: delivery.id, message: textOf(error) }))
      .finally(() => underWay.delete(name));
    underWay.set(name, { origin, work });
  };
  const look = async () => {
    waiting = false;
    try {
      // Those under way are still due: they must not hide the others.
      for (const due of await store.dueDeliveries(clock.now(), LOOK)) start(due);
    } catch (error) {
      engine.log({ event: "outbox.failed", message: textOf(error) });
    }
    if (!stop.signal.aborted && !waiting) plan(EVERY_MS);
  };
  const plan = (ms: number) => {
    timer();
    timer = clock.after(ms, () => {
      round = round.then(look);
    });
  };
  // A call just handed out need not wait for the next look.
  const unlisten = bus.listen("all", (key) => {
    const thread = engine.live.get(keyName(key))?.thread;
    if (waiting || stop.signal.aborted || thread?.ordinal === 0 || !thread?.options.toolExecution?.outsideConfig?.callbackUrl) return;
    waiting = true;
    plan(0);
  });
  plan(0);
  return {
    async stop() {
      stop.abort();
      unlisten();
      timer();
      await Promise.allSettled([round, ...Array.from(underWay.values(), ({ work }) => work)]);
    },
  };
}
