import type { Failure } from "../../core/error.ts";
import type { Cause, FilePart, OnTimeout, Outcome, Owner, Part, Place, StoredEvent, Task, ToolSpec, Usage } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { List } from "./list.ts";
import { Table } from "./table.ts";

/**
 * Everything a page shows of a thread, as its events add up to it. Never changed in place: what an event does not touch
 * is the same object before and after, so that only what changed is drawn again.
 */
export type ThreadView = {
  /** The last event in it. */
  readonly seq: number;
  /** When that was, in milliseconds. */
  readonly at: number;
  readonly title: string | undefined;
  readonly metadata: JsonObject;
  /** `failed` and `cancelled` are how the last run ended; both may go on with the next message. */
  readonly status: ThreadStatus;
  /** Calls and questions that wait for somebody now. */
  readonly pending: number;
  /** What the last run was asked with: its agent, and the tools of the requesting client. */
  readonly agent: string | undefined;
  readonly tools: readonly ToolSpec[];
  readonly turns: Table<TurnView>;
  /** By the seq of their `run.started`, as text. */
  readonly runs: Table<RunView>;
  /** Model calls, graph nodes and agents, by step id. */
  readonly steps: Table<StepView>;
  /** What the conversation shows, in order. */
  readonly messages: Table<MessageView>;
  readonly calls: Table<CallView>;
  readonly interrupts: Table<InterruptView>;
  readonly documents: Table<DocumentView>;
  readonly activities: Table<ActivityView>;
  readonly checkpoints: List<CheckpointView>;
  /** `custom.emitted`, and events this release does not know. */
  readonly customs: List<CustomView>;
  readonly state: Json;
  readonly forkedFrom: { readonly threadId: string; readonly seq: number } | undefined;
  /** The whole log, as it came. */
  readonly events: List<StoredEvent>;
  /** Texts that are being spoken now: where their deltas go. */
  readonly speaking: readonly Speaking[];
  /** The document that texts go into now. */
  readonly writing: string | undefined;
};

export type ThreadStatus = "idle" | "running" | "waiting" | "failed" | "cancelled";

/** A user message and everything until it is answered. */
export type TurnView = {
  readonly id: string;
  readonly seq: number;
  readonly agent: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly state: RunState;
  /** Seqs of its runs. */
  readonly runs: List<number>;
};

export type RunState = "running" | "done" | "waiting" | "failed" | "cancelled";

export type RunView = {
  /** The client's label. It may repeat; `seq` does not. */
  readonly id: string;
  readonly seq: number;
  readonly turnId: string;
  readonly cause: Cause;
  readonly agent: string;
  readonly by: string;
  readonly via: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly endSeq: number | undefined;
  readonly state: RunState;
  readonly outcome: Outcome | undefined;
  readonly usage: readonly Usage[];
  /** Somebody wants it to end. */
  readonly cancel: { readonly by: string; readonly reason: string | undefined } | undefined;
  /** How often another process took it over. */
  readonly recovered: number;
};

/** A model call, a node of a graph or an agent in one. */
export type StepView = {
  readonly id: string;
  readonly name: string;
  readonly kind: "model" | "node" | "agent";
  readonly run: number;
  readonly turnId: string;
  readonly seq: number;
  readonly parent: string | undefined;
  readonly taskId: string | undefined;
  /** Which try this is, from 1. */
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** `cut`: it died with its process or was cancelled. `waiting`: a node that asked and will run again. `retrying`: it failed and is tried again. */
  readonly state: "running" | "done" | "failed" | "retrying" | "waiting" | "cut";
  readonly error: Failure | undefined;
  readonly finishReason: string | undefined;
  readonly usage: Usage | undefined;
  readonly writes: Json | undefined;
  /** Ids of the calls it made: a group, "2 of 3 answered". */
  readonly calls: List<string>;
};

export type MessageView = UserMessageView | AssistantMessageView;

export type UserMessageView = {
  readonly role: "user";
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly turnId: string;
  readonly run: number;
  readonly text: string;
  /** Files, where it has some. */
  readonly parts: readonly Part[];
  readonly name: string | undefined;
  readonly by: string;
  readonly via: string;
};

/** One step of the model: `id` is its step's. */
export type AssistantMessageView = {
  readonly role: "assistant";
  readonly id: string;
  readonly messageId: string;
  readonly seq: number;
  readonly at: number;
  readonly turnId: string;
  readonly run: number;
  /** `cut`: what it said is visible, but the model is never shown it. */
  readonly state: "open" | "done" | "cut";
  readonly endedAt: number | undefined;
  readonly error: Failure | undefined;
  readonly parts: List<PartView>;
};

export type PartView =
  | SpeechView
  | { readonly type: "call"; readonly id: string; readonly seq: number }
  /** Where a document was opened; its text is in `documents`. */
  | { readonly type: "document"; readonly id: string; readonly seq: number }
  | { readonly type: "file"; readonly id: string; readonly seq: number; readonly file: FilePart }
  | {
      readonly type: "source";
      readonly id: string;
      readonly seq: number;
      readonly url: string | undefined;
      readonly title: string | undefined;
    }
  | { readonly type: "data"; readonly id: string; readonly seq: number; readonly name: string; readonly value: Json };

