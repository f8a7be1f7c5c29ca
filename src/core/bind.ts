import type { Known, Nameless, Result } from "./command.ts";
import { AppError } from "./error.ts";
import type { Event } from "./event.ts";
import { sameJson } from "./json.ts";
import type { Thread } from "./thread.ts";

/** The calls that the next nameless results answer, in order: those of the step that waits, but for what was settled by name. */
export function slots({ offers }: Thread): string[] {
  const places = offers.filter(({ settled }) => settled !== "name");
  const used = places.filter(({ settled }) => settled === "ordinal").length;
  return places.slice(used).map(({ callId }) => callId);
}

/**
 * Finds the calls of nameless results. A call that was lost keeps its place, or its late result would answer its neighbour.
 * When every place is taken, the same results once more are a repetition of the last ones; anything else is refused.
 */
export function bind(thread: Thread, nameless: readonly Nameless[], known: Known): Result[] {
  const free = slots(thread);
  const taken = thread.offers.filter(({ settled }) => settled === "ordinal").map(({ callId }) => callId);
  const again = free.length === 0 ? taken.slice(-nameless.length) : [];
  return nameless.map((result, i) => {
    const callId = free[i];
    if (callId !== undefined) return { ...result, callId, via: "ordinal" };
    const before = again[i];
    const settled = before === undefined ? undefined : known.settled.get(before)?.event;
    if (before === undefined || settled?.type !== "tool.returned" || !sameResult(settled, result)) {
      throw new AppError("conflict", "No call of this thread waits for a result", { field: "toolCallId" });
    }
    return { ...result, callId: before, via: "ordinal" };
  });
}

type Returned = Extract<Event, { type: "tool.returned" }>;

/** Whether a result says what a settlement says already. */
export function sameResult(a: Pick<Returned, "status" | "output" | "error">, b: Nameless): boolean {
  return a.status === b.status && sameJson(a.output, b.output) && a.error === b.error;
}
