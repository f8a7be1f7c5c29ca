import { type Context, Hono } from "hono";
import type { ThreadKey } from "../core/ids.ts";
import type { Thread } from "../core/thread.ts";
import type { CallSignature } from "../engine/call-signature.ts";
import { using } from "../engine/live.ts";
import { decode } from "../protocol/aisdk/decode.ts";
import { isUnfinished, toMessages } from "../protocol/aisdk/messages.ts";
import { type Peer, peerOf } from "../protocol/aisdk/peer.ts";
import { NOTHING_SHOWN, type Shown } from "../protocol/aisdk/shown.ts";
import { isStateless } from "../protocol/aisdk/stateless.ts";
import { send, stop } from "./aisdk-send.ts";
import { answerStateless } from "./aisdk-stateless.ts";
import { uiStream } from "./aisdk-stream.ts";
import { asker, body, type Door, threadKey } from "./door.ts";
import { sse } from "./sse.ts";

export type AisdkOptions = {
  /** The major of the AI SDK to speak with clients that name none. Default: what all of them read. */
  version?: 5 | 6 | 7;
  /** Longest a stream stays open while only others have something to do. */
  holdMs: number;
  /** Tells calls that were handed out to clients who keep their threads themselves. */
  signature: () => Promise<CallSignature>;
};

/** The AI SDK's UI message stream, for `useChat` and assistant-ui: run, resume, read and stop. */
export function aisdkRoutes(door: Door, { version, holdMs, signature }: AisdkOptions): Hono {
  const { engine } = door;
  const app = new Hono();
  const peer = (c: Context): Peer => peerOf(c.req.query("v") ?? version?.toString());

  app.post("/", async (c) => {
    const principal = await asker(door, c);
    peer(c); // before anything is written
    const json = await body(door, c);
    if (isStateless(json)) return answerStateless(door, c, json, { principal, peer: peer(c), signature: await signature() });
    const agent = c.req.query("agent");
    const request = { ...decode(json, engine.ids), ...(agent !== undefined && { agent }) };
    const key = threadKey(principal, request.threadId);
    const { turnId, shown } = await send(door, key, request, principal);
    return stream(c, key, turnId, shown);
  });

  app.get("/:id/stream", async (c) => {
    const key = await named(c);
    const turnId = await look(key, (thread) => (isUnfinished(thread) ? thread.turn?.turnId : undefined));
    if (turnId === undefined) return c.body(null, 204);
    return stream(c, key, turnId, NOTHING_SHOWN);
  });

  app.get("/:id/messages", async (c) => {
    const key = await named(c);
    const active = c.req.query("include") === "active";
    const found = await look(key, (thread) => ({
      messages: toMessages(thread, key.threadId, { peer: peer(c), active }),
      active: isUnfinished(thread),
    }));
    return c.json({ id: key.threadId, ...found });
  });

  app.post("/:id/stop", async (c) => {
    const principal = await asker(door, c);
    const stopped = await stop(door, threadKey(principal, c.req.param("id")), principal);
    return c.json({ id: c.req.param("id"), status: stopped ? "cancelled" : "idle" });
  });

  return app;

  async function named(c: Context): Promise<ThreadKey> {
    return threadKey(await asker(door, c), c.req.param("id") ?? "");
  }

  function look<T>(key: ThreadKey, at: (thread: Thread) => T): Promise<T> {
    return using(engine, key, async ({ thread }) => at(thread));
  }

  async function stream(c: Context, key: ThreadKey, turnId: string, shown: Shown): Promise<Response> {
    c.header("x-vercel-ai-ui-message-stream", "v1");
    c.header("x-resumable-stream-id", key.threadId); // what assistant-ui resumes by
    c.header("access-control-expose-headers", "x-resumable-stream-id");
    const taken = await claimed(door, key, c.req.query("client"));
    const view = { key, turnId, peer: peer(c), shown, taken, hold: c.req.query("hold") === "true", holdMs };
    return sse(c, (signal) => uiStream(door, view, signal), door.streams, { open: true });
  }
}

/** Calls of this thread that another tab or worker has claimed, for as long as its claim holds. */
async function claimed({ engine }: Door, key: ThreadKey, client: string | undefined): Promise<Set<string>> {
  const candidates = await using(engine, key, async ({ thread }) =>
    [...thread.calls.values()].filter(({ owner, claim }) => owner === "client" && claim && !claim.released),
  );
  const taken = new Set<string>();
  for (const { callId } of candidates) {
    const claim = (await engine.store.wait(key.app, callId))?.claim;
    const own = client !== undefined && claim?.by.endsWith(`/${client}`);
    if (claim && claim.until > engine.clock.now() && !own) taken.add(callId);
  }
  return taken;
}
