import { type Handback, type Hub, isTemporary, type Store } from "handback/client";
import { value } from "./value.ts";

/** A deletion that can still be undone. */
export type Removal = { threadId: string; title?: string; until: number };

export type Removals = Store<readonly Removal[]> & {
  remove(threadId: string, title?: string): void;
  undo(threadId: string): void;
  close(): void;
};

type Saved = Pick<Storage, "getItem" | "setItem">;

const UNDO_MS = 5_000;

/**
 * Deletes threads a while after somebody asks, so that it can be undone until then. The list is kept in the browser: it outlives a
 * reload and is the same in all tabs. A tab that is closed in between leaves the deleting to the next visit.
 */
export function openRemovals(
  handback: Handback,
  hub: Hub,
  { storage, name, undoMs = UNDO_MS }: { storage: Saved | undefined; name: string; undoMs?: number },
): Removals {
  const list = value<readonly Removal[]>(read(storage, name));
  const timers = new Map<string, ReturnType<typeof setTimeout>>();

  const write = (next: readonly Removal[]) => {
    try {
      storage?.setItem(name, JSON.stringify(next));
    } catch {
      // Then it is undone by a reload.
    }
    list.set(next);
    plan();
  };
  const forget = (threadId: string) => write(list.getSnapshot().filter((removal) => removal.threadId !== threadId));
  const carryOut = async ({ threadId }: Removal) => {
    timers.delete(threadId);
    // Undone in another tab a moment ago?
    if (!read(storage, name).some((removal) => removal.threadId === threadId) && storage) return list.set(read(storage, name));
    try {
      await handback.threads.remove(threadId);
    } catch (error) {
      if (isTemporary(error)) return; // tried again when the connection is back
    }
    forget(threadId);
  };
  const plan = () => {
    const wanted = new Set(list.getSnapshot().map(({ threadId }) => threadId));
    for (const [threadId, timer] of timers) {
      if (wanted.has(threadId)) continue;
      clearTimeout(timer);
      timers.delete(threadId);
    }
    for (const removal of list.getSnapshot()) {
      if (timers.has(removal.threadId)) continue;
      timers.set(
        removal.threadId,
        setTimeout(() => void carryOut(removal), Math.max(0, removal.until - Date.now())),
      );
    }
  };
  const elsewhere = (event: StorageEvent) => {
    if (event.key !== name) return;
    list.set(read(storage, name));
    plan();
  };
  globalThis.addEventListener?.("storage", elsewhere);
  const unlisten = hub.connection.subscribe(() => {
    if (hub.connection.getSnapshot().state === "live") plan();
  });
  plan();

  return {
    ...list,
    remove(threadId, title) {
      const others = list.getSnapshot().filter((removal) => removal.threadId !== threadId);
      write([...others, { threadId, until: Date.now() + undoMs, ...(title !== undefined && { title }) }]);
    },
    undo: forget,
    close() {
      for (const timer of timers.values()) clearTimeout(timer);
      globalThis.removeEventListener?.("storage", elsewhere);
      unlisten();
    },
  };
}

function read(storage: Saved | undefined, name: string): readonly Removal[] {
  try {
    return JSON.parse(storage?.getItem(name) ?? "[]") as Removal[];
  } catch {
    return [];
  }
}
