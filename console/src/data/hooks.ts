import {
  type Call,
  type CallDetail,
  type Grant,
  type Head,
  type HubConnection,
  type Meta,
  nameOf,
  type ThreadQuery,
  type ThreadSnapshot,
  type ThreadView,
} from "handback/client";
import { createContext, createElement, type ReactNode, useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { ActionState } from "./action-states.ts";
import type { Actions } from "./actions.ts";
import type { Data } from "./data.ts";
import type { Outgoing } from "./outbox.ts";
import type { Playing } from "./replays.ts";
import { type ThreadList, threadList } from "./thread-list.ts";

export type { Answered, Done } from "./actions.ts";
export { curlFor } from "./curl.ts";
export { isFile } from "./files.ts";
export { random as newThreadId } from "./outbox.ts";
export type { Outgoing };

const Context = createContext<Data | undefined>(undefined);

/** Gives the pages below it their data. */
export function DataProvider({ data, children }: { data: Data; children: ReactNode }) {
  return createElement(Context.Provider, { value: data }, children);
}

function useData(): Data {
  const data = useContext(Context);
  if (!data) throw new Error("There is no DataProvider above this");
  return data;
}

export type UsedThread = Omit<ThreadSnapshot, "view"> & {
  /** What is shown: live, or the moment a replay stands at. */
  view: ThreadView;
  live: ThreadView;
  replaying: boolean;
  /** Messages of this thread that are not yet in the log. */
  outgoing: readonly Outgoing[];
};

/** A thread, live; or as a replay shows it. */
export function useThread(threadId: string): UsedThread {
  const { replays, outbox } = useData();
  const shown = replays.of(threadId);
  const view = useSyncExternalStore(shown.subscribe, shown.getSnapshot);
  const snapshot = useSyncExternalStore(shown.live.subscribe, shown.live.getSnapshot);
  const all = useSyncExternalStore(outbox.subscribe, outbox.getSnapshot);
  const { messages } = snapshot.view;
  const outgoing = useMemo(() => all.filter((one) => one.threadId === threadId && !messages.has(one.id)), [all, threadId, messages]);
  useEffect(
    () => outbox.arrived(all.filter((one) => one.threadId === threadId && messages.has(one.id)).map(({ id }) => id)),
    [outbox, all, threadId, messages],
  );
  return { ...snapshot, view, live: snapshot.view, replaying: shown.playing.getSnapshot().seq !== undefined, outgoing };
}

/** A part of what is shown of a thread. Draws again only when that part is another object. */
export function useThreadPart<T>(threadId: string, select: (view: ThreadView) => T): T {
  const shown = useData().replays.of(threadId);
  return useSyncExternalStore(shown.subscribe, () => select(shown.getSnapshot()));
}

export type UsedReplay = Playing & {
  view: ThreadView;
  live: boolean;
  /** The last event there is. */
  last: number;
  seek(seq: number | "live"): void;
  play(speed?: number): void;
  pause(): void;
};

/** Goes back and forth in a thread. All its panels follow. */
export function useReplay(threadId: string): UsedReplay {
  const shown = useData().replays.of(threadId);
  const view = useSyncExternalStore(shown.subscribe, shown.getSnapshot);
  const playing = useSyncExternalStore(shown.playing.subscribe, shown.playing.getSnapshot);
  const last = shown.live.getSnapshot().view.seq;
  return { ...playing, view, live: playing.seq === undefined, last, seek: shown.seek, play: shown.play, pause: shown.pause };
}

const NO_LIST: ThreadList = { threads: [], loading: true };

/** Threads, the latest first. Those that are being deleted are left out. */
export function useThreads({ search, status }: Pick<ThreadQuery, "search" | "status"> = {}): ThreadList {
  const { handback, hub, removals } = useData();
  const [list, setList] = useState<ReturnType<typeof threadList>>();
  useEffect(() => {
    const made = threadList(handback, hub, { ...(search ? { search } : {}), ...(status && { status }) });
    setList(made);
    return () => made.close();
  }, [handback, hub, search, status]);
  const found = useSyncExternalStore(list?.subscribe ?? nothing, list?.getSnapshot ?? noList);
  const removed = useSyncExternalStore(removals.subscribe, removals.getSnapshot);
  return useMemo(() => {
    if (removed.length === 0) return found;
    const gone = new Set(removed.map(({ threadId }) => threadId));
    return { ...found, threads: found.threads.filter((thread) => !gone.has(nameOf(thread))) };
  }, [found, removed]);
}

const nothing = () => () => {};
const noList = () => NO_LIST;

/** Who owes the answer: the browser, another system or a person. */
export type PendingCall = Call & { title?: string; role: "browser" | "external" | "human" };

/** Calls and questions of all threads that wait for somebody, what expires first on top. */
export function usePending({ owner, tool, threadId }: { owner?: string; tool?: string; threadId?: string } = {}): {
  calls: readonly PendingCall[];
  total: number;
  loading: boolean;
} {
  const { hub } = useData();
  const calls = useSyncExternalStore(hub.calls.subscribe, hub.calls.getSnapshot);
  const heads = useSyncExternalStore(hub.threads.subscribe, hub.threads.getSnapshot);
  return useMemo(() => {
    const all = (calls ?? []).map((call) => toPending(call, heads));
    const fits = all.filter(
      (call) => (!owner || call.role === owner) && (!tool || toolOf(call) === tool) && (!threadId || nameOf(call) === threadId),
    );
    return { calls: fits.sort(byExpiry), total: all.length, loading: calls === undefined };
  }, [calls, heads, owner, tool, threadId]);
}

function toPending(call: Call, heads: ReadonlyMap<string, Head>): PendingCall {
  const title = heads.get(nameOf(call))?.title;
  const role = call.kind === "interrupt" ? "human" : call.owner === "client" ? "browser" : "external";
  return { ...call, role, ...(title !== undefined && { title }) };
}

/** The tool a call or an approval is about; the reason of any other question. */
export function toolOf({ kind, callId, input, name }: Call): string {
  const asked = kind === "interrupt" && callId !== undefined ? (input as { tool?: unknown } | null)?.tool : undefined;
  return typeof asked === "string" ? asked : name;
}

function byExpiry(a: Call, b: Call): number {
  const [one, two] = [a.expiresAt ?? "9", b.expiresAt ?? "9"];
  if (one !== two) return one < two ? -1 : 1;
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0;
}

const SETTLED = { answered: "completed,failed,rejected,resolved", expired: "expired,cancelled" };

/** Calls that are over, the latest first. */
export function useSettled({ status }: { status: "answered" | "expired" }): {
  calls: readonly Call[];
  loading: boolean;
  more?: () => void;
} {
  const { handback, hub } = useData();
  const open = useSyncExternalStore(hub.calls.subscribe, hub.calls.getSnapshot);
  const [page, setPage] = useState<{ calls: readonly Call[]; next?: string }>();
  const [pages, setPages] = useState(1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is open no more is here now
  useEffect(() => {
    let left = false;
    const load = async () => {
      const calls: Call[] = [];
      let after: string | undefined;
      for (let i = 0; i < pages && (i === 0 || after !== undefined); i += 1) {
        const got = await handback.calls.list({
          status: SETTLED[status],
          order: "newest",
          limit: 50,
          ...(after !== undefined && { after }),
        });
        calls.push(...got.calls);
        after = got.next;
      }
      if (!left) setPage({ calls, ...(after !== undefined && { next: after }) });
    };
    load().catch(() => {});
    return () => {
      left = true;
    };
  }, [handback, status, open, pages]);
  return {
    calls: page?.calls ?? [],
    loading: page === undefined,
    ...(page?.next !== undefined && { more: () => setPages((n) => n + 1) }),
  };
}

/** One call with what a person needs to decide: its tool, its thread and what was said before. */
export function useCall(id: string | undefined): { call?: CallDetail; loading: boolean; missing: boolean } {
  const { handback, hub } = useData();
  const open = useSyncExternalStore(hub.calls.subscribe, hub.calls.getSnapshot)?.find((call) => call.id === id);
  const [found, setFound] = useState<{ id: string; call?: CallDetail }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another claim or a settlement is news of it
  useEffect(() => {
    if (id === undefined) return;
    let left = false;
    handback.calls.get(id).then(
      (call) => !left && setFound({ id, call }),
      () => !left && setFound({ id }),
    );
    return () => {
      left = true;
    };
  }, [handback, id, open]);
  const mine = found?.id === id ? found : undefined;
  return { ...(mine?.call && { call: mine.call }), loading: mine === undefined, missing: mine !== undefined && !mine.call };
}

export type UsedConnection = Omit<HubConnection, "state"> & {
  state: "live" | "connecting" | "lost";
  leader: boolean /** The last event of the thread something last happened in. */;
  seq: number;
};

/** How the browser is connected. Where the server refuses it, `error` says why. */
export function useConnection(): UsedConnection {
  const { hub } = useData();
  const now = useSyncExternalStore(hub.connection.subscribe, hub.connection.getSnapshot);
  const heads = useSyncExternalStore(hub.threads.subscribe, hub.threads.getSnapshot);
  const seq = useMemo(() => {
    let last: Head | undefined;
    for (const head of heads.values()) if (!last || head.updatedAt >= last.updatedAt) last = head;
    return last?.seq ?? 0;
  }, [heads]);
  return { ...now, state: now.state === "refused" ? "lost" : now.state, leader: now.leads, seq };
}

/** What this server is and offers. */
export function useMeta(): Meta | undefined {
  const { meta } = useData();
  return useSyncExternalStore(meta.subscribe, meta.getSnapshot);
}

/** Standing permissions. */
export function useGrants(): { grants: readonly Grant[]; loading: boolean; reload: () => void } {
  const { handback } = useData();
  const [grants, set] = useState<Grant[]>();
  const reload = useMemo(() => () => void handback.grants.list().then(set, () => {}), [handback]);
  useEffect(reload, [reload]);
  return { grants: grants ?? [], loading: grants === undefined, reload };
}

const IDLE: ActionState = { state: "idle" };

/** How something that was asked for goes. */
export function useActionState(key: string): ActionState {
  const { states } = useData();
  return useSyncExternalStore(states.subscribe, () => states.getSnapshot().get(key) ?? IDLE);
}

/** Everything a person can do. The same object as long as the page lives. */
export function useActions(): Actions {
  return useData().actions;
}
