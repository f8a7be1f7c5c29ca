import { AppError } from "../../core/error.ts";
import { EVENT_VERSION, type StoredEvent } from "../../core/event.ts";
import type { ThreadKey } from "../../core/ids.ts";
import { rows } from "../../core/rows.ts";
import type { Expect } from "../store.ts";
import { applyRow, type Head } from "./apply-row.ts";
import { keepRequest, saveDelivery } from "./outbox.ts";
import type { Statements } from "./statements.ts";
import type { Write } from "./write.ts";

/** Does one write inside the transaction of its caller, who undoes it when this throws. */
export function apply(sql: Statements, write: Write): unknown {
  switch (write.type) {
    case "append":
      return append(sql, write);
    case "lease": {
      const { app, id, claim, until } = write;
      return sql.run(LEASE, until, app, id, claim).changes > 0;
    }
    case "saveSnapshot": {
      const { app, user, threadId } = write.key;
      const { seq, version, data } = write.snapshot;
      return sql.run(SAVE_SNAPSHOT, seq, version, data, app, user, threadId, seq, seq).changes > 0;
    }
    case "secret":
      sql.run("INSERT OR IGNORE INTO secret VALUES (?, ?)", write.name, write.fresh);
      return sql.get<{ value: string }>("SELECT value FROM secret WHERE name = ?", write.name)?.value;
    case "addGrant": {
      const { app, id, user, tool, threadId, createdAt, by } = write.grant;
      return sql.run(ADD_GRANT, app, id, user, tool, threadId ?? null, createdAt, by).changes > 0;
    }
    case "removeGrant": {
      const { app, user, id } = write;
      return sql.run("DELETE FROM grants WHERE app = ? AND grant_id = ? AND user = coalesce(?, user)", app, id, user ?? null).changes > 0;
    }
    case "saveBlob": {
      const { app, user, threadId } = write.key;
      const { id, mediaType, data } = write.blob;
      return sql.run("INSERT OR IGNORE INTO blob VALUES (NULL, ?, ?, ?, ?, ?, ?)", app, user, threadId, id, mediaType, data).changes > 0;
    }
    case "saveDelivery":
      return saveDelivery(sql, write);
    case "forgetRequests":
      return sql.run("DELETE FROM request WHERE at < ?", write.before).changes;
    case "remove":
      return remove(sql, write.key);
    case "retire":
      return sql
        .all<ThreadKey>(RETIRE, write.before, write.limit)
        .map(({ app, user, threadId }) => ({ app, user, threadId }))
        .filter((key) => remove(sql, key));
    default:
      return write satisfies never;
  }
}

const LEASE = "UPDATE wait SET claim_until = ? WHERE app = ? AND wait_id = ? AND claim = ? AND status = 'pending'";
const ADD_GRANT = "INSERT OR IGNORE INTO grants (app, grant_id, user, tool, thread_id, created_at, by) VALUES (?, ?, ?, ?, ?, ?, ?)";
const RETIRE = `SELECT app, user, thread_id AS threadId FROM thread
  WHERE status = 'idle' AND deleted = 0 AND updated_at < ? ORDER BY updated_at LIMIT ?`;
/** Only of this life: a snapshot that was under way when its thread was deleted must not bring it back. */
const SAVE_SNAPSHOT = `INSERT OR REPLACE INTO snapshot SELECT id, ?, ?, ? FROM thread
  WHERE app = ? AND user = ? AND thread_id = ? AND deleted = 0 AND origin_seq < ? AND next_seq > ?`;

const HEAD = `SELECT id, next_seq AS next, epoch, status, pending, title, metadata, agent, callback, created_at AS createdAt,
  updated_at AS updatedAt, deleted FROM thread WHERE app = ? AND user = ? AND thread_id = ?`;
const NEW_THREAD = `INSERT INTO thread (app, user, thread_id, next_seq, epoch, status, pending, metadata,
  created_at, updated_at, deleted, origin_seq, origin_epoch) VALUES (?, ?, ?, 1, 0, 'idle', 0, '{}', ?, ?, 0, 0, 0)`;
const SAVE_HEAD = `UPDATE thread SET next_seq = ?, epoch = ?, status = ?, pending = ?, title = ?, metadata = ?, agent = ?,
  callback = ?, created_at = ?, updated_at = ?, deleted = 0 WHERE id = ?`;
