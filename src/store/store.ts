import type { Known } from "../core/command.ts";
import type { Event, Owner, StoredEvent, Task } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";

/**
 * What an append requires of the thread it is written to.
 * `seq`: a decision, valid only directly behind the seq it was decided on.
 * `epoch`: speech, behind whatever is there, as long as its driver still has the run.
 */
export type Expect = { seq: number } | { epoch: number };

export type ThreadStatus = "idle" | "running" | "waiting";

/** A thread as its index row has it. */
export type ThreadRow = ThreadKey & {
  seq: number;
  epoch: number;
  status: ThreadStatus;
  title?: string;
  metadata: JsonObject;
  agent?: string;
  /** Calls and questions that wait for the outside. */
  pending: number;
  createdAt: number;
  updatedAt: number;
};

/** A call or question that is, or was, the outside's to settle. `status` is `pending` while it is open. */
export type WaitRow = ThreadKey & {
  id: string;
  kind: "call" | "interrupt";
  /** The tool of a call, the reason of a question. */
  name: string;
  owner?: Owner;
  callId?: string;
  input: Json;
  schema?: JsonObject;
  ordinal?: number;
  status: string;
  createdAt: number;
  expiresAt?: number;
  settledAt?: number;
  claim?: { claim: number; by: string; until: number };
};

/** A barrier of a thread's graph: where it is in the log, and what is next there. */
export type CheckpointRow = { checkpointId: string; lineageId: string; superstep: number; seq: number; createdAt: number; tasks: Task[] };

/** A standing permission to run a tool without asking. Without `threadId` it holds for all of the user's threads. */
export type Grant = { id: string; app: string; user: string; tool: string; threadId?: string; createdAt: number; by: string };

/** What a request with a key led to. Its sender follows behind `after`; its own events are `first` to `seq`. */
export type RequestRow = { hash: string; threadId: string; after: number; first: number; seq: number };

/** An external call on its way to a receiver. `accepted` waits for a heartbeat until `nextAt`; `stopped` was refused or settled first. */
export type Delivery = ThreadKey & {
  id: string;
  url: string;
  status: "pending" | "accepted" | "delivered" | "failed" | "stopped";
  attempts: number;
  nextAt?: number;
  createdAt: number;
  /** The last attempts, oldest first. */
  log: Attempt[];
};

/** One delivery as it went: the receiver's HTTP status, or why there is none. */
export type Attempt = { at: number; ms: number; status?: number; error?: string };

export type DeliveryQuery = { app: string; user?: string; threadId?: string; status?: string; limit: number; before?: string };

export type ThreadQuery = { app: string; user?: string; search?: string; status?: ThreadStatus; limit: number; before?: string };
export type WaitQuery = {
  app: string;
  user?: string;
  threadId?: string;
  kind?: "call" | "interrupt";
  status?: string;
  /** One of these. */
  statuses?: string[];
  names?: string[];
  limit: number;
  after?: string;
  order?: "oldest" | "newest";
};

/**
 * Keeps the logs and the rows derived from them. Implementations must pass `conformance.ts`.
 * Every method may throw `unavailable` when the medium cannot be read or written.
 */
export interface Store {
  /**
   * Writes `events` behind the log and their `rows` in one transaction, and returns the seq of the first.
   * It resolves when they are on disk. Throws `conflict`, having written nothing, when `expect` no longer holds.
   * A `request` is remembered with them; throws `unprocessable` when its key was used in the last 24 hours.
   */
  append(
    key: ThreadKey,
    expect: Expect,
    events: readonly Event[],
    at: number,
    request?: { key: string; hash: string; after: number },
  ): Promise<number>;

  /** What the request with this key led to, if it came behind `since`. */
  request(owner: { app: string; user: string }, key: string, since: number): Promise<RequestRow | undefined>;

  /** Events behind `after`, oldest first, at most `limit`. `deltas: false` leaves out what `isDelta` names. An unknown thread reads as empty. */
  read(key: ThreadKey, query: { after: number; limit?: number; deltas?: boolean }): Promise<StoredEvent[]>;

