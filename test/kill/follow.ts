import type { StoredEvent } from "../../src/core/event.ts";
import type { View } from "./history.ts";
import { frames } from "./sse.ts";
import { isCutOff, pause, type World } from "./world.ts";

/** Follows a thread's log over the native door into `view`; comes back with its last seq whenever it is cut off. */
export async function follow(world: World, view: View, told: (event: StoredEvent) => void, signal: AbortSignal): Promise<void> {
  world.history.views.push(view);
  while (!signal.aborted) {
    const after = view.seqs.at(-1) ?? view.after;
    try {
      const response = await fetch(`${await world.url()}/v1/threads/${view.threadId}/events?after=${after}`, { signal });
      if (response.status === 404)
        await pause(20); // not written yet
      else if (response.status === 503) await pause(2);
      else if (!response.ok) throw new Error(`Following ${view.threadId} got ${response.status}: ${await response.text()}`);
      else
        for await (const { id, data } of frames(response)) {
          const event = JSON.parse(data) as StoredEvent;
          view.seqs.push(id ?? Number.NaN);
          view.raw.push(data);
          view.events.push(event);
          world.saw(event.type);
          told(event);
        }
    } catch (error) {
      if (!isCutOff(error)) throw error;
    }
    await pause(2);
  }
}
