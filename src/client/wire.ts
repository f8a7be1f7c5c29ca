import type { Owner, StoredEvent, ToolSpec } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";

/** A thread by its id. An operator also says whose it is; a row of a list will do. */
export type ThreadRef = string | { threadId: string; user?: string };

/** A thread as lists show it. `user` is there for operators only. */
export type Thread = {
  threadId: string;
  user?: string;
  title?: string;
  status: "idle" | "running" | "waiting";
  agent?: string;
  /** Calls and questions that wait for somebody outside. */
  pending: number;
  /** The last event, or where to follow from when only news counts. */
  seq: number;
  metadata: JsonObject;
  createdAt: string;
  updatedAt: string;
};

/** A thread as it changes. */
export type Head = Pick<Thread, "threadId" | "user" | "seq" | "status" | "pending" | "title" | "updatedAt">;

/** A call (or question) that is, or was, somebody else's to settle. */
export type Call = {
  id: string;
  threadId: string;
  user?: string;
  kind: "call" | "interrupt";
  /** The tool of a call, the reason of a question. */
  name: string;
  /** What the tool is called with, or what the question is. */
  input: Json;
  owner?: Owner;
  /** The call a question is about. */
  callId?: string;
  /** What an answer must look like. */
  schema?: JsonObject;
  status: string;
  createdAt: string;
  expiresAt?: string;
  settledAt?: string;
  /** Who is at it now. */
  claim?: { claim: number; by: string; until: string };
};

/** A standing permission to run a tool without asking. */
export type Grant = { id: string; user?: string; tool: string; threadId?: string; createdAt: string; by: string };

/** What a server offers. */
export type Meta = {
  name: string;
  version: string;
  agents: { name: string; tools: (ToolSpec & { owner: Owner })[] }[];
  doors: Record<string, string>;
};

/** A run that was asked for. Follow it from `seq`. */
export type Started = { runId: string; threadId: string; seq: number };

/** What became of a result or an answer. Follow what it led to from `seq`. */
export type Settlement = { status: string; threadId: string; runId?: string; seq: number };

/** The right to run a call alone, for a while. */
export type Lease = { claim: number; until: string };

/** News of all threads: events of those that are watched, heads of the others. */
export type News =
  | { type: "event"; threadId: string; user?: string; event: StoredEvent }
  | { type: "head"; head: Head }
  /** It was deleted. */
  | { type: "gone"; threadId: string; user?: string };

/** News of open calls. */
export type CallNews = { type: "call"; call: Call } | { type: "closed"; id: string; status: string };
