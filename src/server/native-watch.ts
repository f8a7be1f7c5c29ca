import { Hono } from "hono";
import { keyName, type ThreadKey } from "../core/ids.ts";
import { changes } from "../engine/changes.ts";
import { follow } from "../engine/follow.ts";
import type { Batch } from "../engine/live.ts";
import { decodeVector, encodeVector, type Watched } from "../protocol/native/offset.ts";
import { project } from "../protocol/native/project.ts";
import { decodeWatchQuery } from "../protocol/native/query.ts";
import { type Door, threadKey } from "./door.ts";
import { merge } from "./merge.ts";
import { callFrames } from "./native-call-stream.ts";
import { type Member, member, ownerOf } from "./native-member.ts";
import { headJson, iso } from "./native-row.ts";
import { mayReach } from "./principal.ts";
import { frame, sse } from "./sse.ts";

/** Heads shown at the start; older threads show theirs when something happens in them. */
const MOST_HEADS = 200;

/** How often the head of one thread is sent. */
const HEAD_EVERY_MS = 100;

/** All threads of a principal in one stream: events of the few it watches, heads of the others. */
export function watchRoutes(door: Door): Hono {
  const app = new Hono();
  /** Since when this process serves the stream. Another time after a reconnect means that the server was restarted. */
  let startedAt: number | undefined;
  app.get("/", async (c) => {
    const principal = await member(door, c);
    const last = c.req.header("last-event-id");
    startedAt ??= door.engine.clock.now();
    const { heads, calls } = decodeWatchQuery(c.req.query());
    const watched = last ? decodeVector(last, "Last-Event-ID") : decodeVector(c.req.query("watch"), "watch");
    const places = new Map<string, Place>();
    for (const { threadId, user, after } of watched) {
      const key = threadKey(principal, threadId, user);
      places.set(keyName(key), { key, after });
    }
    const wanted = { places, heads, calls, startedAt };
    return sse(c, (signal) => frames(door, principal, wanted, signal), door.streams, { open: true });
  });
  return app;
}

/** What a reader wants: events of these threads, heads of the others or of all, and the open calls. */
type Wanted = { places: ReadonlyMap<string, Place>; heads: "others" | "all"; calls: boolean; startedAt: number };

/** A watched thread and the last event of it that was sent. */
type Place = { key: ThreadKey; after: number };

type News = { type: "events"; place: Place; batch: Batch } | { type: "frames"; text: string };

/**
 * The vector is written here, in the order in which frames leave: an id that ran ahead of another thread's events would lose
 * them when the connection is cut in between.
 */
async function* frames(door: Door, principal: Member, wanted: Wanted, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { places, startedAt } = wanted;
  const hello = { version: door.version, startedAt: iso(startedAt), now: iso(door.engine.clock.now()) };
  yield Buffer.from(`event: hello\n${frame(JSON.stringify(hello))}`);
  const watched = [...places.values()];
  const vector = () => encodeVector(watched.map(({ key, after }): Watched => ({ ...named(key, principal), after })));
  const sources = [heads(door, principal, wanted, signal), ...watched.map((place) => events(door, principal, place, signal))];
  if (wanted.calls) sources.push(calls(door, principal, signal));
  for await (const news of merge(sources)) {
    if (news.type === "frames") {
      yield Buffer.from(news.text);
      continue;
    }
    let text = "";
    for (const event of news.batch.events) {
      news.place.after = event.seq;
      text += `event: event\n${frame(JSON.stringify({ ...named(news.place.key, principal), event: project(event, principal.kind) }), vector())}`;
    }
    yield Buffer.from(text);
  }
}

/** A watched thread that is deleted may come back; its later life goes on behind the same offset. */
async function* events({ engine }: Door, principal: Member, place: Place, signal: AbortSignal): AsyncGenerator<News> {
  let { after } = place;
  while (!signal.aborted) {
    for await (const batch of follow(engine, place.key, { after, until: "forever", signal })) {
      after = batch.events.at(-1)?.seq ?? after;
      yield { type: "events", place, batch };
    }
    if (!signal.aborted) yield { type: "frames", text: gone(place.key, principal) };
  }
}

async function* heads({ engine }: Door, principal: Member, wanted: Wanted, signal: AbortSignal): AsyncGenerator<News> {
  const { store } = engine;
  const shown = (key: ThreadKey) => wanted.heads === "all" || !wanted.places.has(keyName(key));
  const news = changes(engine, { wanted: (key) => mayReach(principal, key) && shown(key), everyMs: HEAD_EVERY_MS, signal });
  const { threads } = await store.threads({ app: principal.app, ...ownerOf(principal, undefined), limit: MOST_HEADS });
  const others = threads.filter(shown);
  // Oldest first, so that a client that puts every head on top ends up with the newest there.
  const first = others.reverse().map((row) => `event: head\n${frame(JSON.stringify(headJson(row, principal)))}`);
  if (first.length > 0) yield { type: "frames", text: first.join("") };
  for await (const keys of news) {
    let text = "";
    for (const key of keys) {
      const row = await store.thread(key);
      text += row ? `event: head\n${frame(JSON.stringify(headJson(row, principal)))}` : gone(key, principal);
    }
    yield { type: "frames", text };
  }
}

/** What is open as one list, then what comes and goes. */
async function* calls(door: Door, principal: Member, signal: AbortSignal): AsyncGenerator<News> {
  const query = { app: principal.app, ...ownerOf(principal, undefined) };
  for await (const bytes of callFrames(door, principal, query, signal, { asList: true })) yield { type: "frames", text: bytes };
}

function gone(key: ThreadKey, principal: Member): string {
  return `event: gone\n${frame(JSON.stringify(named(key, principal)))}`;
}

function named({ threadId, user }: ThreadKey, { kind }: Member): { threadId: string; user?: string } {
  return kind === "operator" ? { threadId, user } : { threadId };
}
