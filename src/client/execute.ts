import type { Clock } from "../core/clock.ts";
import type { Json } from "../core/json.ts";
import type { Calls } from "./calls.ts";
import { HandbackError, isTemporary } from "./handback-error.ts";
import { backoff, mint, pause } from "./time.ts";
import type { Call } from "./wire.ts";

/** What a tool is told besides its input. */
export type ExecuteContext = {
  callId: string;
  threadId: string;
  name: string;
  /** Aborted when the call is no longer ours to run: cancelled, expired, claimed by somebody else, or the executor stops. */
  signal: AbortSignal;
  /** Counts from 1; a retried tool sees 2. */
  attempt: number;
};

/**
 * Handlers for tools that are declared elsewhere, typed by their declarations.
 *
 * @example
 * import type { tools } from "../server/tools.ts"; // [tool({ name: "get_menu", input: z.object({ category: z.string() }) })]
 * const handlers: HandlersOf<typeof tools> = { get_menu: ({ category }) => fetchMenu(category) };
 * await handback.execute({ tools: handlers });
 */
export type HandlersOf<Tools extends readonly Declared[]> = {
  [T in Tools[number] as NonNullable<T["types"]>["name"]]: (
    input: NonNullable<T["types"]>["input"],
    context: ExecuteContext,
  ) => NonNullable<T["types"]>["output"] | Promise<NonNullable<T["types"]>["output"]>;
};

type Declared = { readonly types?: { name: string; input: unknown; output: unknown } };

/** Tools by name. What they return is the result; what they throw is told to the model. */
export type ExecuteTools<Inputs> = { [Name in keyof Inputs]: (input: Inputs[Name], context: ExecuteContext) => unknown };

export type ExecuteOptions<Inputs> = {
  tools: ExecuteTools<Inputs>;
  /** Only calls of this thread. Default: the whole queue. */
  threadId?: string;
  /** The name this executor claims under. */
  by?: string;
  /** How long a claim holds without a heartbeat. Default 30. */
  seconds?: number;
  /** Calls at once. Default 10. */
  concurrency?: number;
  /** Attempts after the first failed one. Default 0. */
  retries?: number;
  /** Takes no more calls, and ends when those it runs are done. */
  finish?: AbortSignal | undefined;
  /** Stops it: running tools are told, their claims are given back. */
  signal?: AbortSignal | undefined;
  /** Hears of what went wrong: tools that threw, results that were refused, a server that cannot be reached. */
  onError?: (error: unknown, call?: Call) => void;
};

/** How often to look where calls cannot be watched. */
const POLL_MS = 2_000;

