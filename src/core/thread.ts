import { AppError } from "./error.ts";
import type { CallStatus, OnTimeout, Outcome, Owner, Place, RunOptions, StoredEvent, ToolSpec, Usage, UserMessage, Wait } from "./event.ts";
import { copyGraph, emptyGraph, finish, type GraphState, goBackTo, hear, reach } from "./graph.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { patch } from "./patch.ts";

/** Raised whenever `fold` reads the same events differently; snapshots of another version are thrown away. */
export const FOLD_VERSION = 4;

/** What the log adds up to. The head is small; only `history` and `state` grow. */
export type Thread = {
  seq: number;
  /** Raised by every run and every takeover: a driver with another epoch writes nothing. */
  epoch: number;
  /** The newest event version seen; nobody decides on a log from the future. */
  newest: number;
  turn: Turn | undefined;
  /** The run that is going on now. */
  run: Run | undefined;
  /** How the last run stopped. */
  ended: { runId: string; start: number; seq: number; outcome: Outcome } | undefined;
  /** Calls without a settlement, in call order. */
  calls: Map<string, Call>;
  /** Questions without an answer. */
  interrupts: Map<string, Interrupt>;
  /** Ordinal of the last call offered in the step that waits. */
  ordinal: number;
  /** What the latest step that waited handed out, in order: nameless results are counted against it. */
  offers: readonly Offer[];
  tools: ToolSpec[];
  options: RunOptions;
  history: Entry[];
  /** What agents show beside what they say, each under its own id. */
  activities: readonly Activity[];
  state: Json;
  /** What agents keep for themselves, by their names. */
  memory: Json;
  /** Where the graphs of this turn are. */
  graph: GraphState;
  title: string | undefined;
  metadata: JsonObject;
};

/** A call that was handed out. Settled by `name` it leaves the sequence; `lost` (expired, cancelled) it keeps its place. */
export type Offer = { callId: string; settled?: "ordinal" | "name" | "lost" };

/** A user message and every run until it is answered. */
export type Turn = {
  turnId: string;
  agent: string;
  /** Seq of the `run.started` that began it. */
  seq: number;
  steps: number;
  /** Steps in a row in which the model called nothing rightly. */
  misses: number;
  usage: Usage[];
};

export type Run = {
  runId: string;
  seq: number;
  startedAt: number;
  cancel: { by: string; reason?: string } | undefined;
  /** Texts being spoken: what was said so far, in pieces. */
  speaking: Map<string, { type: "text" | "reasoning"; said: string[]; part: TextPart }>;
  steps: Map<string, OpenStep>;
  usage: Usage[];
};

/** A step that goes on. `taskId`: the task it is, or is part of; `place`: only where it is the task's own. */
export type OpenStep = {
  name: string;
  kind: "model" | "node" | "agent";
  entry: AssistantEntry | undefined;
  taskId?: string;
  parentStepId?: string;
  place?: Place;
};

export type Call = {
  callId: string;
  name: string;
  messageId: string;
  stepId: string;
  owner: Owner;
  /** What will be run: the model's input, or a person's edit of it. */
  input: Json;
  edited: boolean;
  /** `started`: still being spoken. `called`: its step goes on. `asked`: waits for a person. `ready`: the server may run it. `offered`: the outside may. */
  phase: "started" | "called" | "asked" | "ready" | "offered";
  /** Its arguments so far, while it is being spoken. */
  said: string[];
  approval: { timeout?: number } | undefined;
  invalid: string | undefined;
  timeout: number | undefined;
  onTimeout: OnTimeout | undefined;
  idempotent: boolean;
  expiresAt: number | undefined;
  ordinal: number | undefined;
  claim: { by: string; claim: number /** Given back: the next one goes on counting from it. */; released?: true } | undefined;
  /** Seq of the run it began in. */
  run: number;
  /** The task of a graph it belongs to, and where that is. */
  taskId?: string;
  place?: Place;
  /** Its agent runs it by itself. */
  inside?: true;
  part: CallPart | undefined;
};

export type Interrupt = Extract<Wait, { type: "interrupt" }> & { taskId?: string };

/** Something an agent shows and changes. `seq` is where it first appeared. */
export type Activity = { messageId: string; activityType: string; content: Json; seq: number };

