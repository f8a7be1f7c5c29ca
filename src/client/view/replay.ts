import type { StoredEvent } from "../../core/event.ts";
import { foldAll, foldView } from "./fold.ts";
import { List } from "./list.ts";
import { EMPTY_VIEW, type ThreadView } from "./view.ts";

/** The view as it was when this event was the last. */
export function viewAt(events: Iterable<StoredEvent>, seq: number): ThreadView {
  let view = EMPTY_VIEW;
  for (const event of events) {
    if (event.seq > seq) break;
    view = foldView(view, event);
  }
  return view;
}

/** A log to go back and forth in. */
export type Replay = { at(seq: number): ThreadView };

const EVERY = 250;

/** Views share most of what they are made of, so one in so many is kept, and any other is near. */
export function replayOf(events: List<StoredEvent> | readonly StoredEvent[]): Replay {
  const log = Array.isArray(events) ? List.of(events as readonly StoredEvent[]) : (events as List<StoredEvent>);
  const kept: ThreadView[] = [EMPTY_VIEW];
  let last: { index: number; view: ThreadView } = { index: 0, view: EMPTY_VIEW };
  return {
    at(seq) {
      const wanted = countUpTo(log, seq);
      const frame = Math.floor(wanted / EVERY);
      while (kept.length <= frame) {
        const from = (kept.length - 1) * EVERY;
        kept.push(foldAll(kept.at(-1) ?? EMPTY_VIEW, slice(log, from, from + EVERY)));
      }
      // Playing goes on from where it was; seeking from the nearest kept one.
      if (last.index > wanted || last.index < frame * EVERY) last = { index: frame * EVERY, view: kept[frame] ?? EMPTY_VIEW };
      last = { index: wanted, view: foldAll(last.view, slice(log, last.index, wanted)) };
      return last.view;
    },
  };
}

function* slice(log: List<StoredEvent>, from: number, to: number): Generator<StoredEvent> {
  for (let i = from; i < Math.min(to, log.length); i += 1) yield log.at(i) as StoredEvent;
}

/** How many events are at or before a seq. */
function countUpTo(log: List<StoredEvent>, seq: number): number {
  let [low, high] = [0, log.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((log.at(middle)?.seq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
