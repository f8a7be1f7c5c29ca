import { fromJsonSchema } from "../agent/schema.ts";
import type { Tool } from "../agent/tool.ts";
import { slots } from "../core/bind.ts";
import type { Command, Known, Result, RunCommand } from "../core/command.ts";
import { NOTHING_KNOWN } from "../core/command.ts";
import { type Decision, decide } from "../core/decide.ts";
import { AppError } from "../core/error.ts";
import type { Event } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { type Json, sameJson } from "../core/json.ts";
import { resumed } from "../core/resume.ts";
import { toVerdict } from "../core/settle.ts";
import type { Call, Thread } from "../core/thread.ts";
import { findCheckpoint, past } from "./checkpoint.ts";
import { drive } from "./drive.ts";
import type { Engine } from "./engine.ts";
import { type File, keepFiles } from "./files.ts";
import { repeated } from "./idempotency.ts";
import { append, catchUp, isConflict, type Live, queued, using } from "./live.ts";

/** What a command led to. */
export type Submitted = {
  /** The sender follows what lies behind this seq. */
  after: number;
  /** The last seq written. */
  seq: number;
  ignored: number;
  events: readonly Event[];
  /** The thread's state at `seq`, where it was looked at. */
  state?: Json;
};

/** Turns a command into facts and starts the run they call for. The only way in for everything outside the driver. */
export async function submit(engine: Engine, key: ThreadKey, command: Command, files: readonly File[] = []): Promise<Submitted> {
  if (engine.stopping) throw new AppError("unavailable", "The server is shutting down; try again in a moment");
  return using(engine, key, (live) =>
    queued(live, async () => {
      await adopt(engine, live);
      const before = await repeated(engine, key, command);
      if (before) return before;
      const meant = await readTexts(engine, live.thread, command);
      if (meant.type === "run") await check(engine, live, meant);
      const { events, after, ignored } = await decided(engine, live, withPolicy(engine, live.thread, meant), files);
      if (live.thread.run && !live.driver) drive(engine, live);
      tell(engine, key, events, ignored);
      return { after, ignored, events, seq: live.thread.seq, state: live.thread.state };
    }),
  );
}

/** One line for each settlement, and one for what a client sent in vain. */
function tell({ log }: Engine, { threadId: thread }: ThreadKey, events: readonly Event[], ignored: number): void {
  for (const event of events) {
    if (event.type !== "tool.returned") continue;
    const { callId: call, name: tool, status, by, via } = event;
    log({ event: "call.settled", thread, call, tool, status, by, via });
  }
  if (ignored > 0) log({ event: "inputs.ignored", thread, count: ignored });
}

/** Decides and appends; a conflict is never a verdict, only a reason to look again. */
export async function decided(engine: Engine, live: Live, command: Command, files: readonly File[] = []): Promise<Decision> {
  for (;;) {
    const decision = decide(live.thread, command, await known(engine, live, command));
    for (const event of decision.events) {
      if (event.type === "thread.rewound" && event.memory === undefined && !sameJson(live.thread.memory, {}))
        event.memory = (await past(engine, live.key, event.to - 1)).thread.memory; // what an agent keeps must not know what nobody said
    }
    try {
      const request = command.type === "run" ? command.request : undefined;
      await keepFiles(engine, live.key, files, decision.events);
      await append(engine, live, { seq: live.thread.seq }, decision.events, request && { ...request, after: decision.after });
      return decision;
    } catch (error) {
      if (!isConflict(error) || live.gone) throw error;
      await catchUp(engine, live);
    }
  }
}

/** What a new message does to calls that wait is up to the agent that waits for them, whatever the door. */
function withPolicy({ agents }: Engine, { turn }: Thread, command: Command): Command {
  const whilePending = turn && agents.get(turn.agent)?.whilePending;
  return command.type === "run" && whilePending ? { whilePending, ...command } : command;
}

/** A run without a driver died with another process: whoever touches the thread first takes it over. */
export async function adopt(engine: Engine, live: Live): Promise<void> {
  if (!live.thread.run || live.driver) return;
  await decided(engine, live, { type: "recover", by: "handback", via: "recovery", now: engine.clock.now() });
  engine.log({ event: "run.recovered", thread: live.key.threadId, run: live.thread.run?.runId });
  if (live.thread.run) drive(engine, live);
}

