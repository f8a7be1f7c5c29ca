import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Agent } from "../src/agent/agent.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { checkTasks, foldAll, settle, uninterrupted } from "./graph/judge.ts";
import { answerTo, build, type Spec, spec } from "./graph/random.ts";
import { keyOf, message, type Started, startEngine } from "./support/engine.ts";

/*
 * Random graphs under random interrupts, crashes and partial resumes. A crash cuts the store off between two appends, or right
 * behind one that nobody heard of; what the dead process still thinks counts for nothing.
 */

const FIXED_SEED = 20_261_115;
const RUNS = Number(process.env["GRAPH_RUNS"] ?? 60);

const chances = fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 });

describe("a random graph", () => {
  it("comes to the state of an uninterrupted run, whatever happens, and does nothing again that is done", {
    timeout: 600_000,
  }, async () => {
    await fc.assert(fc.asyncProperty(spec(1), chances, play), { seed: FIXED_SEED, numRuns: RUNS });
  });
  it("also those nobody has tried yet", { timeout: 600_000 }, async () => {
    await fc.assert(fc.asyncProperty(spec(1), chances, play), { numRuns: Math.ceil(RUNS / 3) });
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
  const gone = new Promise<never>(() => {}); // the dead are told nothing
  const store: Store = {
    ...memory,
    async append(...args) {
      if (left < 0) return gone;
      left -= 1;
      if (left >= 0) return memory.append(...args);
      resolve();
      if (args[2].length % 2 === 0) await memory.append(...args);
      return gone;
    },
  };
  return Object.assign(startEngine({ agents: { default: agent }, store, coalesceMs: 0 }), { dead });
}

/** Sends the message, answers some of what is open, and so on, until the turn is done or the process dead. */
async function live(started: Started & { dead: Promise<void> }, dice: Dice): Promise<"done" | "dead"> {
  let dead = false;
  void started.dead.then(() => {
    dead = true;
  });
  for (;;) {
    await settle(started, () => dead);
    if (dead) return "dead";
    const events = await started.engine.store.read(keyOf(), { after: 0 });
    const thread = foldAll(events);
    const { outcome } = thread.ended ?? {};
    if (outcome?.type === "done") return "done";
    assert.ok(!thread.turn || thread.interrupts.size > 0, `neither done nor waiting: ${JSON.stringify(outcome)}`);
    const open = [...thread.interrupts.values()];
    const some = open.filter(() => dice(2) === 0);
    const answers = (some.length > 0 ? some : open.slice(0, 1)).map(({ interruptId, place }) => ({
      interruptId,
      status: "resolved" as const,
      value: answerTo(place?.key ?? ""),
    }));
    await Promise.race([started.submit(thread.turn ? { answers } : message("go", "m")), started.dead]);
  }
}

type Dice = (sides: number) => number;

/** Chances in a row; when they are used up they begin again. */
function die(chances: readonly number[]): Dice {
  let at = 0;
  return (sides) => (chances[at++ % chances.length] ?? 0) % sides;
}
