import type { Owner, StoredEvent, UserMessage } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";
import { titleOf } from "./title.ts";

/** What the indexes must learn from an event. Adapters write it in the same transaction as the event itself. */
export type Row =
  | { type: "run.began"; runId: string; turnId: string; agent: string; epoch: number }
  | { type: "run.over"; status: "idle" | "waiting"; outcome: string }
  | { type: "epoch"; epoch: number }
  | { type: "message"; id: string }
  /** What a search finds the thread by: what was said in it, and the tools that were called. */
  | { type: "said"; text: string }
  /** Where the thread's external calls are announced from now on; null is nowhere. */
  | { type: "callback"; url: string | null }
  | { type: "named"; title?: string; metadata?: JsonObject /** Only where it has none yet. */; ifUnnamed?: boolean }
  /** A call id is taken for the whole app, whatever becomes of the call. */
  | { type: "taken"; id: string; name: string; owner: Owner }
  | { type: "opened"; id: string; wait: OpenWait }
  | { type: "claimed"; id: string; claim: number; by: string }
  | { type: "released"; id: string }
  | { type: "closed"; id: string; status: string }
  /** A barrier of the outermost graph. */
  | { type: "checkpoint"; id: string };

/** A call or question that somebody outside can settle now. */
export type OpenWait =
  | { kind: "call"; name: string; owner: Owner; input: Json; ordinal: number; expiresAt?: number }
  | { kind: "interrupt"; name: string; callId?: string; input: Json; schema?: JsonObject; expiresAt?: number };

/** The index rows of one event. Pure, so that every store keeps the same indexes. */
export function rows(event: StoredEvent): Row[] {
  switch (event.type) {
    case "run.started": {
      const { runId, turnId, agent, epoch, messages, options } = event;
      const rows: Row[] = [{ type: "run.began", runId, turnId, agent, epoch }];
      if (options) rows.push({ type: "callback", url: options.toolExecution?.outsideConfig?.callbackUrl ?? null });
      for (const { id } of messages) rows.push({ type: "message", id });
      const title = messages[0] && titleOf(messages[0].content);
      if (title) rows.push({ type: "named", title, ifUnnamed: true });
      const text = messages.map(({ content }) => textOf(content)).join("\n");
      if (text.trim() !== "") rows.push({ type: "said", text });
      return rows;
    }
    case "run.recovered":
      return [{ type: "epoch", epoch: event.epoch }];
    case "run.ended": {
      const outcome = event.outcome.type;
      return [{ type: "run.over", status: outcome === "waiting" ? "waiting" : "idle", outcome }];
    }
    case "text.ended":
      return event.text.trim() === "" ? [] : [{ type: "said", text: event.text }];
    case "tool.started":
      return [
        { type: "taken", id: event.callId, name: event.name, owner: event.owner },
        { type: "said", text: event.name },
      ];
    case "call.offered": {
      const { callId, name, owner, input, ordinal, expiresAt } = event;
      return [
        { type: "opened", id: callId, wait: { kind: "call", name, owner, input, ordinal, ...(expiresAt !== undefined && { expiresAt }) } },
      ];
    }
    case "interrupt.raised": {
      const { interruptId, reason, callId, prompt, schema, expiresAt } = event;
      const more = { ...(callId !== undefined && { callId }), ...(schema && { schema }), ...(expiresAt !== undefined && { expiresAt }) };
      return [{ type: "opened", id: interruptId, wait: { kind: "interrupt", name: reason, input: prompt, ...more } }];
    }
    case "call.claimed":
      return [{ type: "claimed", id: event.callId, claim: event.claim, by: event.by }];
    case "call.released":
      return [{ type: "released", id: event.callId }];
    case "tool.returned":
      return [{ type: "closed", id: event.callId, status: event.status }];
    case "interrupt.answered":
      return [{ type: "closed", id: event.interruptId, status: event.status }];
    case "checkpoint.reached":
      return event.parentTaskId === undefined ? [{ type: "checkpoint", id: event.checkpointId }] : [];
    case "thread.changed": {
      const { title, metadata } = event;
      return [{ type: "named", ...(title !== undefined && { title }), ...(metadata && { metadata }) }];
    }
    default:
      return [];
  }
}

function textOf(content: UserMessage["content"]): string {
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
