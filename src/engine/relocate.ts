import type { Event, Outcome, Wait } from "../core/event.ts";

/** What an event's names become in another log. */
export type Places = {
  call(id: string): string;
  interrupt(id: string, callId: string | undefined): string;
  /** Where the run that began at `seq` begins now. */
  run(seq: number): number;
  epoch(): number;
};

/** An event as it reads in another log: ids the whole app shares, places and epochs are that log's own. */
export function relocate(event: Event, to: Places): Event {
  switch (event.type) {
    case "run.started":
    case "run.recovered":
      return { ...event, epoch: to.epoch() };
    case "run.ended":
      return { ...event, run: to.run(event.run), outcome: relocateOutcome(event.outcome, to) };
    case "thread.rewound":
      return { ...event, to: to.run(event.to) };
    case "tool.started":
    case "tool.delta":
    case "tool.called":
    case "call.offered":
    case "call.claimed":
    case "call.released":
    case "tool.progressed":
      return { ...event, callId: to.call(event.callId) };
    case "tool.returned": {
      const callId = to.call(event.callId);
      // A result nobody named has the name of its call.
      return { ...event, callId, messageId: event.messageId === `${event.callId}:result` ? `${callId}:result` : event.messageId };
    }
    case "interrupt.raised":
    case "interrupt.answered":
      return { ...event, ...relocateQuestion(event, to) };
    default:
      return event;
  }
}

function relocateOutcome(outcome: Outcome, to: Places): Outcome {
  if (outcome.type !== "waiting") return outcome;
  const moved = (wait: Wait): Wait =>
    wait.type === "call" ? { ...wait, callId: to.call(wait.callId), run: to.run(wait.run) } : { ...wait, ...relocateQuestion(wait, to) };
  return { type: "waiting", for: outcome.for.map(moved) };
}

function relocateQuestion(
  { interruptId, callId }: { interruptId: string; callId?: string },
  to: Places,
): { interruptId: string; callId?: string } {
  return { interruptId: to.interrupt(interruptId, callId), ...(callId !== undefined && { callId: to.call(callId) }) };
}
