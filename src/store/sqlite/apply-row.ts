import { AppError } from "../../core/error.ts";
import type { OpenWait, Row } from "../../core/rows.ts";
import type { ThreadStatus } from "../store.ts";
import { INDEX, toIndex } from "./search.ts";
import type { Statements } from "./statements.ts";

/** The index row of a thread while events are appended to it; saved once, behind the last of them. */
export type Head = {
  id: number;
  next: number;
  epoch: number;
  status: ThreadStatus;
  pending: number;
  title: string | null;
  metadata: string;
  agent: string | null;
  callback: string | null;
  createdAt: number;
};

/** The event a row comes from. */
type Origin = { app: string; user: string; seq: number; at: number; event: number };

/** Writes one index row of an event, into the tables or into the head. */
export function applyRow(sql: Statements, head: Head, row: Row, event: Origin): void {
  const { app, user, seq, at } = event;
  switch (row.type) {
    case "run.began": {
      const { runId, turnId, agent, epoch } = row;
      Object.assign(head, { epoch, agent, status: "running" });
      sql.run("INSERT INTO run VALUES (?, ?, ?, ?, ?, NULL, ?, NULL)", head.id, seq, runId, turnId, agent, at);
      return;
    }
    case "run.over":
      head.status = row.status;
      sql.run(END_RUN, row.outcome, at, head.id, head.id);
      return;
    case "epoch":
      head.epoch = row.epoch;
      return;
    case "message":
      sql.run("INSERT OR REPLACE INTO message VALUES (?, ?, ?)", head.id, row.id, seq);
      return;
    case "said":
      sql.run(INDEX, event.event, toIndex(row.text, app, user));
      return;
    case "callback":
      head.callback = row.url;
      return;
    case "named":
      if (row.title !== undefined && !(row.ifUnnamed && head.title !== null)) head.title = row.title;
      if (row.metadata) head.metadata = JSON.stringify(row.metadata);
      return;
    case "taken":
      if (owned(sql, head, app, row.id)) throw taken(row.id);
      sql.run(TAKE, app, row.id, head.id, user, row.name, row.owner, at);
      return;
    case "opened":
      open(sql, head, row.id, row.wait, event);
      return;
    case "claimed":
      sql.run(`${CLAIM} = ?, claim_by = ?, claim_until = NULL ${OF_THREAD}`, row.claim, row.by, app, row.id, head.id);
      return;
    case "released":
      sql.run(`${CLAIM} = NULL, claim_by = NULL, claim_until = NULL ${OF_THREAD}`, app, row.id, head.id);
      return;
    case "closed":
      if (owned(sql, head, app, row.id)?.status === "pending") head.pending -= 1;
      sql.run(`UPDATE wait SET status = ?, settled_seq = ?, settled_at = ? ${OF_THREAD}`, row.status, seq, at, app, row.id, head.id);
      sql.run(SETTLED, app, row.id);
      return;
    case "checkpoint":
      sql.run("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)", head.id, row.id, seq);
      return;
    default:
      row satisfies never;
  }
}

const END_RUN = "UPDATE run SET outcome = ?, ended_at = ? WHERE thread = ? AND seq = (SELECT max(seq) FROM run WHERE thread = ?)";
const TAKE = `INSERT INTO wait (app, wait_id, thread, user, kind, name, owner, input, status, created_at)
  VALUES (?, ?, ?, ?, 'call', ?, ?, 'null', 'called', ?)`;
const OPEN = `INSERT INTO wait (app, wait_id, thread, user, kind, name, owner, call_id, input, schema, ordinal, status, created_at,
  expires_at, opened_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)
  ON CONFLICT (app, wait_id) DO UPDATE SET name = excluded.name, owner = excluded.owner, call_id = excluded.call_id,
  input = excluded.input, schema = excluded.schema, ordinal = excluded.ordinal, status = 'pending', created_at = excluded.created_at,
  expires_at = excluded.expires_at, opened_seq = excluded.opened_seq, settled_seq = NULL, settled_at = NULL,
  claim = NULL, claim_by = NULL, claim_until = NULL`;
const DELIVER = `INSERT INTO delivery (app, call_id, thread, user, url, status, attempts, next_at, created_at, log)
  VALUES (?, ?, ?, ?, ?, 'pending', 0, ?, ?, '[]') ON CONFLICT (app, call_id) DO NOTHING`;
const SETTLED =
  "UPDATE delivery SET status = 'stopped', next_at = NULL WHERE app = ? AND call_id = ? AND status IN ('pending', 'accepted')";
const CLAIM = "UPDATE wait SET claim";
const OF_THREAD = "WHERE app = ? AND wait_id = ? AND thread = ?";

function open(sql: Statements, head: Head, id: string, wait: OpenWait, { app, user, seq, at }: Origin): void {
  if (owned(sql, head, app, id)?.status !== "pending") head.pending += 1;
  const { kind, name, input, expiresAt = null } = wait;
  const [owner, ordinal] = wait.kind === "call" ? [wait.owner, wait.ordinal] : [null, null];
  const [callId, schema] =
    wait.kind === "interrupt" ? [wait.callId ?? null, wait.schema ? JSON.stringify(wait.schema) : null] : [null, null];
  const said = JSON.stringify(input ?? null);
  sql.run(OPEN, app, id, head.id, user, kind, name, owner, callId, said, schema, ordinal, at, expiresAt, seq);
  if (head.callback !== null && owner === "external") sql.run(DELIVER, app, id, head.id, user, head.callback, at, at);
}

/** The wait with this id, if it is this thread's. Another thread's is refused: the outside names a call without its thread. */
function owned(sql: Statements, head: Head, app: string, id: string): { status: string } | undefined {
  const found = sql.get<{ thread: number; status: string }>("SELECT thread, status FROM wait WHERE app = ? AND wait_id = ?", app, id);
  if (found && found.thread !== head.id) throw taken(id);
  return found;
}

function taken(id: string): AppError {
  return new AppError("conflict", `The id ${id} is already taken by another call`, { field: "callId" });
}
