import { runTool } from "../agent/run-tool.ts";
import type { Event } from "../core/event.ts";
import { offered, returned } from "../core/settle.ts";
import { type Call, readyCalls } from "../core/thread.ts";
import type { Driver } from "./drive.ts";
import { append, insisted, type Live } from "./live.ts";

/** Runs the server's calls side by side; results from outside may come in meanwhile, and free further ones. */
export async function performCalls(driver: Driver, mine: (call: Call) => boolean = () => true): Promise<void> {
  const { engine, live, epoch, stop } = driver;
  const running = new Map<string, Promise<void>>();
  let failure: unknown;
  const news = follower(live);
  const aborted = once(stop.signal);
  try {
    for (;;) {
      if (failure) throw failure;
      const change = news.next(); // before looking, or what comes while the claims are written would be missed
      const ready = readyCalls(live.thread).filter((call) => mine(call) && !running.has(call.callId));
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
