import type { Engine } from "./engine.ts";
import { KEPT_MS } from "./idempotency.ts";
import { queued, using } from "./live.ts";
import { removeThread } from "./remove.ts";
import { adopt, submit } from "./submit.ts";

const EVERY_MS = 500;
const RETIRE_EVERY_MS = 10 * 60_000;
const AT_ONCE = 200;

/** Fires deadlines, takes over runs that died with a process and deletes what is too old. Returns how to stop it. */
export function sweep(
  engine: Engine,
  options: { retention?: number | undefined },
): { stop: () => Promise<void>; recovered: Promise<void> } {
  let stopped = false;
  let cancel = () => {};
  let nextRetire = engine.clock.now();
  let round: Promise<void> = Promise.resolve();
  const tick = async () => {
    try {
      await expireDue(engine);
      if (engine.clock.now() >= nextRetire) {
        nextRetire = engine.clock.now() + RETIRE_EVERY_MS;
        await engine.store.forgetRequests(engine.clock.now() - KEPT_MS);
        if (options.retention !== undefined) await retire(engine, options.retention);
      }
    } catch (error) {
      engine.log({ event: "sweep.failed", message: error instanceof Error ? error.message : String(error) });
    }
    if (!stopped) schedule();
  };
  const schedule = () => {
    cancel = engine.clock.after(EVERY_MS, () => {
      round = tick();
    });
  };
  const recovered = recoverAll(engine);
  round = tick(); // at once: deadlines that passed while no process ran have waited long enough
  return {
    recovered,
    async stop() {
      stopped = true;
      cancel();
      await Promise.allSettled([round, recovered]);
    },
  };
}

/** Deadlines are rows, so that those which passed while no process ran fire now, each once. */
export async function expireDue(engine: Engine): Promise<void> {
  for (;;) {
    const now = engine.clock.now();
    const due = await engine.store.due(now, AT_ONCE);
    let fired = 0;
    for (const { app, user, threadId, id } of due) {
      if (engine.stopping) return;
      await attempted(engine, threadId, async () => {
        await submit(
          engine,
          { app, user, threadId },
          { type: "expire", id, runId: engine.ids("run"), by: "handback", via: "deadline", now },
        );
        engine.log({ event: "wait.expired", thread: threadId, id });
        fired += 1;
      });
    }
    if (due.length < AT_ONCE || fired === 0) return;
  }
}

async function recoverAll(engine: Engine): Promise<void> {
  for (const key of await engine.store.running()) {
    if (engine.stopping) return;
    await attempted(engine, key.threadId, () => using(engine, key, (live) => queued(live, () => adopt(engine, live))));
  }
}

/** One thread that cannot be read or decided on must not keep the others from their turn. */
async function attempted(engine: Engine, thread: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    engine.log({ event: "sweep.failed", thread, message: error instanceof Error ? error.message : String(error) });
  }
}

async function retire(engine: Engine, age: number): Promise<void> {
  const before = engine.clock.now() - age;
  for (;;) {
    const keys = await engine.store.retire(before, AT_ONCE);
    for (const key of keys) await removeThread(engine, key);
    if (keys.length > 0) engine.log({ event: "threads.retired", count: keys.length });
    if (keys.length < AT_ONCE) return;
  }
}
