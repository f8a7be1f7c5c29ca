import type { Outcome, StoredEvent, Usage } from "../../core/event.ts";
import { isObject, type Json } from "../../core/json.ts";
import type { Shown } from "./decode.ts";
import { ALL_OF_GRAPHS, type GraphView, interrupts, isInside, lifecycle, resumed } from "./graph.ts";
import { userMessage } from "./messages.ts";
import type { Peer } from "./peer.ts";
import { toText } from "./text.ts";

/** An AG-UI event as it goes over the wire. `@ag-ui/client` is the judge of it in the tests. */
export type Frame = { type: string; [field: string]: unknown };

/** The version of the protocol this server speaks. */
export const PROTOCOL_VERSION = "1.0";

/** One log event for this kind of peer. Pure: ids and endings are in the log, so nothing is remembered here. */
export function encode(threadId: string, event: StoredEvent, peer: Peer, graphs: GraphView = ALL_OF_GRAPHS): Frame[] {
  const frames = translate(threadId, event, peer, graphs);
  for (const frame of frames) frame["timestamp"] = event.at;
  return frames;
}

/**
 * An event that a client's own request caused, for that client. What it sent and shows itself it need not hear;
 * a client that brought nothing but results shows nothing, so it hears them. `echo` overrides. `missed` are snapshots for a
 * client that shows less than the thread holds.
 */
export function prelude(
  threadId: string,
  event: StoredEvent,
  { shown, missed, echo }: { shown: Shown; missed: readonly Frame[]; echo?: boolean | undefined },
  peer: Peer,
  graphs: GraphView = ALL_OF_GRAPHS,
): Frame[] {
  if (event.type === "run.started") {
    const [start, ...rest] = encode(threadId, event, peer, graphs);
    return start ? [start, ...missed, ...rest] : []; // a snapshot may take activities away: they come behind it
  }
  const own = event.type === "tool.returned" && shown.results.has(event.callId);
  const silent = own && (echo === undefined ? shown.calls.has(event.callId) : !echo);
  return silent ? [] : encode(threadId, event, peer, graphs);
}

