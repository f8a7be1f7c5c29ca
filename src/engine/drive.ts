import type { Agent, StepContext } from "../agent/agent.ts";
import { AppError, type Failure, toFailure } from "../core/error.ts";
import type { Event } from "../core/event.ts";
import { ID_PATTERN } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { completeStep, conclude, type Next } from "../core/step.ts";
import { readyCalls } from "../core/thread.ts";
import type { Engine } from "./engine.ts";
import { saveBlob } from "./files.ts";
import { append, catchUp, insisted, isConflict, type Live, queued, release, saveSnapshot } from "./live.ts";
import { performCalls } from "./perform-calls.ts";
import { type Recorder, recorder } from "./record.ts";

/** Runs the thread's agent to the end of its run, whoever is or is not watching. Called inside the thread's queue. */
export function drive(engine: Engine, live: Live): void {
  const { run, turn, epoch } = live.thread;
  if (!run || !turn) return;
  const stop = new AbortController();
  const limit = live.thread.options.timeout ?? engine.runTimeout;
  const left = limit > 0 ? Math.max(0, run.startedAt + limit - engine.clock.now()) : 0;
  const calledOff = limit > 0 ? engine.clock.after(left, () => stop.abort("timeout")) : () => {};
  const self = { stop: (reason: string) => stop.abort(reason) };
  live.driver = self;
  live.users += 1;
  if (run.cancel) stop.abort("cancel");
  const driver: Driver = { engine, live, epoch, stop, agent: engine.agents.get(turn.agent), limit, record: recorder(engine, live, epoch) };
  void loop(driver)
    .catch((error: unknown) => {
      // Another driver has the run, the thread is gone or the store is: nothing this one may still say.
      if (!isConflict(error)) engine.log({ event: "drive.failed", thread: live.key.threadId, message: messageOf(error) });
    })
    .finally(() => {
      calledOff();
      stop.abort("over");
      if (live.driver === self) live.driver = undefined;
      release(engine, live);
    });
}

/** A run that this process drives. */
export type Driver = {
  engine: Engine;
  live: Live;
  epoch: number;
  stop: AbortController;
  agent: Agent | undefined;
  limit: number;
  record: Recorder;
};

/** Asks what is next, does it, and asks again, until the answer is an ending. */
async function loop(driver: Driver): Promise<void> {
  let failure: Failure | undefined;
  for (;;) {
    const next = await ask(driver, failure);
    if (next === "over") return;
    try {
      if (next === "calls") await performCalls(driver);
      else await performStep(driver);
    } catch (error) {
      // Either another driver has the run, which `ask` sees once this one has caught up, or the agent itself threw a conflict.
      if (isConflict(error)) await queued(driver.live, () => catchUp(driver.engine, driver.live));
      if (driver.stop.signal.reason === "shutdown" || driver.stop.signal.reason === "removed") return;
      failure = toFailure(error);
      if (failure.code === "internal")
        driver.engine.log({ event: "step.failed", thread: driver.live.key.threadId, message: reasonOf(error) });
    }
  }
}

/**
 * What next? An ending is decided on the thread as it is at this moment and written behind exactly that seq:
 * a result or a cancel that came first is seen, one that comes later finds the run ended.
 */
async function ask(driver: Driver, failure: Failure | undefined): Promise<"step" | "calls" | "over"> {
  const { engine, live, epoch, stop, agent, limit } = driver;
  return insisted(engine, live, async () => {
    for (;;) {
      const { thread } = live;
      if (!thread.run || thread.epoch !== epoch) return "over";
      if (stop.signal.reason === "shutdown" || stop.signal.reason === "removed") return "over";
      let next: Next;
      if (thread.run.cancel) next = { type: "done" };
      else if (stop.signal.reason === "timeout")
        next = { type: "fail", error: { code: "timeout", message: `The run took longer than ${limit} ms` } };
      else if (failure) next = { type: "fail", error: failure };
      else if (!agent) next = { type: "fail", error: { code: "not_found", message: `There is no agent ${thread.turn?.agent} any more` } };
      else if (readyCalls(thread).length > 0) return "calls";
      else next = nextOf(driver, agent);
      if (next.type === "step") return "step";
      const { run } = thread;
      try {
        await append(engine, live, { seq: thread.seq }, conclude(thread, next));
      } catch (error) {
        if (!isConflict(error) || live.gone) throw error;
        await catchUp(engine, live);
        continue;
      }
      const outcome = live.thread.ended?.outcome;
      const ms = engine.clock.now() - run.startedAt;
      const code = outcome?.type === "failed" ? outcome.error.code : undefined;
      engine.log({
        event: "run.ended",
        thread: live.key.threadId,
        run: run.runId,
        agent: thread.turn?.agent,
        outcome: outcome?.type,
        code,
        ms,
        ...marks(thread.options.attributes),
      });
      await saveSnapshot(engine, live);
      live.driver = undefined; // still inside the queue: the next command may start a run, and must find nobody driving
      return "over";
    }
  });
}

