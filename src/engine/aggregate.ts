import type { Event } from "../core/event.ts";
import type { Aggregator } from "./engine.ts";

/** Joins deltas of the same text or call that follow each other. */
export function joinDeltas(): Aggregator {
  let held: Delta | undefined;
  const release = (): Event[] => {
    const out = held ? [held] : [];
    held = undefined;
    return out;
  };
  return {
    append(event) {
      if (!isTextDelta(event)) return [...release(), event];
      if (held && nameOf(held) === nameOf(event) && held.type === event.type) {
        held.delta += event.delta;
        return [];
      }
      const out = release();
      held = { ...event };
      return out;
    },
    flush: release,
  };
}

type Delta = Extract<Event, { delta: string }>;

function isTextDelta(event: Event): event is Delta {
  return event.type === "text.delta" || event.type === "reasoning.delta" || event.type === "tool.delta";
}

function nameOf(event: Delta): string {
  return event.type === "tool.delta" ? event.callId : event.messageId;
}
