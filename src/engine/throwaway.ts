import type { Agent, StepContext } from "../agent/agent.ts";
import { runTool } from "../agent/run-tool.ts";
import { toBase64 } from "../core/base64.ts";
import { AppError, type Failure, toFailure } from "../core/error.ts";
import { EVENT_VERSION, type Event, type RunOptions, type StoredEvent } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { offered, returned } from "../core/settle.ts";
import { completeStep, conclude, type Next } from "../core/step.ts";
import { type Call, emptyThread, fold, readyCalls, type Thread } from "../core/thread.ts";
import type { WrittenCall } from "../model/profile/profile.ts";
import { readHistory, type Told } from "../model/profile/read-history.ts";
import { JSON_Strict } from "../model/profile/seed-profiles.ts";
import type { CallSignature } from "./call-signature.ts";
import { interruptible } from "./drive.ts";
import type { Engine } from "./engine.ts";
import { signCalls } from "./sign-calls.ts";

/** What a request brings that keeps its thread itself. */
export type Asked = {
  owner: { app: string; user: string };
  agent?: string | undefined;
  messages: readonly Told[];
  options: RunOptions;
  by: string;
  via: string;
};

/** A turn that is about to run. */
export type Throwaway = {
  /** Runs it, once. What waits for the outside ends it. */
  run(signal: AbortSignal): AsyncGenerator<StoredEvent>;
  /** Calls as the model could have written them, for clients that only read text. */
  write(calls: readonly WrittenCall[]): string;
};

/**
 * One turn on a thread that is kept nowhere: built from what its client says was said, run here and forgotten. It ends with
 * its reader, and a process that dies leaves nothing behind. Throws what is wrong with the request.
 */
export function throwaway(engine: Engine, signature: CallSignature, asked: Asked): Throwaway {
  if (engine.stopping) throw new AppError("unavailable", "The server is shutting down; try again in a moment");
  const { owner, options, agent: name = "default" } = asked;
  const agent = agentFor(engine, name, options);
  const profile = agent.profile?.(options);
  const tools = [...agent.tools.values()];
  const history = readHistory(asked.messages, {
    profile,
    tools: tools.map(({ spec }) => spec),
    // What this server runs itself was never handed out, so nobody else has a result of it.
    isOurs: (call) => agent.tools.get(call.name)?.owner !== "server" && signature.verify(owner, call),
  });
  return {
    write: (calls) => (profile ?? JSON_Strict).callTemplate(calls),
    run(signal) {
      const key = { ...owner, threadId: engine.ids("thread") };
      return run(engine, { ...asked, name, agent, key, thread: { ...emptyThread(), history }, signature }, signal);
    },
  };
}

function agentFor({ agents }: Engine, name: string, options: RunOptions): Agent {
  const agent = agents.get(name);
  if (!agent) throw new AppError("not_found", `There is no agent ${name}; there are ${[...agents.keys()].join(", ")}`, { field: "agent" });
  if (agent.definition) {
    throw new AppError("invalid", `agent: ${name} is a graph, which needs a thread that is kept; send its id with the request`, {
      field: "agent",
    });
  }
  for (const field of ["model", "profile", "toolCalls"] as const) {
    if (options[field] === undefined || agent.check) continue;
    throw new AppError("invalid", `${field}: this agent leaves no choice of it`, { field });
  }
  agent.check?.(options);
  return agent;
}

type Turn = Omit<Asked, "agent"> & { name: string; agent: Agent; key: ThreadKey; thread: Thread; signature: CallSignature };

async function* run(engine: Engine, turn: Turn, signal: AbortSignal): AsyncGenerator<StoredEvent> {
  const { clock, ids, runTimeout } = engine;
  const { name, agent, thread, options, by, via } = turn;
  const late = new AbortController();
  const limit = options.timeout ?? runTimeout;
  const calledOff = limit > 0 ? clock.after(limit, () => late.abort()) : () => {};
  const stop = AbortSignal.any([signal, late.signal]);
  const add = (event: Event): StoredEvent => {
    const stored = { ...event, seq: thread.seq + 1, at: clock.now(), v: EVENT_VERSION } as StoredEvent;
    fold(thread, stored);
    return stored;
  };
  try {
    const begun = { runId: ids("run"), turnId: ids("turn"), epoch: 1, cause: "message" as const, agent: name, messages: [] };
    yield add({ type: "run.started", ...begun, options, by, via });
    await checkOutputs(agent, thread);
    let failure: Failure | undefined;
    for (;;) {
      const next = ask(agent, thread, failure);
      if (next !== "calls" && next.type !== "step") {
        for (const event of conclude(thread, next)) yield add(event);
        return tell(engine, turn);
      }
      try {
        for await (const event of next === "calls" ? perform(engine, turn, stop) : step(engine, turn, stop)) yield add(event);
      } catch (error) {
        if (signal.aborted) return;
        failure = late.signal.aborted ? { code: "timeout", message: `The run took longer than ${limit} ms` } : toFailure(error);
        if (failure.code === "internal")
          engine.log({ event: "step.failed", thread: turn.key.threadId, message: error instanceof Error ? error.message : String(error) });
      }
    }
  } finally {
    calledOff();
  }
}