/** One piece of the conversation. An assistant entry is one step of the model, or of a node that speaks. */
export type Entry = UserEntry | AssistantEntry;
export type UserEntry = { role: "user"; seq: number; turnId: string } & UserMessage;
export type AssistantEntry = {
  role: "assistant";
  seq: number;
  turnId: string;
  stepId: string;
  messageId: string;
  /** The task of a graph that said it. */
  taskId?: string;
  /** A node's own words, which are no step of a model. */
  kind?: "node";
  /** Only completed steps are shown to the model; the others stay visible to people. */
  state: "open" | "completed" | "abandoned";
  parts: (TextPart | CallPart | { type: "added"; part: Extract<StoredEvent, { type: "part.added" }>["part"] })[];
};
export type TextPart = { type: "text" | "reasoning"; messageId: string; text: string; provider?: JsonObject };
export type CallPart = {
  type: "call";
  callId: string;
  name: string;
  input: Json;
  owner: Owner;
  messageId: string;
  invalid?: string;
  provider?: JsonObject;
  source?: string;
  /** The input a person put in place of the model's. */
  edited?: Json;
  /** A person answered in place of the tool, which was not run. */
  byHand?: true;
  settlement?: {
    status: CallStatus;
    output?: Json;
    error?: string;
    messageId: string;
    /** What the model reads in place of the output, where the tool's author said so. */
    forModel?: string;
  };
  /** Where it was settled: people see results in this order, models in that of the calls. */
  settledAt?: number;
};

export function emptyThread(): Thread {
  return {
    seq: 0,
    epoch: 0,
    newest: 0,
    turn: undefined,
    run: undefined,
    ended: undefined,
    calls: new Map(),
    interrupts: new Map(),
    ordinal: 0,
    offers: [],
    tools: [],
    options: {},
    history: [],
    activities: [],
    state: {},
    memory: {},
    graph: emptyGraph(),
    title: undefined,
    metadata: {},
  };
}

/**
 * Adds one event to what the log adds up to. It changes the thread it is given, which belongs to the caller:
 * copying a history for every event would be quadratic. Deltas may be skipped or come late; nothing else may.
 */
export function fold(thread: Thread, event: StoredEvent): Thread {
  apply(thread, event);
  thread.seq = Math.max(thread.seq, event.seq);
  thread.newest = Math.max(thread.newest, event.v);
  return thread;
}

