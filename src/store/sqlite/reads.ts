import type { DatabaseSync } from "node:sqlite";
import type { Settled } from "../../core/command.ts";
import type { StoredEvent } from "../../core/event.ts";
import type { ThreadKey } from "../../core/ids.ts";
import { upcast } from "../../core/upcast.ts";
import type { Grant, Store } from "../store.ts";
import { checkpoints } from "./checkpoints.ts";
import { toStoreError } from "./error.ts";
import { listings } from "./listings.ts";
import { outbox } from "./outbox.ts";
import { type Statements, statements } from "./statements.ts";

type Read = Pick<
  Store,
  | "read"
  | "known"
  | "taken"
  | "origin"
  | "snapshot"
  | "grants"
  | "blob"
  | keyof ReturnType<typeof listings>
  | keyof ReturnType<typeof outbox>
  | keyof ReturnType<typeof checkpoints>
>;

/** The reading half of a store. It sees what is committed, and nothing it returns is shared with anyone. */
export function reads(db: DatabaseSync): Read {
  const sql = guarded(statements(db));
  const idOf = ({ app, user, threadId }: ThreadKey) => sql.get<{ id: number }>(THREAD_ID, app, user, threadId)?.id;
  return {
    ...listings(db, sql),
    ...outbox(sql),
    ...checkpoints(sql),
    async read(key, { after, limit = -1, deltas = true }) {
      const id = idOf(key);
      return id === undefined ? [] : sql.all<EventRow>(deltas ? READ : READ_WHOLE, id, after, limit).map(toEvent);
    },
    async known(key, ids) {
      const messages = new Map<string, number>();
      const settled = new Map<string, Settled>();
      const id = idOf(key);
      if (id === undefined) return { messages, settled, run: undefined };
      for (const { id: message, seq } of sql.all<{ id: string; seq: number }>(MESSAGES, JSON.stringify(ids.messages), id)) {
        messages.set(message, seq);
      }
      for (const row of sql.all<EventRow & { waitId: string; runSeq: number }>(SETTLED, JSON.stringify(ids.waits), key.app, id)) {
        settled.set(row.waitId, { runSeq: row.runSeq, event: toEvent(row) as Settled["event"] });
      }
      const run = ids.runId === undefined ? undefined : sql.get<{ seq: number }>(LAST_RUN, id, ids.runId)?.seq;
      return { messages, settled, run };
    },
    async taken(app, ids) {
      return new Set(sql.all<{ id: string }>(TAKEN, JSON.stringify(ids), app).map(({ id }) => id));
    },
    async origin({ app, user, threadId }) {
      const { seq = 0, epoch = 0 } = sql.get<{ seq: number; epoch: number }>(ORIGIN, app, user, threadId) ?? {};
      return { seq, epoch };
    },
    async snapshot({ app, user, threadId }) {
      const row = sql.get<{ seq: number; version: number; data: string }>(SNAPSHOT, app, user, threadId);
      return row && { ...row };
    },
    async grants({ app, user }) {
      const rows = sql.all<Omit<Grant, "threadId"> & { threadId: string | null }>(GRANTS, app, user ?? null);
      return rows.map(({ threadId, ...grant }) => ({ ...grant, ...(threadId !== null && { threadId }) }));
    },
    async blob({ app, user, threadId }, id) {
      const row = sql.get<{ mediaType: string; data: Uint8Array }>(BLOB, app, user, threadId, id);
      return row && { ...row };
    },
  };
}

type EventRow = { seq: number; at: number; v: number; data: string };

const THREAD_ID = "SELECT id FROM thread WHERE app = ? AND user = ? AND thread_id = ? AND deleted = 0";
const READ = "SELECT seq, at, v, data FROM event WHERE thread = ? AND seq > ? ORDER BY seq LIMIT ?";
const READ_WHOLE = `SELECT seq, at, v, data FROM event INDEXED BY event_whole
  WHERE thread = ? AND seq > ? AND delta = 0 ORDER BY seq LIMIT ?`;
// CROSS JOIN fixes the order: the ids are looked up one by one, whatever the planner thinks of them.
const MESSAGES = `SELECT message.id, message.seq FROM json_each(?) AS asked
  CROSS JOIN message ON message.thread = ? AND message.id = asked.value`;
const SETTLED = `SELECT wait.wait_id AS waitId, event.seq, event.at, event.v, event.data,
    (SELECT max(run.seq) FROM run WHERE run.thread = wait.thread AND run.seq <= wait.settled_seq) AS runSeq
  FROM json_each(?) AS asked CROSS JOIN wait ON wait.app = ? AND wait.wait_id = asked.value AND wait.thread = ?
  CROSS JOIN event ON event.thread = wait.thread AND event.seq = wait.settled_seq`;
const LAST_RUN = "SELECT seq FROM run WHERE thread = ? AND run_id = ? ORDER BY seq DESC LIMIT 1";
const TAKEN = "SELECT wait.wait_id AS id FROM json_each(?) AS asked CROSS JOIN wait ON wait.app = ? AND wait.wait_id = asked.value";
const ORIGIN = "SELECT origin_seq AS seq, origin_epoch AS epoch FROM thread WHERE app = ? AND user = ? AND thread_id = ?";
const SNAPSHOT = `SELECT seq, version, data FROM snapshot WHERE thread = (${THREAD_ID})`;
const GRANTS = `SELECT grant_id AS id, app, user, tool, thread_id AS threadId, created_at AS createdAt, by FROM grants
  WHERE app = ?1 AND user = coalesce(?2, user) ORDER BY created_at, id`;
const BLOB = "SELECT media_type AS mediaType, data FROM blob WHERE app = ? AND user = ? AND thread_id = ? AND blob_id = ?";

function toEvent({ seq, at, v, data }: EventRow): StoredEvent {
  const raw = JSON.parse(data) as { type: string; [field: string]: unknown };
  raw["seq"] = seq;
  raw["at"] = at;
  return upcast(raw, v);
}

/** Statements whose errors are the store's. */
function guarded({ all, get, run }: Statements): Statements {
  const guard = <Args extends unknown[], Value>(call: (...args: Args) => Value) => {
    return (...args: Args): Value => {
      try {
        return call(...args);
      } catch (error) {
        throw toStoreError(error);
      }
    };
  };
  return { all: guard(all) as Statements["all"], get: guard(get) as Statements["get"], run: guard(run) };
}
