import type { Clock } from "../core/clock.ts";
import type { Page } from "./hub-page.ts";
import { type Connection, type HubNews, type HubStream, type HubStreamOptions, hubStream } from "./hub-stream.ts";
import type { Wire } from "./request.ts";
import { mint } from "./time.ts";

/** What tabs of one browser say to each other. */
type Said =
  /** A tab that has just come wants to know how things stand. */
  | { type: "hello"; tab: string }
  /** How they stand, for that tab. */
  | { type: "state"; to: string; news: HubNews[]; connection: Connection }
  /** All threads a tab watches, and the last event it has of each. */
  | { type: "watch"; tab: string; threads: [name: string, after: number][] }
  | { type: "bye"; tab: string }
  /** The tab that has the stream asks who else is there. */
  | { type: "ask" }
  | { type: "news"; news: HubNews[] }
  /** There are events up to here; that tab has fewer. */
  | { type: "behind"; to: string; name: string; seq: number }
  | { type: "connection"; connection: Connection }
  | { type: "retry" }
  | { type: "unplug"; ms: number };

export type TabsOptions = {
  wire: Wire;
  page: Page;
  /** Tabs of the same name share a stream. */
  name: string;
  /** What this tab watches now. */
  watched(): [name: string, after: number][];
  /** How things stand, for a tab that has just come. */
  state(): HubNews[];
  tell(news: readonly HubNews[]): void;
  behind(name: string, seq: number): void;
  connection(connection: Connection, leads: boolean): void;
};

export type Tabs = { watch(): void; retry(): void; unplug(ms: number): void; close(): void };

/** How often the leader asks who is there. A tab that has not answered twice is gone. */
const ASK_MS = 30_000;
/** Tabs that come together are served together. */
const SOON_MS = 20;

/**
 * One stream for all tabs: whoever holds the lock reads it and passes everything on. A tab that closes or dies loses the lock, and the
 * next one goes on from what the tabs have. Without locks each tab that can be seen has a stream of its own.
 */
export function tabs(options: TabsOptions): Tabs {
  const { wire, page, name, watched, state, tell, behind } = options;
  const { clock } = wire;
  const tab = mint("tab");
  const over = new AbortController();
  const channel = page.locks && page.channel?.(name);
  let lead: Leader | undefined;
  let connection: Connection | undefined;
  let poke: (() => void) | undefined;

  const say = (said: Said) => channel?.postMessage(said);
  const heard = (next: Connection) => {
    connection = next;
    options.connection(next, lead !== undefined);
    // Timers of a hidden tab hardly run: whoever can be seen sees to it that the leader tries again in time.
    poke?.();
    poke = undefined;
    if (!lead && next.retryAt !== undefined && page.visible()) {
      poke = clock.after(Math.max(0, next.retryAt - clock.now()), () => say({ type: "retry" }));
    }
  };
  const begin = (signal: AbortSignal) => {
    lead = leader(wire, page, {
      signal,
      tell(news) {
        say({ type: "news", news });
        tell(news);
      },
      connection(next) {
        say({ type: "connection", connection: next });
        heard(next);
      },
      behind(to, thread, seq) {
        if (to === tab) behind(thread, seq);
        else say({ type: "behind", to, name: thread, seq });
      },
      ask: () => say({ type: "ask" }),
    });
    lead.watch(tab, watched());
  };

  if (channel) {
    channel.onmessage = ({ data }) => {
      const said = data as Said;
      switch (said.type) {
        case "hello":
          if (lead && connection) say({ type: "state", to: said.tab, news: state(), connection });
          return;
        case "state":
          if (said.to !== tab || lead) return;
          tell(said.news);
          return heard(said.connection);
        case "watch":
          return lead?.watch(said.tab, said.threads);
        case "bye":
          return lead?.leave(said.tab);
        case "ask":
          return say({ type: "watch", tab, threads: watched() });
        case "news":
          return lead ? undefined : tell(said.news);
        case "behind":
          return said.to === tab ? behind(said.name, said.seq) : undefined;
        case "connection":
          return lead ? undefined : heard(said.connection);
        case "retry":
          return lead?.stream.retry();
        case "unplug":
          return lead?.stream.unplug(said.ms);
        default:
          said satisfies never; // from a tab with a newer page
      }
    };
    say({ type: "hello", tab });
  }
  const stop = channel ? locked() : whileVisible();
  const unleave = page.onLeave(() => say({ type: "bye", tab }));

  return {
    watch() {
      if (lead) lead.watch(tab, watched());
      else say({ type: "watch", tab, threads: watched() });
    },
    retry() {
      if (lead) lead.stream.retry();
      else say({ type: "retry" });
    },
    unplug(ms) {
      if (lead) lead.stream.unplug(ms);
      else say({ type: "unplug", ms });
    },
    close() {
      say({ type: "bye", tab });
      over.abort();
      stop();
      unleave();
      poke?.();
      channel?.close();
    },
  };

  function locked(): () => void {
    const work = async () => {
      if (over.signal.aborted) return;
      begin(over.signal);
      await new Promise<void>((resolve) => over.signal.addEventListener("abort", () => resolve(), { once: true }));
    };
    page.locks?.request(name, { signal: over.signal }, work).catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    });
    return () => {};
  }

  function whileVisible(): () => void {
    let hidden: AbortController | undefined;
    const look = () => {
      if (page.visible() && !hidden) {
        hidden = new AbortController();
        begin(AbortSignal.any([over.signal, hidden.signal]));
      } else if (!page.visible()) {
        hidden?.abort();
        hidden = undefined;
        lead = undefined;
      }
    };
    look();
    return page.onVisibility(look);
  }
}

