import { AppError } from "../core/error.ts";
import type { Entry } from "../core/thread.ts";

/**
 * Refuses what a strict provider would: an empty history, a call without its result, or an id that is used twice.
 * A result is kept with its call, so there can be none without one.
 */
export function checkHistory(history: readonly Entry[]): void {
  if (!history.some(({ role }) => role === "user")) throw new AppError("model", "The history has no user message");
  const seen = new Set<string>();
  const unanswered: string[] = [];
  for (const entry of history) {
    if (entry.role !== "assistant" || entry.state !== "completed") continue;
    for (const part of entry.parts) {
      if (part.type !== "call") continue;
      if (seen.has(part.callId)) throw new AppError("model", `The tool_call_id ${part.callId} is used twice`);
      seen.add(part.callId);
      if (!part.settlement) unanswered.push(part.callId);
    }
  }
  if (unanswered.length > 0) {
    throw new AppError("model", `The following tool_call_ids did not have response messages: ${unanswered.join(", ")}`);
  }
}
