import { type Decision, facts } from "./begin.ts";
import type { ClaimCommand, Known, ReleaseCommand } from "./command.ts";
import { AppError } from "./error.ts";
import type { Event } from "./event.ts";
import type { Call, Thread } from "./thread.ts";

/** The claim's number is the fence; its lease is a row the engine keeps. */
export function claim(thread: Thread, command: ClaimCommand, known: Known): Decision {
  const { callId, by, held } = command;
  const call = thread.calls.get(callId);
  if (call?.phase !== "offered") {
    if (call) throw new AppError("conflict", `Call ${callId} is not handed out`);
    if (!known.settled.has(callId)) throw new AppError("not_found", `There is no call ${callId}`);
    throw new AppError("gone", `Call ${callId} already has a result`);
  }
  const last = call.claim;
  if (held && last && !last.released) throw new AppError("conflict", `Call ${callId} is claimed by ${last.by}`);
  const freed: Event[] = last && !last.released ? [{ type: "call.released", callId, claim: last.claim, reason: "lapsed" }] : [];
  return facts(thread, [...freed, { type: "call.claimed", callId, by, claim: (last?.claim ?? 0) + 1 }]);
}

/** Gives a claim back. */
export function release(thread: Thread, { callId, claim, reason }: ReleaseCommand): Decision {
  const call = thread.calls.get(callId);
  if (call?.phase !== "offered" || !holds(call, claim)) throw lapsed(callId, claim);
  return facts(thread, [{ type: "call.released", callId, claim, reason }]);
}

/** Whether this claim is the call's last one and was not given back. */
export function holds({ claim }: Call, number: number): boolean {
  return claim?.claim === number && !claim.released;
}

/** What the holder of a lost claim hears. */
export function lapsed(callId: string, claim: number): AppError {
  return new AppError("conflict", `Claim ${claim} on call ${callId} is no longer valid`);
}
