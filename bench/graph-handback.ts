import { join } from "node:path";
import { z } from "zod";
import type { Agent } from "../src/agent/agent.ts";
import { END, START, send } from "../src/agent/graph/command.ts";
import { edge, when } from "../src/agent/graph/edge.ts";
import { field } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { toolCache } from "../src/agent/run-tool.ts";
import { systemClock } from "../src/core/clock.ts";
import { randomIds } from "../src/core/ids.ts";
import { isObject } from "../src/core/json.ts";
import { joinDeltas } from "../src/engine/aggregate.ts";
import { beat } from "../src/engine/beat.ts";
import type { Engine } from "../src/engine/engine.ts";
import { follow } from "../src/engine/follow.ts";
import { using } from "../src/engine/live.ts";
import { submit } from "../src/engine/submit.ts";
import { localBus } from "../src/store/bus.ts";
import { sqliteStore } from "../src/store/sqlite.ts";
import { measure, type Shape } from "./graph-shapes.ts";

/** Our graphs on our engine, without a door: `node graph-handback.ts <data> <shapes>`. */
const [data = "", wanted = "[]"] = process.argv.slice(2);
const shapes = JSON.parse(wanted) as Shape[];

const state = { count: field(z.number(), { reduce: (a: number | undefined, b: number) => (a ?? 0) + b, default: () => 0 }) };
const one = () => ({ count: 1 });

function build({ name, nodes }: Shape): Agent {
  // The count survives turns; a bench runs each thread once.
  const maxSteps = nodes + 10;
  if (name === "loop")
    return graph(state, {
      nodes: { again: one },
      edges: [edge(START, "again"), when("again", ({ count }) => (count < nodes ? "again" : END), ["again", END])],
      maxSteps,
    });
  if (name === "fan-out")
    return graph(state, {
      nodes: { plan: () => ({}), work: one, join: () => ({}) },
      edges: [
        edge(START, "plan"),
        when("plan", () => Array.from({ length: nodes }, () => send("work", {})), ["work"]),
        edge("work", "join"),
      ],
      maxSteps,
    });
  const names = Array.from({ length: nodes }, (_, i) => `n${i}`);
  return graph(state, {
    nodes: Object.fromEntries(names.map((node) => [node, one])),
    edges: [edge(START, "n0"), ...names.slice(1).map((node, i) => edge(`n${i}`, node))],
    maxSteps,
  });
}

const clock = systemClock;
const engine: Engine = {
  store: await sqliteStore({ path: join(data, "handback") }),
  bus: localBus(),
  clock,
  ids: randomIds,
  agents: new Map(shapes.map((shape) => [`${shape.name}-${shape.nodes}`, build(shape)])),
  model: () => {
    throw new Error("no model here");
  },
  cache: toolCache(),
  log: () => {},
  coalesceMs: 25,
  beat: beat(clock, 25),
  runTimeout: 0,
  aggregate: joinDeltas,
  live: new Map(),
  idle: new Map(),
  reserved: new Set(),
  stopping: false,
};

async function run(agent: string, threadId: string): Promise<number> {
  const key = { app: "default", user: "user", threadId };
  const { after } = await submit(engine, key, {
    type: "run",
    runId: "r",
    turnId: randomIds("turn"),
    agent,
    messages: [{ id: "m", content: "go" }],
    results: [],
    answers: [],
    door: "explicit",
    by: "user:user",
    via: "bench",
    now: clock.now(),
  });
  for await (const _ of follow(engine, key, { after, until: "run", signal: new AbortController().signal }));
  return using(engine, key, async ({ thread }) => {
    if (thread.ended?.outcome.type !== "done") throw new Error(JSON.stringify(thread.ended?.outcome));
    return isObject(thread.state) ? Number(thread.state["count"]) : 0;
  });
}

for (const shape of shapes) {
  const cost = await measure(shape, "sync", (threadId) => run(`${shape.name}-${shape.nodes}`, threadId));
  process.send?.(cost);
}
engine.stopping = true;
await engine.store.close();
process.disconnect?.();
