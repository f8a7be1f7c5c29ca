import type { StoredEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { added, approvalRequest, type Chunk, closed, inputAvailable, metadata, outcome, question } from "./chunk.ts";
import { node } from "./node.ts";
import { KNOWS, type Peer } from "./peer.ts";

/** One log event for this kind of peer. Pure: a turn is one assistant message, and its id is the turn's. */
export function encode(threadId: string, event: StoredEvent, peer: Peer): Chunk[] {
  switch (event.type) {
    case "run.started":
      return [{ type: "start", messageId: event.turnId, messageMetadata: { runId: event.runId, status: "running" } }];
    case "run.ended":
      return ending(event, peer);
    case "run.recovered": // what the dead attempt said stays; pages may say why
      return [metadata({ recovered: true })];
    case "step.started":
      // A node's step-start would hide the calls behind it from `sendAutomaticallyWhen`.
      return event.kind === "model" ? [{ type: "start-step" }] : node(event);
    case "step.ended":
      // Inside a graph others may be speaking, and ai 5 takes the end of a step for the end of everything that is being said.
      return event.place ? node(event) : event.parentStepId === undefined ? [{ type: "finish-step" }] : [];
    case "text.started":
    case "reasoning.started":
      return [{ type: `${kindOf(event.type)}-start`, id: event.messageId }];
    case "text.delta":
    case "reasoning.delta":
      return [{ type: `${kindOf(event.type)}-delta`, id: event.messageId, delta: event.delta }];
    case "text.ended":
    case "reasoning.ended":
      return [{ type: `${kindOf(event.type)}-end`, id: event.messageId }];
    case "part.added":
      return [added(threadId, event.part, `${event.stepId}:${event.seq}`)];
    case "tool.started":
      return [{ type: "tool-input-start", toolCallId: event.callId, toolName: event.name }];
    case "tool.delta":
      return [{ type: "tool-input-delta", toolCallId: event.callId, inputTextDelta: event.delta }];
    case "tool.called":
      return called(event, peer);
    case "call.offered": // not before: a browser runs it as soon as it sees this, and its step may still die
      return [inputAvailable(event)];
    case "tool.progressed":
      if (!KNOWS[peer].approvals) return [];
      return [{ type: "tool-output-available", toolCallId: event.callId, output: event.output, preliminary: true, providerExecuted: true }];
    case "tool.returned":
      return [outcome(event, event, peer)];
    case "interrupt.raised": {
      const { callId } = event;
      return [callId === undefined ? question(event) : approvalRequest({ ...event, callId }, peer)];
    }
    case "interrupt.answered":
      return answered(event, peer);
    case "state.patched":
      return [{ type: "data-state", data: { ops: event.ops }, transient: true }];
    case "activity.changed": {
      const { messageId, activityType, ops } = event;
      return [{ type: "data-activity", data: { messageId, activityType, ops }, transient: true }];
    }
    case "custom.emitted": {
      const { name, value, id, transient } = event;
      return [{ type: `data-${name}`, data: value, ...(id !== undefined && { id }), ...(transient && { transient }) }];
    }
    case "cancel.requested":
    case "call.claimed":
    case "call.released":
    case "memory.patched":
    case "checkpoint.reached":
    case "thread.rewound": // the requester has shortened its own list
    case "thread.forked":
    case "thread.changed":
      return [];
    default:
      event satisfies never; // an event of a newer release
      return [];
  }
}

function kindOf(type: string): string {
  return type.slice(0, type.indexOf("."));
}

function called(event: Extract<StoredEvent, { type: "tool.called" }>, peer: Peer): Chunk[] {
  const { callId, name, owner, input, approval, invalid } = event;
  if (invalid !== undefined) {
    // Older clients learn it from the settlement alone.
    if (!KNOWS[peer].approvals) return [];
    return [{ type: "tool-input-error", toolCallId: callId, toolName: name, input, errorText: invalid, providerExecuted: true }];
  }
  // A call that a person decides on must look like one the client waits for, where the client knows approvals at all.
  if (approval) return KNOWS[peer].approvals ? [] : [inputAvailable({ callId, name, owner, input })];
  return owner === "server" ? [inputAvailable({ callId, name, owner, input })] : [];
}

function answered(event: Extract<StoredEvent, { type: "interrupt.answered" }>, peer: Peer): Chunk[] {
  const { interruptId, callId, status, value, input, reason } = event;
  if (callId === undefined) return [closed(event)];
  const edited = input === undefined ? [] : [metadata({ edited: { [callId]: input } })];
  const approved = status === "resolved" && (value === true || (value as JsonObject)["approved"] === true);
  if (KNOWS[peer].responses)
    return [{ type: "tool-approval-response", approvalId: interruptId, approved, ...(reason !== undefined && { reason }) }, ...edited];
  if (KNOWS[peer].approvals) return edited;
  const told =
    status === "resolved" ? ({ status: "completed", output: value ?? null } as const) : ({ status: "failed", error: status } as const);
  return [outcome({ callId: interruptId, owner: "client" }, told, peer), ...edited];
}

function ending({ outcome, usage }: Extract<StoredEvent, { type: "run.ended" }>, peer: Peer): Chunk[] {
  const more = usage && { usage: usage as Json };
  switch (outcome.type) {
    case "waiting": // no `finish`: assistant-ui would take it for the end of what can be resumed
      return [metadata({ status: "waiting", ...more })];
    case "failed":
      return [{ type: "error", errorText: outcome.error.message }];
    case "cancelled":
      return [{ type: "abort" }, { type: "finish", messageMetadata: { status: "cancelled", ...more } }];
    case "done":
      return [{ type: "finish", ...(KNOWS[peer].approvals && { finishReason: "stop" }), messageMetadata: { status: "done", ...more } }];
    default:
      return outcome satisfies never;
  }
}
