import type { Failure } from "./error.ts";
import type { Json, JsonObject } from "./json.ts";

/** The version of the events this code writes. Older ones are upcast when read; newer ones refuse decisions. */
export const EVENT_VERSION = 1;

/** Who runs a call: this server, the requesting browser, or anyone else outside. */
export type Owner = "server" | "client" | "external";

/** What becomes of a call whose deadline passes. */
export type OnTimeout = { type: "fail" } | { type: "deny" } | { type: "default"; output: Json } | { type: "cancel" };

/** A tool as a model sees it; one that came with a request runs in the requesting client. */
export type ToolSpec = { name: string; description: string; input: JsonObject };

/** A piece of a message. Files are links or blobs beside the log, never bytes in it. */
export type Part = { type: "text"; text: string } | FilePart;
export type FilePart = { type: "file"; mediaType: string; name?: string } & ({ url: string } | { blob: string });

export type UserMessage = { id: string; content: string | Part[]; name?: string };

/** How this turn differs from its agent's configuration. In the log, because a sweep has no request. Never secrets. */
export type RunOptions = {
  model?: string;
  instructions?: string;
  maxSteps?: number;
  /** Whole run, in milliseconds; 0 is none. */
  timeout?: number;
  /** Facts the client wants the model to know. */
  context?: { description: string; value: string }[];
  /** The names of the tools the model may call in this turn. Default: all there are. */
  tools?: string[];
  /** What server tools and nodes are told besides their input. */
  values?: JsonObject;
  /** What the turn's lines in the server's log are marked with. */
  attributes?: JsonObject;
  toolExecution?: ToolExecution;
  /** How tools are told to a model that has no calls of its own; `"native"` for one that has. */
  profile?: string;
  /** Calls by prompt stay in the text as the model wrote them: nobody here looks for them. */
  toolCalls?: "raw";
  /** Passed to the model's provider. */
  settings?: CallSettings;
  metadata?: JsonObject;
};

/** What a client may say about how a model answers. */
export type CallSettings = {
  temperature?: number;
  topP?: number;
  topK?: number;
  maxOutputTokens?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
};

/** Seed 002's `toolExecutionConfig`, which a thread remembers. */
export type ToolExecution = {
  mode: "internal" | "outside";
  outsideConfig?: { waitForResult?: boolean; timeout?: number; callbackUrl?: string };
  internalConfig?: { enableCache?: boolean; cacheTtl?: number; maxRetries?: number };
};

export type Usage = {
  model?: string;
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  reasoningTokens?: number;
  cachedInputTokens?: number;
  /** In the currency of the agent's `price`. */
  cost?: number;
};

/** How a call was settled. */
export type CallStatus = "completed" | "failed" | "rejected" | "expired" | "cancelled";

/** Why a run began. */
export type Cause = "message" | "result" | "answer" | "expiry" | "cancel" | "retry";

/**
 * Where in a graph something waits. `path` names the nodes from the outermost graph to the one that asks;
 * lineage and checkpoint are names for places in the log: the turn, and the barrier it goes on from.
 */
export type Place = { path: string[]; key?: string; lineageId: string; checkpointId: string };

/** One execution of a node. A rerun keeps its id and finds its answers; a revisit is a new task and asks anew. */
export type Task = {
  taskId: string;
  node: string;
  /** What this task alone sees on top of the state, where a command sent it. */
  input?: Json;
};

/** The nodes that have led to a join while it waits for the others. */
export type Arrived = { [join: string]: string[] };

/** Something only the outside can supply. A run that waits has ended and costs nothing. */
export type Wait =
  | {
      type: "call";
      callId: string;
      name: string;
      owner: Owner /** Seq of the run it began in. */;
      run: number;
      expiresAt?: number;
      place?: Place;
    }
  | {
      type: "interrupt";
      interruptId: string;
      reason: string;
      prompt: Json;
      schema?: JsonObject;
      callId?: string;
      expiresAt?: number;
      place?: Place;
    };

/** Why a run stopped. `waiting` is not a failure: the next run continues the turn. */
export type Outcome =
  | { type: "done"; result?: Json }
  | { type: "waiting"; for: Wait[] }
  | { type: "failed"; error: Failure }
  | { type: "cancelled"; reason?: string };

/** Who said it (`user:alice`, `executor:w1`, `handback`) and through which door. */
type Source = { by: string; via: string };

/**
 * One fact in a thread's log: past tense, complete in itself, names its parent, never edited.
 * Everything else in the system is a view of these.
 */
export type Event = RunEvent | StepEvent | SpeechEvent | CallEvent | InterruptEvent | ThreadEvent;

/** A run is one uninterrupted execution: exactly one `run.started`, one `run.ended`. */
export type RunEvent =
  | ({
      type: "run.started";
      /** The client's label; it may repeat. A run is known by the seq of this event. */
      runId: string;
      turnId: string;
      epoch: number;
      cause: Cause;
      agent: string;
      messages: UserMessage[];
      /** Absent means: as the thread has them already. */
      tools?: ToolSpec[];
      options?: RunOptions;
      parentRunId?: string;
      /** What a graph was told to go on with: the answers to its questions, by key. */
      resume?: { lineageId: string; checkpointId: string; answers: JsonObject };
    } & Source)
  | { type: "run.recovered"; runId: string; epoch: number }
  | { type: "cancel.requested"; runId: string; by: string; reason?: string }
  /** `run` is the seq of its `run.started`: labels may repeat. */
  | { type: "run.ended"; runId: string; turnId: string; run: number; outcome: Outcome; usage?: Usage[] };

