import { createHash } from "node:crypto";
import type { Nameless } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import type { Attempt, Delivery, WaitRow } from "../store/store.ts";
import type { Engine } from "./engine.ts";
import { type Reply, safePost } from "./safe-post.ts";
import { submit } from "./submit.ts";
import type { Webhooks } from "./webhooks.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** Pauses between attempts. A call with a deadline is settled by it long before the last. */
const PAUSES = [2, 10, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * SECOND);

/** How long a receiver that said 202 may be silent before the call is announced again. */
const SILENCE_MS = 60 * SECOND;

/** A late answer hears that it is late, and not that it is unknown. */
const GRACE_MS = 24 * HOUR;

/** Reads a result out of what a receiver answered, if there is one. */
export type ReadResult = (body: string) => Nameless | undefined;

/** Delivers one call, and writes down what came of it. */
export async function deliver(engine: Engine, hooks: Webhooks, read: ReadResult, delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { store, clock } = engine;
  const { app, id, attempts } = delivery;
  const call = await store.wait(app, id);
  if (call?.status !== "pending") return store.saveDelivery(app, id, { status: "stopped" });
  const at = clock.now();
  const done = async (change: Parameters<typeof store.saveDelivery>[2], what: Partial<Attempt>) => {
    if (signal.aborted) return; // cut off by us: the next start tries again
    await store.saveDelivery(app, id, { ...change, attempt: { at, ms: clock.now() - at, ...what } });
    engine.log({ event: "delivery", call: id, thread: delivery.threadId, status: change.status, http: what.status, attempt: attempts + 1 });
  };
  const again = (what: Partial<Attempt>, reply?: Reply) => {
    const pause = PAUSES[attempts];
    if (pause === undefined) return done({ status: "failed" }, what);
    const wanted = Math.min(retryAfter(reply, clock.now()), 24 * HOUR);
    return done({ status: "pending", nextAt: clock.now() + Math.max(jittered(pause, id, attempts), wanted) }, what);
  };
  try {
    const reply = await announce(engine, hooks, delivery, call, signal);
    const { status } = reply;
    if (status === 410) return await done({ status: "stopped", disable: true }, { status });
    if (status === 202) return await done({ status: "accepted", nextAt: clock.now() + SILENCE_MS }, { status });
    if (status < 200 || status > 299) return await again({ status, error: `HTTP ${status}` }, reply);
    const result = read(reply.body);
    if (result) await settle(engine, call, delivery.url, result);
    await done({ status: "delivered" }, { status });
  } catch (error) {
    await again({ error: textOf(error) });
  }
}

/** Posts the call as a Standard Webhook: signed, with one id however often it is sent. */
async function announce(engine: Engine, hooks: Webhooks, delivery: Delivery, call: WaitRow, signal: AbortSignal): Promise<Reply> {
  const { clock, agents, store } = engine;
  const { id, threadId, url: text } = delivery;
  const { app, name, input, createdAt, expiresAt } = call;
  const url = hooks.check(text);
  const { agent = "" } = (await store.thread(call)) ?? {};
  const description = agents.get(agent)?.tools.get(name)?.spec.description;
  const token = hooks.token({ app, callId: id }, (expiresAt ?? createdAt + GRACE_MS * 7) + GRACE_MS);
  const { publicUrl } = hooks.options;
  const data = {
    id,
    name,
    args: input,
    ...(description !== undefined && { description }),
    timestamp: iso(createdAt),
    threadId,
    status: "pending",
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    token,
    ...(publicUrl !== undefined && { resultUrl: new URL("/chat/tool-result", publicUrl).href }),
  };
  const body = JSON.stringify({ type: "tool_call.pending", timestamp: iso(clock.now()), data });
  const seconds = Math.floor(clock.now() / SECOND);
  const headers = {
    "content-type": "application/json",
    "user-agent": "handback",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": hooks.sign(id, seconds, body),
  };
  const { lookup } = hooks.options;
  return safePost(url, { headers, body, trusted: hooks.trusts(url), clock, signal, ...(lookup && { lookup }) });
}

/** The receiver's answer as the call's result. One that came too late changes nothing and needs no second try. */
async function settle(engine: Engine, { app, user, threadId, id }: WaitRow, url: string, result: Nameless): Promise<void> {
  try {
    await submit(
      engine,
      { app, user, threadId },
      {
        type: "run",
        runId: engine.ids("run"),
        turnId: engine.ids("turn"),
        messages: [],
        results: [{ callId: id, ...result }],
        answers: [],
        door: "explicit",
        by: `webhook:${new URL(url).host}`,
        via: "webhook",
        now: engine.clock.now(),
      },
    );
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== "gone" && error.code !== "conflict")) throw error;
  }
}

/** Spread over a third, and the same for the same attempt: what fails together must not come back together. */
function jittered(pause: number, id: string, attempt: number): number {
  const chance = createHash("sha256").update(`${id}:${attempt}`).digest().readUInt32BE() / 2 ** 32;
  return Math.round(pause * (0.8 + chance * 0.4));
}

function retryAfter(reply: Reply | undefined, now: number): number {
  const text = reply?.headers["retry-after"];
  if (text === undefined) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** What went wrong, in one line. */
export function textOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return (message || code || String(error)).slice(0, 300);
}
