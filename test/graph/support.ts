import type { Event, StoredEvent } from "../../src/core/event.ts";
import type { Json } from "../../src/core/json.ts";
import { emptyThread, fold, type Thread } from "../../src/core/thread.ts";
import type { Started } from "../support/engine.ts";

export type Of<T extends Event["type"]> = StoredEvent & { type: T };

export function only<T extends Event["type"]>(events: readonly StoredEvent[], type: T): Of<T>[] {
  return events.filter((event): event is Of<T> => event.type === type);
}

/** What the log of thread `t` adds up to. */
export async function folded(started: Started): Promise<Thread> {
  const thread = emptyThread();
  for (const event of await started.events()) fold(thread, event);
  return thread;
}

/** The nodes that began, in their order. */
export function begun(events: readonly StoredEvent[]): string[] {
  return only(events, "step.started").flatMap(({ place, name }) => (place ? [name] : []));
}

export function outcomes(events: readonly StoredEvent[]): string[] {
  return only(events, "run.ended").map(({ outcome }) => outcome.type);
}

export function failureOf(events: readonly StoredEvent[]): string | undefined {
  const outcome = only(events, "run.ended").at(-1)?.outcome;
  return outcome?.type === "failed" ? outcome.error.message : undefined;
}

/** The questions that are open, by key. */
export async function open(started: Started): Promise<Record<string, string>> {
  const { interrupts } = await folded(started);
  return Object.fromEntries([...interrupts.values()].map(({ place, interruptId }) => [place?.key ?? interruptId, interruptId]));
}

/** Answers by key, and waits until no run goes on. */
export async function reply(started: Started, answers: Record<string, Json>): Promise<StoredEvent[]> {
  await started.submit({ resume: { answers } });
  return started.idle();
}
