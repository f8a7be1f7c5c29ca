import type { StoredEvent } from "../core/event.ts";
import { HandbackError } from "./handback-error.ts";
import { ownStore, type Store } from "./hub-store.ts";
import type { Wire } from "./request.ts";
import { threadPath } from "./thread-path.ts";
import { foldAll, forgotten } from "./view/fold.ts";
import { EMPTY_VIEW, type ThreadView } from "./view/view.ts";
import type { ThreadRef } from "./wire.ts";

/** A thread as a page shows it. */
export type ThreadSnapshot = {
  view: ThreadView;
  /** Its past is still being read. */
  loading: boolean;
  /** There is no such thread (yet, or any more). */
  missing: boolean;
  /** Why it could not be read. Tried again when the connection is back. */
  error: HandbackError | undefined;
};

/** A thread nobody has read yet. */
export const UNREAD: ThreadSnapshot = { view: EMPTY_VIEW, loading: true, missing: false, error: undefined };

const PAGE = 2_000;
/** Changes are shown together that come this close to each other. */
const FRAME_MS = 16;
/** A page that is left and opened again soon is there at once. */
const KEEP_MS = 10_000;

/** One thread of this tab: reads its past, takes its news in order, and asks for what it missed. */
export type HubThread = Store<ThreadSnapshot> & {
  /** The last event it has. */
  readonly after: number;
  /** Whether it has read its past, so that news may follow. */
  readonly ready: boolean;
  take(events: readonly StoredEvent[]): void;
  gone(): void;
  /** Somebody says there are events up to here. */
  behind(seq: number): void;
  /** The connection is back: what could not be read is read now. */
  again(): void;
  close(): void;
};

/** `watched` is told when it has read its past, `dropped` when nobody has looked for a while. */
export function hubThread(wire: Wire, ref: ThreadRef, tell: { watched(): void; dropped(): void }): HubThread {
  const { clock, send } = wire;
  let now = UNREAD;
  let ready = false;
  let reading: Promise<void> | undefined;
  let known = 0;
  let waiting: StoredEvent[] = [];
  let drawing: (() => void) | undefined;
  let dropping: (() => void) | undefined;
  const over = new AbortController();

  const store = ownStore(now, {
    first() {
      dropping?.();
      dropping = undefined;
      if (!ready) void read();
    },
    last() {
      dropping = clock.after(KEEP_MS, tell.dropped);
    },
  });
  const draw = () => {
    drawing?.();
    drawing = undefined;
    store.set(now);
  };
  const change = (part: Partial<ThreadSnapshot>) => {
    now = { ...now, ...part };
    drawing ??= clock.after(FRAME_MS, draw);
  };

  /** Reads the log behind what is there, to its end. */
  const read = () => {
    reading ??= pages().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const pages = async () => {
    let looked = 0;
    try {
      for (;;) {
        const query = { after: now.view.seq, limit: PAGE };
        const page = await send<{ events: StoredEvent[]; next?: number }>("GET", threadPath(ref, "/log", query), { signal: over.signal });
        change({ view: foldAll(now.view, page.events), missing: false, error: undefined });
        if (page.next !== undefined) continue;
        // What came meanwhile goes on from here, or the log has grown by what never came. Where even that leaves a hole, there is nothing in it.
        const first = waiting.find(({ seq }) => seq > now.view.seq)?.seq ?? 0;
        if (first <= now.view.seq + 1 || looked === first) break;
        looked = first;
      }
    } catch (error) {
      if (over.signal.aborted || !(error instanceof HandbackError)) return;
      if (error.code !== "not_found") {
        change({ error, loading: false });
        return draw();
      }
      change({ missing: now.view.events.length === 0 });
    }
    // What came meanwhile is behind what was read, or was read.
    change({ view: foldAll(now.view, waiting), loading: false });
    if (waiting.length > 0) change({ missing: false });
    waiting = [];
    draw();
    if (!ready) {
      ready = true;
      tell.watched();
    }
  };

  return {
    ...store,
    get after() {
      return now.view.seq;
    },
    get ready() {
      return ready;
    },
    take(events) {
      if (reading || !ready) {
        waiting.push(...events);
        return;
      }
      const fresh = events.filter(({ seq }) => seq > now.view.seq);
      const first = fresh[0];
      if (!first) return;
      if (first.seq === now.view.seq + 1 && fresh.every(({ seq }, i) => seq === first.seq + i)) {
        return change({ view: foldAll(now.view, fresh), missing: false });
      }
      waiting.push(...fresh);
      void read();
    },
    gone() {
      waiting = [];
      change({ view: forgotten(now.view), missing: true });
    },
    behind(seq) {
      known = Math.max(known, seq);
      if (ready && known > now.view.seq) void read();
    },
    again() {
      if (now.error) void read();
    },
    close() {
      over.abort();
      drawing?.();
      dropping?.();
    },
  };
}
