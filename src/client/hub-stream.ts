import type { StoredEvent } from "../core/event.ts";
import type { Frame } from "./frames.ts";
import { HandbackError, isTemporary } from "./handback-error.ts";
import type { Wire } from "./request.ts";
import { nameOf } from "./thread-path.ts";
import { pause } from "./time.ts";
import type { Call, Head } from "./wire.ts";

/** What the one stream of a browser brings. */
export type HubNews =
  | { type: "event"; name: string; threadId: string; event: StoredEvent }
  | { type: "head"; name: string; head: Head }
  | { type: "gone"; name: string }
  /** All that is open. */
  | { type: "calls"; calls: Call[] }
  | { type: "call"; call: Call }
  | { type: "closed"; id: string };

/** How the browser is connected. `caughtUp` counts events that had happened while it was not. */
export type Connection = {
  state: "live" | "connecting" | "lost" | "refused";
  /** Since when, in milliseconds. */
  since: number;
  caughtUp: number;
  /** The server is not the one it was before: it was started again. */
  restarted: boolean;
  /** When it is tried again. */
  retryAt: number | undefined;
  /** Why the server will not have us. */
  error: { code: string; message: string } | undefined;
};

export const CONNECTING: Connection = {
  state: "connecting",
  since: 0,
  caughtUp: 0,
  restarted: false,
  retryAt: undefined,
  error: undefined,
};

/** The longest pause between two attempts: a person is looking at the page. */
const LONGEST_MS = 2_000;
const FIRST_MS = 250;

export type HubStream = {
  /** Watches these threads from now on, beginning behind these events. */
  watch(places: ReadonlyMap<string, number>): void;
  /** Tries again at once. */
  retry(): void;
  /** Cuts the connection for a while. */
  unplug(ms: number): void;
};

export type HubStreamOptions = {
  signal: AbortSignal;
  tell(news: HubNews[]): void;
  connection(connection: Connection): void;
};

/** Keeps one stream open until `signal` aborts, and tells what it brings. */
export function hubStream({ stream, clock }: Wire, { signal, tell, connection }: HubStreamOptions): HubStream {
  const places = new Map<string, number>();
  let now: Connection = { ...CONNECTING, since: clock.now() };
  let wasLive = false;
  let startedAt: string | undefined;
  let failures = 0;
  let cut = new AbortController();
  let waited = new AbortController();
  let pluggedAt = 0;

  const say = (change: Partial<Connection>) => {
    const since = change.state !== undefined && change.state !== now.state ? clock.now() : now.since;
    now = { ...now, since, ...change };
    connection(now);
  };
  const path = () => {
    const watch = Array.from(places, ([name, after]) => `${name}:${after}`).join(",");
    return `/events?heads=all&calls=true${watch === "" ? "" : `&watch=${encodeURIComponent(watch)}`}`;
  };

  const read = async () => {
    /** What the server's clock said when it opened the stream; whatever is older was missed. */
    let opened = Number.POSITIVE_INFINITY;
    const hello = (frame: Frame) => {
      const said = JSON.parse(frame.data) as { startedAt: string; now: string };
      opened = Date.parse(said.now);
      const restarted = startedAt !== undefined && startedAt !== said.startedAt;
      startedAt = said.startedAt;
      failures = 0;
      // A stream that was only opened anew to watch something else is no news.
      if (now.state !== "live") say({ state: "live", caughtUp: 0, restarted, retryAt: undefined, error: undefined });
      wasLive = true;
    };
    const again = wasLive && now.state !== "live";
    for await (const batch of stream(path(), AbortSignal.any([signal, cut.signal]))) {
      const news: HubNews[] = [];
      let missed = 0;
      for (const frame of batch) {
        if (frame.event === "hello") hello(frame);
        const told = toNews(frame);
        if (!told) continue;
        if (told.type === "event") {
          // Somebody who did not name the user gets the events under the name they know.
          if (!places.has(told.name) && places.has(told.threadId)) told.name = told.threadId;
          if (told.event.seq <= (places.get(told.name) ?? 0)) continue;
          if (places.has(told.name)) places.set(told.name, told.event.seq);
          if (again && told.event.at <= opened) missed += 1;
        }
        news.push(told);
      }
      if (news.length > 0) tell(news);
      if (missed > 0) say({ caughtUp: now.caughtUp + missed });
    }
  };

  const run = async () => {
    while (!signal.aborted) {
      cut = new AbortController();
      waited = new AbortController();
      let refusal: HandbackError | undefined;
      try {
        await read();
      } catch (error) {
        if (error instanceof HandbackError && !isTemporary(error)) refusal = error;
      }
      if (signal.aborted) return;
      if (cut.signal.aborted && pluggedAt <= clock.now()) continue; // only to watch something else
      const wait = Math.max(pluggedAt - clock.now(), Math.min(LONGEST_MS, FIRST_MS * 2 ** failures));
      failures += 1;
      const error = refusal && { code: refusal.code, message: refusal.message };
      say({ state: refusal ? "refused" : "lost", retryAt: clock.now() + wait, error });
      await pause(clock, wait, AbortSignal.any([signal, waited.signal]));
    }
  };
  connection(now);
  void run();

  return {
    watch(wanted) {
      const fresh = [...wanted.keys()].some((name) => !places.has(name));
      for (const name of places.keys()) if (!wanted.has(name)) places.delete(name);
      for (const [name, after] of wanted) if (!places.has(name)) places.set(name, after);
      if (fresh) cut.abort();
    },
    retry() {
      if (pluggedAt <= clock.now()) waited.abort();
    },
    unplug(ms) {
      pluggedAt = clock.now() + ms;
      cut.abort();
    },
  };
}

function toNews({ event: type, data }: Frame): HubNews | undefined {
  switch (type) {
    case "event": {
      const { event, ...thread } = JSON.parse(data) as { threadId: string; user?: string; event: StoredEvent };
      return { type, name: nameOf(thread), threadId: thread.threadId, event };
    }
    case "head": {
      const head = JSON.parse(data) as Head;
      return { type, name: nameOf(head), head };
    }
    case "gone":
      return { type, name: nameOf(JSON.parse(data)) };
    case "calls":
      return { type, calls: (JSON.parse(data) as { calls: Call[] }).calls };
    case "call":
      return { type, call: JSON.parse(data) as Call };
    case "closed":
      return { type, id: (JSON.parse(data) as { id: string }).id };
    default:
      return undefined;
  }
}