/** Index rows for the ids a command names; a command that names none costs no look-up. */
async function known(engine: Engine, { key, thread }: Pick<Live, "key" | "thread">, command: Command): Promise<Known> {
  const { store } = engine;
  if (command.type === "claim") return store.known(key, { messages: [], waits: [command.callId] });
  if (command.type !== "run") return NOTHING_KNOWN;
  const messages = command.messages.map(({ id }) => id);
  if (command.rewindTo) messages.push(command.rewindTo);
  const waits = command.results.map(({ callId }) => callId);
  for (const { interruptId, callId } of command.answers) waits.push(interruptId ?? `${callId}:approval`);
  if (command.nameless) waits.push(...thread.offers.map(({ callId }) => callId));
  const id = command.resume?.checkpointId;
  const isHere = id === undefined || id === thread.graph.frames[""]?.checkpointId;
  const checkpoint = isHere ? undefined : await findCheckpoint(engine, key, id);
  return { ...(await store.known(key, { messages, waits, runId: command.runId })), ...(checkpoint && { checkpoint }) };
}

/** Doors that carry histories know only texts: where a tool's output is more than a text, it is read as JSON. */
async function readTexts(engine: Engine, thread: Thread, command: Command): Promise<Command> {
  if (command.type !== "run" || command.door !== "history") return command;
  const read = async (result: Result): Promise<Result> => {
    const call = thread.calls.get(result.callId);
    const schema = call && toolOf(engine, thread, call)?.output;
    if (!schema || typeof result.output !== "string" || !("problem" in (await schema.check(result.output)))) return result;
    const output = toJson(result.output);
    return output === undefined ? result : { ...result, output };
  };
  return { ...command, results: await Promise.all(command.results.map(read)) };
}

function toJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function toolOf({ agents }: Engine, { turn }: Thread, { name }: Call): Tool | undefined {
  return agents.get(turn?.agent ?? "")?.tools.get(name);
}

/** Refuses, before anything is written, what only user code can judge: agents, options, edited inputs and outputs. */
async function check(engine: Engine, live: Live, command: RunCommand): Promise<void> {
  const { thread } = live;
  const { agent: name } = command;
  if (name !== undefined && !engine.agents.has(name)) throw new AppError("not_found", `There is no agent ${name}`, { field: "agent" });
  const agent = engine.agents.get(name ?? thread.turn?.agent ?? "default");
  if (!agent && command.messages.length > 0) {
    throw new AppError("invalid", `agent: name one of ${[...engine.agents.keys()].join(", ")}`, { field: "agent" });
  }
  if (command.options) agent?.check?.(command.options);
  const open = (callId: string): Call | undefined => thread.calls.get(callId);
  const { answers, results } = command.resume ? resumed(thread, command, await known(engine, live, command)).command : command;
  for (const answer of answers) {
    const interrupt = thread.interrupts.get(answer.interruptId ?? `${answer.callId}:approval`);
    if (!interrupt || answer.status !== "resolved") continue;
    const call = interrupt.callId === undefined ? undefined : open(interrupt.callId);
    if (!call) {
      const fits = interrupt.schema && (await fromJsonSchema(interrupt.schema).check(answer.value ?? null));
      if (!fits || !("problem" in fits)) continue;
      throw new AppError("unprocessable", `The answer to ${interrupt.interruptId} does not fit its schema: ${fits.problem}`, {
        field: "payload",
      });
    }
    const { input, output } = toVerdict(answer.value);
    const given = output === undefined ? undefined : await toolOf(engine, thread, call)?.output?.check(output);
    if (given && "problem" in given) throw misfit(call, given.problem);
    const verdict = input === undefined ? undefined : await toolOf(engine, thread, call)?.input.check(input);
    if (verdict && "problem" in verdict) {
      throw new AppError("unprocessable", `The edited input does not fit the schema of ${call.name}: ${verdict.problem}`, {
        field: "input",
      });
    }
  }
  const next = slots(thread);
  const nameless = (command.nameless ?? []).map((result, i) => ({ ...result, callId: next[i] ?? "" }));
  for (const result of [...results, ...nameless]) {
    const call = open(result.callId);
    if (call?.phase !== "offered" || result.status !== "completed") continue;
    const verdict = await toolOf(engine, thread, call)?.output?.check(result.output ?? null);
    if (!verdict || !("problem" in verdict)) continue;
    throw misfit(call, verdict.problem);
  }
}

function misfit({ name }: Call, problem: string): AppError {
  return new AppError("unprocessable", `The result does not fit the output schema of ${name}: ${problem}`, { field: "output" });
}
