import { AppError } from "../../core/error.ts";
import type { StoredEvent } from "../../core/event.ts";
import type { CheckpointRow, Store } from "../store.ts";
import { THREAD_ID } from "./listings.ts";
import type { Statements } from "./statements.ts";

/** The barriers of graphs, read out of the log by an index of their names. */
export function checkpoints(sql: Statements): Pick<Store, "checkpoint" | "checkpoints"> {
  return {
    async checkpoint({ app, user, threadId }, id) {
      const row = sql.get<Cells>(`${FIND} AND checkpoint_id = ?`, app, user, threadId, id);
      return row && toCheckpoint(row);
    },
    async checkpoints({ app, user, threadId }, { limit, before }) {
      const seq = before === undefined ? Number.MAX_SAFE_INTEGER : Number(before);
      if (!Number.isSafeInteger(seq)) throw new AppError("invalid", "before is not a cursor of this list", { field: "before" });
      const rows = sql.all<Cells>(
        `${FIND} AND checkpoint.seq < ? ORDER BY checkpoint.seq DESC LIMIT ?`,
        app,
        user,
        threadId,
        seq,
        limit + 1,
      );
      const page = rows.slice(0, limit);
      return { checkpoints: page.map(toCheckpoint), ...(rows.length > limit && { next: String(page.at(-1)?.seq) }) };
    },
  };
}

type Cells = { seq: number; at: number; data: string };

const FIND = `SELECT event.seq, event.at, event.data FROM checkpoint CROSS JOIN event
  ON event.thread = checkpoint.thread AND event.seq = checkpoint.seq WHERE checkpoint.thread = (${THREAD_ID} AND deleted = 0)`;

function toCheckpoint({ seq, at, data }: Cells): CheckpointRow {
  const { checkpointId, lineageId = "", superstep, tasks } = JSON.parse(data) as Extract<StoredEvent, { type: "checkpoint.reached" }>;
  return { checkpointId, lineageId, superstep, seq, createdAt: at, tasks };
}
