import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyOf, startEngine } from "../../test/support/engine.ts";
import { AppError } from "../core/error.ts";
import type { Event } from "../core/event.ts";
import { memoryStore } from "../store/memory.ts";
import type { Store } from "../store/store.ts";
import { joinDeltas } from "./aggregate.ts";
import type { Aggregator, Engine } from "./engine.ts";
import { append, hold, queued } from "./live.ts";
import { recorder } from "./record.ts";

const started: Event = { type: "text.started", messageId: "m", stepId: "s" };
const ended: Event = { type: "text.ended", messageId: "m", text: "" };
const delta = (text: string, messageId = "m"): Event => ({ type: "text.delta", messageId, delta: text });
const custom = (name: string, value: string): Event => ({ type: "custom.emitted", name, value });

/** A recorder of a run that has begun, and the appends it makes. */
async function recording(options: Partial<Pick<Engine, "coalesceMs" | "aggregate" | "store">> = {}) {
  const appends: string[][] = [];
  const store = options.store ?? memoryStore();
  const spied: Store = {
    ...store,
    append(key, expect, events, at) {
      appends.push(events.map((event) => ("delta" in event ? event.delta : "value" in event ? String(event.value) : event.type)));
      return store.append(key, expect, events, at);
    },
  };
  const { engine, clock } = startEngine({ agents: {}, sweeping: false, ...options, store: spied });
  const live = await hold(engine, keyOf());
  const by = { by: "test", via: "test" };
  const start: Event = { type: "run.started", runId: "r", turnId: "t", epoch: 1, cause: "message", agent: "a", messages: [], ...by };
  await queued(live, () => append(engine, live, { seq: 0 }, [start]));
  appends.length = 0;
  const settled = () => clock.advance(0);
  return { ...recorder(engine, live, 1), appends, clock, engine, live, settled };
}

