import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { goto, START, send } from "../src/agent/graph/command.ts";
import { type Edge, edge } from "../src/agent/graph/edge.ts";
import { append, field } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { type Node, node } from "../src/agent/graph/node.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { only, outcomes } from "./graph/support.ts";
import { keyOf, message, startEngine } from "./support/engine.ts";

type Counted = { store: Store; appends: { events: number; bytes: number }[] };

function counting(): Counted {
  const memory = memoryStore();
  const appends: Counted["appends"] = [];
  const store: Store = {
    ...memory,
    append(...args) {
      appends.push({ events: args[2].length, bytes: JSON.stringify(args[2]).length });
      return memory.append(...args);
    },
  };
  return { store, appends };
}

function chain(length: number) {
  type State = { n: number };
  const nodes: Record<string, Node<State, Partial<State>>> = {};
  const edges: Edge<string, State>[] = [edge(START, "n0")];
  for (let i = 0; i < length; i += 1) {
    nodes[`n${i}`] = node<State, Partial<State>>(({ state }) => ({ n: state.n + 1 }));
    if (i > 0) edges.push(edge(`n${i - 1}`, `n${i}`));
  }
  return graph({ n: field(z.number(), { default: () => 0 }) }, { nodes: nodes as never, edges: edges as never, maxSteps: length + 1 });
}

/** CPU of one run of a chain, in a thread that has seen `before` turns of it. */
async function cpuOf(length: number): Promise<number> {
  await using started = startEngine({ agents: { default: chain(length) }, coalesceMs: 0 });
  const before = process.cpuUsage();
  await started.submit(message("go"));
  const events = await started.idle();
  const { user, system } = process.cpuUsage(before);
  assert.deepEqual(outcomes(events), ["done"]);
  return user + system;
}

describe("the cost of a superstep", () => {
  it("is one append of the same size at the start and at the end of a chain of 1,000 nodes", async () => {
    const { store, appends } = counting();
    await using started = startEngine({ agents: { default: chain(1_000) }, store });
    await started.submit(message("go"));
    await started.idle();
    const supersteps = appends.slice(2, -1);
    assert.equal(supersteps.length, 1_000);
    assert.ok(supersteps.every(({ events }) => events === 4));
    const [first, last] = [supersteps[1]?.bytes ?? 0, supersteps.at(-2)?.bytes ?? 0];
    assert.ok(last < first * 1.2, `${first} bytes, later ${last}`);
    assert.deepEqual((await started.engine.store.checkpoints(keyOf(), { limit: 1 })).checkpoints[0]?.superstep, 1_000);
  });

  it("does not grow with what went before", { timeout: 300_000 }, async () => {
    await cpuOf(300); // warm
    const small = Math.min(await cpuOf(500), await cpuOf(500));
    const large = Math.min(await cpuOf(2_000), await cpuOf(2_000));
    assert.ok(large / small < 4 * 2, `4 × the nodes cost ${(large / small).toFixed(1)} × as much`);
  });

  it("is two appends for 100 tasks side by side", async () => {
    const { store, appends } = counting();
    const agent = graph(
      { log: field(z.array(z.number()), { reduce: append, default: () => [] }) },
      {
        nodes: {
          split: node(() => goto(Array.from({ length: 100 }, (_, i) => send("work", i))), { to: ["work"] }),
          work: ({ input }) => ({ log: [Number(input)] }),
          end: () => {},
        },
        edges: [edge(START, "split"), edge("work", "end")],
      },
    );
    await using started = startEngine({ agents: { default: agent }, store });
    await started.submit(message("go"));
    const events = await started.idle();
    assert.equal(only(events, "step.ended").length, 102);
    assert.deepEqual(
      only(events, "state.patched")
        .at(-1)
        ?.ops.map((op) => (op as { value: number }).value),
      Array.from({ length: 100 }, (_, i) => i),
    );
    assert.ok(appends.length <= 8, `${appends.length} appends`);
  });
});
