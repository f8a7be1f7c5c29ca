import { AppError } from "../../core/error.ts";
import type { Attempt, Delivery, RequestRow, Store } from "../store.ts";
import { type Cells, conditions, nextOf, placeOf, present, THREAD_ID } from "./listings.ts";
import type { Statements } from "./statements.ts";
import type { DeliveryChange } from "./write.ts";

/** How long a key is remembered. */
const KEPT_MS = 24 * 3_600_000;
const KEPT_ATTEMPTS = 20;

/** Deliveries and keyed requests as they can be asked for. */
export function outbox(sql: Statements): Pick<Store, "request" | "delivery" | "deliveries" | "dueDeliveries"> {
  return {
    async request({ app, user }, key, since) {
      const row = sql.get<RequestRow>(REQUEST, app, user, key, since);
      return row && { ...row };
    },
    async delivery(app, id) {
      const row = sql.get<Cells>(`${DELIVERIES} WHERE delivery.app = ? AND call_id = ?`, app, id);
      return row && toDelivery(row);
    },
    async deliveries({ app, user, threadId, status, limit, before }) {
      const where = conditions("1", ["delivery.app = ?", app], ["delivery.user = ?", user], ["delivery.status = ?", status]);
      if (threadId !== undefined && user !== undefined) where.and(`delivery.thread = (${THREAD_ID})`, app, user, threadId);
      else if (threadId !== undefined) where.and("thread_id = ?", threadId);
      if (before !== undefined) where.and("(delivery.created_at, delivery.id) < (?, ?)", ...placeOf(before, "before"));
      const order = "ORDER BY delivery.created_at DESC, delivery.id DESC LIMIT ?";
      const rows = sql.all<Cells>(`${DELIVERIES} ${where.text} ${order}`, ...where.values, limit + 1);
      return { deliveries: rows.slice(0, limit).map(toDelivery), ...nextOf(rows, limit, "createdAt") };
    },
    async dueDeliveries(now, limit) {
      const where = "delivery.status IN ('pending', 'accepted') AND next_at <= ?";
      return sql.all<Cells>(`${DELIVERIES} WHERE ${where} ORDER BY next_at, delivery.id LIMIT ?`, now, limit).map(toDelivery);
    },
  };
}

const REQUEST = `SELECT hash, thread_id AS threadId, after, first, seq FROM request JOIN thread ON thread.id = request.thread
  WHERE request.app = ? AND request.user = ? AND key = ? AND at > ?`;
const DELIVERIES = `SELECT thread.app, thread.user, thread.thread_id AS threadId, call_id AS id, url, delivery.status, attempts,
  next_at AS nextAt, delivery.created_at AS createdAt, log, delivery.id AS place FROM delivery JOIN thread ON thread.id = delivery.thread`;

function toDelivery(row: Cells): Delivery {
  const { place, log, ...rest } = present(row);
  return { ...rest, log: JSON.parse(String(log)) } as unknown as Delivery;
}

type Request = {
  app: string;
  user: string;
  key: string;
  hash: string;
  thread: number;
  after: number;
  first: number;
  seq: number;
  at: number;
};

/** Remembers a keyed request in the transaction of its effect. */
export function keepRequest(sql: Statements, { app, user, key, hash, thread, after, first, seq, at }: Request): void {
  const kept = sql.run(KEEP, app, user, key, hash, thread, after, first, seq, at, at - KEPT_MS).changes > 0;
  if (!kept) throw new AppError("unprocessable", "This Idempotency-Key was used for another request", { field: "Idempotency-Key" });
}

const KEEP = `INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET hash = excluded.hash,
  thread = excluded.thread, after = excluded.after, first = excluded.first, seq = excluded.seq, at = excluded.at WHERE request.at <= ?`;

/** Writes what came of an attempt. */
export function saveDelivery(sql: Statements, { app, id, change }: { app: string; id: string; change: DeliveryChange }): void {
  const { status, nextAt = null, attempt, disable } = change;
  const row = sql.get<{ status: string; log: string; thread: number; url: string }>(LOG, app, id);
  if (!row) return;
  // An attempt that ends after its call was settled must not bring the delivery back.
  const revived = attempt !== undefined && row.status === "stopped" && nextAt !== null;
  const log = attempt ? [...(JSON.parse(row.log) as Attempt[]), attempt].slice(-KEPT_ATTEMPTS) : undefined;
  const [next, at] = revived ? [row.status, null] : [status, nextAt];
  sql.run(SAVE, next, at, attempt ? 1 : 0, log ? JSON.stringify(log) : row.log, app, id);
  if (!disable) return;
  sql.run("UPDATE thread SET callback = NULL WHERE id = ? AND callback = ?", row.thread, row.url);
  sql.run(STOP, row.thread, row.url);
}

const LOG = "SELECT status, log, thread, url FROM delivery WHERE app = ? AND call_id = ?";
const SAVE = "UPDATE delivery SET status = ?, next_at = ?, attempts = attempts + ?, log = ? WHERE app = ? AND call_id = ?";
const STOP = "UPDATE delivery SET status = 'stopped', next_at = NULL WHERE thread = ? AND url = ? AND status IN ('pending', 'accepted')";