export type StepEvent =
  | {
      type: "step.started";
      stepId: string;
      name: string;
      kind: "model" | "node" | "agent";
      messageId: string;
      parentStepId?: string;
      taskId?: string;
      /** Which try of a node this is, from the second on. */
      attempt?: number;
      /** Where the node is: on the steps of tasks, and on nothing inside them. */
      place?: Place;
    }
  | {
      type: "step.ended";
      stepId: string;
      name: string;
      completed: boolean;
      error?: Failure;
      /** It failed and is tried again: not the end of its node. */
      retrying?: true;
      finishReason?: string;
      usage?: Usage;
      /** What a finished task wants to change; it takes effect at the barrier, in task order. */
      writes?: Json;
      /** As in its `step.started`: readers need not remember how a step began. */
      parentStepId?: string;
      place?: Place;
    };

/** What a model says. Endings carry the whole, so that no reader adds up deltas. */
export type SpeechEvent =
  | { type: "text.started" | "reasoning.started"; messageId: string; stepId: string }
  | { type: "text.delta" | "reasoning.delta"; messageId: string; delta: string }
  | { type: "text.ended" | "reasoning.ended"; messageId: string; text: string; provider?: JsonObject }
  | {
      type: "part.added";
      messageId: string;
      stepId: string;
      part: FilePart | { type: "source"; url?: string; title?: string; id?: string } | { type: "data"; name: string; value: Json };
    };

/** A call goes tool.started → tool.called → [interrupt] → call.offered → [call.claimed] → tool.returned, once. */
export type CallEvent =
  | { type: "tool.started"; callId: string; name: string; messageId: string; stepId: string; owner: Owner }
  | { type: "tool.delta"; callId: string; delta: string }
  | {
      type: "tool.called";
      callId: string;
      name: string;
      messageId: string;
      stepId: string;
      owner: Owner;
      input: Json;
      /** A person must agree before it is handed out or run. */
      approval?: { timeout?: number };
      /** Why nobody may run it; the model is told. */
      invalid?: string;
      /** How long the outside has once it is offered, in milliseconds. */
      timeout?: number;
      onTimeout?: OnTimeout;
      /** A dead server may run it again. */
      idempotent?: boolean;
      /** The agent runs it by itself and says what came of it: nobody else may. */
      inside?: true;
      provider?: JsonObject;
      /** The model's own words, where a profile parsed them. */
      source?: string;
      /** The task it belongs to, and where in its graph that is. */
      taskId?: string;
      place?: Place;
    }
  | {
      type: "call.offered";
      callId: string;
      name: string;
      owner: Owner;
      input: Json;
      ordinal: number;
      expiresAt?: number;
      onTimeout?: OnTimeout;
    }
  | { type: "call.claimed"; callId: string; by: string; claim: number }
  | { type: "call.released"; callId: string; claim: number; reason: string }
  | { type: "tool.progressed"; callId: string; output: Json }
  | ({
      type: "tool.returned";
      callId: string;
      name: string;
      owner: Owner;
      /** The id under which clients show the result: theirs where they sent one. */
      messageId: string;
      status: CallStatus;
      output?: Json;
      error?: string;
      metadata?: JsonObject;
    } & Source);

export type InterruptEvent =
  | {
      type: "interrupt.raised";
      interruptId: string;
      reason: string;
      prompt: Json;
      schema?: JsonObject;
      callId?: string;
      taskId?: string;
      place?: Place;
      expiresAt?: number;
    }
  | ({
      type: "interrupt.answered";
      interruptId: string;
      callId?: string;
      status: "resolved" | "cancelled" | "expired";
      value?: Json;
      /** The input a person put in place of the model's. */
      input?: Json;
      reason?: string;
    } & Source);

export type ThreadEvent =
  | { type: "state.patched"; ops: Json[] }
  /** What an agent keeps for itself, across turns and processes; no door shows it. */
  | { type: "memory.patched"; ops: Json[] }
  /**
   * A barrier: everything before it is done, and `tasks` are next. The outermost graph's state is the thread's, changed by the
   * `state.patched` in the same append; a graph inside a task (`parentTaskId`) has a state of its own, changed by `ops`.
   */
  | {
      type: "checkpoint.reached";
      checkpointId: string;
      lineageId?: string;
      superstep: number;
      tasks: Task[];
      parentTaskId?: string;
      ops?: Json[];
      /** Who has come so far, where a join waits for more: the nodes, by join. */
      arrived?: Arrived;
    }
  | { type: "activity.changed"; messageId: string; activityType: string; ops: Json[] }
  | { type: "custom.emitted"; name: string; value: Json; id?: string; source?: string; transient?: boolean }
  /** `state` and `checkpoint` are what a graph goes on from; `answers` are given before their questions are asked again, by key. */
  | {
      type: "thread.rewound";
      to: number;
      removed: string[];
      state?: Json;
      /** What agents kept at that place. */
      memory?: Json;
      checkpoint?: { checkpointId: string; lineageId: string; superstep: number; tasks: Task[]; arrived?: Arrived };
      answers?: JsonObject;
    }
  | { type: "thread.forked"; from: { threadId: string; seq: number } }
  | { type: "thread.changed"; title?: string; metadata?: JsonObject };

/** An event once it has a place in the log. `seq` counts from 1 and is never used twice. */
export type StoredEvent = Event & { seq: number; at: number; v: number };

/** Deltas are the only events a reader may miss: their endings say it all. */
export function isDelta({ type }: Event): boolean {
  return type === "text.delta" || type === "reasoning.delta" || type === "tool.delta" || type === "tool.progressed";
}
