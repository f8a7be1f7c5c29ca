import { DatabaseSync } from "node:sqlite";
import { AppError } from "../../core/error.ts";
import { BACKFILL, indexText, SAID } from "./search.ts";

/** Opens a database file (or `:memory:`) as every connection of the store needs it. */
export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
  try {
    const version = String(db.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
    // Older ones can corrupt a WAL that two connections use: https://sqlite.org/wal.html#walresetbug
    if (!isAtLeast(version, OLDEST_SQLITE)) {
      throw new AppError("unavailable", `Handback needs SQLite ${OLDEST_SQLITE.join(".")} or newer; this Node.js brings ${version}`);
    }
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Brings the schema up to this release's, or refuses a database from a newer one. */
export function migrate(db: DatabaseSync, migrations: readonly string[] = MIGRATIONS): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version === migrations.length) return;
  if (version > migrations.length) {
    const known = `schema ${version}, this one knows ${migrations.length}`;
    throw new AppError("unavailable", `${db.location()} was written by a newer release of Handback (${known}); upgrade to use it`);
  }
  db.function("index_text", (data, v, app, user) => indexText(String(data), Number(v), String(app), String(user)));
  try {
    db.exec("BEGIN IMMEDIATE");
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

const BUSY_TIMEOUT = 2000;
const OLDEST_SQLITE = [3, 51, 3];

function isAtLeast(version: string, oldest: number[]): boolean {
  const parts = version.split(".").map(Number);
  const at = oldest.findIndex((part, i) => part !== parts[i]);
  return at === -1 || (parts[at] ?? 0) > (oldest[at] ?? 0);
}

/** Appended to and never edited: `user_version` counts how many of them a database has seen. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE thread (
    id INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, thread_id TEXT NOT NULL,
    next_seq INTEGER NOT NULL, epoch INTEGER NOT NULL, status TEXT NOT NULL, pending INTEGER NOT NULL,
    title TEXT, metadata TEXT NOT NULL, agent TEXT, callback TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    -- A tombstone is a row with deleted = 1. Where this life of the thread began (0, 0 in its first):
    deleted INTEGER NOT NULL, origin_seq INTEGER NOT NULL, origin_epoch INTEGER NOT NULL,
    UNIQUE (app, user, thread_id)
  );
  CREATE INDEX thread_recent ON thread (app, updated_at) WHERE deleted = 0;
  CREATE INDEX thread_recent_of_user ON thread (app, user, updated_at) WHERE deleted = 0;
  CREATE INDEX thread_idle ON thread (updated_at) WHERE status = 'idle' AND deleted = 0;
  CREATE INDEX thread_running ON thread (id) WHERE status = 'running' AND deleted = 0;

  -- Rows in order of arrival and an integer key: a batch dirties few pages, whatever the number of threads.
  CREATE TABLE event (
    id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, v INTEGER NOT NULL,
    delta INTEGER NOT NULL, data TEXT NOT NULL,
    UNIQUE (thread, seq)
  );
  CREATE INDEX event_whole ON event (thread, seq) WHERE delta = 0;

  CREATE TABLE run (
    thread INTEGER NOT NULL, seq INTEGER NOT NULL, run_id TEXT NOT NULL, turn_id TEXT NOT NULL, agent TEXT NOT NULL,
    outcome TEXT, started_at INTEGER NOT NULL, ended_at INTEGER,
    PRIMARY KEY (thread, seq)
  ) WITHOUT ROWID;
  CREATE INDEX run_label ON run (thread, run_id, seq);

  CREATE TABLE message (thread INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (thread, id)) WITHOUT ROWID;

  CREATE TABLE wait (
    id INTEGER PRIMARY KEY, app TEXT NOT NULL, wait_id TEXT NOT NULL, thread INTEGER NOT NULL, user TEXT NOT NULL,
    kind TEXT NOT NULL, name TEXT NOT NULL, owner TEXT, call_id TEXT, input TEXT NOT NULL, schema TEXT, ordinal INTEGER,
    status TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER,
    opened_seq INTEGER, settled_seq INTEGER, settled_at INTEGER, claim INTEGER, claim_by TEXT, claim_until INTEGER,
    UNIQUE (app, wait_id)
  );
  CREATE INDEX wait_thread ON wait (thread, created_at);
  CREATE INDEX wait_oldest ON wait (app, created_at) WHERE opened_seq IS NOT NULL;
  CREATE INDEX wait_pending ON wait (app, created_at) WHERE status = 'pending';
  CREATE INDEX wait_pending_of_user ON wait (app, user, created_at) WHERE status = 'pending';
  CREATE INDEX wait_due ON wait (expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;

  -- The outbox: one row for each external call of a thread with a callback. Its log holds the last attempts.
  CREATE TABLE delivery (
    id INTEGER PRIMARY KEY, app TEXT NOT NULL, call_id TEXT NOT NULL, thread INTEGER NOT NULL, user TEXT NOT NULL,
    url TEXT NOT NULL, status TEXT NOT NULL, attempts INTEGER NOT NULL, next_at INTEGER, created_at INTEGER NOT NULL, log TEXT NOT NULL,
    UNIQUE (app, call_id)
  );
  CREATE INDEX delivery_thread ON delivery (thread);
  CREATE INDEX delivery_recent ON delivery (app, created_at);
  CREATE INDEX delivery_due ON delivery (next_at) WHERE status IN ('pending', 'accepted');

  -- Requests that came with a key of their own: what they led to is in the thread's log.
  CREATE TABLE request (
    app TEXT NOT NULL, user TEXT NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, thread INTEGER NOT NULL,
    after INTEGER NOT NULL, first INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (app, user, key)
  ) WITHOUT ROWID;
  CREATE INDEX request_thread ON request (thread);
  CREATE INDEX request_old ON request (at);

  CREATE TABLE snapshot (thread INTEGER PRIMARY KEY, seq INTEGER NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL);

  CREATE TABLE grants (
    id INTEGER PRIMARY KEY, app TEXT NOT NULL, grant_id TEXT NOT NULL, user TEXT NOT NULL, tool TEXT NOT NULL,
    thread_id TEXT, created_at INTEGER NOT NULL, by TEXT NOT NULL,
    UNIQUE (app, grant_id)
  );
  CREATE INDEX grants_user ON grants (app, user, thread_id);

  -- By the thread's name and not its row: a file comes before the message that makes the thread.
  CREATE TABLE blob (
    id INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, thread_id TEXT NOT NULL, blob_id TEXT NOT NULL,
    media_type TEXT NOT NULL, data BLOB NOT NULL,
    UNIQUE (app, user, thread_id, blob_id)
  );
  `,
  "CREATE TABLE secret (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
  `${SAID}; ${BACKFILL}`,
  `
  CREATE TABLE checkpoint (thread INTEGER NOT NULL, checkpoint_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (thread, checkpoint_id))
    WITHOUT ROWID;
  CREATE INDEX checkpoint_latest ON checkpoint (thread, seq);
  `,
  `DROP TABLE said; ${SAID}; ${BACKFILL}`, // under names that nobody can write
];
