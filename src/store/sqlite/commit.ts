import type { DatabaseSync } from "node:sqlite";
import { AppError, type Failure, toFailure } from "../../core/error.ts";
import { apply } from "./apply.ts";
import { toStoreError } from "./error.ts";
import { statements } from "./statements.ts";
import type { Write } from "./write.ts";

/** What became of one write of a group. */
export type Reply = { value: unknown } | { failure: Failure; cause?: string };

/**
 * Commits groups of writes in one transaction each. A write that is refused leaves no trace and does not disturb the others;
 * a medium that fails fails the whole group.
 */
export function committer(db: DatabaseSync): (group: readonly Write[]) => Reply[] {
  const sql = statements(db);
  const attempt = (write: Write): Reply => {
    sql.run("SAVEPOINT one");
    try {
      const value = apply(sql, write);
      sql.run("RELEASE one");
      return { value };
    } catch (thrown) {
      const error = toStoreError(thrown);
      if (!db.isTransaction || (error instanceof AppError && error.code === "unavailable")) throw error;
      sql.run("ROLLBACK TO one");
      sql.run("RELEASE one");
      return refusal(error);
    }
  };
  const rollback = () => {
    if (db.isOpen && db.isTransaction) sql.run("ROLLBACK");
  };
  return (group) => {
    try {
      rollback(); // one that a sick disk refused last time
      sql.run("BEGIN IMMEDIATE");
      const replies = group.map(attempt);
      sql.run("COMMIT");
      return replies;
    } catch (error) {
      try {
        rollback();
      } catch {}
      const reply = refusal(toStoreError(error));
      return group.map(() => reply);
    }
  };
}

/** The value of a reply, or what it failed with as it was thrown. */
export function unwrap(reply: Reply): unknown {
  if ("value" in reply) return reply.value;
  const { failure, cause } = reply;
  throw new AppError(failure.code, failure.message, { cause, ...(failure.field !== undefined && { field: failure.field }) });
}

/** Errors do not survive the way out of a worker, so they travel as data. */
function refusal(error: unknown): Reply {
  const failure = toFailure(error);
  const cause = error instanceof AppError ? error.cause : error;
  return cause === undefined ? { failure } : { failure, cause: String((cause as Error).stack ?? cause) };
}
