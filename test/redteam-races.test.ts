import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { END, goto, START } from "../src/agent/graph/command.ts";
import { edge } from "../src/agent/graph/edge.ts";
import { field } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { node } from "../src/agent/graph/node.ts";
import type { Event, StoredEvent } from "../src/core/event.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { recipe } from "./support/graphs.ts";
import { type Answer, asker, obedient } from "./support/native.ts";
import { eventually, keyOf, type Served, serve } from "./support/serve.ts";

type Ask = ReturnType<typeof asker>;
const settled = (ask: Ask, id: string, status: string) =>
  eventually(async () => (await ask("GET", `/threads/${id}`)).json.status === status);
const waiting = async (server: Served, ask = asker(server.url)) => {
  await ask("POST", "/threads/t/runs", { message: "omelette" });
  await settled(ask, "t", "waiting");
  const [question] = (await ask("GET", "/calls?status=pending")).json.calls;
  const [checkpoint] = (await ask("GET", "/threads/t/checkpoints")).json.checkpoints;
  return { ask, question: encodeURIComponent(question.id), checkpointId: checkpoint.checkpointId as string };
};
const count = (events: readonly StoredEvent[], type: Event["type"]) => events.filter((event) => event.type === type).length;

/** Each run has one end, and each question one answer, whatever came at once. */
function isSound(events: readonly StoredEvent[]): void {
  let open: number | undefined;
  const asked = new Map<string, number>();
  for (const event of events) {
    if (event.type === "run.started") {
      assert.equal(open, undefined, `a run began inside another at ${event.seq}`);
      open = event.seq;
    } else if (event.type === "run.ended") {
      assert.equal(event.run, open);
      open = undefined;
    } else if (event.type === "interrupt.raised") asked.set(event.interruptId, 0);
    else if (event.type === "interrupt.answered") asked.set(event.interruptId, (asked.get(event.interruptId) ?? 99) + 1);
  }
  for (const [id, answers] of asked) assert.ok(answers <= 1, `${id} was answered ${answers} times`);
}

