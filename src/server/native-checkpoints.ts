import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import { fork } from "../engine/fork.ts";
import { decodeFork } from "../protocol/native/decode.ts";
import { decodeCheckpointQuery } from "../protocol/native/query.ts";
import type { CheckpointRow } from "../store/store.ts";
import { body, type Door, threadKey } from "./door.ts";
import { type Member, member, namedThread } from "./native-member.ts";
import { iso, threadRow } from "./native-row.ts";
import { byLabel } from "./principal.ts";

/** The barriers of a thread's graph: list them, and begin a new thread at one. */
export function checkpointRoutes(door: Door): Hono {
  const { engine } = door;
  const app = new Hono();

  app.get("/:id/checkpoints", async (c) => {
    const key = namedThread(await member(door, c), c);
    const query = decodeCheckpointQuery(c.req.query());
    await threadRow(engine, key);
    const { checkpoints, next } = await engine.store.checkpoints(key, query);
    return c.json({ checkpoints: checkpoints.map(checkpointJson), ...(next !== undefined && { next }) });
  });

  app.post("/:id/fork", async (c) => {
    const principal = await member(door, c);
    const key = namedThread(principal, c);
    const { threadId, run, resume: answers, ...options } = decodeFork(await body(door, c), engine.ids);
    if (options.state) mayEdit(door, principal);
    threadKey(principal, threadId); // is a name for a thread
    const begun = {
      runId: engine.ids("run"),
      turnId: engine.ids("turn"),
      by: byLabel(principal),
      via: "native",
      ...(answers && { answers }),
    };
    const { after } = await fork(engine, key, { ...options, threadId, ...(run && { run: begun }) });
    return c.json({ threadId, seq: after, ...(run && { runId: begun.runId }) }, 201);
  });

  return app;
}

/** What nodes read in the state they trust. Where users are told apart, only operators may write it. */
export function mayEdit({ authenticate }: Door, { kind }: Member): void {
  if (kind === "user" && authenticate)
    throw new AppError("forbidden", "Only operators may change the state of a graph", { field: "state" });
}

/** A checkpoint on the wire. */
export type CheckpointJson = {
  checkpointId: string;
  turnId: string;
  superstep: number;
  seq: number;
  at: string;
  tasks: { taskId: string; node: string }[];
};

function checkpointJson({ checkpointId, lineageId, superstep, seq, createdAt, tasks }: CheckpointRow): CheckpointJson {
  const next = tasks.map(({ taskId, node }) => ({ taskId, node }));
  return { checkpointId, turnId: lineageId, superstep, seq, at: iso(createdAt), tasks: next };
}
