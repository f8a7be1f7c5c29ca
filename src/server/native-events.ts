import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import type { ThreadKey } from "../core/ids.ts";
import { follow, type Until } from "../engine/follow.ts";
import type { Batch } from "../engine/live.ts";
import { decodeOffset } from "../protocol/native/offset.ts";
import { project, type Reader } from "../protocol/native/project.ts";
import { decodeLogQuery } from "../protocol/native/query.ts";
import type { Door } from "./door.ts";
import { member, namedThread } from "./native-member.ts";
import { threadRow } from "./native-row.ts";
import { frame, sse } from "./sse.ts";

/** The log of a thread as an event stream: past and future, until its end or for ever. */
export function eventRoutes(door: Door): Hono {
  const app = new Hono();
  app.get("/:id/events", async (c) => {
    const principal = await member(door, c);
    const key = namedThread(principal, c);
    const last = c.req.header("last-event-id");
    const after = last ? decodeOffset(last, "Last-Event-ID") : decodeOffset(c.req.query("after"), "after");
    const until = decodeUntil(c.req.query("until"));
    await threadRow(door.engine, key);
    return sse(c, (signal) => eventFrames(door, key, { after, until, reader: principal.kind, signal }), door.streams, { open: true });
  });

  // One page of the past, for whoever wants to read and not to follow.
  app.get("/:id/log", async (c) => {
    const principal = await member(door, c);
    const key = namedThread(principal, c);
    const { after, limit, deltas } = decodeLogQuery(c.req.query());
    const { seq } = await threadRow(door.engine, key);
    const events = await door.engine.store.read(key, { after, limit, deltas });
    const last = events.at(-1)?.seq ?? seq;
    return c.json({ events: events.map((event) => project(event, principal.kind)), ...(events.length === limit && { next: last }), seq });
  });
  return app;
}

/** Tells a reader that there is nothing more to wait for, which a connection that was cut off does not. */
const END = new TextEncoder().encode("event: end\ndata: {}\n\n");

/** A thread's log as this reader may see it, in frames. Streams that can end say so. */
export async function* eventFrames(
  { engine }: Door,
  key: ThreadKey,
  { after, until, reader, signal }: { after: number; until: Until; reader: Reader; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  for await (const batch of follow(engine, key, { after, until, signal })) yield shared(batch, reader);
  if (until !== "forever" && !signal.aborted) yield END;
}

/** The frames of a batch, made once for each kind of reader. */
function shared(batch: Batch, reader: Reader): Uint8Array {
  const peer = `native:${reader}`;
  let bytes = batch.frames.get(peer);
  if (!bytes) {
    bytes = Buffer.from(batch.events.map((event) => frame(JSON.stringify(project(event, reader)), event.seq)).join(""));
    batch.frames.set(peer, bytes);
  }
  return bytes;
}

function decodeUntil(text: string | undefined): Until {
  if (text === undefined) return "forever";
  if (text === "run" || text === "turn" || text === "forever") return text;
  throw new AppError("invalid", "until: must be run, turn or forever", { field: "until" });
}
