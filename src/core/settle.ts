import type { Answer, Result } from "./command.ts";
import { AppError } from "./error.ts";
import type { CallStatus, Event } from "./event.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import type { Call, Interrupt, Thread } from "./thread.ts";

/** What the model and the client read when a deadline has passed (seed 002). */
export const TIMED_OUT = "外部执行超时";

type Source = { by: string; via: string };

/** The one settlement of a call. */
export function returned(call: Call, status: CallStatus, source: Source, given: Partial<Result> = {}): Event {
  const { callId, name, owner } = call;
  const { output, error, metadata, messageId = `${callId}:result` } = given;
  return {
    type: "tool.returned",
    callId,
    name,
    owner,
    messageId,
    status,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(metadata && { metadata }),
    by: source.by,
    via: source.via,
  };
}

/** Hands a call to the outside. Its deadline starts now, however long a person took to agree. */
export function offered(call: Call, ordinal: number, now: number, input: Json = call.input): Event {
  const { callId, name, timeout, onTimeout } = call;
  const owner = call.owner === "server" ? "external" : call.owner; // a server tool that hands back
  return {
    type: "call.offered",
    callId,
    name,
    owner,
    input,
    ordinal,
    ...(timeout !== undefined && timeout > 0 && { expiresAt: now + timeout }),
    ...(onTimeout && { onTimeout }),
  };
}

/** What a person may say to an approval: yes, yes with another input, or no and why. */
export const APPROVAL_SCHEMA: JsonObject = {
  type: "object",
  properties: { approved: { type: "boolean" }, input: { type: "object" }, reason: { type: "string" } },
  required: ["approved"],
};

/** The question whether a call may be made. */
export function asked(call: Call, now: number): Event {
  const { callId, name, input, approval, taskId, place } = call;
  return {
    type: "interrupt.raised",
    interruptId: `${callId}:approval`,
    reason: "tool_call",
    prompt: { tool: name, input },
    schema: APPROVAL_SCHEMA,
    callId,
    ...(taskId !== undefined && { taskId }),
    ...(place && { place }),
    ...(approval?.timeout !== undefined && approval.timeout > 0 && { expiresAt: now + approval.timeout }),
  };
}

/** The events of an answer: to an agent's question just itself, to an approval also what becomes of the call. */
export function answered(thread: Thread, interrupt: Interrupt, answer: Answer, source: Source & { now: number }, ordinal: number): Event[] {
  const { interruptId, callId } = interrupt;
  const { by, via } = source;
  const { status, value } = answer;
  const call = callId === undefined ? undefined : thread.calls.get(callId);
  const base = { type: "interrupt.answered" as const, interruptId, status, by, via, ...(callId !== undefined && { callId }) };
  if (!call) return [{ ...base, ...(value !== undefined && { value }) }];
  if (status === "cancelled") return [base, returned(call, "cancelled", source, { error: "The approval was cancelled" })];
  const { approved, input, output, reason } = toVerdict(value);
  const said = { ...base, value: value ?? null, ...(reason !== undefined && { reason }) };
  if (output !== undefined) return [said, returned(call, "completed", source, { output })];
  if (!approved) return [said, returned(call, "rejected", source, { error: reason ?? "Rejected" })];
  const granted = { ...said, ...(input !== undefined && { input }) };
  return call.owner === "server" ? [granted] : [granted, offered(call, ordinal, source.now, input ?? call.input)];
}

/**
 * Reads an approval as AG-UI (`editedArgs`) and our own doors (`input`) write it. Whoever refuses may give the `output` in place of the
 * tool, which is then not run.
 */
export function toVerdict(value: Json | undefined): { approved: boolean; input?: Json; output?: Json; reason?: string } {
  if (typeof value === "boolean") return { approved: value };
  if (!isObject(value) || typeof value["approved"] !== "boolean") {
    throw new AppError("invalid", "An approval needs `approved: true` or `approved: false`", { field: "approved" });
  }
  const { approved, input, editedArgs, output, reason } = value;
  const edited = input ?? editedArgs;
  return {
    approved,
    ...(approved && edited !== undefined && { input: edited }),
    ...(!approved && output !== undefined && { output }),
    ...(typeof reason === "string" && { reason }),
  };
}

/** What a model is told of an output in place of the tool's: it is a person's word, and nothing was done. */
export const BY_HAND = "A person answered in place of the tool, which was not run";

/** Settles everything that is open, so that the provider never sees an unanswered call. */
export function cancelOpen(thread: Thread, source: Source, error: string): Event[] {
  const questions = [...thread.interrupts.values()].map(
    ({ interruptId, callId }): Event => ({
      type: "interrupt.answered",
      interruptId,
      ...(callId !== undefined && { callId }),
      status: "cancelled",
      by: source.by,
      via: source.via,
    }),
  );
  return [...questions, ...[...thread.calls.values()].map((call) => returned(call, "cancelled", source, { error }))];
}
