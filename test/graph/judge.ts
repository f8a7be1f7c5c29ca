import assert from "node:assert/strict";
import type { StoredEvent } from "../../src/core/event.ts";
import type { Json } from "../../src/core/json.ts";
import { emptyThread, fold, type Thread } from "../../src/core/thread.ts";
import { keyOf, message, type Started, startEngine } from "../support/engine.ts";
import { answerTo, build, type Spec } from "./random.ts";
import { only } from "./support.ts";

/** A task that is done in the log is never begun again, and no task is done twice. */
export function checkTasks(events: readonly StoredEvent[], ran: readonly { taskId: string; seq: number }[]): void {
  const taskOf = new Map(only(events, "step.started").flatMap(({ stepId, taskId, place }) => (place ? [[stepId, taskId]] : [])));
  const done = new Map<string, number>();
  for (const { stepId, completed, seq } of only(events, "step.ended")) {
    const taskId = taskOf.get(stepId);
    if (!completed || taskId === undefined) continue;
    assert.ok(!done.has(taskId), `${taskId} is done twice`);
    done.set(taskId, seq);
  }
  for (const { taskId, seq } of ran)
    assert.ok(seq < (done.get(taskId) ?? Number.POSITIVE_INFINITY), `${taskId} ran at ${seq} although it was done`);
  for (const [key, asked] of Map.groupBy(only(events, "interrupt.raised"), ({ interruptId }) => interruptId)) {
    assert.equal(asked.length, 1, `${key} is asked twice`);
  }
}

/** The state an uninterrupted run comes to. */
export async function uninterrupted(spec: Spec): Promise<Json> {
  const agent = build(spec, { ran: () => {}, ask: async (_, key) => answerTo(key) });
  await using started = startEngine({ agents: { default: agent } });
  await started.submit(message("go", "m"));
  await settle(started, () => false);
  const thread = foldAll(await started.events());
  assert.equal(thread.ended?.outcome.type, "done");
  return thread.state;
}

/** Waits until no run goes on, with time passing for those that wait before they try again. */
export async function settle(started: Started, isDead: () => boolean): Promise<void> {
  while (!isDead() && (await started.engine.store.thread(keyOf()))?.status === "running") {
    await started.clock.advance(1);
  }
}

export function foldAll(events: readonly StoredEvent[]): Thread {
  const thread = emptyThread();
  for (const event of events) fold(thread, event);
  return thread;
}
