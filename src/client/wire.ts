import type { OnTimeout, Owner, StoredEvent, ToolSpec } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";

/** A thread by its id. An operator also says whose it is: a row of a list will do, or its `nameOf`. */
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

/** A tool of an agent. `approval`: whether a person is asked first; `timeout`: how long the outside has, in milliseconds. */
export type ToolInfo = ToolSpec & {
  owner: Owner;
  approval?: "never" | "sometimes" | "always";
  timeout?: number;
  onTimeout?: OnTimeout;
};

/** A call with what somebody needs to decide on it: its tool, the title of its thread, and what was said last. */
export type CallDetail = Call & { tool?: ToolInfo; title?: string; context?: { role: "user" | "assistant"; text: string }[] };

/** A standing permission to run a tool without asking. */
export type Grant = { id: string; user?: string; tool: string; threadId?: string; createdAt: string; by: string };

/** What a server offers. */
export type Meta = {
  name: string;
  version: string;
  /** A script answers, and no model is configured. */
  demo: boolean;
  agents: AgentInfo[];
  /** The profiles a request may choose. */
  profiles: string[];
  /** Where each door is, seen from the server's root. */
  doors: Record<string, string>;
  /** Where code for `createSandbox` runs; without an origin, at the server itself. */
  sandbox: { path: string; origin?: string };
  /** What the console offers to try. */
  scenarios: Scenario[];
};

/** An agent. `graph` is what it looks like, where it is one; `profile` how it tells tools to its model, if not by native calls. */
export type AgentInfo = { name: string; tools: ToolInfo[]; models: string[]; profile?: string; graph?: GraphInfo };

/** A graph, for drawing. `START` and `END` are ends of edges only. */
export type GraphInfo = {
  nodes: { id: string; kind: "node" | "agent" | "tool" | "graph"; description?: string; graph?: GraphInfo }[];
  edges: { from: string; to: string; kind: "edge" | "join" | "when"; label?: string }[];
};

/** Something to try, and the code it takes on the server. */
export type Scenario = { id: string; title: Words; text: Words; prompt: Words; code: string; tools?: ToolSpec[] };
type Words = { en: string; zh: string };

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
