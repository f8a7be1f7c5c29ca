import type { Agent, StepContext } from "../agent/agent.ts";
import { runTool } from "../agent/run-tool.ts";
import { AppError, type Failure, toFailure } from "../core/error.ts";
import type { Event } from "../core/event.ts";
import { ID_PATTERN } from "../core/ids.ts";
import { offered, returned } from "../core/settle.ts";
import { completeStep, conclude, type Next } from "../core/step.ts";
import { type Call, readyCalls } from "../core/thread.ts";
import type { Engine } from "./engine.ts";
import { saveBlob } from "./files.ts";
import { append, catchUp, insisted, isConflict, type Live, queued, release, saveSnapshot } from "./live.ts";
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

type Driver = {
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
        driver.engine.log({ event: "step.failed", thread: driver.live.key.threadId, message: messageOf(error) });
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
      });
      await saveSnapshot(engine, live);
      live.driver = undefined; // still inside the queue: the next command may start a run, and must find nobody driving
      return "over";
    }
  });
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
  const { engine, live, stop, agent, record } = driver;
  if (!agent) return;
  const context = lend(engine, live, stop.signal);
  const steps = interruptible(agent.step(context)[Symbol.asyncIterator](), stop.signal);
  try {
    for (;;) {
      const turn = await steps.next();
      if (turn.done) break;
      const event = turn.value;
      if (event.type === "step.ended" && event.completed) await endStep(driver, event);
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

/** A model that does not heed the signal must not keep a cancelled run alive: `next` rejects when the signal does. */
function interruptible<T>(iterator: AsyncIterator<T>, signal: AbortSignal): { next(): Promise<IteratorResult<T>>; dispose(): void } {
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

/** Runs the server's calls side by side; results from outside may come in meanwhile, and free further ones. */
async function performCalls(driver: Driver): Promise<void> {
  const { engine, live, epoch, stop } = driver;
  const running = new Map<string, Promise<void>>();
  let failure: unknown;
  const news = follower(live);
  const aborted = once(stop.signal);
  try {
    for (;;) {
      if (failure) throw failure;
      const change = news.next(); // before looking, or what comes while the claims are written would be missed
      const ready = readyCalls(live.thread).filter((call) => !running.has(call.callId));
      if (stop.signal.aborted || (ready.length === 0 && running.size === 0)) return;
      // Written before anything runs: after a crash, a call that was begun can be told from one that was not.
      const claims = ready.map(
        (call): Event => ({ type: "call.claimed", callId: call.callId, by: "server", claim: (call.claim?.claim ?? 0) + 1 }),
      );
      await insisted(engine, live, () => append(engine, live, { epoch }, claims));
      for (const call of ready) {
        const work = perform(driver, call)
          .catch((error: unknown) => {
            failure = error;
          })
          .finally(() => running.delete(call.callId));
        running.set(call.callId, work);
      }
      if (running.size > 0) await Promise.race([...running.values(), change, aborted.promise]);
    }
  } finally {
    news.dispose();
    aborted.dispose();
  }
}

async function perform({ engine, live, epoch, stop, agent, record }: Driver, call: Call): Promise<void> {
  const { callId } = call;
  const { threadId, user, app } = live.key;
  const tool = agent?.tools.get(call.name);
  const execution = tool?.execute
    ? await runTool(tool, {
        input: call.input,
        context: {
          callId,
          threadId,
          user,
          values: live.thread.options.values ?? {},
          progress: (output) => void record.write({ type: "tool.progressed", callId, output }),
        },
        signal: stop.signal,
        internal: live.thread.options.toolExecution?.internalConfig ?? {},
        clock: engine.clock,
        cache: engine.cache,
        scope: JSON.stringify([app, user, live.thread.turn?.agent]),
      })
    : ({ type: "failed", error: `The tool ${call.name} is no longer available` } as const);
  if (stop.signal.aborted) return;
  await record.flush();
  await insisted(engine, live, async () => {
    // A cancel or a takeover may have settled it meanwhile: the first settlement wins.
    if (live.thread.epoch !== epoch || !live.thread.calls.has(callId)) return;
    const source = { by: "server", via: "engine" };
    if (execution.type === "handed-back") {
      const timed = { ...call, timeout: execution.timeout ?? tool?.timeout };
      return append(engine, live, { epoch }, [offered(timed, live.thread.ordinal + 1, engine.clock.now())]);
    }
    const given = execution.type === "completed" ? { output: execution.output } : { error: execution.error };
    await append(engine, live, { epoch }, [returned(call, execution.type, source, given)]);
    engine.log({ event: "call.settled", thread: threadId, call: callId, tool: call.name, status: execution.type, by: "server" });
  });
}

function lend(engine: Engine, live: Live, signal: AbortSignal): StepContext {
  const { key } = live;
  return {
    thread: live.thread,
    signal,
    mint: engine.ids,
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

function follower(live: Live): { next(): Promise<void>; dispose(): void } {
  let wake = () => {};
  const take = () => wake();
  live.followers.add(take);
  return {
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    dispose: () => void live.followers.delete(take),
  };
}

function once(signal: AbortSignal): { promise: Promise<undefined>; dispose(): void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const wake = () => resolve(undefined);
  if (signal.aborted) wake();
  else signal.addEventListener("abort", wake, { once: true });
  return { promise, dispose: () => signal.removeEventListener("abort", wake) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
