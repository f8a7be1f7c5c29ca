import { type Handback, type HandbackError, type Head, type Hub, nameOf, type Store, type Thread, type ThreadQuery } from "handback/client";
import { toError } from "./actions.ts";
import { value } from "./value.ts";

export type ThreadList = { threads: readonly Thread[]; loading: boolean; more?: () => void; error?: HandbackError };

const PAGE = 50;
/** A search is asked again when something has happened, but not for every word that is said. */
const AGAIN_MS = 1_000;

/** Threads that fit a query, live: what the server found, and what has happened since. */
export function threadList(
  handback: Handback,
  hub: Hub,
  query: Pick<ThreadQuery, "search" | "status">,
): Store<ThreadList> & { close(): void } {
  const shown = value<ThreadList>({ threads: [], loading: true });
  const rows = new Map<string, Thread>();
  let next: string | undefined;
  let error: HandbackError | undefined;
  let loading = true;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heads: ReadonlyMap<string, Head> = new Map();

  const draw = () => {
    const threads = [...rows.values()]
      .filter(({ status }) => query.status === undefined || status === query.status)
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
    shown.set({ threads, loading, ...(next !== undefined && { more }), ...(error && { error }) });
  };
  const load = async (before?: string) => {
    loading = true;
    draw();
    try {
      const page = await handback.threads.list({ ...query, limit: PAGE, ...(before !== undefined && { before }) });
      if (closed) return;
      if (before === undefined) rows.clear();
      for (const row of page.threads) rows.set(nameOf(row), row);
      next = page.next;
      error = undefined;
    } catch (thrown) {
      error = toError(thrown);
    }
    loading = false;
    merge();
    draw();
  };
  const more = () => {
    if (!loading && next !== undefined) void load(next);
  };
  /** Puts what has happened since into the rows. Without a search every thread belongs to the list. */
  const merge = () => {
    let unknown = false;
    const now = hub.threads.getSnapshot();
    for (const [name, head] of now) {
      const row = rows.get(name);
      if (row) {
        if (row.seq <= head.seq) rows.set(name, { ...row, ...head });
      } else if (!query.search) rows.set(name, { metadata: {}, createdAt: head.updatedAt, ...head });
      else unknown ||= heads.get(name)?.updatedAt !== head.updatedAt;
    }
    for (const name of heads.keys()) if (!now.has(name)) rows.delete(name);
    heads = now;
    return unknown;
  };
  const unlisten = hub.threads.subscribe(() => {
    if (merge() && !loading) timer ??= setTimeout(again, AGAIN_MS);
    draw();
  });
  const again = () => {
    timer = undefined;
    if (!closed) void load();
  };
  heads = hub.threads.getSnapshot();
  void load();

  return {
    ...shown,
    close() {
      closed = true;
      clearTimeout(timer);
      unlisten();
    },
  };
}
