import { type Context, Hono } from "hono";
import type { Answer, Result } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import { claimCall, heartbeat, type Lease, releaseCall } from "../engine/claim.ts";
import { submit } from "../engine/submit.ts";
import {
  decodeAnswer,
  decodeApproval,
  decodeClaim,
  decodeHeartbeat,
  decodeRejection,
  decodeRelease,
  decodeResponse,
  decodeResult,
} from "../protocol/native/decode.ts";
import { decodeCallQuery } from "../protocol/native/query.ts";
import type { WaitRow } from "../store/store.ts";
import { asker, body, type Door } from "./door.ts";
import { callDetail } from "./native-call-detail.ts";
import { callQuery } from "./native-call-query.ts";
import { callStream } from "./native-call-stream.ts";
import { callJson, iso, runIdOf } from "./native-row.ts";
import { byLabel, mayReach, mayReachCall, type Principal } from "./principal.ts";

/** Calls that are the outside's: list, claim and settle. A call is named by its id alone. */
export function callRoutes(door: Door): Hono {
  const { engine } = door;
  const { store, clock } = engine;
  const app = new Hono();

  app.get("/", async (c) => {
    const principal = await asker(door, c);
    const { waits, next } = await store.waits(callQuery(principal, decodeCallQuery(c.req.query())));
    return c.json({ calls: waits.map((wait) => callJson(wait, principal, clock.now())), ...(next !== undefined && { next }) });
  });

  app.get("/events", async (c) => callStream(door, c, await asker(door, c)));

  app.get("/:id", async (c) => {
    const principal = await asker(door, c);
    return c.json(await callDetail(door, offered(await reached(door, principal, c)), principal));
  });

  app.post("/:id/result", async (c) => {
    const principal = await asker(door, c);
    const call = await reached(door, principal, c);
    if (call.kind !== "call") throw unknown(call.id);
    return c.json(await settle(door, principal, call, { results: [decodeResult(await body(door, c), call.id)] }));
  });

  for (const [verb, status, decodeVerdict] of [
    ["approve", "approved", decodeApproval],
    ["reject", "rejected", decodeRejection],
  ] as const) {
    app.post(`/:id/${verb}`, async (c) => {
      const principal = await asker(door, c);
      const wait = await reached(door, principal, c);
      if (principal.kind === "executor") throw new AppError("forbidden", "Only a person may approve or reject a call");
      const answer = { ...questionOf(wait), status: "resolved" as const, value: decodeVerdict(await body(door, c)) };
      return c.json(await settle(door, principal, wait, { answers: [answer] }, status));
    });
  }

  // A person's own answer in place of the tool: for a call that waits for approval, and for one that was handed out.
  app.post("/:id/respond", async (c) => {
    const principal = await asker(door, c);
    const wait = await reached(door, principal, c);
    if (principal.kind === "executor") throw new AppError("forbidden", "Only a person may answer in place of a tool");
    const { output } = decodeResponse(await body(door, c));
    if (wait.kind === "call" && wait.ordinal !== undefined)
      return c.json(await settle(door, principal, wait, { results: [{ callId: wait.id, status: "completed", output }] }));
    const answer = { ...questionOf(wait), status: "resolved" as const, value: { approved: false, output } };
    return c.json(await settle(door, principal, wait, { answers: [answer] }, "completed"));
  });

  app.post("/:id/claim", async (c) => {
    const principal = await asker(door, c);
    const call = offered(await reached(door, principal, c));
    const { by, seconds } = decodeClaim(await body(door, c));
    const label = byLabel(principal);
    return c.json(leaseJson(await claimCall(engine, call, { by: by === undefined ? label : `${label}/${by}`, ms: seconds * 1000 })));
  });

  app.post("/:id/heartbeat", async (c) => {
    const call = offered(await reached(door, await asker(door, c), c));
    const { claim, seconds } = decodeHeartbeat(await body(door, c));
    return c.json(leaseJson(await heartbeat(engine, call, claim, seconds * 1000)));
  });

  app.post("/:id/release", async (c) => {
    const principal = await asker(door, c);
    const call = offered(await reached(door, principal, c));
    const { claim } = decodeRelease(await body(door, c));
    await releaseCall(engine, call, { claim, by: byLabel(principal) });
    return c.json({ status: "pending" });
  });

  return app;
}

/** Questions: answer them. */
export function interruptRoutes(door: Door): Hono {
  const app = new Hono();
  app.post("/:id/answer", async (c) => {
    const principal = await asker(door, c);
    const id = c.req.param("id");
    const wait = await door.engine.store.wait(principal.app, id);
    if (wait?.kind !== "interrupt" || !mayReach(principal, wait)) throw new AppError("not_found", `There is no question ${id}`);
    const answer = decodeAnswer(await body(door, c), id);
    return c.json(await settle(door, principal, wait, { answers: [answer] }, answer.status));
  });
  return app;
}

/** The call or question a path names. Those of strangers are unknown. */
async function reached({ engine }: Door, principal: Principal, c: Context): Promise<WaitRow> {
  const id = c.req.param("id") ?? "";
  const wait = await engine.store.wait(principal.app, id);
  const reachable = wait && (wait.kind === "call" ? mayReachCall(principal, wait, wait.name) : mayReach(principal, wait));
  if (!reachable) throw unknown(id);
  return wait;
}

/** A server's own call, or one that still waits for approval, is nobody's to see or claim. */
function offered(wait: WaitRow): WaitRow {
  if (wait.kind === "call" && wait.ordinal === undefined) throw unknown(wait.id);
  return wait;
}

/** How the question whether a call may be made is named: by the call or by the question itself. */
function questionOf({ kind, id, callId }: WaitRow): { callId: string } | { interruptId: string } {
  if (kind === "call") return { callId: id };
  if (callId === undefined) throw unknown(id);
  return { interruptId: id };
}

function unknown(id: string): AppError {
  return new AppError("not_found", `There is no call ${id}`);
}

type Settlement = { status: string; threadId: string; runId?: string; seq: number };

/** Hands results and answers to the thread. `seq` is where to follow from: for a repetition the same as the first time. */
async function settle(
  { engine }: Door,
  principal: Principal,
  { app, user, threadId }: WaitRow,
  { results = [], answers = [] }: { results?: Result[]; answers?: Answer[] },
  status = results[0]?.status ?? "",
): Promise<Settlement> {
  const key = { app, user, threadId };
  const submitted = await submit(engine, key, {
    type: "run",
    runId: engine.ids("run"),
    turnId: engine.ids("turn"),
    messages: [],
    results,
    answers,
    door: "explicit",
    by: byLabel(principal),
    via: "native",
    now: engine.clock.now(),
  });
  const runId = await runIdOf(engine, key, submitted);
  return { status, threadId, ...(runId !== undefined && { runId }), seq: submitted.after };
}

function leaseJson({ claim, until }: Lease): { claim: number; until: string } {
  return { claim, until: iso(until) };
}