function translate(threadId: string, event: StoredEvent, peer: Peer, graphs: GraphView): Frame[] {
  switch (event.type) {
    case "run.started": {
      const { runId, parentRunId, messages, resume } = event;
      return [
        {
          type: "RUN_STARTED",
          threadId,
          runId,
          protocolVersion: PROTOCOL_VERSION,
          ...(parentRunId !== undefined && { parentRunId }),
          // Clients add messages whose id they do not know: this is how another tab sees what was asked.
          ...(messages.length > 0 && {
            input: {
              threadId,
              runId,
              messages: messages.map((message) => userMessage(message, { peer })),
              tools: [],
              context: [],
              state: {},
              forwardedProps: {},
            },
          }),
        },
        ...(resume && graphs.interrupts ? resumed(resume) : []),
      ];
    }
    case "run.ended": {
      const { outcome } = event;
      const open = outcome.type === "waiting" && graphs.interrupts ? interrupts(outcome.for, graphs) : [];
      return [...open, ending(threadId, event, peer)];
    }
    case "step.started":
      if (isInside(event)) return [];
      return [{ type: "STEP_STARTED", stepName: event.name }, ...(graphs.lifecycle ? lifecycle(event) : [])];
    case "step.ended":
      if (isInside(event)) return [];
      return [...(graphs.lifecycle ? lifecycle(event) : []), { type: "STEP_FINISHED", stepName: event.name }];
    case "text.started":
      return [{ type: "TEXT_MESSAGE_START", messageId: event.messageId, role: "assistant" }];
    case "text.delta":
      return [{ type: "TEXT_MESSAGE_CONTENT", messageId: event.messageId, delta: event.delta }];
    case "text.ended":
      return [{ type: "TEXT_MESSAGE_END", messageId: event.messageId }];
    case "reasoning.started": {
      const { messageId } = event;
      return [
        { type: "REASONING_START", messageId },
        { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
      ];
    }
    case "reasoning.delta":
      return [{ type: "REASONING_MESSAGE_CONTENT", messageId: event.messageId, delta: event.delta }];
    case "reasoning.ended": {
      const { messageId } = event;
      return [
        { type: "REASONING_MESSAGE_END", messageId },
        { type: "REASONING_END", messageId },
      ];
    }
    case "tool.started":
      return [{ type: "TOOL_CALL_START", toolCallId: event.callId, toolCallName: event.name, parentMessageId: event.messageId }];
    case "tool.delta":
      return [{ type: "TOOL_CALL_ARGS", toolCallId: event.callId, delta: event.delta }];
    case "tool.called":
      return [{ type: "TOOL_CALL_END", toolCallId: event.callId }];
    case "tool.progressed": {
      const { callId, output } = event;
      const content = { toolCallId: callId, output };
      return [{ type: "ACTIVITY_SNAPSHOT", messageId: `${callId}:progress`, activityType: "tool.progress", content, replace: true }];
    }
    case "tool.returned": {
      const { messageId, callId, output, error } = event;
      return [
        {
          type: "TOOL_CALL_RESULT",
          messageId,
          toolCallId: callId,
          role: "tool",
          content: output === undefined ? (error ?? "") : toText(output),
        },
      ];
    }
    case "state.patched":
      return [toState(event.ops)];
    case "activity.changed": {
      const { messageId, activityType, ops } = event;
      return [
        // A delta without its snapshot is lost on clients; an empty one that replaces nothing costs nothing.
        { type: "ACTIVITY_SNAPSHOT", messageId, activityType, content: {}, replace: false },
        { type: "ACTIVITY_DELTA", messageId, activityType, patch: ops },
      ];
    }
    case "custom.emitted":
      if (event.source !== undefined) return [{ type: "RAW", event: event.value, source: event.source }];
      return [{ type: "CUSTOM", name: event.name, value: event.value }];
    case "part.added":
      return [{ type: "CUSTOM", name: "part", value: { messageId: event.messageId, part: event.part } }];
    case "run.recovered":
    case "cancel.requested":
    case "call.offered":
    case "call.claimed":
    case "call.released":
    case "interrupt.raised": // told by the run's ending
    case "interrupt.answered":
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

function ending(threadId: string, event: Extract<StoredEvent, { type: "run.ended" }>, peer: Peer): Frame {
  const { runId, outcome, run } = event;
  const usage = event.usage && { usage: event.usage.map(toUsage) };
  if (outcome.type === "failed") return { type: "RUN_ERROR", message: outcome.error.message, code: outcome.error.code, ...usage };
  const result = outcome.type === "done" && outcome.result != null ? { result: outcome.result } : {};
  return { type: "RUN_FINISHED", threadId, runId, ...result, ...toOutcome(outcome, run, peer), ...usage };
}

/** How a run stopped, as far as this peer can bear it. `run` is where the run began: only its own calls are pending in it. */
export function toOutcome(outcome: Exclude<Outcome, { type: "failed" }>, run: number, peer: Peer): { outcome?: Json } {
  const modern = peer === "agui:1";
  switch (outcome.type) {
    case "done":
      return modern ? { outcome: { type: "success" } } : {};
    case "cancelled":
      return modern ? { outcome: { type: "cancelled" } } : {}; // fatal on older clients
    case "waiting": {
      const interrupts = outcome.for.flatMap((wait) => (wait.type === "interrupt" ? [toInterrupt(wait, modern)] : []));
      if (interrupts.length > 0) return { outcome: { type: "interrupt", interrupts } };
      if (!modern) return {};
      const pending = outcome.for.flatMap((wait) => (wait.type === "call" && wait.run === run ? [wait.callId] : []));
      return { outcome: { type: "success", ...(pending.length > 0 && { pendingToolCallIds: pending }) } };
    }
    default:
      return outcome satisfies never;
  }
}

type Question = Extract<Extract<Outcome, { type: "waiting" }>["for"][number], { type: "interrupt" }>;

function toInterrupt({ interruptId, reason, prompt, schema, callId, expiresAt, place }: Question, modern: boolean): Json {
  const tool = isObject(prompt) && typeof prompt["tool"] === "string" ? prompt["tool"] : undefined;
  const message = tool === undefined ? toText(prompt) : `May ${tool} be called?`;
  return {
    id: interruptId,
    reason: reason === "question" ? "input_required" : reason, // AG-UI's own word for it
    message,
    ...(callId !== undefined && { toolCallId: callId }),
    ...(schema && { responseSchema: schema }),
    // An expired question blocks an older client for ever.
    ...(modern && expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { prompt, ...place },
  };
}

function toState(ops: readonly Json[]): Frame {
  const [op] = ops;
  if (ops.length === 1 && isObject(op) && op["path"] === "") return { type: "STATE_SNAPSHOT", snapshot: op["value"] };
  return { type: "STATE_DELTA", delta: ops };
}

function toUsage({ model, inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens }: Usage): Json {
  const counts = { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens };
  return {
    ...(model !== undefined && { model }),
    ...Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== undefined)),
  } as Json;
}
