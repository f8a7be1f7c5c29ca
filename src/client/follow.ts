import type { StoredEvent } from "../core/event.ts";
import type { Wire } from "./request.ts";
import { nameOf, threadPath } from "./thread-path.ts";
import type { CallNews, Head, News, ThreadRef } from "./wire.ts";

/** Where to begin, how long to go on, and how to stop. */
export type FollowOptions = {
  /** The last event that is already there. Default 0: from the beginning. */
  after?: number;
  /** To the end of the run, of the turn over all its waits, or (default) for ever. */
  until?: "run" | "turn" | "forever";
  signal?: AbortSignal | undefined;
};

/** The events of a thread, each once and in order, over any number of broken connections. */
export async function* follow({ frames }: Wire, thread: ThreadRef, options: FollowOptions = {}): AsyncGenerator<StoredEvent, void> {
  const { until = "forever", signal = new AbortController().signal } = options;
  let { after = 0 } = options;
  for await (const { event: name, data } of frames(() => threadPath(thread, "/events", { after, until }), signal)) {
    if (name === "end") return;
    if (name !== "message") continue;
    const event = JSON.parse(data) as StoredEvent;
    if (event.seq <= after) continue;
    after = event.seq;
    yield event;
    if (signal.aborted || ends(event, until)) return;
  }
}

function ends(event: StoredEvent, until: "run" | "turn" | "forever"): boolean {
  if (event.type !== "run.ended" || until === "forever") return false;
  return until === "run" || event.outcome.type !== "waiting";
}

/** Which threads to hear everything of, and where to begin in each. */
export type WatchOptions = {
  threads?: Iterable<{ threadId: string; user?: string; after?: number }>;
  signal?: AbortSignal | undefined;
};

/** Events of the threads that are watched and heads of all others. Heads may repeat themselves: the last one counts. */
export async function* watch(
  { frames }: Wire,
  { threads = [], signal = new AbortController().signal }: WatchOptions = {},
): AsyncGenerator<News, void> {
  const places = new Map<string, number>();
  for (const { after = 0, ...thread } of threads) places.set(nameOf(thread), after);
  const path = () => `/events?watch=${encodeURIComponent(Array.from(places, ([name, after]) => `${name}:${after}`).join(","))}`;
  for await (const { event: name, data } of frames(path, signal)) {
    const said = JSON.parse(data) as unknown;
    if (name === "head") yield { type: "head", head: said as Head };
    if (name === "gone") yield { type: "gone", ...(said as { threadId: string; user?: string }) };
    if (name !== "event") continue;
    const news = said as { threadId: string; user?: string; event: StoredEvent };
    // Somebody who did not name the user gets the offsets under the name they know.
    const known = places.has(nameOf(news)) ? nameOf(news) : news.threadId;
    if (news.event.seq <= (places.get(known) ?? 0)) continue;
    places.set(known, news.event.seq);
    yield { type: "event", ...news };
  }
}

/** Open calls as they come and go, those that are open now first. */
export async function* watchCalls({ frames }: Wire, path: string, signal: AbortSignal): AsyncGenerator<CallNews, void> {
  for await (const { event: name, data } of frames(() => path, signal)) {
    const said = JSON.parse(data);
    if (name === "call") yield { type: "call", call: said };
    if (name === "closed") yield { type: "closed", ...said };
  }
}
