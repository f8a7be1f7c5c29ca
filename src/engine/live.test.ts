import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyOf, message, startEngine } from "../../test/support/engine.ts";
import { eventually } from "../../test/support/eventually.ts";
import { chatAgent } from "../agent/chat.ts";
import { emptyThread, fold } from "../core/thread.ts";
import { hangs, says, scriptedBy } from "../model/scripted.ts";
import { localBus } from "../store/bus.ts";
import { memoryStore } from "../store/memory.ts";
import type { Store } from "../store/store.ts";
import { append, hold, queued, release } from "./live.ts";

const agents = { default: chatAgent({ model: scriptedBy(() => says("Yes.")) }) };

/** A store that counts what is read and saved. */
function counted(): { store: Store; snapshots: number[]; read: () => number } {
  const store = memoryStore();
  const snapshots: number[] = [];
  let read = 0;
  return {
    snapshots,
    read: () => read,
    store: {
      ...store,
      async read(key, query) {
        const events = await store.read(key, query);
        read += events.length;
        return events;
      },
      async saveSnapshot(key, snapshot) {
        snapshots.push(snapshot.seq);
        await store.saveSnapshot(key, snapshot);
      },
    },
  };
}

describe("threads in memory", () => {
  it("are let go when nobody uses them and others were used since", async () => {
    const { submit, idle, engine } = startEngine({ agents });
    for (let i = 0; i < 300; i += 1) {
      await submit(message("go"), keyOf(`t${i}`));
      await idle(keyOf(`t${i}`));
    }
    await eventually(() => engine.live.size === engine.idle.size);
    assert.equal(engine.live.size, 256);
    assert.ok(!engine.live.has(JSON.stringify(["default", "user", "t0"])));
    assert.ok(engine.live.has(JSON.stringify(["default", "user", "t299"])));
  });

  it("are let go sooner when they are long", async () => {
    const store = memoryStore();
    const { engine } = startEngine({ agents, store, sweeping: false });
    for (let i = 0; i < 5; i += 1) {
      const live = await hold(engine, keyOf(`t${i}`));
      live.thread.history.length = 9_000;
      release(engine, live);
    }
    assert.equal(engine.live.size, 2);
  });

  it("stay while a run goes on or somebody follows", async () => {
    const { submit, idle, engine, events } = startEngine({
      agents: { ...agents, stuck: chatAgent({ model: scriptedBy((_, signal) => hangs(...says("Hm."))({} as never, signal) as never) }) },
    });
    await submit({ ...message("go"), agent: "stuck" }, keyOf("busy"));
    await eventually(async () => (await events(keyOf("busy"))).length > 3);
    for (let i = 0; i < 260; i += 1) {
      await submit(message("go"), keyOf(`t${i}`));
      await idle(keyOf(`t${i}`));
    }
    const live = engine.live.get(JSON.stringify(["default", "user", "busy"]));
    assert.ok(live?.driver);
    live.driver.stop("shutdown");
  });

  it("are the same object for everyone who holds them", async () => {
    const { engine } = startEngine({ agents, sweeping: false });
    const [a, b] = await Promise.all([hold(engine, keyOf()), hold(engine, keyOf())]);
    assert.equal(a, b);
    assert.equal(a.users, 2);
  });

  it("fold an event once, even if it is told of while they are loaded", async () => {
    const [store, bus] = [memoryStore(), localBus()];
    const a = startEngine({ agents, store, bus, sweeping: false });
    await a.submit(message("go"));
    const events = await a.idle();
    const b = startEngine({ agents, store, bus, sweeping: false });
    const loading = hold(b.engine, keyOf());
    bus.publish(keyOf());
    const live = await loading;
    await queued(live, async () => {});
    assert.deepEqual(live.thread, events.reduce(fold, emptyThread()));
  });

  it("that could not be loaded are tried again, and leave no listener behind", async () => {
    const store = memoryStore();
    let broken = true;
    let listening = 0;
    const bus = localBus();
    const { engine } = startEngine({
      agents,
      sweeping: false,
      store: { ...store, snapshot: (key) => (broken ? Promise.reject(new Error("cannot read")) : store.snapshot(key)) },
      bus: {
        ...bus,
        listen(key, wake) {
          listening += 1;
          const stop = bus.listen(key, wake);
          return () => {
            listening -= 1;
            stop();
          };
        },
      },
    });
    await assert.rejects(hold(engine, keyOf()), /cannot read/);
    assert.deepEqual([engine.live.size, listening], [0, 0]);
    broken = false;
    assert.equal((await hold(engine, keyOf())).thread.seq, 0);
  });
});

describe("the queue of a thread", () => {
  it("does one thing after the other, also behind one that failed", async () => {
    const { engine } = startEngine({ agents, sweeping: false });
    const live = await hold(engine, keyOf());
    const order: number[] = [];
    const slow = queued(live, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(1);
      throw new Error("no");
    });
    const next = queued(live, async () => order.push(2));
    await assert.rejects(slow, /no/);
    await next;
    assert.deepEqual(order, [1, 2]);
  });

  it("tells a conflict from the store, having changed nothing", async () => {
    const { engine } = startEngine({ agents, sweeping: false });
    const live = await hold(engine, keyOf());
    const changed = { type: "thread.changed", title: "x" } as const;
    await assert.rejects(
      queued(live, () => append(engine, live, { seq: 7 }, [changed])),
      { code: "conflict" },
    );
    assert.equal(live.thread.seq, 0);
  });
});

describe("snapshots", () => {
  it("are taken so seldom that all of them together cost what the log does", async () => {
    const { store, snapshots } = counted();
    const { submit, idle } = startEngine({ agents, store });
    for (let i = 0; i < 200; i += 1) {
      await submit(message("go"));
      await idle();
    }
    const seq = (await store.thread(keyOf()))?.seq ?? 0;
    assert.ok(snapshots.length > 3, "there must be some");
    const written = snapshots.reduce((sum, at) => sum + at, 0);
    assert.ok(written < 4 * seq, `${snapshots.length} snapshots of together ${written} events for a log of ${seq}`);
  });

  it("keep loading cheap: only what came behind them is read", async () => {
    const { store, read } = counted();
    const first = startEngine({ agents, store });
    for (let i = 0; i < 200; i += 1) {
      await first.submit(message("go"));
      await first.idle();
    }
    await first.stop();
    const before = read();
    const second = startEngine({ agents, store, sweeping: false });
    const live = await hold(second.engine, keyOf());
    assert.equal(live.thread.history.length, 400);
    const cost = read() - before;
    assert.ok(cost < live.thread.seq / 2, `${cost} of ${live.thread.seq} events were read`);
  });
});
