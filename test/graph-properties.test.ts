import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Agent } from "../src/agent/agent.ts";
import { AppError } from "../src/core/error.ts";
import type { StoredEvent } from "../src/core/event.ts";
import type { Json } from "../src/core/json.ts";
import { emptyThread, fold, type Thread } from "../src/core/thread.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { answerTo, build, type Spec, spec } from "./graph/random.ts";
import { only } from "./graph/support.ts";
import { keyOf, message, type Started, startEngine } from "./support/engine.ts";

/*
 * Random graphs under random interrupts, crashes and partial resumes. A crash cuts the store off between two appends, or right
 * behind one that nobody heard of; what the dead process still thinks counts for nothing.
 */

const FIXED_SEED = 20_261_115;
const RUNS = Number(process.env["GRAPH_RUNS"] ?? 150);

const chances = fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 });

describe("a random graph", () => {
  it("comes to the state of an uninterrupted run, whatever happens, and does nothing again that is done", { timeout: 600_000 }, async () => {
    await fc.assert(fc.asyncProperty(spec(2), chances, play), { seed: FIXED_SEED, numRuns: RUNS });
  });
  it("also those nobody has tried yet", { timeout: 600_000 }, async () => {
    await fc.assert(fc.asyncProperty(spec(2), chances, play), { numRuns: Math.ceil(RUNS / 3) });
  });
});

async function play(spec: Spec, chances: number[]): Promise<void> {
  const expected = await uninterrupted(spec);
  const dice = die(chances);
  const memory = memoryStore();
  let dead = false;
  const ran: { taskId: string; seq: number }[] = [];
  const agent = build(spec, {
    ran: ({ taskId, thread }) => {
      if (!dead) ran.push({ taskId, seq: thread.seq });
    },
    ask: ({ interrupt }, key) => interrupt(key, `${key}?`),
  });
  let started = start(agent, memory, dice(20));
  for (let life = 0; ; life += 1) {
    assert.ok(life < 500, "it never ends");
    const end = await live(started, dice);
    if (end === "done") break;
    dead = true;
    started.stop().catch(() => {});
    await new Promise((resolve) => setImmediate(resolve)); // what the dead still do, they do now
    dead = false;
    started = start(agent, memory, life > 30 ? Number.POSITIVE_INFINITY : 1 + dice(20));
  }
  await started.stop();
  const events = await memory.read(keyOf(), { after: 0 });
  const thread = foldAll(events);
  assert.deepEqual(thread.state, expected);
  checkTasks(events, ran);
  assert.deepEqual(JSON.parse(JSON.stringify(thread.graph)), thread.graph, "what a snapshot carries is JSON");
  await memory.close();
}

/** A process that dies after so many appends: the last one is on disk or is not. */
function start(agent: Agent, memory: Store, appends: number): Started & { dead: Promise<void> } {
  const { promise: dead, resolve } = Promise.withResolvers<void>();
  let left = appends;
  const gone = () => new AppError("conflict", "This process is dead");
  const store: Store = {
    ...memory,
    async append(...args) {
      if (left < 0) throw gone();
      left -= 1;
      if (left >= 0) return memory.append(...args);
      resolve();
      if (args[2].length % 2 === 0) await memory.append(...args);
      throw gone();
    },
  };
  return Object.assign(startEngine({ agents: { default: agent }, store, coalesceMs: 0 }), { dead });
}

/** Sends the message, answers some of what is open, and so on, until the turn is done or the process dead. */
async function live(started: Started & { dead: Promise<void> }, dice: Dice): Promise<"done" | "dead"> {
  let dead = false;
  started.dead.then(() => {
    dead = true;
  });
  for (;;) {
    await settle(started, () => dead);
    if (dead) return "dead";
    const events = await started.engine.store.read(keyOf(), { after: 0 });
    const thread = foldAll(events);
    const { outcome } = thread.ended ?? {};
    if (outcome?.type === "done") return "done";
    try {
      if (!thread.turn) await started.submit(message("go", "m"));
      else if (thread.interrupts.size === 0) {
        assert.fail(`neither done nor waiting: ${JSON.stringify(outcome)}`);
      } else {
        const open = [...thread.interrupts.values()];
        const some = open.filter(() => dice(2) === 0);
        const answers = (some.length > 0 ? some : open.slice(0, 1)).map(({ interruptId, place }) => ({
          interruptId,
          status: "resolved" as const,
          value: answerTo(place?.key ?? ""),
        }));
        await started.submit({ answers });
      }
    } catch (error) {
      if (!(error instanceof AppError) || !dead) throw error;
    }
  }
}

/** Waits until no run goes on, with time passing for those that wait before they try again. */
async function settle(started: Started, isDead: () => boolean): Promise<void> {
  while (!isDead() && (await started.engine.store.thread(keyOf()))?.status === "running") {
    await started.clock.advance(1);
  }
}

/** A task that is done in the log is never begun again, and no task is done twice. */
function checkTasks(events: readonly StoredEvent[], ran: readonly { taskId: string; seq: number }[]): void {
  const taskOf = new Map(only(events, "step.started").map(({ stepId, taskId }) => [stepId, taskId]));
  const done = new Map<string, number>();
  for (const { stepId, completed, seq } of only(events, "step.ended")) {
    const taskId = taskOf.get(stepId);
    if (!completed || taskId === undefined) continue;
    assert.ok(!done.has(taskId), `${taskId} is done twice`);
    done.set(taskId, seq);
  }
  for (const { taskId, seq } of ran) assert.ok(seq < (done.get(taskId) ?? Number.POSITIVE_INFINITY), `${taskId} ran at ${seq} although it was done`);
  for (const [key, asked] of Map.groupBy(only(events, "interrupt.raised"), ({ interruptId }) => interruptId)) {
    assert.equal(asked.length, 1, `${key} is asked twice`);
  }
}

async function uninterrupted(spec: Spec): Promise<Json> {
  const agent = build(spec, { ran: () => {}, ask: async (_, key) => answerTo(key) });
  await using started = startEngine({ agents: { default: agent } });
  await started.submit(message("go", "m"));
  await settle(started, () => false);
  const thread = foldAll(await started.events());
  assert.equal(thread.ended?.outcome.type, "done");
  return thread.state;
}

function foldAll(events: readonly StoredEvent[]): Thread {
  const thread = emptyThread();
  for (const event of events) fold(thread, event);
  return thread;
}

type Dice = (sides: number) => number;

/** Chances in a row; when they are used up they begin again. */
function die(chances: readonly number[]): Dice {
  let at = 0;
  return (sides) => (chances[at++ % chances.length] ?? 0) % sides;
}
