import type { Arrived, RunOptions, StoredEvent, Task, ToolSpec, UserMessage } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";

/** What the outside asks of one thread. Every protocol decodes into this; ids and the time come with it. */
export type Command = RunCommand | CancelCommand | ExpireCommand | ClaimCommand | ReleaseCommand | RecoverCommand | ChangeCommand;

/** Who is asking, through which door, and when. */
type Asked = { by: string; via: string; now: number };

/**
 * Messages, results and answers in one request. What the thread already knows is no news;
 * a request without news starts nothing and follows its turn.
 */
export type RunCommand = Asked & {
  type: "run";
  /** The client's label for the run this may start. */
  runId: string;
  /** Minted for the turn this may start. */
  turnId: string;
  agent?: string;
  messages: UserMessage[];
  results: Result[];
  /** Results that name no call: the n-th of a step answers the n-th call it offered. */
  nameless?: Nameless[];
  answers: Answer[];
  /** What a graph goes on with, as seed 003 says it: by key instead of by question. */
  resume?: Resume;
  tools?: ToolSpec[];
  options?: RunOptions;
  state?: Json;
  parentRunId?: string;
  /** Answer again from this user message on; `messages` take its place where given. */
  rewindTo?: string;
  /**
   * `explicit` doors name one thing and get 404, 409 and 410. `history` doors resend all they show,
   * so what is stale there is ignored and counted.
   */
  door: "explicit" | "history";
  /** What a new message does to calls that wait. */
  whilePending?: "cancel" | "reject";
  /** The sender's own name for this request: sent again, it follows what it led to the first time. */
  request?: RequestKey;
};

/** An idempotency key, and the hash of the request it was first used for. */
export type RequestKey = { key: string; hash: string };

/** A result handed back for one call. */
export type Result = {
  callId: string;
  status: "completed" | "failed";
  output?: Json;
  error?: string;
  /** The tool the sender thinks it ran. */
  name?: string;
  /** The sender's own id for the message that holds it. */
  messageId?: string;
  /** The claim it was executed under. */
  claim?: number;
  metadata?: JsonObject;
  /** How it found its call, where that is not by the door's own way of naming one. */
  via?: string;
};

/** A result whose sender leaves it to us to know which call it is for. */
export type Nameless = Omit<Result, "callId">;

/** An answer to a question, named by the question or by the call it is about. */
export type Answer = { interruptId?: string; callId?: string; status: "resolved" | "cancelled"; value?: Json };

/**
 * Where a graph goes on, and with what: answers by key, or one for the only question that is open. Lineage and checkpoint must be
 * this thread's; without answers they are only checked, for results that come with them.
 */
export type Resume = {
  lineageId?: string;
  checkpointId?: string;
  answers?: JsonObject;
  value?: Json;
  /** Fields to change in the state it goes back to. */
  state?: JsonObject;
};

/** A barrier to go back to, and the thread as it was there. */
export type Checkpoint = {
  checkpointId: string;
  lineageId: string;
  superstep: number;
  seq: number;
  tasks: Task[];
  arrived: Arrived;
  state: Json;
  memory: Json;
  agent: string;
  tools: ToolSpec[];
  options: RunOptions;
};

export type CancelCommand = Asked & { type: "cancel"; runId: string; reason?: string };

/** A deadline has passed for this call or interrupt. */
export type ExpireCommand = Asked & { type: "expire"; runId: string; id: string };

/** Somebody wants to execute a call alone. `held` says whether the last claim's lease still runs. */
export type ClaimCommand = Asked & { type: "claim"; callId: string; held: boolean };

export type ReleaseCommand = Asked & { type: "release"; callId: string; claim: number; reason: string };

/** Nobody drives the run any more: take it over. */
export type RecoverCommand = Asked & { type: "recover" };

export type ChangeCommand = Asked & { type: "change"; title?: string; metadata?: JsonObject };

/** What the indexes know of the ids a command names; the head of the thread has the rest. */
export type Known = {
  /** Where each known user message began its turn. */
  messages: ReadonlyMap<string, number>;
  /** Calls and interrupts of this thread that are settled, and the run that holds the settlement. */
  settled: ReadonlyMap<string, Settled>;
  /** Seq of the last run with the command's label. */
  run: number | undefined;
  /** The checkpoint a command goes back to, if it is this thread's. */
  checkpoint?: Checkpoint;
};

export type Settled = { runSeq: number; event: Extract<StoredEvent, { type: "tool.returned" | "interrupt.answered" }> };

export const NOTHING_KNOWN: Known = { messages: new Map(), settled: new Map(), run: undefined };