describe("red team: at the same time", () => {
  it("one run begins, however often a thread is sent back", async () => {
    const done: string[] = [];
    await using server = await serve({ agents: { default: recipe(done) } });
    const { ask } = await waiting(server);
    const [, { checkpointId }] = (await ask("GET", "/threads/t/checkpoints")).json.checkpoints; // not where it stands
    const body = { checkpointId, resume: { confirm: true } };
    const same = Array.from({ length: 10 }, () => ask("POST", "/threads/t/runs", { ...body, runId: "again" }));
    assert.deepEqual(new Set((await Promise.all(same)).map(({ status, json }) => `${status} ${json.seq}`)).size, 1);
    await settled(ask, "t", "idle");
    assert.equal(count(await server.events(), "thread.rewound"), 1);
    assert.equal(done.filter((name) => name === "cook").length, 1);
    const others = await Promise.all(Array.from({ length: 10 }, (_, i) => ask("POST", "/threads/t/runs", { ...body, runId: `other${i}` })));
    await settled(ask, "t", "idle");
    const begun = others.filter(({ status }) => status === 202).length;
    assert.ok(others.every(({ status }) => status === 202 || status === 409));
    assert.equal(count(await server.events(), "thread.rewound"), 1 + begun);
    isSound(await server.events());
  });

  it("an answer, a cancel, an expiry and a way back leave one outcome", async () => {
    const asks = graph(
      { said: field(z.string()) },
      {
        nodes: {
          ask: node(async ({ interrupt }) => goto(END, { said: String(await interrupt("q", "Well?", { timeout: "10s" })) }), { to: [END] }),
        },
        edges: [edge(START, "ask")],
      },
    );
    for (let order = 0; order < 8; order += 1) {
      await using server = await serve({ agents: { default: asks } });
      const { ask, question, checkpointId } = await waiting(server);
      const moves: (() => Promise<Answer | undefined>)[] = [
        () => ask("POST", `/interrupts/${question}/answer`, { value: "yes" }),
        () => ask("POST", "/threads/t/cancel", {}),
        async () => void (await server.clock.advance(10_001)),
        () => ask("POST", "/threads/t/runs", { checkpointId, resume: { q: "no" } }),
      ];
      const turned = [...moves.slice(order % 4), ...moves.slice(0, order % 4)];
      const answers = await Promise.all((order < 4 ? turned : turned.reverse()).map((move) => move()));
      for (const answer of answers) assert.ok((answer?.status ?? 200) < 500, answer?.text);
      await eventually(async () => (await ask("GET", "/threads/t")).json.status !== "running");
      await server.clock.advance(20_000);
      await eventually(async () => (await ask("GET", "/threads/t")).json.status === "idle");
      isSound(await server.events());
      assert.deepEqual((await ask("GET", "/calls?status=pending")).json.calls, []);
    }
  });

  it("of many forks under one name there is one, and the thread they come from goes on", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { ask, question, checkpointId } = await waiting(server);
    const forks = Array.from({ length: 8 }, () => ask("POST", "/threads/t/fork", { checkpointId, threadId: "copy" }));
    const answer = ask("POST", `/interrupts/${question}/answer`, { value: true });
    const statuses = (await Promise.all(forks)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    assert.equal((await answer).status, 200);
    await settled(ask, "t", "idle");
    await settled(ask, "copy", "waiting");
    for (const id of ["t", "copy"]) isSound(await server.events(id));
  });

  it("a fork of what runs ends at its last barrier, and does not disturb it", async () => {
    await using server = await serve({ agents: { default: obedient(), recipe: recipe() } });
    const ask = asker(server.url);
    await ask("POST", "/threads/t/runs", { message: "pie", agent: "recipe" });
    await settled(ask, "t", "waiting");
    await ask("POST", "/threads/t/runs", { resume: { confirm: false } });
    await settled(ask, "t", "idle");
    await ask("POST", "/threads/t/runs", { message: "hang", agent: "default" });
    await settled(ask, "t", "running");
    const { status } = await ask("POST", "/threads/t/fork", { threadId: "copy", run: false });
    assert.equal(status, 201);
    assert.ok(!JSON.stringify(await server.events("copy")).includes("hang"));
    assert.equal((await ask("GET", "/threads/t")).json.status, "running");
    isSound(await server.events("copy"));
    // Without a barrier there is nothing to end at.
    await ask("POST", "/threads/chat/runs", { message: "hang", agent: "default" });
    assert.equal((await ask("POST", "/threads/chat/fork", { threadId: "none" })).status, 409);
    assert.equal((await ask("GET", "/threads/none")).status, 404);
  });

  it("a thread that is deleted while it is copied leaves no half of it behind", async () => {
    const inner = memoryStore();
    let remove: (() => Promise<unknown>) | undefined;
    const store: Store = {
      ...inner,
      async read(key, query) {
        const events = await inner.read(key, query);
        if (key.threadId === "long" && query.deltas === false) {
          const now = remove;
          remove = undefined;
          await now?.();
        }
        return events;
      },
    };
    await using server = await serve({ agents: { default: obedient() }, store });
    const ask = asker(server.url);
    const events = Array.from({ length: 800 }, (_, i): Event[] => [
      {
        type: "run.started",
        runId: `r${i}`,
        turnId: `x${i}`,
        epoch: i + 1,
        cause: "message",
        agent: "default",
        messages: [],
        by: "b",
        via: "n",
      },
      { type: "run.ended", runId: `r${i}`, turnId: `x${i}`, run: 2 * i + 1, outcome: { type: "done" } },
    ]).flat();
    for (const again of [false, true]) {
      const seq = (await inner.origin(keyOf("long"))).seq;
      await inner.append(
        keyOf("long"),
        { seq },
        events.map((event) => (event.type === "run.ended" ? { ...event, run: event.run + seq } : event)),
        1,
      );
      remove = async () => {
        await ask("DELETE", "/threads/long");
        if (again) await ask("POST", "/threads/long/runs", { message: "another life" });
      };
      const { status, text } = await ask("POST", "/threads/long/fork", { threadId: `copy${again}`, run: false });
      assert.equal(status, 404, text);
      assert.equal((await ask("GET", `/threads/copy${again}`)).status, 404);
      if (again) await settled(ask, "long", "idle");
    }
  });

  it("two servers on one store fork, answer and go back as one", async () => {
    const store = memoryStore();
    const done: string[] = [];
    await using one = await serve({ agents: { default: recipe(done) }, store });
    await using two = await serve({ agents: { default: recipe(done) }, store });
    const { ask, question, checkpointId } = await waiting(one);
    const other = asker(two.url);
    const all = await Promise.all([
      ask("POST", "/threads/t/fork", { checkpointId, threadId: "copy", run: false }),
      other("POST", "/threads/t/fork", { checkpointId, threadId: "copy", run: false }),
      ask("POST", `/interrupts/${question}/answer`, { value: true }),
      other("POST", `/interrupts/${question}/answer`, { value: true }),
    ]);
    const [left, right, ...answers] = all.map(({ status }) => status);
    assert.deepEqual([left, right].sort(), [201, 409]);
    assert.deepEqual(answers, [200, 200]);
    await settled(ask, "t", "idle");
    isSound(await one.events());
    isSound(await one.events("copy"));
    assert.equal(done.filter((name) => name === "cook").length, 1);
  });
});