/** What a turn is marked with, as fields of a log line: plain values only, under names of their own. */
function marks(attributes: JsonObject = {}): Record<string, string | number | boolean> {
  const plain = Object.entries(attributes).filter(([, value]) => value !== null && typeof value !== "object");
  return Object.fromEntries(plain.map(([name, value]) => [`attributes.${name}`, value as string | number | boolean]));
}

/** What an agent throws instead of an answer is the failure of its run. */
function nextOf({ engine, live }: Driver, agent: Agent): Next {
  try {
    return agent.next(live.thread);
  } catch (error) {
    engine.log({ event: "step.failed", thread: live.key.threadId, message: messageOf(error) });
    return { type: "fail", error: toFailure(error) };
  }
}

async function performStep(driver: Driver): Promise<void> {
  const { stop, agent, record } = driver;
  if (!agent) return;
  const context = lend(driver);
  const steps = interruptible(agent.step(context)[Symbol.asyncIterator](), stop.signal);
  try {
    for (;;) {
      const turn = await steps.next();
      if (turn.done) break;
      const event = turn.value;
      if (isBatch(event)) await record.writeAll(event);
      // A task of a graph made no calls of its own: its end goes with its barrier.
      else if (event.type === "step.ended" && event.completed && event.writes === undefined) await endStep(driver, event);
      else {
        const full = record.write(event);
        if (full !== undefined) await full;
      }
    }
    await record.flush();
  } catch (error) {
    await record.flush();
    if (!stop.signal.aborted || stop.signal.reason === "shutdown") throw error;
  } finally {
    steps.dispose();
  }
}

function isBatch(event: Event | readonly Event[]): event is readonly Event[] {
  return Array.isArray(event);
}

/** A model that does not heed the signal must not keep a cancelled run alive: `next` rejects when the signal does. */
export function interruptible<T>(iterator: AsyncIterator<T>, signal: AbortSignal): { next(): Promise<IteratorResult<T>>; dispose(): void } {
  let interrupt: (error: Error) => void = () => {};
  const stop = () => interrupt(new AppError("timeout", "Stopped"));
  signal.addEventListener("abort", stop, { once: true });
  return {
    next: () =>
      new Promise((resolve, reject) => {
        interrupt = reject;
        if (signal.aborted) stop();
        else iterator.next().then(resolve, reject);
      }),
    dispose() {
      signal.removeEventListener("abort", stop);
      // Lets the model close its connection; one that is stuck in a read hears the signal instead.
      iterator.return?.()?.then(undefined, () => {});
    },
  };
}

/** Ends a step and hands its calls out, in one append. */
async function endStep({ engine, live, epoch, record }: Driver, event: Extract<Event, { type: "step.ended" }>): Promise<void> {
  await record.flush();
  await insisted(engine, live, async () => {
    const { thread, key } = live;
    const asks = [...thread.calls.values()].some((call) => call.approval && call.stepId === event.stepId);
    const granted = new Map<string, string>();
    if (asks) {
      for (const grant of await engine.store.grants({ app: key.app, user: key.user })) {
        if (grant.threadId === undefined || grant.threadId === key.threadId) granted.set(grant.tool, grant.id);
      }
    }
    await append(engine, live, { epoch }, completeStep(thread, event, engine.clock.now(), granted));
  });
}

function lend(driver: Driver): StepContext {
  const { engine, live, stop } = driver;
  const { key } = live;
  return {
    thread: live.thread,
    key,
    signal: stop.signal,
    clock: engine.clock,
    mint: engine.ids,
    async runCalls(mine) {
      await driver.record.flush(); // what made them is in the log before they are looked for
      await performCalls(driver, mine);
    },
    model: engine.model,
    async callId(wanted) {
      const name = JSON.stringify([key.app, wanted]);
      if (!ID_PATTERN.test(wanted) || engine.reserved.has(name)) return engine.ids("call");
      // Before the index is asked: another thread may want the same id now, and its row is not there yet either.
      engine.reserved.add(name);
      engine.clock.after(RESERVE_MS, () => engine.reserved.delete(name));
      return (await engine.store.taken(key.app, [wanted])).size > 0 ? engine.ids("call") : wanted;
    },
    async blob(id) {
      const blob = await engine.store.blob(key, id);
      if (!blob) throw new AppError("not_found", `The file ${id} is no longer there`);
      return blob;
    },
    saveBlob: (mediaType, data) => saveBlob(engine, key, mediaType, data),
  };
}

const RESERVE_MS = 60_000;

/** What went wrong underneath, which only the log may know. */
function reasonOf(error: unknown): string {
  return error instanceof AppError && error.cause !== undefined ? `${error.message}: ${messageOf(error.cause)}` : messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
