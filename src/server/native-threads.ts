import { Hono } from "hono";
import type { RunCommand } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import { nameFiles } from "../engine/files.ts";
import { removeThread } from "../engine/remove.ts";
import { submit } from "../engine/submit.ts";
import { decodeCancel, decodeChange, decodeRun } from "../protocol/native/decode.ts";
import { decodeThreadQuery } from "../protocol/native/query.ts";
import { body, type Door } from "./door.ts";
import { mayEdit } from "./native-checkpoints.ts";
import { member, namedThread, ownerOf } from "./native-member.ts";
import { callJson, runIdOf, threadJson, threadRow } from "./native-row.ts";
import { byLabel, type Principal } from "./principal.ts";
import { requestKey } from "./request-key.ts";

/** How many open calls and questions a thread shows; `/v1/calls` has them all. */
const MOST_WAITS = 200;

/** Threads: list, read, change, delete, run, cancel, and the files in them. */
export function threadRoutes(door: Door): Hono {
  const { engine } = door;
  const { store, clock, ids } = engine;
  const app = new Hono();

  app.get("/", async (c) => {
    const principal = await member(door, c);
    const { user, ...query } = decodeThreadQuery(c.req.query());
    const { threads, next } = await store.threads({ app: principal.app, ...ownerOf(principal, user), ...query });
    return c.json({ threads: threads.map((row) => threadJson(row, principal)), ...(next !== undefined && { next }) });
  });

  app.get("/:id", async (c) => {
    const principal = await member(door, c);
    const key = namedThread(principal, c);
    const row = await threadRow(engine, key);
    const { waits } = await store.waits({ ...key, status: "pending", limit: MOST_WAITS });
    return c.json({ ...threadJson(row, principal), waits: waits.map((wait) => callJson(wait, principal, clock.now())) });
  });

  app.patch("/:id", async (c) => {
    const principal = await member(door, c);
    const key = namedThread(principal, c);
    const change = decodeChange(await body(door, c));
    await threadRow(engine, key);
    await submit(engine, key, { type: "change", ...change, ...asked(principal) });
    return c.json(threadJson(await threadRow(engine, key), principal));
  });

  app.delete("/:id", async (c) => {
    const key = namedThread(await member(door, c), c);
    await threadRow(engine, key);
    await removeThread(engine, key);
    return c.body(null, 204);
  });

  app.post("/:id/runs", async (c) => {
    const principal = await member(door, c);
    const key = namedThread(principal, c);
    const json = await body(door, c);
    const { message, ...request } = decodeRun(json, ids);
    if (request.resume) await threadRow(engine, key);
    if (request.resume?.state) mayEdit(door, principal);
    const keyed = requestKey(c, json);
    const { messages, files } = await nameFiles(message ? [message] : []);
    const command: RunCommand = {
      type: "run",
      ...request,
      turnId: ids("turn"),
      messages,
      results: [],
      answers: [],
      door: "explicit",
      ...asked(principal),
      ...(keyed && { request: keyed }),
    };
    const submitted = await submit(engine, key, command, files);
    const runId = await runIdOf(engine, key, submitted);
    return c.json({ runId: runId ?? request.runId, threadId: key.threadId, seq: submitted.after }, 202);
  });

  app.post("/:id/cancel", async (c) => {
    const principal = await member(door, c);
    const key = namedThread(principal, c);
    const why = decodeCancel(await body(door, c));
    await threadRow(engine, key);
    const { events, after } = await submit(engine, key, { type: "cancel", runId: ids("run"), ...why, ...asked(principal) });
    // A run that goes on is asked to stop and ends a moment later; what only waited is over at once.
    const over = events.some((event) => event.type === "run.ended");
    return c.json({ status: over ? "cancelled" : "cancelling", seq: after });
  });

  app.get("/:id/blobs/:blob", async (c) => {
    const key = namedThread(await member(door, c), c);
    const id = c.req.param("blob");
    const blob = await store.blob(key, id);
    if (!blob) throw new AppError("not_found", `There is no file ${id} in thread ${key.threadId}`);
    return c.body(new Uint8Array(blob.data), 200, {
      // What a client sent is never shown as a page of this server.
      "content-type": /^[\w.+-]+\/[\w.+-]+$/.test(blob.mediaType) ? blob.mediaType : "application/octet-stream",
      "content-disposition": "attachment",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=31536000, immutable",
    });
  });

  return app;

  function asked(principal: Principal) {
    return { by: byLabel(principal), via: "native", now: clock.now() };
  }
}
