import type { Checkpoint, Command, Known, RunCommand, Settled } from "./command.ts";
import { type Decision, decide } from "./decide.ts";
import { AppError } from "./error.ts";
import { EVENT_VERSION, type Event, type Outcome, type StoredEvent, type UserMessage } from "./event.ts";
import type { Json } from "./json.ts";
import { rows } from "./rows.ts";
import { emptyThread, fold, type Thread } from "./thread.ts";

/** A thread's log, its fold and its indexes in memory: for tests of the rules, which need no store to be true. */
export type Log = {
  readonly events: StoredEvent[];
  readonly thread: Thread;
  /** Appends like a store: behind a seq, or while a run still has the epoch. Throws `conflict`, having written nothing. */
  append(expect: { seq: number } | { epoch: number }, events: readonly Event[], at?: number): void;
  /** The index rows of the ids a command names. */
  known(command: Command): Known;
};

/** A log that holds these events. */
export function given(...events: Event[]): Log {
  const log = emptyLog();
  log.append({ seq: 0 }, events);
  return log;
}

export function emptyLog(): Log {
  const events: StoredEvent[] = [];
  const thread = emptyThread();
  const messages = new Map<string, number>();
  const settled = new Map<string, Settled>();
  const runs = new Map<string, number>();
  const taken = new Set<string>();
  const head = { epoch: 0, running: false, run: 0 };
  const index = (event: StoredEvent) => {
    for (const row of rows(event)) {
      if (row.type === "run.began") {
        Object.assign(head, { epoch: row.epoch, running: true, run: event.seq });
        runs.set(row.runId, event.seq);
      } else if (row.type === "run.over") head.running = false;
      else if (row.type === "epoch") head.epoch = row.epoch;
      else if (row.type === "message") messages.set(row.id, event.seq);
      else if (row.type === "taken") taken.add(row.id);
      else if (row.type === "closed") settled.set(row.id, { runSeq: head.run, event: event as Settled["event"] });
    }
  };
  return {
    events,
    thread,
    append(expect, added, at = 0) {
      const holds = "seq" in expect ? expect.seq === events.length : head.running && expect.epoch === head.epoch;
      const clash = added.some((event) => event.type === "tool.started" && taken.has(event.callId));
      if (!holds || clash) throw new AppError("conflict", clash ? "The id is taken" : `The log is at ${events.length}`);
      for (const event of added) {
        const stored = { ...event, seq: events.length + 1, at, v: EVENT_VERSION } as StoredEvent;
        events.push(stored);
        index(stored);
        fold(thread, stored);
      }
    },
    known(command) {
      if (command.type !== "run" && command.type !== "claim") return { messages: new Map(), settled: new Map(), run: undefined };
      const waits = command.type === "claim" ? [command.callId] : command.results.map(({ callId }) => callId);
      if (command.type === "claim") return { messages: new Map(), settled: only(settled, waits), run: undefined };
      for (const { interruptId, callId } of command.answers) waits.push(interruptId ?? `${callId}:approval`);
      const ids = command.messages.map(({ id }) => id);
      if (command.rewindTo) ids.push(command.rewindTo);
      const checkpoint = checkpointOf(events, command.resume?.checkpointId);
      return {
        messages: only(messages, ids),
        settled: only(settled, waits),
        run: runs.get(command.runId),
        ...(checkpoint && { checkpoint }),
      };
    },
  };
}

/** The thread as it was at a checkpoint, as `submit` finds it. */
function checkpointOf(events: readonly StoredEvent[], id: string | undefined): Checkpoint | undefined {
  const at = events.findIndex(
    (event) => event.type === "checkpoint.reached" && event.checkpointId === id && event.parentTaskId === undefined,
  );
  if (at < 0) return undefined;
  const { graph, state, memory, tools, options, turn } = events.slice(0, at + 1).reduce(fold, emptyThread());
  const frame = graph.frames[""];
  return frame && { ...frame, state, memory, tools, options, agent: turn?.agent ?? "" };
}

function only<T>(index: ReadonlyMap<string, T>, ids: string[]): Map<string, T> {
  const found = new Map<string, T>();
  for (const id of ids) {
    const value = index.get(id);
    if (value !== undefined) found.set(id, value);
  }
  return found;
}

/** What `decide` says to a command on this log, with nothing written. */
export function when(log: Log, command: Command): Decision {
  return decide(log.thread, command, log.known(command));
}

/** Decides and appends, as `submit` does. */
export function submit(log: Log, command: Command): Decision {
  const decision = when(log, command);
  log.append({ seq: log.thread.seq }, decision.events, command.now);
  return decision;
}

// --- commands ---

export const ALICE = { by: "user:alice", via: "rest" } as const;
export const HANDBACK = { by: "handback", via: "engine" } as const;

