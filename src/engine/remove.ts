import { keyName, type ThreadKey } from "../core/ids.ts";
import type { Engine } from "./engine.ts";
import { forget, queued, using } from "./live.ts";

/** Deletes a thread: its run stops, its followers end, and a tombstone keeps its offsets from being used again. */
export async function removeThread(engine: Engine, key: ThreadKey): Promise<boolean> {
  return using(engine, key, async (live) => {
    live.driver?.stop("removed");
    return queued(live, async () => {
      const removed = await engine.store.remove(key);
      live.gone = true;
      forget(engine, keyName(key), live);
      for (const follower of live.followers) follower(undefined);
      engine.bus.publish(key);
      return removed;
    });
  });
}