/** The same line as for a run that is kept. */
function tell({ log }: Engine, { name: agent, key, thread: { ended } }: Turn): void {
  const code = ended?.outcome.type === "failed" ? ended.outcome.error.code : undefined;
  log({ event: "run.ended", thread: key.threadId, run: ended?.runId, agent, outcome: ended?.outcome.type, code, kept: false });
}

/** A result that breaks its tool's schema is told to the model as a failure. */
async function checkOutputs({ tools }: Agent, { history }: Thread): Promise<void> {
  for (const part of history.flatMap((entry) => (entry.role === "assistant" ? entry.parts : []))) {
    if (part.type !== "call" || !part.settlement) continue;
    const verdict = await tools.get(part.name)?.output?.check(part.settlement.output ?? null);
    if (!verdict || !("problem" in verdict)) continue;
    const { messageId } = part.settlement;
    part.settlement = { status: "failed", error: `The result does not fit the output schema: ${verdict.problem}`, messageId };
  }
}

function ask(agent: Agent, thread: Thread, failure: Failure | undefined): "calls" | Next {
  if (failure) return { type: "fail", error: failure };
  if (readyCalls(thread).length > 0) return "calls";
  try {
    return agent.next(thread);
  } catch (error) {
    return { type: "fail", error: toFailure(error) };
  }
}

/** One step of the agent. Its consumer folds each event before it asks for the next. */
async function* step(engine: Engine, turn: Turn, signal: AbortSignal): AsyncGenerator<Event> {
  const { agent, thread, owner, signature } = turn;
  const files = new Map<string, string>();
  const signing = signCalls((call) => signature.sign(owner, call));
  const steps = interruptible(agent.step(lend(engine, turn, files, signal))[Symbol.asyncIterator](), signal);
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done) return;
      for (const event of [value].flat() as Event[]) {
        if (event.type === "step.ended" && event.completed) {
          yield* signing.flush();
          yield* completeStep(thread, event, engine.clock.now(), new Map());
        } else if (event.type === "part.added" && event.part.type === "file" && "blob" in event.part) {
          const { mediaType, blob } = event.part;
          yield { ...event, part: { type: "file", mediaType, url: files.get(blob) ?? "" } };
        } else yield* signing.push(event);
      }
    }
  } finally {
    steps.dispose();
  }
}

/** What an agent is lent where nothing is stored: files become links that hold them. */
function lend({ ids, model, clock }: Engine, { thread, key }: Turn, files: Map<string, string>, signal: AbortSignal): StepContext {
  return {
    thread,
    key,
    signal,
    clock,
    mint: ids,
    model,
    callId: async () => ids("call"),
    async runCalls() {
      throw new AppError("unprocessable", "This agent runs calls inside its steps, which needs a thread that is kept");
    },
    async blob(id) {
      throw new AppError("not_found", `The file ${id} is not there`);
    },
    async saveBlob(mediaType, data) {
      const id = ids("blob");
      files.set(id, `data:${mediaType};base64,${toBase64(data)}`);
      return id;
    },
  };
}

/** Runs the server's calls side by side, and tells what comes of them as it comes. */
async function* perform(engine: Engine, turn: Turn, signal: AbortSignal): AsyncGenerator<Event> {
  const { thread } = turn;
  const news: Event[] = [];
  let wake = () => {};
  const tell = (event: Event) => {
    news.push(event);
    wake();
  };
  signal.addEventListener("abort", () => wake(), { once: true });
  let open = 0;
  for (const call of readyCalls(thread)) {
    open += 1;
    void settle(engine, turn, call, tell, signal).finally(() => {
      open -= 1;
      wake();
    });
  }
  while (open > 0 || news.length > 0) {
    signal.throwIfAborted();
    const event = news.shift();
    if (event) yield event;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
}

async function settle(engine: Engine, turn: Turn, call: Call, tell: (event: Event) => void, signal: AbortSignal): Promise<void> {
  const { agent, key, options, thread } = turn;
  const { clock, cache } = engine;
  const { callId, name, input } = call;
  const tool = agent.tools.get(name);
  const progress: Parameters<typeof runTool>[1]["context"]["progress"] = (output) => tell({ type: "tool.progressed", callId, output });
  const context = { callId, threadId: key.threadId, user: key.user, values: options.values ?? {}, progress };
  const scope = JSON.stringify([key.app, key.user, "throwaway"]);
  const execution = tool?.execute
    ? await runTool(tool, { input, context, signal, internal: {}, clock, cache, scope })
    : ({ type: "failed", error: `The tool ${name} is no longer available` } as const);
  if (execution.type === "handed-back") {
    tell({ ...offered(call, thread.ordinal + 1, clock.now()), owner: "client" } as Event);
    return;
  }
  const given = execution.type === "completed" ? { output: execution.output } : { error: execution.error };
  tell(returned(call, execution.type, { by: "server", via: "engine" }, given));
}