/** A request through a door that names what it means. */
export function run(more: Partial<RunCommand> = {}): RunCommand {
  return { type: "run", runId: "r9", turnId: "t9", ...ALICE, now: 1000, messages: [], results: [], answers: [], door: "explicit", ...more };
}

export function say(id: string, more: Partial<RunCommand> = {}): RunCommand {
  return run({ messages: [user(id)], ...more });
}

export function result(callId: string, output: Json, more: Partial<RunCommand> = {}): RunCommand {
  return run({ results: [{ callId, status: "completed", output }], ...more });
}

export function answer(callId: string, value: Json, more: Partial<RunCommand> = {}): RunCommand {
  return run({ answers: [{ callId, status: "resolved", value }], ...more });
}

export function user(id: string, content: string = `${id}?`): UserMessage {
  return { id, content };
}

// --- events ---

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

export function runStarted(runId: string, more: Partial<Of<"run.started">> = {}): Event {
  return { type: "run.started", runId, turnId: "t1", epoch: 1, cause: "message", agent: "chat", messages: [], ...ALICE, ...more };
}

/** The first run of a thread, begun by message `u1`. */
export function asked(more: Partial<Of<"run.started">> = {}): Event {
  return runStarted("r1", { messages: [user("u1")], ...more });
}

export function ended(outcome: Outcome | "done" | "failed" | "cancelled", more: Partial<Of<"run.ended">> = {}): Event {
  const whole: Outcome =
    outcome === "failed"
      ? { type: outcome, error: { code: "model", message: "500" } }
      : typeof outcome === "string"
        ? { type: outcome }
        : outcome;
  return { type: "run.ended", runId: "r1", turnId: "t1", run: 1, outcome: whole, ...more };
}

export function stepStarted(stepId = "s1"): Event {
  return { type: "step.started", stepId, name: "model", kind: "model", messageId: `${stepId}:m` };
}

export function stepEnded(stepId = "s1", completed = true): Of<"step.ended"> {
  return { type: "step.ended", stepId, name: "model", completed };
}

export function text(words: string, stepId = "s1"): Event[] {
  const messageId = `${stepId}:m`;
  return [
    { type: "text.started", messageId, stepId },
    { type: "text.delta", messageId, delta: words },
    { type: "text.ended", messageId, text: words },
  ];
}

/** A call as the model speaks it. The tool is called as the call is, without its digits. */
export function called(callId: string, more: Partial<Of<"tool.called">> = {}): Event[] {
  const { name = callId.replace(/\d+$/, ""), stepId = "s1", owner = "external" } = more;
  const base = { callId, name, messageId: `${stepId}:m`, stepId, owner };
  return [
    { type: "tool.started", ...base },
    { type: "tool.delta", callId, delta: "{}" },
    { type: "tool.called", ...base, input: {}, ...more },
  ];
}

export function offered(callId: string, ordinal: number, more: Partial<Of<"call.offered">> = {}): Event {
  return { type: "call.offered", callId, name: callId.replace(/\d+$/, ""), owner: "external", input: {}, ordinal, ...more };
}

export function raised(callId: string, more: Partial<Of<"interrupt.raised">> = {}): Event {
  return { type: "interrupt.raised", interruptId: `${callId}:approval`, reason: "tool_call", prompt: {}, callId, ...more };
}

export function returned(callId: string, output: Json, more: Partial<Of<"tool.returned">> = {}): Event {
  const name = callId.replace(/\d+$/, "");
  const messageId = `${callId}:result`;
  return { type: "tool.returned", callId, name, owner: "external", messageId, status: "completed", output, ...ALICE, ...more };
}

/** A first run whose step made these external calls, up to the append that ends the step. */
export function offering(...callIds: string[]): Event[] {
  return [asked(), stepStarted(), ...callIds.flatMap((id) => called(id)), stepEnded(), ...callIds.map((id, i) => offered(id, i + 1))];
}

/** A first run that has ended waiting for these external calls. */
export function waitingFor(...callIds: string[]): Event[] {
  return [
    ...offering(...callIds),
    ended({
      type: "waiting",
      for: callIds.map((callId) => ({ type: "call", callId, name: callId.replace(/\d+$/, ""), owner: "external", run: 1 })),
    }),
  ];
}

/** A first run that has ended waiting for a person to allow this call. */
export function waitingForApproval(callId: string, more: Partial<Of<"tool.called">> = {}): Event[] {
  return [
    asked(),
    stepStarted(),
    ...called(callId, { approval: {}, ...more }),
    stepEnded(),
    raised(callId),
    ended({ type: "waiting", for: [{ type: "interrupt", interruptId: `${callId}:approval`, reason: "tool_call", prompt: {}, callId }] }),
  ];
}

/** The types of these events, for tests where the order says it all. */
export function types(events: readonly Event[]): string[] {
  return events.map(({ type }) => type);
}
