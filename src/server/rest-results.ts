import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import type { StoredEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { type Submitted, submit } from "../engine/submit.ts";
import { toAnswer } from "../protocol/rest/answer.ts";
import { decodeHeartbeat, decodeToolResults } from "../protocol/rest/decode.ts";
import { body, type Door, STATUS } from "./door.ts";
import { iso } from "./native-row.ts";
import { requestKey } from "./request-key.ts";
import { senderOf, tokenOf } from "./rest-sender.ts";
import { view } from "./rest-view.ts";

const PROCESSED = "工具执行结果已处理";

/** Results for calls that were handed out: of the seed's shape, by whoever may settle them. */
export function toolResultRoutes(door: Door): Hono {
  const { engine } = door;
  const app = new Hono();

  app.post("/tool-result", async (c) => {
    const json = await body(door, c);
    const asked = decodeToolResults(json);
    const { key, by, results, nameless, answers, member } = await senderOf(door, c, asked);
    const request = requestKey(c, json);
    const submitted = await submit(engine, key, {
      type: "run",
      runId: engine.ids("run"),
      turnId: engine.ids("turn"),
      messages: [],
      results,
      nameless,
      answers,
      door: "explicit",
      by,
      via: "rest",
      now: engine.clock.now(),
      ...(request && { request }),
    });
    const { threadId } = key;
    const { after } = submitted;
    // Whoever only runs tools hears that the result was taken, and nothing of the thread.
    const events = member ? await view(door, key, { after, until: "run", patience: 0, signal: c.req.raw.signal }) : [];
    const agentResponse = toAnswer(threadId, events);
    const named = results.map(({ callId }) => callId);
    const settled: Settlement[] =
      answers.length > 0
        ? answers.map(({ interruptId = "" }) => ({ interruptId }))
        : member
          ? settlements(submitted, events, named)
          : named.map((toolCallId) => ({ toolCallId }));
    const { status, remaining } = agentResponse;
    const data = { message: PROCESSED, threadId, agentResponse, status, remaining, ...settled[0], results: settled };
    const failure = events.findLast((event) => event.type === "run.ended")?.outcome;
    if (failure?.type === "failed") {
      const { code, message } = failure.error;
      return c.json({ success: false, error: message, code, data }, STATUS[code]);
    }
    return c.json({ success: true, data, ...(asked.session && { ok: true }) });
  });

  app.post("/tool-heartbeat", async (c) => {
    const { toolCallId, seconds, token } = decodeHeartbeat(await body(door, c));
    const { app: owner } = tokenOf(door, c, token, toolCallId);
    const { store, clock } = engine;
    const [call, delivery] = [await store.wait(owner, toolCallId), await store.delivery(owner, toolCallId)];
    if (!call || !delivery) throw new AppError("not_found", `There is no call ${toolCallId}`);
    if (call.status !== "pending") throw new AppError("gone", `Call ${toolCallId} is already ${call.status}`);
    const until = Math.min(clock.now() + seconds * 1000, call.expiresAt ?? Number.POSITIVE_INFINITY);
    await store.saveDelivery(owner, toolCallId, { status: "accepted", nextAt: until });
    return c.json({ success: true, data: { toolCallId, until: iso(until) } });
  });

  return app;
}

type Returned = Extract<StoredEvent, { type: "tool.returned" }>;
type Settlement = { toolCallId?: string; interruptId?: string; toolName?: string; metadata?: Json };

/** The calls this request settled; for a repetition, those it settled the first time. */
function settlements({ events }: Submitted, seen: readonly StoredEvent[], named: string[]): Settlement[] {
  const own = events.filter((event) => event.type === "tool.returned");
  const before = seen.filter((event) => event.type === "tool.returned" && (named.includes(event.callId) || named.length === 0));
  const list = (own.length > 0 ? own : before) as Pick<Returned, "callId" | "name" | "metadata">[];
  return list.map(({ callId, name, metadata }) => ({ toolCallId: callId, toolName: name, ...(metadata && { metadata }) }));
}