export type SpeechView = {
  readonly type: "text" | "reasoning";
  readonly id: string;
  readonly seq: number;
  readonly text: string;
  /** `cut`: the model was stopped in the middle. */
  readonly state: "streaming" | "done" | "cut";
  readonly startedAt: number;
  readonly endedAt: number | undefined;
};

/** The one vocabulary of a call's life. */
export type CallPhase = "streaming" | "dispatched" | "waiting" | "claimed" | "done" | "rejected" | "failed" | "expired" | "cancelled";

export type CallView = {
  readonly id: string;
  readonly name: string;
  readonly owner: Owner;
  readonly phase: CallPhase;
  /** Who owes the agent something, while it waits or is claimed. */
  readonly waitingFor: "browser" | "external" | "human" | undefined;
  readonly seq: number;
  readonly run: number;
  readonly turnId: string;
  /** The step that made it: calls of one step are a group. */
  readonly stepId: string;
  readonly messageId: string;
  readonly taskId: string | undefined;
  readonly place: Place | undefined;
  /** Its arguments as the model writes them. */
  readonly argsText: string;
  /** What the model asked for; `undefined` while it is still being written. */
  readonly input: Json | undefined;
  /** What a person put in its place. */
  readonly edited: Json | undefined;
  /** Why nobody may run it. */
  readonly invalid: string | undefined;
  /** The model's own words, where a profile read them. */
  readonly source: string | undefined;
  readonly needsApproval: boolean;
  /** The question whether it may be made, in `interrupts`. */
  readonly interruptId: string | undefined;
  readonly ordinal: number | undefined;
  /** When it expires, in milliseconds: the deadline of the question, then that of the result. */
  readonly deadline: number | undefined;
  readonly onTimeout: OnTimeout | undefined;
  readonly claim: { readonly by: string; readonly claim: number; readonly at: number } | undefined;
  readonly progress: Json | undefined;
  readonly output: Json | undefined;
  readonly error: string | undefined;
  readonly resultMetadata: JsonObject | undefined;
  /** Who settled it and through which door. */
  readonly by: string | undefined;
  readonly via: string | undefined;
  /** Who agreed to it or refused, and why. */
  readonly verdict:
    | { readonly approved: boolean; readonly by: string; readonly via: string; readonly reason: string | undefined; readonly at: number }
    | undefined;
  readonly startedAt: number;
  readonly calledAt: number | undefined;
  readonly askedAt: number | undefined;
  readonly offeredAt: number | undefined;
  readonly settledAt: number | undefined;
  readonly settledSeq: number | undefined;
};

export type InterruptView = {
  readonly id: string;
  readonly reason: string;
  readonly prompt: Json;
  readonly schema: JsonObject | undefined;
  readonly callId: string | undefined;
  readonly taskId: string | undefined;
  readonly place: Place | undefined;
  readonly deadline: number | undefined;
  readonly seq: number;
  readonly run: number;
  readonly turnId: string;
  readonly askedAt: number;
  readonly status: "open" | "resolved" | "cancelled" | "expired";
  readonly value: Json | undefined;
  readonly answerReason: string | undefined;
  readonly by: string | undefined;
  readonly via: string | undefined;
  readonly answeredAt: number | undefined;
  readonly answeredSeq: number | undefined;
};

/** What an agent writes beside the conversation, between `open_report_document` and `close_report_document`. `id` is the opening call's. */
export type DocumentView = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly state: "streaming" | "done" | "cut";
  readonly seq: number;
  readonly run: number;
  readonly turnId: string;
  readonly openedAt: number;
  readonly closedAt: number | undefined;
};

export type ActivityView = {
  readonly id: string;
  readonly activityType: string;
  readonly content: Json;
  readonly seq: number;
  readonly at: number;
  readonly turnId: string | undefined;
};

export type CheckpointView = {
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly run: number;
  readonly lineageId: string | undefined;
  readonly superstep: number;
  readonly tasks: readonly Task[];
  readonly parentTaskId: string | undefined;
};

export type CustomView = {
  readonly seq: number;
  readonly at: number;
  readonly turnId: string | undefined;
  readonly name: string;
  readonly value: Json;
  readonly source: string | undefined;
  /** An event type this release does not know; `value` is the whole event. */
  readonly unknown: boolean;
};

export type Speaking = {
  readonly messageId: string;
  readonly stepId: string;
  readonly part: number;
  readonly documentId: string | undefined;
  /** Where in the document it begins. */
  readonly from: number;
};

/** A thread nobody has written to. */
export const EMPTY_VIEW: ThreadView = {
  seq: 0,
  at: 0,
  title: undefined,
  metadata: {},
  status: "idle",
  pending: 0,
  agent: undefined,
  tools: [],
  turns: Table.empty(),
  runs: Table.empty(),
  steps: Table.empty(),
  messages: Table.empty(),
  calls: Table.empty(),
  interrupts: Table.empty(),
  documents: Table.empty(),
  activities: Table.empty(),
  checkpoints: List.empty(),
  customs: List.empty(),
  state: {},
  forkedFrom: undefined,
  events: List.empty(),
  speaking: [],
  writing: undefined,
};
