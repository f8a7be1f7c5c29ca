import { begin, type Decision, facts, over, started, tried } from "./begin.ts";
import type { CancelCommand, ExpireCommand, RecoverCommand } from "./command.ts";
import { AppError } from "./error.ts";
import type { Cause, Event } from "./event.ts";
import { cancelOpen, returned, TIMED_OUT } from "./settle.ts";
import { closing } from "./step.ts";
import { type Call, type Interrupt, type Thread, waits } from "./thread.ts";

/** A running run is asked to stop; one that waits is closed. */
export function cancel(thread: Thread, command: CancelCommand): Decision {
  const { runId, by, via, reason } = command;
  const why = reason === undefined ? {} : { reason };
  if (thread.run) {
    if (thread.run.cancel) return facts(thread, [], thread.run.seq - 1);
    return facts(thread, [{ type: "cancel.requested", runId: thread.run.runId, by, ...why }], thread.run.seq - 1);
  }
  if (waits(thread).length === 0) throw new AppError("not_found", "There is no run to cancel in this thread");
  return facts(thread, closeTurn(thread, { by, via, runId, now: command.now }, "cancel", reason ?? "Cancelled", []));
}

/** A run that settles everything open and ends the turn. */
function closeTurn(
  thread: Thread,
  who: { by: string; via: string; runId: string; now: number },
  cause: Cause,
  reason: string,
  first: Event[],
): Event[] {
  const opening = started(thread, { ...who, type: "expire", id: "" }, cause);
  const rest = cancelOpen(tried(thread, [opening, ...first]), who, reason);
  return [opening, ...first, ...rest, over(thread, who.runId, { type: "cancelled", reason })];
}

/** Whoever is first in the log wins: a deadline that finds its call settled does nothing. */
export function expire(thread: Thread, command: ExpireCommand): Decision {
  const call = thread.calls.get(command.id);
  const interrupt = thread.interrupts.get(command.id);
  const due = call?.phase === "offered" ? call.expiresAt : interrupt?.expiresAt;
  if (due === undefined || due > command.now) return facts(thread, []);
  const settled: Event[] = interrupt ? expireInterrupt(thread, interrupt, command) : call ? [expireCall(call, command)] : [];
  const policy = call?.onTimeout?.type;
  if (policy === "cancel") {
    if (!thread.run) return facts(thread, closeTurn(thread, command, "expiry", TIMED_OUT, settled));
    if (thread.run.cancel) return facts(thread, settled);
    return facts(thread, [...settled, { type: "cancel.requested", runId: thread.run.runId, by: command.by, reason: TIMED_OUT }]);
  }
  return thread.run
    ? facts(thread, settled)
    : begin(thread, command, settled, {
        cause: "expiry",
        askAgent: (interrupt ?? call)?.taskId !== undefined || (interrupt !== undefined && interrupt.callId === undefined),
      });
}

function expireCall(call: Call, source: ExpireCommand): Event {
  const policy = call.onTimeout ?? { type: "fail" };
  if (policy.type === "default") return returned(call, "expired", source, { output: policy.output });
  return returned(call, "expired", source, {
    error: policy.type === "deny" ? `${TIMED_OUT}: denied, because nobody answered in time` : TIMED_OUT,
  });
}

function expireInterrupt(thread: Thread, { interruptId, callId }: Interrupt, source: ExpireCommand): Event[] {
  const { by, via } = source;
  const call = callId === undefined ? undefined : thread.calls.get(callId);
  const expired: Event = { type: "interrupt.answered", interruptId, ...(callId !== undefined && { callId }), status: "expired", by, via };
  return call ? [expired, returned(call, "expired", source, { error: "Nobody decided in time, so it was not run" })] : [expired];
}

/** The takeover's first fact raises the epoch, so that a driver that was only asleep writes nothing more. */
export function recover(thread: Thread, source: RecoverCommand): Decision {
  if (!thread.run) return facts(thread, []);
  const events: Event[] = [{ type: "run.recovered", runId: thread.run.runId, epoch: thread.epoch + 1 }, ...closing(thread)];
  for (const call of thread.calls.values()) {
    // Begun, but nobody knows how it ended: only a tool that may safely run twice runs again.
    const unknown = call.phase === "ready" && call.claim && !call.idempotent;
    if (unknown) events.push(returned(call, "failed", source, { error: "Outcome unknown: the server stopped while the tool was running" }));
  }
  return facts(thread, events, thread.run.seq - 1);
}