describe("recorder", () => {
  it("writes the first delta at once and gathers the others for 25 ms", async () => {
    const { write, appends, clock, settled } = await recording();
    write(started);
    await settled();
    write(delta("a"));
    await settled();
    assert.deepEqual(appends, [["text.started", "a"]]);
    write(delta("b"));
    await clock.advance(10);
    write(delta("c"));
    await clock.advance(14);
    assert.equal(appends.length, 1);
    await clock.advance(1);
    assert.deepEqual(appends[1], ["bc"]);
  });

  it("gathers until a beat that all runs share, so that one commit serves them all", async () => {
    const { write, appends, clock, settled } = await recording();
    await clock.advance(10);
    for (const event of [started, delta("a")]) write(event);
    await settled();
    write(delta("b"));
    await clock.advance(14);
    assert.deepEqual(appends.flat(), ["text.started", "a"]);
    await clock.advance(1);
    assert.deepEqual(appends.flat(), ["text.started", "a", "b"]);
  });

  it("gathers from the last write on, so that a slow model is not slowed further", async () => {
    const { write, appends, clock, settled } = await recording();
    write(started);
    write(delta("a"));
    await clock.advance(30);
    write(delta("b"));
    await settled();
    assert.deepEqual(appends.flat(), ["text.started", "a", "b"]);
  });

  it("writes what is no delta at once, behind the deltas before it", async () => {
    const { write, appends, settled } = await recording();
    for (const event of [started, delta("a")]) write(event);
    await settled();
    for (const event of [delta("b"), delta("c"), ended]) write(event);
    await settled();
    assert.deepEqual(appends.flat(), ["text.started", "a", "bc", "text.ended"]);
  });

  it("keeps what opens a step or a text for its first delta, but not for long", async () => {
    const { write, appends, clock, settled } = await recording();
    write({ type: "step.started", stepId: "s", name: "model", kind: "model", messageId: "m" });
    await settled();
    write(started);
    await settled();
    await clock.advance(24);
    assert.deepEqual(appends, []);
    await clock.advance(1);
    assert.deepEqual(appends, [["step.started", "text.started"]]);
    write(delta("a"));
    await settled();
    assert.deepEqual(appends[1], ["a"]);
  });

  it("gathers nothing when told so: every delta is an event of its own", async () => {
    const { write, appends, settled, flush } = await recording({ coalesceMs: 0 });
    write({ type: "step.started", stepId: "s", name: "model", kind: "model", messageId: "m" });
    await settled();
    for (const event of [started, delta("a"), delta("b"), delta("c")]) write(event);
    await settled();
    await flush();
    assert.deepEqual(appends.flat(), ["step.started", "text.started", "a", "b", "c"]);
  });

  it("resolves a flush only when everything taken is in the log", async () => {
    const { write, flush, live } = await recording();
    write(started);
    write(delta("a"));
    await flush();
    assert.equal(live.thread.seq, 3);
  });

  it("makes the model wait when the store cannot keep up", async () => {
    const slow = Promise.withResolvers<void>();
    const store = memoryStore();
    const { write, flush, settled } = await recording({
      store: {
        ...store,
        async append(key, expect, events, at) {
          if (events[0]?.type !== "run.started") await slow.promise;
          return store.append(key, expect, events, at);
        },
      },
    });
    write(started);
    await settled();
    let waits = 0;
    for (let i = 0; i < 500; i += 1) if (write(delta("x".repeat(1_000))) !== undefined) waits += 1;
    assert.ok(waits > 200, `it had to wait ${waits} times`);
    slow.resolve();
    await flush();
  });

  it("does not hold back more than it may, even while no time passes", async () => {
    const { write, appends, settled } = await recording();
    write(started);
    await settled();
    for (let i = 0; i < 500; i += 1) await write(delta("x".repeat(1_000)));
    assert.ok(appends.length > 1, "nothing was written");
  });

  it("writes nothing more once another driver has the run", async () => {
    const { write, flush, live, clock, engine } = await recording();
    write(started);
    await flush();
    await queued(live, () => append(engine, live, { epoch: 1 }, [{ type: "run.recovered", runId: "r", epoch: 2 }]));
    write(delta("zombie"));
    await assert.rejects(flush(), { code: "conflict" });
    assert.throws(() => write(delta("again")), { code: "conflict" });
    await clock.advance(1_000);
    assert.equal(live.thread.seq, 3);
  });

  it("waits for a store that cannot be written and goes on where it was", async () => {
    let full = true;
    const store = memoryStore();
    const { write, live, clock, settled, flush } = await recording({
      store: {
        ...store,
        async append(key, expect, events, at) {
          if (full && events[0]?.type !== "run.started") throw new AppError("unavailable", "The disk is full");
          return store.append(key, expect, events, at);
        },
      },
    });
    write(started);
    write(delta("a"));
    await settled();
    assert.equal(live.thread.seq, 1);
    full = false;
    await clock.advance(1_000);
    await flush();
    assert.equal(live.thread.seq, 3);
  });

  it("lets an aggregator of one's own decide what is held back (seed 003's thoughts)", async () => {
    const { write, appends, clock, settled } = await recording({ aggregate: thinkAggregator });
    write(started);
    write(delta("a"));
    await settled();
    for (const word of ["I ", "think ", "so"]) write(custom("think", word));
    await settled();
    assert.deepEqual(appends.flat(), ["text.started", "a"]);
    write(delta("b"));
    write(ended);
    await settled();
    assert.deepEqual(appends.flat(), ["text.started", "a", "I think so", "b", "text.ended"]);
    write(custom("think", "Well, "));
    write(custom("think", "no."));
    await clock.advance(25);
    assert.deepEqual(appends.at(-1), ["Well, no."]);
  });
});

/** Seed 003's example: thoughts are gathered and go in one piece before whatever comes next. */
function thinkAggregator(): Aggregator {
  const inner = joinDeltas();
  let thought = "";
  const release = (): Event[] => {
    const out = thought === "" ? [] : [custom("think", thought)];
    thought = "";
    return out;
  };
  return {
    append(event) {
      if (event.type !== "custom.emitted" || event.name !== "think") {
        const events = inner.append(event);
        return [...release(), ...events];
      }
      thought += String(event.value);
      return inner.flush();
    },
    flush() {
      const events = inner.flush();
      return [...release(), ...events];
    },
  };
}
