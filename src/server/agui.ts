import { Hono } from "hono";
import { AppError, toFailure } from "../core/error.ts";
import type { StoredEvent } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Engine } from "../engine/engine.ts";
import { keepFiles } from "../engine/files.ts";
import { follow } from "../engine/follow.ts";
import type { Batch } from "../engine/live.ts";
import { type Submitted, submit } from "../engine/submit.ts";
import { type AguiRequest, decode, decodeThread, type Shown } from "../protocol/agui/decode.ts";
import { encode, type Frame, prelude } from "../protocol/agui/encode.ts";
import type { Peer } from "../protocol/agui/peer.ts";
import { asker, body, type Door, threadKey } from "./door.ts";
import { byLabel } from "./principal.ts";
import { frame, sse } from "./sse.ts";

/** AG-UI over SSE: `POST /` and `POST /:agent` run, `POST /cancel` cancels. */
export function aguiRoutes(door: Door): Hono {
  const { engine } = door;
  const app = new Hono();

  app.post("/cancel", async (c) => {
    const principal = await asker(door, c);
    const threadId = decodeThread(await body(door, c));
    await submit(engine, threadKey(principal, threadId), {
      type: "cancel",
      runId: engine.ids("run"),
      by: byLabel(principal),
      via: "agui",
      now: engine.clock.now(),
    });
    return c.json({ threadId, status: "cancelled" });
  });

  app.post("/:agent?", async (c) => {
    const principal = await asker(door, c);
    const agent = c.req.param("agent");
    const request = decode(await body(door, c), engine.ids);
    const key = threadKey(principal, request.threadId);
    try {
      const submitted = await run(door, key, request, byLabel(principal), agent);
      return sse(c, (signal) => frames(door, key, request, submitted, signal), door.streams);
    } catch (error) {
      // A thread that waits for an answer is told so in the protocol's own words: the client then shows the question again.
      if (!(error instanceof AppError) || error.field !== "resume") throw error;
      return sse(c, () => failed(error), door.streams);
    }
  });

  return app;
}

async function run({ engine }: Door, key: ThreadKey, request: AguiRequest, by: string, agent: string | undefined): Promise<Submitted> {
  const { runId, parentRunId, results, answers, tools, options, state } = request;
  const whilePending = engine.agents.get(agent ?? "default")?.whilePending;
  return submit(engine, key, {
    type: "run",
    runId,
    turnId: engine.ids("turn"),
    ...(agent !== undefined && { agent }),
    messages: await keepFiles(engine, key, request.messages),
    results,
    answers,
    tools,
    ...(Object.keys(options).length > 0 && { options }),
    ...(state !== undefined && { state }),
    ...(parentRunId !== undefined && { parentRunId }),
    door: "history",
    ...(whilePending && { whilePending }),
    by,
    via: "agui",
    now: engine.clock.now(),
  });
}

/** What the request itself caused is encoded for this client alone; the rest is shared with everyone of its kind. */
async function* frames(
  { engine }: Door,
  key: ThreadKey,
  { peer, shown }: AguiRequest,
  { after, seq }: Submitted,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const missed = await settledBefore(engine, key, shown, after);
  for await (const batch of follow(engine, key, { after, until: "run", signal })) {
    const own = (batch.events[0]?.seq ?? 0) <= seq;
    const bytes = own ? framed(batch, (event) => prelude(key.threadId, event, { shown, missed }, peer)) : shared(key.threadId, batch, peer);
    if (bytes.length > 0) yield bytes;
  }
}

/** Settlements that came through other doors, or with a new message, since the client last looked. */
async function settledBefore({ store }: Engine, key: ThreadKey, { calls, results }: Shown, after: number): Promise<StoredEvent[]> {
  const waits = [...calls.difference(results)];
  if (waits.length === 0) return [];
  const { settled } = await store.known(key, { messages: [], waits });
  return [...settled.values()].map(({ event }) => event).filter(({ seq }) => seq <= after);
}

/** The frames of a batch, made once for each kind of peer. */
function shared(threadId: string, batch: Batch, peer: Peer): Uint8Array {
  let bytes = batch.frames.get(peer);
  if (!bytes) {
    bytes = framed(batch, (event) => encode(threadId, event, peer));
    batch.frames.set(peer, bytes);
  }
  return bytes;
}

/** Only the last frame of an event carries its id: a client cut off in between must not miss the rest. */
function framed({ events }: Batch, encoded: (event: StoredEvent) => Frame[]): Uint8Array {
  let text = "";
  for (const event of events) {
    const list = encoded(event);
    for (const [i, data] of list.entries()) text += frame(JSON.stringify(data), i === list.length - 1 ? event.seq : undefined);
  }
  return Buffer.from(text);
}

async function* failed(error: AppError): AsyncGenerator<Uint8Array> {
  const { code, message } = toFailure(error);
  yield Buffer.from(frame(JSON.stringify({ type: "RUN_ERROR", message, code })));
}