type Leader = {
  stream: HubStream;
  /** All that a tab watches. */
  watch(tab: string, threads: readonly [name: string, after: number][]): void;
  leave(tab: string): void;
};

type LeaderOptions = HubStreamOptions & { behind(tab: string, name: string, seq: number): void; ask(): void };

/** Watches what any tab watches. */
function leader({ clock, ...wire }: Wire, page: Page, { signal, tell, connection, behind, ask }: LeaderOptions): Leader {
  const wanted = new Map<string, { threads: readonly [name: string, after: number][]; asked: number }>();
  /** The last event that was passed on, for each thread. */
  const passed = new Map<string, number>();
  let changing = false;
  const stream = hubStream(
    { clock, ...wire },
    {
      signal,
      tell(news) {
        for (const one of news) if (one.type === "event") passed.set(one.name, one.event.seq);
        tell(news);
      },
      connection,
    },
  );
  const change = () => {
    changing = false;
    const places = new Map<string, number>();
    for (const { threads } of wanted.values()) {
      for (const [name, after] of threads) places.set(name, Math.min(after, places.get(name) ?? after));
    }
    for (const name of passed.keys()) if (!places.has(name)) passed.delete(name);
    stream.watch(places);
  };
  const soon = () => {
    if (changing) return;
    changing = true;
    if (page.visible()) clock.after(SOON_MS, change);
    else queueMicrotask(change);
  };
  askAround(clock, signal, () => {
    for (const [tab, entry] of wanted) if (++entry.asked > 2) wanted.delete(tab);
    ask();
  });
  return {
    stream,
    watch(tab, threads) {
      wanted.set(tab, { threads, asked: 0 });
      for (const [name, after] of threads) {
        const seq = passed.get(name) ?? 0;
        if (after < seq) behind(tab, name, seq);
      }
      soon();
    },
    leave(tab) {
      if (wanted.delete(tab)) soon();
    },
  };
}

function askAround(clock: Clock, signal: AbortSignal, ask: () => void): void {
  let calledOff = () => {};
  const round = () => {
    ask();
    calledOff = clock.after(ASK_MS, round);
  };
  signal.addEventListener("abort", () => calledOff(), { once: true });
  round();
}
