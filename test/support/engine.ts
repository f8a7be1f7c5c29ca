import type { Agent } from "../../src/agent/agent.ts";
import { toolCache } from "../../src/agent/run-tool.ts";
import type { Command, RunCommand } from "../../src/core/command.ts";
import type { StoredEvent } from "../../src/core/event.ts";
import type { ThreadKey } from "../../src/core/ids.ts";
import { joinDeltas } from "../../src/engine/aggregate.ts";
import { beat } from "../../src/engine/beat.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { follow, type Until } from "../../src/engine/follow.ts";
import { type Submitted, submit } from "../../src/engine/submit.ts";
import { sweep } from "../../src/engine/sweep.ts";
import { localBus } from "../../src/store/bus.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { type FakeClock, fakeClock } from "../../src/testing/fake-clock.ts";
import { eventually } from "./eventually.ts";

/** An engine without doors, and short ways to talk to its thread `t`. */
export type Started = AsyncDisposable & {
  engine: Engine;
  clock: FakeClock;
  logged: { event: string; [field: string]: unknown }[];
  submit(command: Partial<RunCommand>, key?: ThreadKey): Promise<Submitted>;
  tell(command: Pick<Command, "type"> & Record<string, unknown>, key?: ThreadKey): Promise<Submitted>;
  events(key?: ThreadKey): Promise<StoredEvent[]>;
  /** What lies behind `after`, to the end of the run or turn. */
  follow(after: number, until?: Until, key?: ThreadKey): Promise<StoredEvent[]>;
  /** Waits until no run goes on. */
  idle(key?: ThreadKey): Promise<StoredEvent[]>;
  stop(): Promise<void>;
};

type Options = Omit<Partial<Engine>, "agents" | "clock"> & { agents: Record<string, Agent>; clock?: FakeClock; sweeping?: boolean };

let names = 0;

export function startEngine({ agents, clock = fakeClock(START), sweeping = true, ...options }: Options): Started {
  const logged: Started["logged"] = [];
  const engine: Engine = {
    store: memoryStore(),
    bus: localBus(),
    clock,
    ids: (prefix) => `${prefix}_${++names}`,
    agents: new Map(Object.entries(agents)),
    model: () => {
      throw new Error("no provider here");
    },
    cache: toolCache(),
    log: (line) => void logged.push(line),
    coalesceMs: 25,
    beat: beat(clock, options.coalesceMs ?? 25),
    runTimeout: 0,
    aggregate: joinDeltas,
    live: new Map(),
    idle: new Map(),
    reserved: new Set(),
    stopping: false,
    ...options,
  };
  const swept = sweeping ? sweep(engine, {}) : undefined;
  const events = (key = keyOf()) => engine.store.read(key, { after: 0 });
  return {
    engine,
    clock,
    logged,
    submit: (command, key = keyOf()) => submit(engine, key, runCommand(engine, command)),
    tell: (command, key = keyOf()) =>
      submit(engine, key, { by: "user:user", via: "test", now: clock.now(), runId: engine.ids("run"), ...command } as unknown as Command),
    events,
    async follow(after, until = "run", key = keyOf()) {
      const found: StoredEvent[] = [];
      for await (const batch of follow(engine, key, { after, until, signal: new AbortController().signal })) found.push(...batch.events);
      return found;
    },
    async idle(key = keyOf()) {
      await eventually(async () => (await engine.store.thread(key))?.status !== "running");
      return events(key);
    },
    async stop() {
      engine.stopping = true;
      for (const live of engine.live.values()) live.driver?.stop("shutdown");
      await eventually(() => ![...engine.live.values()].some(({ driver }) => driver));
      await swept?.stop();
    },
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
}

function runCommand(engine: Engine, command: Partial<RunCommand>): RunCommand {
  return {
    type: "run",
    runId: engine.ids("run"),
    turnId: engine.ids("turn"),
    messages: [],
    results: [],
    answers: [],
    door: "explicit",
    by: "user:user",
    via: "test",
    now: engine.clock.now(),
    ...command,
  };
}

export function message(content: string, id: string = `m${++names}`): { messages: { id: string; content: string }[] } {
  return { messages: [{ id, content }] };
}

export function keyOf(threadId = "t", user = "user"): ThreadKey {
  return { app: "default", user, threadId };
}

/** Some day at noon. */
export const START: number = Date.UTC(2026, 0, 5, 12);
