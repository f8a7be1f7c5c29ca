import type { Owner, StoredEvent } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";

/** What the indexes must learn from an event. Adapters write it in the same transaction as the event itself. */
export type Row =
  | { type: "run.began"; runId: string; turnId: string; agent: string; epoch: number }
  | { type: "run.over"; status: "idle" | "waiting"; outcome: string }
  | { type: "epoch"; epoch: number }
  | { type: "message"; id: string }
  /** Where the thread's external calls are announced from now on; null is nowhere. */
  | { type: "callback"; url: string | null }
  | { type: "named"; title?: string; metadata?: JsonObject /** Only where it has none yet. */; ifUnnamed?: boolean }
  /** A call id is taken for the whole app, whatever becomes of the call. */
  | { type: "taken"; id: string; name: string; owner: Owner }
  | { type: "opened"; id: string; wait: OpenWait }
  | { type: "claimed"; id: string; claim: number; by: string }
  | { type: "released"; id: string }
  | { type: "closed"; id: string; status: string };

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
      return rows;
    }
    case "run.recovered":
      return [{ type: "epoch", epoch: event.epoch }];
    case "run.ended": {
      const outcome = event.outcome.type;
      return [{ type: "run.over", status: outcome === "waiting" ? "waiting" : "idle", outcome }];
    }
    case "tool.started":
      return [{ type: "taken", id: event.callId, name: event.name, owner: event.owner }];
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
    case "thread.changed": {
      const { title, metadata } = event;
      return [{ type: "named", ...(title !== undefined && { title }), ...(metadata && { metadata }) }];
    }
    default:
      return [];
  }
}

const TITLE_LENGTH = 80;

function titleOf(content: string | { type: string; text?: string }[]): string {
  const text = typeof content === "string" ? content : (content.find((part) => part.type === "text")?.text ?? "");
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : line;
}
