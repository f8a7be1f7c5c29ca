import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { toolCache } from "../../src/agent/run-tool.ts";
import { systemClock } from "../../src/core/clock.ts";
import { randomIds } from "../../src/core/ids.ts";
import { emptyThread, fold, type Thread } from "../../src/core/thread.ts";
import { joinDeltas } from "../../src/engine/aggregate.ts";
import { beat } from "../../src/engine/beat.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { submit } from "../../src/engine/submit.ts";
import { sweep } from "../../src/engine/sweep.ts";
import { localBus } from "../../src/store/bus.ts";
import { sqliteStore } from "../../src/store/sqlite.ts";
import { answerTo, build, type Spec } from "./random.ts";

// A process to be killed: it goes on with the graph in its directory, and asks nobody but itself for answers.

const [data = "", specFile = "", trace = ""] = process.argv.slice(2);
const key = { app: "default", user: "user", threadId: "t" };
const spec = JSON.parse(readFileSync(specFile, "utf8")) as Spec;

const agent = build(spec, {
  async ran({ taskId, thread }) {
    appendFileSync(trace, `${JSON.stringify({ taskId, seq: thread.seq })}\n`); // where a crash cannot take it back
    await sleep(Math.random() * 3);
  },
  ask: ({ interrupt }, name) => interrupt(name, `${name}?`),
});
const store = await sqliteStore({ path: data });
const engine: Engine = {
  store,
  bus: localBus(),
  clock: systemClock,
  ids: randomIds,
  agents: new Map([["default", agent]]),
  model: () => {
    throw new Error("no provider here");
  },
  cache: toolCache(),
  log: () => {},
  coalesceMs: 5,
  beat: beat(systemClock, 5),
  runTimeout: 0,
  aggregate: joinDeltas,
  live: new Map(),
  idle: new Map(),
  reserved: new Set(),
  stopping: false,
};
sweep(engine, {});
process.stdout.write("up\n");
for (;;) {
  await sleep(1);
  if ((await store.thread(key))?.status === "running") continue;
  const thread = await read();
  if (thread.ended && thread.interrupts.size === 0) break;
  const open = [...thread.interrupts.values()];
  const some = open.filter((_, i) => i === 0 || Math.random() < 0.5);
  const answers = some.map(({ interruptId, place }) => ({ interruptId, status: "resolved" as const, value: answerTo(place?.key ?? "") }));
  const messages = thread.turn ? [] : [{ id: "m", content: "go" }];
  const who = { by: "user:user", via: "test", runId: randomIds("run"), turnId: randomIds("turn"), now: Date.now() };
  await submit(engine, key, { type: "run", ...who, messages, answers, results: [], door: "explicit" });
}
await store.close();
process.exit(0);

async function read(): Promise<Thread> {
  const thread = emptyThread();
  for (const event of await store.read(key, { after: 0 })) fold(thread, event);
  return thread;
}
