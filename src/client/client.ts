import type { RunOptions, StoredEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { type Calls, callsOf } from "./calls.ts";
import { type Checkpoints, checkpointsOf } from "./checkpoints.ts";
import { type ExecuteOptions, execute } from "./execute.ts";
import { type FollowOptions, follow, type WatchOptions, watch } from "./follow.ts";
import { type Hub, type HubOptions, openHub } from "./hub.ts";
import { type ConnectOptions, wire } from "./request.ts";
import { queryOf, threadPath } from "./thread-path.ts";
import { mint } from "./time.ts";
import type { Call, Grant, Meta, News, Settlement, Started, Thread, ThreadRef } from "./wire.ts";

export type { ErrorCode } from "../core/error.ts";
export type { CallStatus, Outcome, Owner, RunOptions, StoredEvent, ToolSpec, Usage, UserMessage, Wait } from "../core/event.ts";
export type { Json, JsonObject } from "../core/json.ts";
export type { CallQuery, Calls, ResultOptions } from "./calls.ts";
export type { Changed, Checkpoint, Checkpoints } from "./checkpoints.ts";
export type { ExecuteContext, ExecuteOptions, ExecuteTools, HandlersOf } from "./execute.ts";
export type { FollowOptions, WatchOptions } from "./follow.ts";
export { HandbackError, isTemporary } from "./handback-error.ts";
export type { Hub, HubConnection, HubOptions } from "./hub.ts";
export type { Channel, Locks, Page } from "./hub-page.ts";
export type { Store } from "./hub-store.ts";
export type { ThreadSnapshot } from "./hub-thread.ts";
export type { ConnectOptions, HeaderList } from "./request.ts";
export { nameOf, refOf } from "./thread-path.ts";
export { foldAll, foldView } from "./view/fold.ts";
export { List } from "./view/list.ts";
export { type Replay, replayOf, viewAt } from "./view/replay.ts";
export {
  activeOf,
  type CallGroup,
  groupOf,
  latencyOf,
  linesOf,
  type NodeView,
  nodesOf,
  pendingOf,
  stepsOf,
  usageOf,
} from "./view/select.ts";
export { type Segment, type Span, spansOf, type TimeMap, timeMapOf } from "./view/spans.ts";
export { Table } from "./view/table.ts";
export {
  type ActivityView,
  type AssistantMessageView,
  type CallPhase,
  type CallView,
  type CheckpointView,
  type CustomView,
  type DocumentView,
  EMPTY_VIEW,
  type InterruptView,
  type MessageView,
  type PartView,
  type RunState,
  type RunView,
  type SpeechView,
  type StepView,
  type ThreadStatus,
  type ThreadView,
  type TurnView,
  type UserMessageView,
} from "./view/view.ts";
export type {
  AgentInfo,
  Call,
  CallDetail,
  CallNews,
  Grant,
  GraphInfo,
  Head,
  Lease,
  Meta,
  News,
  Scenario,
  Settlement,
  Started,
  Thread,
  ThreadRef,
} from "./wire.ts";

/** What a person says: text, or parts with files by link or as base64. With an `id` of its own it can be sent again safely. */
export type Message = string | { id?: string; content: string | MessagePart[]; name?: string };
export type MessagePart =
  | { type: "text"; text: string }
  | ({ type: "file"; mediaType: string; name?: string } & ({ url: string } | { data: string }));

/** How a run differs from what its agent is configured to do. */
export type StartOptions = {
  agent?: string;
  /** The label of the run. */
  runId?: string;
  /** Tools that run in this client. */
  tools?: { name: string; description?: string; input?: JsonObject }[];
  options?: Pick<RunOptions, "model" | "profile" | "maxSteps" | "timeout" | "metadata">;
  /** Answer again from this user message on; the message takes its place. */
  rewindTo?: string;
};

/** Which threads: by words, by state, and page by page. */
export type ThreadQuery = { search?: string; status?: Thread["status"]; limit?: number; before?: string; user?: string };

/** A Handback server, as a browser, a worker or another server sees it. */
export type Handback = {
  threads: {
    /** Threads, the latest first. */
    list(query?: ThreadQuery): Promise<{ threads: Thread[]; next?: string }>;
    /** A thread, and what it waits for. */
    get(thread: ThreadRef): Promise<Thread & { waits: Call[] }>;
    rename(thread: ThreadRef, title: string): Promise<Thread>;
    /** Puts other metadata in place of a thread's own. */
    describe(thread: ThreadRef, metadata: JsonObject): Promise<Thread>;
    remove(thread: ThreadRef): Promise<void>;
    /** The whole thread as a file: JSON, one event per line. */
    export(thread: ThreadRef): Promise<Blob>;
    /** A thread out of such a file. */
    import(file: Blob | string, options?: { threadId?: string; user?: string }): Promise<{ threadId: string; seq: number }>;
    /** The bytes of a file in a thread. */
    file(thread: ThreadRef, blob: string): Promise<Blob>;
  };
  /** Says something. Sent again when the connection fails, and heard once. */
  run(thread: ThreadRef, message: Message | undefined, options?: StartOptions): Promise<Started>;
  /** Answers a user message again; what came after it leaves the conversation, and the log keeps it. */
  regenerate(thread: ThreadRef, messageId: string, options?: Omit<StartOptions, "rewindTo">): Promise<Started>;
  /** Says something else in place of a user message. */
  edit(thread: ThreadRef, messageId: string, message: Message, options?: Omit<StartOptions, "rewindTo">): Promise<Started>;
  /** Stops a run, or drops everything a turn waits for. */
  cancel(thread: ThreadRef, reason?: string): Promise<{ status: "cancelling" | "cancelled"; seq: number }>;
  /** The events of a thread, each once and in order, over broken connections. Throws only what the server refuses. */
  follow(thread: ThreadRef, options?: FollowOptions): AsyncGenerator<StoredEvent, void>;
  /** One page of a thread's log, for whoever wants to read and not to follow. `next` is the `after` of the page that follows. */
  log(
    thread: ThreadRef,
    options?: { after?: number; limit?: number; deltas?: boolean },
  ): Promise<{ events: StoredEvent[]; next?: number; seq: number }>;
  /** Everything a page shows, live, over one connection for all its tabs. */
  hub(options?: HubOptions): Hub;
  /** News of all threads in one stream. */
  watch(options?: WatchOptions): AsyncGenerator<News, void>;
  calls: Calls;
  /** Time travel, in the threads of graphs. */
  checkpoints: Checkpoints;
  /** Answers a question. */
  answer(interruptId: string, value: Json): Promise<Settlement>;
  /** Leaves a question without an answer. */
  dismiss(interruptId: string): Promise<Settlement>;
  grants: {
    list(query?: { user?: string }): Promise<Grant[]>;
    add(grant: { tool: string; threadId?: string; user?: string }): Promise<Grant>;
    remove(id: string): Promise<void>;
  };
  meta(): Promise<Meta>;
  /** Runs calls of these tools until it is stopped. */
  execute<Inputs>(options: ExecuteOptions<Inputs>): Promise<void>;
};

/**
 * Connects to a Handback server. Nothing is sent before something is asked.
 *
 * @example
 * const handback = connect({ url: "http://localhost:4242" });
 * const { seq } = await handback.run("t1", "What is on the menu?");
 * for await (const event of handback.follow("t1", { after: seq, until: "turn" })) console.log(event.type);
 *
 * @example
 * // Runs a tool wherever this code runs, one call at a time for each of any number of workers.
 * await handback.execute({ tools: { get_menu: async ({ category }: { category: string }) => fetchMenu(category) } });
 */
export function connect(options: ConnectOptions = {}): Handback {
  const server = wire(options);
  const { send, open, clock } = server;
  const calls = callsOf(server);
  const change = (thread: ThreadRef, body: object) => send<Thread>("PATCH", threadPath(thread), { body, again: true });
  const answer = (id: string, body: object) =>
    send<Settlement>("POST", `/interrupts/${encodeURIComponent(id)}/answer`, { body, again: true });
  const run: Handback["run"] = (thread, message, more = {}) => {
    const said = typeof message === "string" ? { content: message } : message;
    // Named by us, so that it can be sent again; answering again is another matter.
    const body = { ...more, ...(said && { message: { id: mint("msg"), ...said } }) };
    return send("POST", threadPath(thread, "/runs"), { body, again: more.rewindTo === undefined });
  };

  return {
    threads: {
      list: (query = {}) => send("GET", `/threads${queryOf(query)}`),
      get: (thread) => send("GET", threadPath(thread)),
      rename: (thread, title) => change(thread, { title }),
      describe: (thread, metadata) => change(thread, { metadata }),
      remove: (thread) => send("DELETE", threadPath(thread)),
      export: async (thread) => (await open(threadPath(thread, "/export"))).blob(),
      async import(file, query = {}) {
        const headers = { "content-type": "application/x-ndjson" };
        const response = await open(`/threads/import${queryOf(query)}`, { method: "POST", headers, body: file });
        return (await response.json()) as { threadId: string; seq: number };
      },
      file: async (thread, blob) => (await open(threadPath(thread, `/blobs/${encodeURIComponent(blob)}`))).blob(),
    },
    run,
    regenerate: (thread, rewindTo, more = {}) => run(thread, undefined, { ...more, rewindTo }),
    edit: (thread, rewindTo, message, more = {}) => run(thread, message, { ...more, rewindTo }),
    cancel: (thread, reason) => send("POST", threadPath(thread, "/cancel"), { body: { reason } }),
    follow: (thread, how) => follow(server, thread, how),
    log: (thread, query = {}) => send("GET", threadPath(thread, "/log", query)),
    hub: (how) => openHub(server, how),
    watch: (how) => watch(server, how),
    calls,
    checkpoints: checkpointsOf(server),
    answer: (id, value) => answer(id, { value }),
    dismiss: (id) => answer(id, { status: "cancelled" }),
    grants: {
      list: async (query = {}) => (await send<{ grants: Grant[] }>("GET", `/grants${queryOf(query)}`)).grants,
      add: (grant) => send("POST", "/grants", { body: grant }),
      remove: (id) => send("DELETE", `/grants/${encodeURIComponent(id)}`),
    },
    meta: () => send("GET", "/meta"),
    execute: (how) => execute(calls, clock, how),
  };
}
