import type { StoredEvent, UserMessage } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { patch } from "../../core/patch.ts";
import { titleOf } from "../../core/title.ts";
import { foldCall } from "./fold-call.ts";
import { foldSpeech, foldStep } from "./fold-step.ts";
import { List } from "./list.ts";
import { Table } from "./table.ts";
import { EMPTY_VIEW, type RunState, type RunView, type ThreadView } from "./view.ts";

/** Adds one event to a view. An event it already has changes nothing, so whoever is unsure may add it again. */
export function foldView(view: ThreadView, event: StoredEvent): ThreadView {
  if (event.seq <= view.seq) return view;
  const { seq, at } = event;
  return { ...apply(view, event), seq, at, events: view.events.push(event) };
}

/** Adds events in their order. */
export function foldAll(view: ThreadView, events: Iterable<StoredEvent>): ThreadView {
  let folded = view;
  for (const event of events) folded = foldView(folded, event);
  return folded;
}

/** The thread as it was when it was deleted: nothing, but a later life goes on behind the same offset. */
export function forgotten({ seq, at }: ThreadView): ThreadView {
  return { ...EMPTY_VIEW, seq, at };
}

function apply(view: ThreadView, event: StoredEvent): ThreadView {
  switch (event.type) {
    case "run.started":
      return runStarted(view, event);
    case "run.recovered":
      return withRun(view, (run) => ({ ...run, recovered: run.recovered + 1 }));
    case "cancel.requested":
      return withRun(view, (run) => ({ ...run, cancel: { by: event.by, reason: event.reason } }));
    case "run.ended":
      return runEnded(view, event);
    case "step.started":
    case "step.ended":
      return foldStep(view, event);
    case "text.started":
    case "reasoning.started":
    case "text.delta":
    case "reasoning.delta":
    case "text.ended":
    case "reasoning.ended":
    case "part.added":
      return foldSpeech(view, event);
    case "tool.started":
    case "tool.delta":
    case "tool.called":
    case "call.offered":
    case "call.claimed":
    case "call.released":
    case "tool.progressed":
    case "tool.returned":
    case "interrupt.raised":
    case "interrupt.answered":
      return foldCall(view, event);
    case "state.patched":
      return { ...view, state: patched(view.state, event.ops) };
    case "memory.patched":
      return view; // its agent's own business
    case "checkpoint.reached": {
      const { checkpointId, lineageId, superstep, tasks, parentTaskId, seq, at } = event;
      const run = view.runs.at(-1)?.seq ?? 0;
      return { ...view, checkpoints: view.checkpoints.push({ id: checkpointId, seq, at, run, lineageId, superstep, tasks, parentTaskId }) };
    }
    case "activity.changed": {
      const { messageId: id, activityType, ops, seq, at } = event;
      const before = view.activities.get(id);
      const content = patched(before?.content ?? {}, ops);
      const activity = { seq, turnId: view.turns.at(-1)?.id, ...before, id, activityType, content, at };
      return { ...view, activities: view.activities.set(id, activity) };
    }
    case "custom.emitted": {
      const { name, value, source } = event;
      return custom(view, event, { name, value, source, unknown: false });
    }
    case "thread.rewound":
      return rewound(view, event);
    case "thread.forked":
      return { ...view, forkedFrom: event.from };
    case "thread.changed":
      return { ...view, title: event.title ?? view.title, metadata: event.metadata ?? view.metadata };
    default: {
      event satisfies never;
      const unknown = event as StoredEvent;
      return custom(view, unknown, { name: unknown.type, value: unknown as unknown as JsonObject, source: undefined, unknown: true });
    }
  }
}

function runStarted(view: ThreadView, event: Extract<StoredEvent, { type: "run.started" }>): ThreadView {
  const { runId: id, turnId, cause, agent, by, via, seq, at, messages } = event;
  const run: RunView = {
    id,
    seq,
    turnId,
    cause,
    agent,
    by,
    via,
    startedAt: at,
    endedAt: undefined,
    endSeq: undefined,
    state: "running",
    outcome: undefined,
    usage: [],
    cancel: undefined,
    recovered: 0,
  };
  const turn = view.turns.get(turnId) ?? { id: turnId, seq, agent, startedAt: at, runs: List.empty<number>() };
  let shown = view.messages;
  for (const message of messages) {
    const name = shown.has(message.id) ? `${message.id}@${seq}` : message.id;
    shown = shown.set(name, { role: "user", seq, at, turnId, run: seq, by, via, ...said(message) });
  }
  const first = messages[0];
  return {
    ...view,
    title: view.title ?? (first ? titleOf(first.content) || undefined : undefined),
    status: "running",
    agent,
    tools: event.tools ?? view.tools,
    runs: view.runs.set(`${seq}`, run),
    turns: view.turns.set(turnId, { ...turn, endedAt: undefined, state: "running", runs: turn.runs.push(seq) }),
    messages: shown,
    speaking: NOBODY,
    writing: view.turns.at(-1)?.id === turnId ? view.writing : undefined,
  };
}

const NOBODY: ThreadView["speaking"] = [];

function said({ id, content, name }: UserMessage) {
  const parts = typeof content === "string" ? [] : content;
  const text = typeof content === "string" ? content : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { id, text, parts, name };
}

function runEnded(view: ThreadView, event: Extract<StoredEvent, { type: "run.ended" }>): ThreadView {
  const { outcome, usage = [], seq, at, run: key, turnId } = event;
  const state: RunState = outcome.type;
  const run = view.runs.get(`${key}`);
  const turn = view.turns.get(turnId);
  const document = view.writing === undefined || state === "waiting" ? undefined : view.documents.get(view.writing);
  return {
    ...view,
    status: state === "done" ? "idle" : state,
    runs: run ? view.runs.set(`${key}`, { ...run, state, outcome, usage, endedAt: at, endSeq: seq }) : view.runs,
    turns: turn ? view.turns.set(turnId, { ...turn, state, endedAt: state === "waiting" ? undefined : at }) : view.turns,
    // Nobody closed it: what is there is all there will be.
    documents: document
      ? view.documents.set(document.id, { ...document, state: state === "done" ? "done" : "cut", closedAt: at })
      : view.documents,
    writing: document ? undefined : view.writing,
    speaking: NOBODY,
  };
}

function withRun(view: ThreadView, change: (run: RunView) => RunView): ThreadView {
  const run = view.runs.at(-1);
  return run ? { ...view, runs: view.runs.set(`${run.seq}`, change(run)) } : view;
}

function rewound(view: ThreadView, { to, state }: Extract<StoredEvent, { type: "thread.rewound" }>): ThreadView {
  let kept = view.messages.length;
  while (kept > 0 && (view.messages.at(kept - 1)?.seq ?? 0) >= to) kept -= 1;
  let activities = Table.empty<NonNullable<ReturnType<ThreadView["activities"]["at"]>>>();
  for (const activity of view.activities) if (activity.seq < to) activities = activities.set(activity.id, activity);
  return { ...view, messages: view.messages.take(kept), activities, state: state ?? view.state, writing: undefined };
}

type Custom = { name: string; value: Json; source: string | undefined; unknown: boolean };

function custom(view: ThreadView, { seq, at }: StoredEvent, given: Custom): ThreadView {
  return { ...view, customs: view.customs.push({ seq, at, turnId: view.turns.at(-1)?.id, ...given }) };
}

/** A patch that does not fit changes nothing. */
function patched(document: Json, ops: readonly Json[]): Json {
  try {
    return patch(document, ops);
  } catch {
    return document;
  }
}
