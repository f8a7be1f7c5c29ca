import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { AppError } from "../../core/error.ts";
import type { Store, ThreadRow, WaitRow } from "../store.ts";
import { FOUND, toMatch } from "./search.ts";
import type { Statements } from "./statements.ts";

/** The index rows a store can be asked for, one by one and in pages. */
export function listings(db: DatabaseSync, sql: Statements): Pick<Store, "thread" | "threads" | "running" | "wait" | "waits" | "due"> {
  // SQLite's own LIKE knows the case of ASCII only.
  db.function("contains", { deterministic: true }, (text, part) => (`${text ?? ""}`.toLowerCase().includes(`${part}`) ? 1 : 0));
  return {
    async thread({ app, user, threadId }) {
      const row = sql.get<Cells>(`${THREADS} WHERE app = ? AND user = ? AND thread_id = ? AND deleted = 0`, app, user, threadId);
      return row && toThread(row);
    },
    async threads({ app, user, search, status, limit, before }) {
      const where = conditions("deleted = 0", ["app = ?", app], ["user = ?", user], ["status = ?", status]);
      if (search) {
        const [text, match] = [search.toLowerCase(), toMatch(search, app, user)];
        const named = "contains(title, ?) OR contains(thread_id, ?)";
        if (match === undefined) where.and(`(${named})`, text, text);
        else where.and(`(${named} OR id IN (${FOUND}))`, text, text, match);
      }
      if (before !== undefined) where.and("(updated_at, id) < (?, ?)", ...placeOf(before, "before"));
      const rows = sql.all<Cells>(`${THREADS} ${where.text} ORDER BY updated_at DESC, id DESC LIMIT ?`, ...where.values, limit + 1);
      return { threads: rows.slice(0, limit).map(toThread), ...nextOf(rows, limit, "updatedAt") };
    },
    async running() {
      const rows = sql.all<Cells>(`${THREADS} WHERE status = 'running' AND deleted = 0 ORDER BY id`).map(toThread);
      return rows.map(({ app, user, threadId }) => ({ app, user, threadId }));
    },
    async wait(app, id) {
      const row = sql.get<Cells>(`${WAITS} WHERE wait.app = ? AND wait_id = ?`, app, id);
      return row && toWait(row);
    },
    async waits({ app, user, threadId, kind, statuses, names, limit, after, order = "oldest", ...query }) {
      const status = query.status ?? (statuses?.length === 1 ? statuses[0] : undefined);
      const [behind, direction] = order === "newest" ? ["<", "DESC"] : [">", "ASC"];
      const where = conditions("opened_seq IS NOT NULL", ["wait.app = ?", app], ["wait.user = ?", user]);
      if (threadId !== undefined && user !== undefined) where.and(`wait.thread = (${THREAD_ID})`, app, user, threadId);
      else if (threadId !== undefined) where.and("thread_id = ?", threadId);
      if (kind) where.and("kind = ?", kind);
      // As a literal, or the partial indexes would not be considered.
      if (status === "pending") where.and("wait.status = 'pending'");
      else if (status !== undefined) where.and("wait.status = ?", status);
      else if (statuses) where.and("wait.status IN (SELECT value FROM json_each(?))", JSON.stringify(statuses));
      if (names) where.and("name IN (SELECT value FROM json_each(?))", JSON.stringify(names));
      if (after !== undefined) where.and(`(wait.created_at, wait.id) ${behind} (?, ?)`, ...placeOf(after, "after"));
      const sorted = `ORDER BY wait.created_at ${direction}, wait.id ${direction} LIMIT ?`;
      const rows = sql.all<Cells>(`${WAITS} ${where.text} ${sorted}`, ...where.values, limit + 1);
      return { waits: rows.slice(0, limit).map(toWait), ...nextOf(rows, limit, "createdAt") };
    },
    async due(now, limit) {
      const where = "wait.status = 'pending' AND expires_at IS NOT NULL AND expires_at <= ?";
      return sql.all<Cells>(`${WAITS} WHERE ${where} ORDER BY expires_at, wait.id LIMIT ?`, now, limit).map(toWait);
    },
  };
}

/** A row under the names of the contract, with `null` for what is absent, and its place in the listing. */
export type Cells = Record<string, string | number | null> & { place: number };

const THREADS = `SELECT app, user, thread_id AS threadId, next_seq - 1 AS seq, epoch, status, title, metadata, agent, pending,
  created_at AS createdAt, updated_at AS updatedAt, id AS place FROM thread`;
export const THREAD_ID = "SELECT id FROM thread WHERE app = ? AND user = ? AND thread_id = ?";
const WAITS = `SELECT thread.app, thread.user, thread.thread_id AS threadId, wait_id AS id, kind, name, owner, call_id AS callId, input,
  schema, ordinal, wait.status, wait.created_at AS createdAt, expires_at AS expiresAt, settled_at AS settledAt,
  claim, claim_by AS claimBy, claim_until AS claimUntil, wait.id AS place FROM wait JOIN thread ON thread.id = wait.thread`;

type Conditions = { text: string; values: SQLInputValue[]; and(condition: string, ...values: SQLInputValue[]): void };

/** A WHERE clause of those conditions that have a value. */
export function conditions(first: string, ...more: [string, SQLInputValue | undefined][]): Conditions {
  const where: Conditions = {
    text: `WHERE ${first}`,
    values: [],
    and(condition, ...values) {
      where.text += ` AND ${condition}`;
      where.values.push(...values);
    },
  };
  for (const [condition, value] of more) if (value !== undefined) where.and(condition, value);
  return where;
}

function toThread(row: Cells): ThreadRow {
  const { place, metadata, ...rest } = present(row);
  return { ...rest, metadata: JSON.parse(String(metadata)) } as unknown as ThreadRow;
}

function toWait(row: Cells): WaitRow {
  const { place, input, schema, claim, claimBy, claimUntil, ...rest } = present(row);
  return {
    ...rest,
    input: JSON.parse(String(input)),
    ...(schema !== undefined && { schema: JSON.parse(String(schema)) }),
    ...(claim !== undefined && { claim: { claim, by: claimBy, until: claimUntil ?? 0 } }),
  } as unknown as WaitRow;
}

export function present(row: Cells): Record<string, string | number | undefined> {
  return Object.fromEntries(Object.entries(row).filter((cell): cell is [string, string | number] => cell[1] !== null));
}

/** The cursor of the page that follows, if there is one: the sort key and the row of this page's last entry. */
export function nextOf(rows: Cells[], limit: number, key: string): { next?: string } {
  const last = rows[limit - 1];
  if (rows.length <= limit || !last) return {};
  return { next: Buffer.from(JSON.stringify([last[key], last.place])).toString("base64url") };
}

export function placeOf(cursor: string, field: string): [number, number] {
  try {
    const [key, place] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (typeof key === "number" && typeof place === "number") return [key, place];
  } catch {}
  throw new AppError("invalid", `${field} is not a cursor of this list`, { field });
}
