import { type Page, thisPage } from "./hub-page.ts";
import { ownStore, type Store } from "./hub-store.ts";
import { CONNECTING, type Connection, type HubNews } from "./hub-stream.ts";
import { tabs } from "./hub-tabs.ts";
import { type HubThread, hubThread, type ThreadSnapshot, UNREAD } from "./hub-thread.ts";
import type { Wire } from "./request.ts";
import { nameOf } from "./thread-path.ts";
import type { Call, Head, ThreadRef } from "./wire.ts";

/** Everything a page shows, live, over one connection for all tabs of a browser. Each store fits `useSyncExternalStore`. */
export type Hub = {
  /** A thread and whatever happens in it, as long as somebody subscribes. */
  thread(thread: ThreadRef): Store<ThreadSnapshot>;
  /** Heads of the latest threads by name, and of every thread in which something has happened since. */
  threads: Store<ReadonlyMap<string, Head>>;
  /** Open calls and questions of all threads; `undefined` until they are known. */
  calls: Store<readonly Call[] | undefined>;
  connection: Store<HubConnection>;
  /** Connects at once instead of in a while. */
  retry(): void;
  /** Cuts the connection for a while, to see that nothing is lost. */
  unplug(ms: number): void;
  close(): void;
};

/** `leads`: this tab has the connection; others have their news from it. */
export type HubConnection = Connection & { leads: boolean };

export type HubOptions = {
  /** Tabs that may share what they hear: those of one server and one person. Default: all of this origin. */
  name?: string;
  /** Locks, channels and visibility, for tests. Default: this page's. */
  page?: Page;
};

/** Opens the hub of a page. */
export function openHub(wire: Wire, { name = "handback", page = thisPage() }: HubOptions = {}): Hub {
  const threads = new Map<string, HubThread>();
  const heads = ownStore<ReadonlyMap<string, Head>>(new Map());
  const calls = ownStore<readonly Call[] | undefined>(undefined);
  const connection = ownStore<HubConnection>({ ...CONNECTING, since: wire.clock.now(), leads: false });

  const tell = (news: readonly HubNews[]) => {
    const events = new Map<string, Extract<HubNews, { type: "event" }>["event"][]>();
    let headsNow: Map<string, Head> | undefined;
    let callsNow: Map<string, Call> | undefined;
    const changedHeads = () => {
      headsNow ??= new Map(heads.getSnapshot());
      return headsNow;
    };
    const changedCalls = () => {
      callsNow ??= new Map(calls.getSnapshot()?.map((call) => [call.id, call]));
      return callsNow;
    };
    for (const one of news) {
      switch (one.type) {
        case "event": {
          if (!threads.has(one.name)) break;
          const list = events.get(one.name) ?? [];
          list.push(one.event);
          events.set(one.name, list);
          break;
        }
        case "head":
          changedHeads().set(one.name, one.head);
          break;
        case "gone":
          changedHeads().delete(one.name);
          threads.get(one.name)?.gone();
          break;
        case "calls":
          callsNow = new Map(one.calls.map((call) => [call.id, call]));
          break;
        case "call":
          changedCalls().set(one.call.id, one.call);
          break;
        case "closed":
          changedCalls().delete(one.id);
          break;
        default:
          one satisfies never;
      }
    }
    for (const [thread, list] of events) threads.get(thread)?.take(list);
    if (headsNow) heads.set(headsNow);
    if (callsNow) calls.set([...callsNow.values()]);
  };

  const shared = tabs({
    wire,
    page,
    name,
    watched: () => [...threads].filter(([, thread]) => thread.ready).map(([thread, { after }]) => [thread, after]),
    state: () => [
      ...Array.from(heads.getSnapshot(), ([thread, head]): HubNews => ({ type: "head", name: thread, head })),
      ...(calls.getSnapshot() ? [{ type: "calls" as const, calls: [...(calls.getSnapshot() ?? [])] }] : []),
    ],
    tell,
    behind: (thread, seq) => threads.get(thread)?.behind(seq),
    connection(next, leads) {
      const was = connection.getSnapshot().state;
      connection.set({ ...next, leads });
      if (next.state === "live" && was !== "live") for (const thread of threads.values()) thread.again();
    },
  });

  return {
    thread(ref) {
      const key = typeof ref === "string" ? ref : nameOf(ref);
      // Made when somebody listens, so that asking alone costs nothing and a dropped one comes back.
      const open = () => {
        let thread = threads.get(key);
        if (!thread) {
          const dropped = () => {
            threads.get(key)?.close();
            threads.delete(key);
            shared.watch();
          };
          thread = hubThread(wire, ref, { watched: shared.watch, dropped });
          threads.set(key, thread);
        }
        return thread;
      };
      return { getSnapshot: () => threads.get(key)?.getSnapshot() ?? UNREAD, subscribe: (listener) => open().subscribe(listener) };
    },
    threads: heads,
    calls,
    connection,
    retry: shared.retry,
    unplug: shared.unplug,
    close() {
      shared.close();
      for (const thread of threads.values()) thread.close();
      threads.clear();
    },
  };
}
