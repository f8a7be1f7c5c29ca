import type { Event } from "../../src/core/event.ts";
import type { Store } from "../../src/store/store.ts";

/** Where in its persistence the process dies: at the append that holds an event of this type, or at a snapshot. */
export type KillPoint = { on: Event["type"] | "snapshot"; when: "before" | "during" | "after"; skip: number };

/** A store whose process kills itself at a point: before the write, while the writer is at it, or when it is on disk but nobody knows. */
export function killable(store: Store, point: KillPoint | undefined): Store {
  if (!point) return store;
  let left = point.skip;
  const watched = async <T>(hit: boolean, write: () => Promise<T>): Promise<T> => {
    if (!hit || left-- > 0) return write();
    if (point.when === "before") die();
    if (point.when === "during") dieSoon();
    const value = await write();
    if (point.when === "after") die();
    return value;
  };
  return {
    ...store,
    append: (key, expect, events, at, request) =>
      watched(
        events.some(({ type }) => type === point.on),
        () => store.append(key, expect, events, at, request),
      ),
    saveSnapshot: (key, snapshot) => watched(point.on === "snapshot", () => store.saveSnapshot(key, snapshot)),
  };
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

/** Somewhere in the next two milliseconds, finer than a timer would. */
function dieSoon(): void {
  const at = performance.now() + Math.random() * 2;
  const spin = () => (performance.now() < at ? void setImmediate(spin) : die());
  spin();
}
