import type { CallEvent, CallStatus, InterruptEvent, StoredEvent } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { closeDocument, dropDocument, isClosing, isOpening, openDocument, writeDocument } from "./document.ts";
import { addPart, spokenBy } from "./fold-step.ts";
import type { CallPhase, CallView, InterruptView, ThreadView } from "./view.ts";

type Stored<E> = E & Pick<StoredEvent, "seq" | "at" | "v">;
type Of<T extends (CallEvent | InterruptEvent)["type"]> = Stored<Extract<CallEvent | InterruptEvent, { type: T }>>;

/** A call, and the question whether it may be made, from the first word to the settlement. */
export function foldCall(view: ThreadView, event: Stored<CallEvent | InterruptEvent>): ThreadView {
  switch (event.type) {
    case "tool.started":
      return started(view, event);
    case "tool.delta":
      return withCall(view, event.callId, (call) => ({ ...call, argsText: call.argsText + event.delta }));
    case "tool.called":
      return called(view, event);
    case "call.offered": {
      const { owner, ordinal, expiresAt, onTimeout, at } = event;
      const waitingFor = owner === "client" ? ("browser" as const) : ("external" as const);
      const offer = {
        owner,
        ordinal,
        onTimeout,
        waitingFor,
        phase: "waiting" as const,
        deadline: expiresAt,
        offeredAt: at,
        claim: undefined,
      };
      const open = isOpen(view.calls.get(event.callId));
      return withCall(open ? view : { ...view, pending: view.pending + 1 }, event.callId, (call) => ({ ...call, ...offer }));
    }
    case "call.claimed": {
      const { by, claim, at } = event;
      return withCall(view, event.callId, (call) => ({
        ...call,
        // The server takes its own calls too; nobody owes those.
        ...(call.waitingFor !== undefined && { phase: "claimed" as const }),
        claim: { by, claim, at },
      }));
    }
    case "call.released":
      return withCall(view, event.callId, (call) =>
        call.claim?.claim === event.claim
          ? { ...call, ...(call.waitingFor !== undefined && { phase: "waiting" as const }), claim: undefined }
          : call,
      );
    case "tool.progressed":
      return withCall(view, event.callId, (call) => ({ ...call, progress: event.output }));
    case "tool.returned":
      return returned(view, event);
    case "interrupt.raised":
      return asked(view, event);
    case "interrupt.answered":
      return answered(view, event);
    default:
      return event satisfies never;
  }
}

function started(view: ThreadView, event: Of<"tool.started">): ThreadView {
  const { callId: id, name, owner, messageId, stepId, seq, at } = event;
  const { seq: run = 0, turnId = "" } = view.runs.at(-1) ?? {};
  const call: CallView = { ...NEW_CALL, id, name, owner, messageId, stepId, seq, run, turnId, startedAt: at };
  const step = view.steps.get(stepId);
  const told: ThreadView = {
    ...spokenBy(view, event),
    calls: view.calls.set(id, call),
    ...(step && { steps: view.steps.set(stepId, { ...step, calls: step.calls.push(id) }) }),
  };
  if (isOpening(name)) return openDocument(addPart(told, stepId, { type: "document", id, seq }), call, at);
  // The card of the document says that it is finished; another card for closing it would say so again.
  return isClosing(name) && view.writing !== undefined ? told : addPart(told, stepId, { type: "call", id, seq });
}

const NEW_CALL = {
  phase: "streaming",
  waitingFor: undefined,
  taskId: undefined,
  place: undefined,
  argsText: "",
  input: undefined,
  edited: undefined,
  invalid: undefined,
  source: undefined,
  needsApproval: false,
  interruptId: undefined,
  ordinal: undefined,
  deadline: undefined,
  onTimeout: undefined,
  claim: undefined,
  progress: undefined,
  output: undefined,
  error: undefined,
  resultMetadata: undefined,
  by: undefined,
  via: undefined,
  verdict: undefined,
  calledAt: undefined,
  askedAt: undefined,
  offeredAt: undefined,
  settledAt: undefined,
  settledSeq: undefined,
} as const;