function apply(thread: Thread, event: StoredEvent): void {
  switch (event.type) {
    case "run.started": {
      const { runId, turnId, agent, seq, at } = event;
      thread.epoch = event.epoch;
      if (event.tools) thread.tools = event.tools;
      if (event.options) thread.options = event.options;
      if (thread.turn?.turnId !== turnId) {
        thread.turn = { turnId, agent, seq, steps: 0, misses: 0, usage: [] };
        if (thread.graph.frames[""]?.turnId !== turnId) thread.graph = emptyGraph();
      }
      thread.run = { runId, seq, startedAt: at, cancel: undefined, speaking: new Map(), steps: new Map(), usage: [] };
      for (const message of event.messages) thread.history.push({ role: "user", seq, turnId, ...message });
      return;
    }
    case "run.recovered":
      thread.epoch = event.epoch;
      return;
    case "cancel.requested": {
      const { by, reason } = event;
      if (thread.run) thread.run.cancel = reason === undefined ? { by } : { by, reason };
      return;
    }
    case "run.ended":
      thread.ended = { runId: event.runId, start: event.run, seq: event.seq, outcome: event.outcome };
      thread.run = undefined;
      return;
    case "step.started": {
      if (thread.turn) thread.turn.steps += 1;
      if (thread.calls.size === 0) thread.ordinal = 0;
      const { stepId, name, kind, taskId, parentStepId, place } = event;
      const step: OpenStep = { name, kind, entry: undefined };
      if (taskId !== undefined) step.taskId = taskId;
      if (parentStepId !== undefined) step.parentStepId = parentStepId;
      if (place) step.place = place;
      if (kind === "model") step.entry = speaker(thread, step, event);
      thread.run?.steps.set(stepId, step);
      return;
    }
    case "step.ended": {
      const step = thread.run?.steps.get(event.stepId);
      thread.run?.steps.delete(event.stepId);
      if (step?.entry) step.entry.state = event.completed ? "completed" : "abandoned";
      if (event.usage) {
        thread.run?.usage.push(event.usage);
        thread.turn?.usage.push(event.usage);
      }
      if (event.completed) completeCalls(thread, event.stepId);
      if (step?.taskId !== undefined && step.kind !== "model") finish(thread.graph, step.taskId, event);
      return;
    }
    case "text.started":
    case "reasoning.started": {
      const type = event.type === "text.started" ? "text" : "reasoning";
      const part: TextPart = { type, messageId: event.messageId, text: "" };
      entryOf(thread, event)?.parts.push(part);
      thread.run?.speaking.set(event.messageId, { type, said: [], part });
      return;
    }
    case "text.delta":
    case "reasoning.delta":
      thread.run?.speaking.get(event.messageId)?.said.push(event.delta);
      return;
    case "text.ended":
    case "reasoning.ended": {
      const open = thread.run?.speaking.get(event.messageId);
      if (!open) return;
      open.part.text = event.text;
      if (event.provider) open.part.provider = event.provider;
      thread.run?.speaking.delete(event.messageId);
      return;
    }
    case "part.added":
      entryOf(thread, event)?.parts.push({ type: "added", part: event.part });
      return;
    case "tool.started": {
      const { callId, name, messageId, stepId, owner } = event;
      const call = { callId, name, messageId, stepId, owner, run: thread.run?.seq ?? 0 };
      thread.calls.set(callId, { ...UNSPOKEN, said: [], ...call });
      return;
    }
    case "tool.delta": {
      const call = thread.calls.get(event.callId);
      if (call?.phase === "started") call.said.push(event.delta);
      return;
    }
    case "tool.called": {
      const { callId, name, messageId, owner, input, invalid, provider, source } = event;
      const call = thread.calls.get(callId);
      if (!call) return;
      const part: CallPart = { type: "call", callId, name, input, owner, messageId };
      if (invalid !== undefined) part.invalid = invalid;
      if (provider) part.provider = provider;
      if (source !== undefined) part.source = source;
      thread.run?.steps.get(event.stepId)?.entry?.parts.push(part);
      const { approval, timeout, onTimeout, idempotent = false, taskId, place, inside } = event;
      if (inside) call.inside = inside;
      if (taskId !== undefined) call.taskId = taskId;
      if (place) call.place = place;
      Object.assign(call, { phase: "called", said: [], name, owner, input, approval, invalid, timeout, onTimeout, idempotent, part });
      return;
    }
    case "call.offered": {
      const call = thread.calls.get(event.callId);
      if (!call) return;
      const { owner, input, ordinal, expiresAt } = event;
      Object.assign(call, { phase: "offered", owner, input, ordinal, expiresAt, claim: undefined });
      if (call.part) call.part.owner = owner;
      thread.ordinal = ordinal;
      // A new array each time: a preview shares it.
      thread.offers = [...(ordinal === 1 ? [] : thread.offers), { callId: event.callId }];
      return;
    }
    case "call.claimed": {
      const call = thread.calls.get(event.callId);
      if (call) call.claim = { by: event.by, claim: event.claim };
      return;
    }
    case "call.released": {
      const claim = thread.calls.get(event.callId)?.claim;
      if (claim?.claim === event.claim) claim.released = true;
      return;
    }
    case "tool.returned": {
      const { callId, status, output, error, messageId } = event;
      const lost = status === "expired" || status === "cancelled";
      const settled = lost ? "lost" : event.via === "ordinal" ? "ordinal" : "name";
      if (thread.calls.get(callId)?.ordinal !== undefined)
        thread.offers = thread.offers.map((offer) => (offer.callId === callId ? { callId, settled } : offer));
      const part = thread.calls.get(callId)?.part;
      if (part) {
        part.settlement = { status, messageId };
        part.settledAt = event.seq;
        if (output !== undefined) part.settlement.output = output;
        if (error !== undefined) part.settlement.error = error;
        // Only useChat's own executors have other words for the model; elsewhere they would pass by the tool's output schema.
        const forModel = event.via === "aisdk" ? event.metadata?.["forModel"] : undefined;
        if (typeof forModel === "string") part.settlement.forModel = forModel;
      }
      thread.calls.delete(callId);
      return;
    }
    case "interrupt.raised": {
      const { seq, at, v, type, ...interrupt } = event;
      thread.interrupts.set(event.interruptId, { type: "interrupt", ...interrupt });
      const call = event.callId === undefined ? undefined : thread.calls.get(event.callId);
      if (call) call.phase = "asked";
      return;
    }
    case "interrupt.answered": {
      const { taskId, place } = thread.interrupts.get(event.interruptId) ?? {};
      thread.interrupts.delete(event.interruptId);
      if (taskId !== undefined && event.callId === undefined) hear(thread.graph, taskId, place?.key, event);
      const call = event.callId === undefined ? undefined : thread.calls.get(event.callId);
      if (!call || event.status !== "resolved") return;
      if (event.input !== undefined) {
        call.input = event.input;
        call.edited = true;
        if (call.part) call.part.edited = event.input;
      }
      if (call.part && isObject(event.value) && event.value["approved"] === false && "output" in event.value) call.part.byHand = true;
      if (call.owner === "server") call.phase = "ready"; // an external one is offered, a refused one returned, by the next event
      return;
    }
    case "state.patched":
      thread.state = patched(thread.state, event.ops);
      return;
    case "memory.patched":
      thread.memory = patched(thread.memory, event.ops);
      return;
    case "thread.rewound":
      thread.history.length = firstAt(thread.history, event.to);
      thread.activities = thread.activities.filter(({ seq }) => seq < event.to);
      if (event.state !== undefined) thread.state = event.state;
      if (event.memory !== undefined) thread.memory = event.memory;
      thread.graph = emptyGraph();
      if (event.checkpoint) goBackTo(thread.graph, event.checkpoint, event.answers, event.seq);
      return;
    case "checkpoint.reached":
      reach(thread.graph, thread.turn?.turnId ?? "", event, patched);
      return;
    case "thread.changed":
      if (event.title !== undefined) thread.title = event.title;
      if (event.metadata) thread.metadata = event.metadata;
      return;
    case "activity.changed": {
      const { messageId, activityType, ops } = event;
      const before = thread.activities.find((activity) => activity.messageId === messageId);
      const after = { seq: event.seq, ...before, messageId, activityType, content: patched(before?.content ?? {}, ops) };
      // A new array each time: a preview shares it.
      thread.activities = before
        ? thread.activities.map((activity) => (activity === before ? after : activity))
        : [...thread.activities, after];
      return;
    }
    case "tool.progressed":
    case "custom.emitted":
    case "thread.forked":
      return;
    default:
      event satisfies never; // an event from a newer release: shown to nobody, decided on by nobody
  }
}

