import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import type { StoredEvent, ToolExecution } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { using } from "../engine/live.ts";
import { submit } from "../engine/submit.ts";
import type { Webhooks } from "../engine/webhooks.ts";
import { type Answer, question, toAnswer } from "../protocol/rest/answer.ts";
import { type ChatRequest, decodeChat } from "../protocol/rest/decode.ts";
import { body, type Door, STATUS, threadKey } from "./door.ts";
import { eventFrames } from "./native-events.ts";
import { member, namedThread } from "./native-member.ts";
import { iso, threadRow } from "./native-row.ts";
import { byLabel } from "./principal.ts";
import { keyedIds, requestKey } from "./request-key.ts";
import { refuseRest } from "./rest-error.ts";
import { toolResultRoutes } from "./rest-results.ts";
import { view } from "./rest-view.ts";
import { sse } from "./sse.ts";

/** Seed 002's deadline, where a request names none. */
const TIMEOUT_MS = 30_000;

/** What the end of a wait may take beyond its deadline: the sweep looks twice a second. */
const SLACK_MS = 2_000;

/** Pending calls shown at once; a step offers far fewer. */
const MOST_CALLS = 1_000;

/** The REST door: `POST /chat`, `GET /chat/pending-tools/:id` and `POST /chat/tool-result`, for whoever has nothing but curl. */
export function restRoutes(door: Door): Hono {
  const { engine } = door;
  const app = new Hono();
  app.onError((error, c) => refuseRest(door, c, error));

  app.post("/", async (c) => {
    const principal = await member(door, c);
    const json = await body(door, c);
    const request = requestKey(c, json);
    const asked = decodeChat(json, keyedIds(engine.ids, request, principal));
    const key = threadKey(principal, asked.threadId, c.req.query("user"));
    const toolExecution = await remembered(door, key, asked);
    const submitted = await submit(engine, key, {
      type: "run",
      runId: engine.ids("run"),
      turnId: engine.ids("turn"),
      ...(asked.agent !== undefined && { agent: asked.agent }),
      messages: asked.message ? [asked.message] : [],
      results: asked.results,
      nameless: asked.nameless,
      answers: [],
      options: { ...asked.options, toolExecution },
      door: "explicit",
      by: byLabel(principal),
      via: "rest",
      now: engine.clock.now(),
      ...(request && { request }),
    });
    const { waitForResult = false, timeout = TIMEOUT_MS } = toolExecution.outsideConfig ?? {};
    const until = waitForResult ? "turn" : "run";
    const { after } = submitted;
    if (c.req.header("accept")?.includes("text/event-stream")) {
      return sse(c, (signal) => eventFrames(door, key, { after, until, reader: principal.kind, signal }), door.streams, { open: true });
    }
    const events = await view(door, key, { after, until, patience: timeout + SLACK_MS, signal: c.req.raw.signal });
    return c.json(...envelope(key.threadId, events));
  });

  app.get("/pending-tools/:id", async (c) => {
    const key = namedThread(await member(door, c), c);
    const pendingToolCalls = await pending(door, key);
    const pendingInterrupts = await using(engine, key, async ({ thread }) => [...thread.interrupts.values()].map(question));
    const { threadId } = key;
    return c.json({ success: true, data: { threadId, pendingToolCalls, count: pendingToolCalls.length, pendingInterrupts } });
  });

  app.route("/", toolResultRoutes(door));
  return app;
}

/** `POST /api/chat/tool-result`: the same route under its other name. */
export function sessionRoutes(door: Door): Hono {
  const app = new Hono();
  app.onError((error, c) => refuseRest(door, c, error));
  return app.route("/", toolResultRoutes(door));
}

/** How this thread wants its tools executed: as the request says, or as it said last. Results need a thread to belong to. */
async function remembered(door: Door, key: ThreadKey, { message, toolExecution }: ChatRequest): Promise<ToolExecution> {
  if (!message) await threadRow(door.engine, key);
  const url = toolExecution?.outsideConfig?.callbackUrl;
  if (url !== undefined) callbacks(door).check(url);
  return toolExecution ?? (await using(door.engine, key, async ({ thread }) => thread.options.toolExecution)) ?? { mode: "internal" };
}

function callbacks({ webhooks }: Door): Webhooks {
  if (webhooks) return webhooks;
  throw new AppError("invalid", "callbackUrl: this server sends no webhooks; set HANDBACK_WEBHOOK_SECRET", { field: "callbackUrl" });
}

/** A call as the seed lists it. */
export type PendingTool = {
  kind: "call";
  id: string;
  name: string;
  args: unknown;
  description: string;
  timestamp: string;
  threadId: string;
  status: string;
  expiresAt?: string;
};

async function pending({ engine }: Door, key: ThreadKey): Promise<PendingTool[]> {
  const { agent = "" } = await threadRow(engine, key);
  const declared = await using(engine, key, async ({ thread }) => thread.tools);
  const { waits } = await engine.store.waits({ ...key, kind: "call", status: "pending", limit: MOST_CALLS });
  return waits.map(({ id, name, input, createdAt, expiresAt, threadId, status }) => {
    const spec = engine.agents.get(agent)?.tools.get(name)?.spec ?? declared.find((tool) => tool.name === name);
    const base = {
      kind: "call" as const,
      id,
      name,
      args: input,
      description: spec?.description ?? "",
      timestamp: iso(createdAt),
      threadId,
      status,
    };
    return { ...base, ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }) };
  });
}

type Envelope = { success: true; data: Answer } | { success: false; error: string; code: string; data: Answer };

/** An answer and its HTTP status: a run that failed is the failure of its request. */
function envelope(threadId: string, events: readonly StoredEvent[]): [Envelope, (typeof STATUS)[keyof typeof STATUS]] {
  const data = toAnswer(threadId, events);
  const outcome = events.findLast((event) => event.type === "run.ended")?.outcome;
  if (outcome?.type !== "failed") return [{ success: true, data }, 200];
  const { code, message } = outcome.error;
  return [{ success: false, error: message, code, data }, STATUS[code]];
}
