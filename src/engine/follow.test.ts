import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyOf, message, type Started, startEngine } from "../../test/support/engine.ts";
import { eventually } from "../../test/support/eventually.ts";
import { chatAgent } from "../agent/chat.ts";
import type { StoredEvent } from "../core/event.ts";
import type { ModelEvent } from "../model/model.ts";
import { says, scripted, scriptedBy } from "../model/scripted.ts";
import { follow } from "./follow.ts";

const agents = (...turns: Parameters<typeof scripted>) => ({ default: chatAgent({ model: scripted(...turns) }) });
const seqs = (events: readonly StoredEvent[]) => events.map(({ seq }) => seq);

/** A model that says one piece each time it is told to. */
function told(): { turn: () => AsyncGenerator<ModelEvent>; say: (piece: string) => void; end: () => void } {
  let queue: string[] = [];
  let wake = () => {};
  let over = false;
  return {
    async *turn() {
      yield { type: "text.started", id: "t" };
      for (;;) {
        const pieces = queue;
        queue = [];
        for (const delta of pieces) yield { type: "text.delta", id: "t", delta };
        if (over && queue.length === 0) break;
        if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      }
      yield { type: "text.ended", id: "t" };
    },
    say(piece) {
      queue.push(piece);
      wake();
    },
    end() {
      over = true;
      wake();
    },
  };
}

/** A reader that takes a batch only when asked for one. */
function reader({ engine }: Started, after: number) {
  const abort = new AbortController();
  const batches = follow(engine, keyOf(), { after, until: "run", signal: abort.signal });
  return { next: () => batches.next(), abort: () => abort.abort(), batches };
}

describe("follow", () => {
  it("gives a late reader what an early one got: replay and live are one path", async () => {
    const model = told();
    const started = startEngine({ agents: agents(() => model.turn()), coalesceMs: 0 });
    const { after } = await started.submit(message("go"));
    const early = started.follow(after);
    for (let i = 0; i < 200; i += 1) model.say(`${i} `);
    await eventually(async () => (await started.events()).length > 150);
    const middle = started.follow(100);
    model.end();
    await early;
    const late = started.follow(after);
    const events = await started.idle();
    assert.deepEqual(await early, events);
    assert.deepEqual(await late, events);
    assert.deepEqual(await middle, events.slice(100));
  });

  it("has no gap and no repetition wherever a reader joins", async () => {
    const model = told();
    const started = startEngine({ agents: agents(() => model.turn()), coalesceMs: 0 });
    const { after } = await started.submit(message("go"));
    const joined: Promise<StoredEvent[]>[] = [];
    for (let i = 0; i < 60; i += 1) {
      model.say(`${i} `);
      if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      joined.push(started.follow(after + (i % 7)));
    }
    model.end();
    const events = await started.idle();
    for (const [i, found] of (await Promise.all(joined)).entries()) assert.deepEqual(seqs(found), seqs(events.slice(i % 7)));
  });

  it("lets a reader fall behind without keeping what it has not read", async () => {
    const model = told();
    const started = startEngine({ agents: agents(() => model.turn()), coalesceMs: 0 });
    const { after } = await started.submit(message("go"));
    const slow = reader(started, after);
    const found: StoredEvent[] = [];
    const take = ({ value }: { value?: { events: readonly StoredEvent[] } | undefined }) => void found.push(...(value?.events ?? []));
    take(await slow.next());
    for (let i = 0; i < 1_000; i += 1) {
      model.say("x");
      if (i % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    model.end();
    const events = await started.idle();
    let batches = 0;
    for await (const batch of slow.batches) {
      batches += 1;
      found.push(...batch.events);
      assert.ok(batch.events.length <= 64, `${batch.events.length} events at once are too many to hold`);
    }
    assert.deepEqual(seqs(found), seqs(events));
    assert.ok(batches < 100, `${batches} batches: it reads pages, and no backlog of single events`);
  });

  it("ends with the run it was asked for, although the next has begun", async () => {
    const started = startEngine({ agents: { default: chatAgent({ model: scriptedBy(() => says("Yes.")) }) } });
    const first = await started.submit(message("one"));
    await started.idle();
    await started.submit(message("two"));
    const events = await started.idle();
    const found = await started.follow(first.after);
    assert.equal(found.at(-1)?.type, "run.ended");
    assert.equal(found.length, events.length / 2);
  });

  it("stops when its reader goes, and the thread can be forgotten", async () => {
    const model = told();
    const started = startEngine({ agents: agents(() => model.turn()) });
    const { after } = await started.submit(message("go"));
    const { batches, abort } = reader(started, after);
    await batches.next();
    const waiting = batches.next();
    abort();
    assert.ok((await waiting).done || (await batches.next()).done);
    const live = started.engine.live.get(JSON.stringify(["default", "user", "t"]));
    assert.equal(live?.followers.size, 0);
    assert.equal(live?.users, 1);
    model.end();
    await started.idle();
    await eventually(() => live?.users === 0);
  });

  it("shares the events of a batch between all readers that are up to date", async () => {
    const model = told();
    const started = startEngine({ agents: agents(() => model.turn()) });
    const { after } = await started.submit(message("go"));
    const readers = [reader(started, after), reader(started, after)];
    for (const one of readers) await one.next();
    model.say("hello");
    const [a, b] = await Promise.all(readers.map((one) => one.next()));
    assert.equal(a?.value, b?.value);
    model.end();
    for (const { batches } of readers) for await (const _ of batches);
  });
});