/** The entry of a step. A node has one from its first word on: most say nothing. */
function entryOf(thread: Thread, event: { seq: number; stepId: string; messageId: string }): AssistantEntry | undefined {
  const step = thread.run?.steps.get(event.stepId);
  if (step) step.entry ??= speaker(thread, step, event);
  return step?.entry;
}

function speaker(
  { turn, history, graph }: Thread,
  { taskId, kind }: OpenStep,
  { seq, stepId, messageId }: { seq: number; stepId: string; messageId: string },
): AssistantEntry | undefined {
  if (!turn) return undefined;
  const entry: AssistantEntry = { role: "assistant", seq, turnId: turn.turnId, stepId, messageId, state: "open", parts: [] };
  if (kind !== "model") entry.kind = "node";
  if (taskId !== undefined) {
    entry.taskId = taskId;
    graph.tasks[taskId]?.entries.push(history.length);
  }
  history.push(entry);
  return entry;
}

const UNSPOKEN = {
  input: null,
  edited: false,
  phase: "started",
  approval: undefined,
  invalid: undefined,
  timeout: undefined,
  onTimeout: undefined,
  idempotent: false,
  expiresAt: undefined,
  ordinal: undefined,
  claim: undefined,
  part: undefined,
} as const;

/** A patch that does not fit changes nothing: it is a fact all the same, and must not make the thread unreadable. */
function patched(state: Json, ops: Json[]): Json {
  try {
    return patch(state, ops);
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid") return state;
    throw error;
  }
}

/** A completed step frees its server calls; the rest waits for its offer, its approval or its refusal. */
function completeCalls(thread: Thread, stepId: string): void {
  let made = 0;
  let right = 0;
  for (const call of thread.calls.values()) {
    if (call.stepId !== stepId || call.phase !== "called") continue;
    made += 1;
    if (call.invalid !== undefined) continue;
    right += 1;
    if (call.owner === "server" && !call.approval && !call.inside) call.phase = "ready";
  }
  if (thread.turn && made > 0) thread.turn.misses = right > 0 ? 0 : thread.turn.misses + 1;
}

/** Index of the first entry at or behind `seq`. */
function firstAt(history: Entry[], seq: number): number {
  let [low, high] = [0, history.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((history[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the turn is waiting for: nothing, unless somebody outside has something to do. */
export function waits(thread: Thread): Wait[] {
  const waits: Wait[] = [];
  for (const { phase, callId, name, owner, run, expiresAt, place } of thread.calls.values()) {
    if (phase === "offered")
      waits.push({ type: "call", callId, name, owner, run, ...(expiresAt !== undefined && { expiresAt }), ...(place && { place }) });
  }
  for (const { taskId, ...interrupt } of thread.interrupts.values()) waits.push(interrupt);
  return waits;
}

/** Server calls that may run now: their step is complete and nobody has to be asked. */
export function readyCalls(thread: Thread): Call[] {
  return [...thread.calls.values()].filter((call) => call.phase === "ready");
}

/** A small copy of the head with `history` left out, to try events on before they are facts. */
export function preview(thread: Thread): Thread {
  return {
    ...thread,
    turn: thread.turn && { ...thread.turn },
    run: thread.run && { ...thread.run, speaking: new Map(), steps: new Map(), usage: [] },
    calls: new Map([...thread.calls].map(([id, call]) => [id, { ...call, claim: call.claim && { ...call.claim }, part: undefined }])),
    interrupts: new Map(thread.interrupts),
    graph: copyGraph(thread.graph),
    history: [],
  };
}
