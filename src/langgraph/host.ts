import { Command } from "@langchain/langgraph";
import type { StepContext } from "../agent/agent.ts";
import type { Tool } from "../agent/tool.ts";
import { AppError } from "../core/error.ts";
import type { Event } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { atBreakpoint, type Breakable } from "./breakpoint.ts";
import type { Drawn } from "./definition.ts";
import { graphLog } from "./graph-log.ts";
import type { LangGraphOptions } from "./langgraph.ts";
import { LogSaver } from "./log-saver.ts";
import { type Kept, keptOf, standingAt, unheard } from "./memory.ts";
import { outlet } from "./outlet.ts";
import { raise } from "./questions.ts";
import { type Chunk, speech } from "./speech.ts";
import { saidIn, toHuman, toResults } from "./turn-input.ts";

/** A compiled graph, as much of it as is asked for here: LangGraph's own types differ from graph to graph. */
export type CompiledGraph = Drawn & {
  channels: object;
  interruptBefore?: Stops;
  interruptAfter?: Stops;
  withConfig(config: never): unknown;
};
type Stops = "*" | readonly string[] | undefined;

type Runnable = Breakable & {
  checkpointer: LogSaver;
  stream(input: unknown, options: object): Promise<AsyncIterable<Chunk>>;
};

export type Hosting = Omit<LangGraphOptions, "tools"> & { tools: ReadonlyMap<string, Tool> };

/** Runs the graph from where it stands to its end or its next question. What it needs of the past is in the thread's memory. */
export async function* host(compiled: CompiledGraph, hosting: Hosting, context: StepContext): AsyncGenerator<Event | Event[]> {
  const { thread, signal } = context;
  const turnId = thread.turn?.turnId ?? "";
  const stop = new AbortController();
  const out = outlet();
  const before = keptOf(thread);
  const saver = new LogSaver(before, {
    turn: turnId,
    stopsAfter: (compiled.interruptAfter?.length ?? 0) > 0,
    saved: () => out.save(),
    broken: (error) => out.end(failure(error)),
  });
  const graph = compiled.withConfig({} as never) as Runnable; // a copy: other threads run at the same time, each with its own log
  graph.checkpointer = saver;
  const speaker = speech(context, hosting.tools, (taskId) => saver.failed.get(taskId));
  const config = { configurable: configurable(context), signal: AbortSignal.any([signal, stop.signal]) };
  const aborted = () => out.end(new AppError("timeout", "Stopped"));
  signal.addEventListener("abort", aborted, { once: true });

  const run = async () => {
    const pauses = before.turn === turnId && !before.done && !unheard(thread, before) && (await atBreakpoint(graph, saver.kept, config));
    if (!pauses) {
      const { recursionLimit } = hosting;
      const stream = await graph.stream(await inputOf(hosting, context, before), {
        ...config,
        ...(recursionLimit !== undefined && { recursionLimit }),
        streamMode: ["tasks", "messages", "custom"],
        subgraphs: true,
        durability: "sync",
      });
      let said: Promise<void> = Promise.resolve();
      for await (const chunk of stream) {
        const at = standingAt(saver.kept);
        said = said.then(async () => out.say(await speaker.take(chunk, at)));
        said.catch((error: unknown) => out.end(failure(error)));
      }
      await said;
    }
    const { next } = await graph.getState(config);
    return { ...(await speaker.finish()), next };
  };
  const running = run();
  running.then(
    () => out.end(),
    (error: unknown) => out.end(failure(error)),
  );

  const log = graphLog(context, hosting.state);
  try {
    for (let batch = await out.take(); batch; batch = await out.take()) {
      const events = [...log.begun(speaker.begun()), ...batch.events];
      if (batch.saves) {
        const written = [...events, ...log.kept(saver.kept)];
        if (written.length > 0) yield written;
        batch.saved();
      } else yield* events;
    }
    const { events, handing, calls, next } = await running;
    const last = [...events, ...log.stopped(saver.kept, next)];
    // LangGraph forgets in `next` a task that asks for the second time.
    const asking = next.length + speaker.asked.size > 0;
    const asked = asking ? raise(context, saver.kept, [...speaker.asked.values()], { next, tasks: log.tasks() }) : undefined;
    const { kept } = saver;
    const stands = asked ? { questions: asked.questions } : { done: true as const, questions: {}, calls: { ...kept.calls, ...calls } };
    yield [...last, ...log.kept({ ...kept, ...stands }), ...(asked?.events ?? [])];
    yield* handing;
  } finally {
    signal.removeEventListener("abort", aborted);
    stop.abort();
    out.close();
  }
}

/** A turn begins with its messages or with what others handed back; one that goes on, with the answers that have come. */
async function inputOf({ input }: Hosting, { thread, blob }: StepContext, kept: Kept): Promise<unknown> {
  if (kept.turn !== thread.turn?.turnId) {
    const messages = await Promise.all(saidIn(thread).map((message) => toHuman(message, blob)));
    return input ? input(messages, thread.state) : { messages };
  }
  if (kept.done) return { messages: toResults(thread, kept.calls) };
  const heard = unheard(thread, kept);
  return heard && Object.keys(heard.resume).length > 0 ? new Command({ resume: heard.resume }) : null;
}

/** What nodes find in `config.configurable`: the run's values, its tools, and whose thread it is. */
function configurable({ thread, key }: StepContext): JsonObject {
  const values = Object.entries(thread.options.values ?? {}).filter(([name]) => !/^(?:__|checkpoint_)/.test(name));
  return { ...Object.fromEntries(values), tools: thread.tools as Json, user_id: key.user, thread_id: key.threadId };
}

function failure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return new AppError(name === "GraphRecursionError" ? "limit" : "internal", message, { cause: error });
}