const ADD_EVENT = "INSERT INTO event (thread, seq, at, v, delta, data) VALUES (?, ?, ?, ?, ?, ?)";

function append(sql: Statements, { key, expect, at, data, deltas, request }: Extract<Write, { type: "append" }>): number {
  const { app, user, threadId } = key;
  const found = sql.get<Found>(HEAD, app, user, threadId);
  check(key, expect, found);
  const first = found?.next ?? 1;
  if (data.length === 0) return first;
  const head: Head = found ?? { ...EMPTY, id: sql.run(NEW_THREAD, app, user, threadId, at, at).rowid, createdAt: at };
  if (found?.deleted) head.createdAt = at;
  const before = found && !found.deleted ? { ...found } : undefined;
  for (const [i, text] of data.entries()) {
    const isDelta = deltas[i] === true;
    const { rowid } = sql.run(ADD_EVENT, head.id, head.next, at, EVENT_VERSION, isDelta ? 1 : 0, text);
    if (!isDelta) {
      for (const row of rows(JSON.parse(text) as StoredEvent)) {
        applyRow(sql, head, row, { app, user, seq: head.next, at, event: rowid });
      }
    }
    head.next += 1;
  }
  // Speech and the steps of a graph leave the indexed columns as they are, which is what makes them cheap.
  if (before && isSame(before, head) && (deltas.every(Boolean) || at - before.updatedAt < LATE_MS))
    sql.run("UPDATE thread SET next_seq = ? WHERE id = ?", head.next, head.id);
  else saveHead(sql, head, at);
  if (request) keepRequest(sql, { ...request, app, user, thread: head.id, first, seq: head.next - 1, at });
  return first;
}

type Found = Head & { updatedAt: number; deleted: number };

/** How late the lists may hear that something goes on in a thread, as long as nothing they show has changed. */
const LATE_MS = 1_000;

function isSame(before: Head, after: Head): boolean {
  return COLUMNS.every((column) => before[column] === after[column]);
}

const COLUMNS = ["epoch", "status", "pending", "title", "metadata", "agent", "callback"] as const;

const EMPTY = { next: 1, epoch: 0, status: "idle", pending: 0, title: null, metadata: "{}", agent: null, callback: null } as const;

function check({ threadId }: ThreadKey, expect: Expect, head: Found | undefined): void {
  if ("seq" in expect) {
    const seq = (head?.next ?? 1) - 1;
    if (seq !== expect.seq) throw new AppError("conflict", `Thread ${threadId} is at ${seq} and not at ${expect.seq}`);
  } else if (!head || head.deleted || head.status !== "running" || head.epoch !== expect.epoch) {
    throw new AppError("conflict", `Thread ${threadId} has no run with epoch ${expect.epoch} any more`);
  }
}

function saveHead(
  sql: Statements,
  { id, next, epoch, status, pending, title, metadata, agent, callback, createdAt }: Head,
  at: number,
): void {
  sql.run(SAVE_HEAD, next, epoch, status, pending, title, metadata, agent, callback, createdAt, at, id);
}

const BURY = `UPDATE thread SET deleted = 1, epoch = epoch + 1, origin_seq = next_seq - 1, origin_epoch = epoch + 1,
  status = 'idle', pending = 0, title = NULL, metadata = '{}', agent = NULL, callback = NULL
  WHERE app = ? AND user = ? AND thread_id = ? AND deleted = 0 RETURNING id`;

function remove(sql: Statements, { app, user, threadId }: ThreadKey): boolean {
  sql.run("DELETE FROM blob WHERE app = ? AND user = ? AND thread_id = ?", app, user, threadId);
  sql.run("DELETE FROM grants WHERE app = ? AND user = ? AND thread_id = ?", app, user, threadId);
  const thread = sql.get<{ id: number }>(BURY, app, user, threadId);
  if (!thread) return false;
  sql.run("DELETE FROM said WHERE rowid IN (SELECT id FROM event WHERE thread = ? AND delta = 0)", thread.id);
  for (const table of ["event", "run", "message", "wait", "delivery", "request", "checkpoint", "snapshot"])
    sql.run(`DELETE FROM ${table} WHERE thread = ?`, thread.id);
  return true;
}
