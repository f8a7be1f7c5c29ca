import type { StoredEvent } from "../../core/event.ts";

/** Who reads: users get a projection of the log, operators the log itself. */
export type Reader = "user" | "operator";

/** An event as this reader may see it. What the model was configured with and what its provider keeps to itself are not for users. */
export function project(event: StoredEvent, reader: Reader): StoredEvent {
  if (reader === "operator") return event;
  switch (event.type) {
    case "run.started": {
      const { options, ...shown } = event;
      return shown;
    }
    case "text.ended":
    case "reasoning.ended":
    case "tool.called": {
      const { provider, ...shown } = event;
      return shown;
    }
    case "memory.patched":
      return { ...event, ops: [] };
    case "thread.rewound": {
      const { memory, ...shown } = event;
      return shown;
    }
    default:
      return event;
  }
}