  /** What the indexes know of these ids in this thread; ids of other threads are unknown here. */
  known(key: ThreadKey, ids: { messages: readonly string[]; waits: readonly string[]; runId?: string }): Promise<Known>;

  /** Which of these call ids are taken in the app. */
  taken(app: string, ids: readonly string[]): Promise<Set<string>>;

  thread(key: ThreadKey): Promise<ThreadRow | undefined>;
  /**
   * Where this life of a thread began: 0 and 0 in its first one, otherwise the seq and epoch its tombstone keeps.
   * The next life of a deleted thread is decided on them.
   */
  origin(key: ThreadKey): Promise<{ seq: number; epoch: number }>;
  /** Newest first. `next` is the `before` of the page that follows. */
  threads(query: ThreadQuery): Promise<{ threads: ThreadRow[]; next?: string }>;
  /** Threads with a run nobody has ended: all of them need a new driver when a process starts. */
  running(): Promise<ThreadKey[]>;

  wait(app: string, id: string): Promise<WaitRow | undefined>;
  /** Oldest first, unless asked otherwise. `next` is the `after` of the page that follows. */
  waits(query: WaitQuery): Promise<{ waits: WaitRow[]; next?: string }>;
  /** Open waits whose deadline is at or before `now`, most overdue first. */
  due(now: number, limit: number): Promise<WaitRow[]>;
  /** Sets the lease of a claim; false when that claim is no longer the last one or the call is settled. */
  lease(app: string, id: string, claim: number, until: number): Promise<boolean>;

  delivery(app: string, id: string): Promise<Delivery | undefined>;
  /** Newest first. `next` is the `before` of the page that follows. */
  deliveries(query: DeliveryQuery): Promise<{ deliveries: Delivery[]; next?: string }>;
  /** Deliveries whose time has come, most overdue first. */
  dueDeliveries(now: number, limit: number): Promise<Delivery[]>;
  /**
   * Writes what came of an attempt, or without one that there shall be another. An attempt never brings back a delivery that was
   * stopped meanwhile. `disable` stops all deliveries of the thread to this URL, also future ones.
   */
  saveDelivery(
    app: string,
    id: string,
    change: { status: Delivery["status"]; nextAt?: number; attempt?: Attempt; disable?: boolean },
  ): Promise<void>;

  /** Barriers of the thread's graph, the latest first. `next` is the `before` of the page that follows. */
  checkpoints(key: ThreadKey, query: { limit: number; before?: string }): Promise<{ checkpoints: CheckpointRow[]; next?: string }>;
  checkpoint(key: ThreadKey, id: string): Promise<CheckpointRow | undefined>;

  snapshot(key: ThreadKey): Promise<{ seq: number; version: number; data: string } | undefined>;
  saveSnapshot(key: ThreadKey, snapshot: { seq: number; version: number; data: string }): Promise<void>;

  /** The secret of this name, kept for ever: `fresh` where there is none yet. Whoever asks gets the same. */
  secret(name: string, fresh: string): Promise<string>;

  grants(query: { app: string; user?: string }): Promise<Grant[]>;
  addGrant(grant: Grant): Promise<void>;
  removeGrant(query: { app: string; user?: string; id: string }): Promise<boolean>;

  /** A blob belongs to its thread and goes with it. The same bytes under the same id are stored once. */
  saveBlob(key: ThreadKey, blob: { id: string; mediaType: string; data: Uint8Array }): Promise<void>;
  blob(key: ThreadKey, id: string): Promise<{ mediaType: string; data: Uint8Array } | undefined>;

  /**
   * Deletes a thread: events, rows, snapshot, blobs and its grants go; a tombstone keeps the next seq and raises the epoch,
   * so that a later life of the same id continues behind the old offsets. False when there is none.
   */
  remove(key: ThreadKey): Promise<boolean>;
  /** Forgets requests that came before `before`. */
  forgetRequests(before: number): Promise<void>;
  /** Deletes up to `limit` threads that are idle and were last touched before `before`; returns their keys. */
  retire(before: number, limit: number): Promise<ThreadKey[]>;

  close(): Promise<void>;
}
