import type { StoredEvent } from "../../src/core/event.ts";
import type { Json } from "../../src/core/json.ts";
import type { Frame } from "./sse.ts";

/** What clients did and what they saw. The checker believes this and the logs, and asks no server whether it is fine. */
export type History = { acts: Act[]; views: View[]; streams: Stream[] };

/** What a client wants the server to know. */
export type Wish = { threadId: string; door: "agui" | "native" } & (
  | { type: "message"; id: string; text: string }
  | { type: "result"; id: string; output: string }
  | { type: "answer"; id: string; approved: boolean; input?: Json }
  | { type: "cancel" }
);

/** A wish and the definite answer to it. */
export type Act = Wish & { status: number };

/** A follower of the log: what it saw behind `after`, over all its reconnects. */
export type View = { threadId: string; after: number; seqs: number[]; raw: string[]; events: StoredEvent[] };

/** One AG-UI answer, as far as it came. */
export type Stream = { threadId: string; frames: Frame[] };

export function emptyHistory(): History {
  return { acts: [], views: [], streams: [] };
}

export function emptyView(threadId: string, after = 0): View {
  return { threadId, after, seqs: [], raw: [], events: [] };
}