/** Runs calls of these tools, each by one executor at a time, until it is stopped. */
export async function execute<Inputs>(calls: Calls, clock: Clock, options: ExecuteOptions<Inputs>): Promise<void> {
  const { threadId, by = mint("executor"), seconds = 30, concurrency = 10, retries = 0, onError = () => {} } = options;
  const tools = options.tools as Record<string, (input: Json, context: ExecuteContext) => unknown>;
  const query = { tools: Object.keys(tools), kind: "call" as const, ...(threadId !== undefined && { threadId }) };
  /** Ends everything: the caller's signal, or a server that refuses us. */
  const over = new AbortController();
  const stop = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal;
  /** No more calls are taken. */
  const closed = options.finish ? AbortSignal.any([options.finish, stop]) : stop;
  const waiting = new Map<string, Call>();
  const running = new Map<string, { lost: AbortController; done: Promise<void> }>();
  /** Calls whose tool has not returned, also those we gave up: nothing runs twice at once. */
  const unfinished = new Set<string>();

  const consider = (call: Call) => {
    const { id, claim, status, name } = call;
    const ours = !claim && status === "pending" && Object.hasOwn(tools, name) && !running.has(id) && !unfinished.has(id);
    if (ours) waiting.set(id, call);
    else waiting.delete(id);
    start();
  };
  const start = () => {
    for (const [id, call] of waiting) {
      if (closed.aborted || running.size >= concurrency) return;
      waiting.delete(id);
      const lost = new AbortController();
      const done = work(call, lost)
        .catch((error: unknown) => onError(error, call))
        .then(() => {
          running.delete(id);
          start();
        });
      running.set(id, { lost, done });
    }
  };

  const work = async (call: Call, lost: AbortController) => {
    const { id, name, input } = call;
    const lease = await calls.claim(id, { by, seconds }).catch((error: unknown) => {
      if (isTemporary(error)) throw error;
      return undefined; // somebody was faster
    });
    if (!lease) return;
    const { claim } = lease;
    const signal = AbortSignal.any([stop, lost.signal]);
    const stopBeating = keep(id, claim, lost);
    const run = async () => {
      unfinished.add(id);
      try {
        for (let attempt = 1; ; attempt += 1) {
          try {
            return await tools[name]?.(input, { callId: id, threadId: call.threadId, name, signal, attempt });
          } catch (error) {
            if (attempt > retries || signal.aborted) throw error;
            onError(error, call);
            await pause(clock, backoff(attempt - 1), signal);
          }
        }
      } finally {
        unfinished.delete(id);
      }
    };
    try {
      const outcome = await perform(run, signal);
      if (outcome && "threw" in outcome) onError(outcome.threw, call);
      if (lost.signal.aborted) return;
      if (outcome) await handBack(id, claim, outcome, lost.signal);
      else await calls.release(id, claim);
    } finally {
      stopBeating();
    }
  };

  /** Renews a claim until it is lost: taken, settled by others, or not renewed in time. */
  const keep = (id: string, claim: number, lost: AbortController): (() => void) => {
    const every = (seconds * 1000) / 3;
    let kept = clock.now();
    const beat = async () => {
      const asked = clock.now();
      try {
        await calls.heartbeat(id, claim, seconds);
        kept = asked;
      } catch (error) {
        if (!isTemporary(error) || clock.now() - kept >= seconds * 1000) return lost.abort();
      }
      if (!ended) calledOff = clock.after(every, () => void beat());
    };
    let ended = false;
    let calledOff = clock.after(every, () => void beat());
    return () => {
      ended = true;
      calledOff();
    };
  };

  /** A result that exists is worth insisting on, as long as the claim holds. */
  const handBack = async (id: string, claim: number, outcome: Outcome, lost: AbortSignal) => {
    for (;;) {
      try {
        if ("output" in outcome) await calls.result(id, outcome.output, { claim });
        else await calls.fail(id, outcome.error, { claim });
        return;
      } catch (error) {
        // It breaks the tool's own schema. The call would stay open and come back to us for ever.
        if (error instanceof HandbackError && error.code === "unprocessable") outcome = { error: error.message, threw: error };
        else if (!isTemporary(error) || lost.aborted || stop.aborted) throw error;
        onError(error);
      }
    }
  };

  const look = async () => {
    let after: string | undefined;
    do {
      const page = await calls.list({ ...query, status: "pending", limit: 200, ...(after !== undefined && { after }) });
      for (const call of page.calls) consider(call);
      after = page.next;
    } while (after !== undefined && !closed.aborted);
  };

  /** Claims lapse without a word, so somebody has to look now and then. */
  const lookEvery = async (ms: number) => {
    for (;;) {
      await pause(clock, ms, closed);
      if (closed.aborted) return;
      await look().catch(onError);
    }
  };

  const listen = async () => {
    try {
      for await (const news of calls.watch({ ...query, signal: closed })) {
        if (news.type === "call") consider(news.call);
        else {
          waiting.delete(news.id);
          running.get(news.id)?.lost.abort();
        }
      }
    } catch (error) {
      if (!(error instanceof HandbackError) || error.status !== 404) throw error;
      await look();
      await lookEvery(POLL_MS);
    }
  };

  const patrol = lookEvery(seconds * 1000);
  try {
    await listen();
    if (!stop.aborted) await Promise.all(Array.from(running.values(), ({ done }) => done));
  } finally {
    over.abort();
    await patrol;
    await Promise.all(Array.from(running.values(), ({ done }) => done));
  }
}

type Outcome = { output: Json } | { error: string; threw: unknown };

/** Runs a tool, or gives up on it when the signal aborts: one that does not heed it must not keep us. */
async function perform(tool: () => unknown, signal: AbortSignal): Promise<Outcome | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    const run = async (): Promise<Outcome> => {
      try {
        const output = JSON.stringify((await tool()) ?? null);
        return { output: JSON.parse(output ?? "null") };
      } catch (threw) {
        return { error: threw instanceof Error ? threw.message || threw.name : String(threw), threw };
      }
    };
    return await Promise.race([run(), aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
