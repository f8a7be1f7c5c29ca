import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoredEvent } from "../../src/core/event.ts";
import { isDelta } from "../../src/core/event.ts";
import { emptyThread, FOLD_VERSION, fold } from "../../src/core/thread.ts";
import { committer } from "../../src/store/sqlite/commit.ts";
import { migrate, openDatabase } from "../../src/store/sqlite/schema.ts";

/** The logs in a data directory nobody uses, by thread, and what is wrong with the database around them. */
export function readDatabase(data: string): { logs: Map<string, StoredEvent[]>; problems: string[]; snapshots: number } {
  const db = new DatabaseSync(join(data, "handback.db"), { readOnly: true });
  try {
    const logs = new Map<string, StoredEvent[]>();
    for (const { threadId, seq, at, v, data: text } of db.prepare(EVENTS).all() as EventRow[]) {
      const log = logs.get(threadId) ?? [];
      logs.set(threadId, log);
      log.push({ ...JSON.parse(text), seq, at, v });
    }
    const [{ integrity_check: integrity }] = db.prepare("PRAGMA integrity_check").all() as [{ integrity_check: string }];
    const problems = integrity === "ok" ? [] : [`integrity_check: ${integrity}`];
    const snapshots = db.prepare(SNAPSHOTS).all() as SnapshotRow[];
    problems.push(...checkIndexes(db, logs), ...checkSnapshots(snapshots, logs));
    return { logs, problems, snapshots: snapshots.length };
  } finally {
    db.close();
  }
}

type EventRow = { threadId: string; seq: number; at: number; v: number; data: string };
type SnapshotRow = { threadId: string; seq: number; version: number; data: string };

const EVENTS = `SELECT thread_id AS threadId, seq, at, v, data FROM event JOIN thread ON thread.id = event.thread ORDER BY thread.id, seq`;
const SNAPSHOTS = `SELECT thread_id AS threadId, seq, version, data FROM snapshot JOIN thread ON thread.id = snapshot.thread`;

/** Indexes hold what the same events, written one by one into a new database, make them hold. */
function* checkIndexes(db: DatabaseSync, logs: ReadonlyMap<string, StoredEvent[]>): Generator<string> {
  const copy = openDatabase(":memory:");
  migrate(copy);
  const commit = committer(copy);
  for (const [threadId, log] of logs) {
    const key = { app: "default", user: "user", threadId };
    for (const event of log) {
      const { seq, at, v, ...fact } = event;
      commit([{ type: "append", key, expect: { seq: seq - 1 }, at, data: [JSON.stringify(fact)], deltas: [isDelta(event)] }]);
    }
  }
  for (const table of INDEXES) {
    const [found, due] = [db, copy].map((source) =>
      source
        .prepare(table)
        .all()
        .map((row) => JSON.stringify(row)),
    );
    const wrong = found?.find((row, i) => row !== due?.[i]);
    if (wrong !== undefined || found?.length !== due?.length) yield `an index differs from its log: ${wrong ?? table}`;
  }
  copy.close();
}

const INDEXES = [
  `SELECT thread_id, next_seq, epoch, status, pending, title, metadata, agent, created_at, updated_at FROM thread ORDER BY thread_id`,
  `SELECT thread_id, seq, run_id, turn_id, run.agent, outcome, started_at, ended_at FROM run JOIN thread ON thread.id = thread ORDER BY 1, 2`,
  `SELECT thread_id, message.id, seq FROM message JOIN thread ON thread.id = thread ORDER BY 1, 2`,
  `SELECT thread_id, wait_id, kind, name, owner, call_id, input, schema, ordinal, wait.status, wait.created_at, expires_at, opened_seq,
    settled_seq, settled_at, claim, claim_by FROM wait JOIN thread ON thread.id = thread ORDER BY 1, 2`,
  `SELECT thread_id, checkpoint_id, seq FROM checkpoint JOIN thread ON thread.id = thread ORDER BY 1, 3`,
];

/** A snapshot is what its log adds up to at that place. */
function* checkSnapshots(snapshots: readonly SnapshotRow[], logs: ReadonlyMap<string, StoredEvent[]>): Generator<string> {
  for (const { threadId, seq, version, data } of snapshots) {
    if (version !== FOLD_VERSION) continue;
    const thread = emptyThread();
    for (const event of logs.get(threadId)?.slice(0, seq) ?? []) fold(thread, event);
    const { calls, interrupts, run, ...rest } = thread;
    if (JSON.stringify(rest) !== data) yield `${threadId}: the snapshot at ${seq} is not what the log adds up to`;
  }
}