function called(view: ThreadView, event: Of<"tool.called">): ThreadView {
  const { callId, name, owner, input, invalid, source, onTimeout, taskId, place, at } = event;
  const told = withCall(view, callId, (call) => ({
    ...call,
    phase: "dispatched",
    name,
    owner,
    input,
    invalid,
    source,
    onTimeout,
    taskId,
    place,
    needsApproval: event.approval !== undefined,
    calledAt: at,
  }));
  if (invalid !== undefined) return told;
  if (isOpening(name)) return writeDocument(told, callId, input, at);
  return isClosing(name) ? closeDocument(told, at) : told;
}

const PHASES: Readonly<Record<CallStatus, CallPhase>> = {
  completed: "done",
  failed: "failed",
  rejected: "rejected",
  expired: "expired",
  cancelled: "cancelled",
};

function returned(view: ThreadView, event: Of<"tool.returned">): ThreadView {
  const { callId, status, output, error, metadata, by, via, seq, at } = event;
  const call = view.calls.get(callId);
  if (!call) return view;
  const told: ThreadView = {
    ...view,
    pending: view.pending - (isOpen(call) ? 1 : 0),
    calls: view.calls.set(callId, {
      ...call,
      phase: PHASES[status],
      waitingFor: undefined,
      output,
      error,
      resultMetadata: metadata,
      by,
      via,
      settledAt: at,
      settledSeq: seq,
    }),
  };
  return isOpening(call.name) && status !== "completed" ? dropDocument(told, callId, at) : told;
}

/** Whether somebody outside may settle it. One that waits for approval is counted by its question. */
function isOpen(call: CallView | undefined): boolean {
  return call !== undefined && (call.waitingFor === "browser" || call.waitingFor === "external");
}

function asked(view: ThreadView, event: Of<"interrupt.raised">): ThreadView {
  const { interruptId: id, reason, prompt, schema, callId, taskId, place, expiresAt: deadline, seq, at } = event;
  const { seq: run = 0, turnId = "" } = view.runs.at(-1) ?? {};
  const interrupt: InterruptView = {
    ...UNANSWERED,
    id,
    reason,
    prompt,
    schema,
    callId,
    taskId,
    place,
    deadline,
    seq,
    run,
    turnId,
    askedAt: at,
  };
  const again = view.interrupts.get(id)?.status === "open";
  const told = { ...view, pending: view.pending + (again ? 0 : 1), interrupts: view.interrupts.set(id, interrupt) };
  if (callId === undefined) return told;
  return withCall(told, callId, (call) => ({
    ...call,
    phase: "waiting",
    waitingFor: "human",
    interruptId: id,
    deadline,
    askedAt: at,
  }));
}

const UNANSWERED = {
  status: "open",
  value: undefined,
  answerReason: undefined,
  by: undefined,
  via: undefined,
  answeredAt: undefined,
  answeredSeq: undefined,
} as const;

function answered(view: ThreadView, event: Of<"interrupt.answered">): ThreadView {
  const { interruptId: id, callId, status, value, input, reason, by, via, seq, at } = event;
  const interrupt = view.interrupts.get(id);
  const answer = { status, value, answerReason: reason, by, via, answeredAt: at, answeredSeq: seq };
  const told: ThreadView = {
    ...view,
    pending: view.pending - (interrupt?.status === "open" ? 1 : 0),
    ...(interrupt && { interrupts: view.interrupts.set(id, { ...interrupt, ...answer }) }),
  };
  if (callId === undefined) return told;
  return withCall(told, callId, (call) => ({
    ...call,
    // What it leads to, an offer or a settlement, is the next event.
    phase: "dispatched",
    waitingFor: undefined,
    deadline: undefined,
    edited: input ?? call.edited,
    verdict: status === "resolved" ? { approved: isYes(value), by, via, reason, at } : call.verdict,
  }));
}

function isYes(value: Json | undefined): boolean {
  return value === true || (typeof value === "object" && value !== null && !Array.isArray(value) && value["approved"] === true);
}

function withCall(view: ThreadView, id: string, change: (call: CallView) => CallView): ThreadView {
  const call = view.calls.get(id);
  return call ? { ...view, calls: view.calls.set(id, change(call)) } : view;
}
