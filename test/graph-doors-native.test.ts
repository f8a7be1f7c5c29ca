import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect } from "../src/client/client.ts";
import { type Journal, nested, recipe, twoQuestions } from "./support/graphs.ts";
import { asker, authenticate, obedient } from "./support/native.ts";
import { directory, type Served, serve } from "./support/serve.ts";

const finish = async (handback: ReturnType<typeof connect>, thread: string, after = 0) => {
  const events = [];
  for await (const event of handback.follow(thread, { after, until: "run" })) events.push(event);
  return events;
};
const said = async (server: Served, threadId: string) =>
  (await server.events(threadId)).flatMap((event) => (event.type === "text.ended" ? [event.text] : [])).at(-1);
const stateOf = async (server: Served, threadId: string) => {
  const { frames } = await server.post({ threadId }, "/agui/history?follow=false");
  return frames.find(({ type }) => type === "STATE_SNAPSHOT")?.["snapshot"];
};

/** A thread whose recipe waits to be confirmed, and how to talk to it. */
async function asked(server: Served) {
  const handback = connect({ url: server.url });
  const { seq } = await handback.run("t", "omelette");
  await finish(handback, "t", seq);
  const { waits } = await handback.threads.get("t");
  assert.ok(waits[0]);
  return { handback, question: waits[0] };
}

describe("native: graphs", () => {
  it("lists a question among what waits, and takes its answer by its name", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { handback, question } = await asked(server);
    assert.deepEqual([question.kind, question.name], ["interrupt", "question"]);
    await assert.rejects(handback.answer(question.id, "perhaps"), { code: "unprocessable" });
    const { seq } = await handback.answer(question.id, true);
    await finish(handback, "t", seq);
    assert.equal(await said(server, "t"), "Here is your omelette.");
    assert.equal((await handback.threads.get("t")).status, "idle");
  });

  it("takes answers by key, and by key only what is asked", async () => {
    await using server = await serve({ agents: { default: twoQuestions() } });
    const ask = asker(server.url);
    const handback = connect({ url: server.url });
    await finish(handback, "t", (await handback.run("t", "soup")).seq);
    assert.equal((await ask("POST", "/threads/t/runs", { resume: { pepper: 1 } })).status, 404);
    const { status, json } = await ask("POST", "/threads/t/runs", { resume: { salt: 1, sugar: 2 } });
    assert.equal(status, 202);
    await finish(handback, "t", json["seq"]);
    assert.equal(await said(server, "t"), "salt: 1, sugar: 2");
  });

  it("serves nodes and edges as data, also of a graph inside", async () => {
    await using server = await serve({ agents: { default: nested(), recipe: recipe() } });
    const { agents } = await connect({ url: server.url }).meta();
    const [outer] = agents;
    const end = (from: string) => ({ from, to: "__end__", kind: "edge" });
    assert.deepEqual(outer?.graph, {
      nodes: [
        {
          id: "measure",
          kind: "graph",
          graph: { nodes: [{ id: "ask", kind: "node" }], edges: [{ from: "__start__", to: "ask", kind: "edge" }, end("ask")] },
        },
        { id: "report", kind: "node" },
      ],
      edges: [{ from: "__start__", to: "measure", kind: "edge" }, { from: "measure", to: "report", kind: "edge" }, end("report")],
    });
    const confirm = agents.find(({ name }) => name === "recipe")?.graph?.edges.filter(({ from }) => from === "confirm");
    assert.deepEqual(
      confirm?.map(({ to, kind }) => [to, kind]),
      [
        ["cook", "when"],
        ["__end__", "when"],
      ],
    );
  });
});

describe("native: checkpoints", () => {
  it("are listed, the latest first, page by page", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { handback } = await asked(server);
    const { checkpoints } = await handback.checkpoints.list("t");
    assert.deepEqual(
      checkpoints.map(({ superstep, tasks }) => [superstep, tasks.map(({ node }) => node)]),
      [
        [1, ["confirm"]],
        [0, ["plan"]],
      ],
    );
    const first = await handback.checkpoints.list("t", { limit: 1 });
    assert.deepEqual(first.checkpoints, checkpoints.slice(0, 1));
    const rest = await handback.checkpoints.list("t", { limit: 1, ...(first.next !== undefined && { before: first.next }) });
    assert.deepEqual(rest.checkpoints, checkpoints.slice(1));
    const turn = (await server.events()).find(({ type }) => type === "run.started");
    assert.deepEqual([...new Set(checkpoints.map(({ turnId }) => turnId))], [turn?.type === "run.started" && turn.turnId]);
  });

  it("are where another thread begins, which goes its own way", async () => {
    const done: Journal = [];
    await using server = await serve({ agents: { default: recipe(done) } });
    const { handback, question } = await asked(server);
    const { checkpoints } = await handback.checkpoints.list("t");
    const forked = await handback.checkpoints.fork("t", { checkpointId: checkpoints[0]?.checkpointId ?? "", threadId: "branch" });
    assert.equal(forked.threadId, "branch");
    await finish(handback, "branch", forked.seq);
    const [other] = (await handback.threads.get("branch")).waits;
    assert.ok(other);
    assert.notEqual(other.id, question.id);
    await finish(handback, "branch", (await handback.answer(other.id, false)).seq);
    assert.deepEqual(
      (await handback.threads.get("t")).waits.map(({ id }) => id),
      [question.id],
      "the first one waits as before",
    );
    await finish(handback, "t", (await handback.answer(question.id, true)).seq);
    assert.equal(await said(server, "t"), "Here is your omelette.");
    assert.equal(done.filter((node) => node === "cook").length, 1);
    assert.deepEqual(await stateOf(server, "branch"), { dish: "omelette", log: ["Two eggs.", "stopped"] });
  });

  it("let a fork begin with another state and with answers that are there before their questions", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { handback } = await asked(server);
    const forked = await handback.checkpoints.fork("t", { state: { dish: "pancake" }, resume: { confirm: true } });
    await finish(handback, forked.threadId, forked.seq);
    assert.equal(await said(server, forked.threadId), "Here is your pancake.");
    const still = await handback.checkpoints.fork("t", { run: false });
    assert.equal((await handback.threads.get(still.threadId)).status, "idle");
  });

  it("are where a thread is taken back to, once for a request that comes twice", async () => {
    const done: Journal = [];
    await using server = await serve({ agents: { default: recipe(done) } });
    const { handback, question } = await asked(server);
    const { checkpoints } = await handback.checkpoints.list("t");
    await finish(handback, "t", (await handback.answer(question.id, true)).seq);
    const back = { checkpointId: checkpoints[0]?.checkpointId, resume: { confirm: false }, runId: "again" };
    const ask = asker(server.url);
    const [one, two] = [await ask("POST", "/threads/t/runs", back), await ask("POST", "/threads/t/runs", back)];
    assert.deepEqual([one.status, one.json], [202, two.json]);
    await finish(handback, "t", one.json["seq"]);
    assert.deepEqual(await stateOf(server, "t"), { dish: "omelette", log: ["Two eggs.", "stopped"] });
    assert.equal(done.filter((node) => node === "cook").length, 1);
  });

  it("let the state be changed before a question is answered", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { handback } = await asked(server);
    const { checkpoints } = await handback.checkpoints.list("t");
    const { seq } = await handback.checkpoints.rerun("t", checkpoints[0]?.checkpointId ?? "", {
      state: { dish: "pancake" },
      resume: { confirm: true },
    });
    await finish(handback, "t", seq);
    assert.equal(await said(server, "t"), "Here is your pancake.");
  });

  it("survive a restart", async () => {
    using data = directory();
    let id = "";
    {
      await using server = await serve({ agents: { default: recipe() }, data: data.path });
      const { handback } = await asked(server);
      id = (await handback.checkpoints.list("t")).checkpoints[0]?.checkpointId ?? "";
    }
    await using server = await serve({ agents: { default: recipe() }, data: data.path });
    const handback = connect({ url: server.url });
    assert.equal((await handback.checkpoints.list("t")).checkpoints[0]?.checkpointId, id);
    const { seq } = await handback.checkpoints.rerun("t", id, { resume: { confirm: true } });
    await finish(handback, "t", seq);
    assert.equal(await said(server, "t"), "Here is your omelette.");
  });

  it("belong to their thread and its user, and another state is an operator's to write", async () => {
    await using server = await serve({ agents: { default: recipe() }, authenticate });
    const alice = asker(server.url, "alice");
    const eve = asker(server.url, "eve");
    const op = asker(server.url, "op");
    await alice("POST", "/threads/t/runs", { message: "omelette" });
    const listed = async () => (await alice("GET", "/threads/t/checkpoints")).json["checkpoints"] as { checkpointId: string }[];
    while ((await listed()).length < 2) await new Promise((resolve) => setImmediate(resolve));
    const [{ checkpointId } = { checkpointId: "" }] = await listed();
    await eve("POST", "/threads/mine/runs", { message: "soup" });
    const refused: [string, string, object | undefined, number][] = [
      ["GET", "/threads/t/checkpoints", undefined, 404],
      ["POST", "/threads/t/fork", {}, 404],
      ["POST", "/threads/mine/fork", { checkpointId }, 404],
      ["POST", "/threads/t/runs", { checkpointId, resume: { confirm: true } }, 404],
      ["POST", "/threads/mine/runs", { checkpointId, resume: { confirm: true } }, 404],
    ];
    for (const [method, path, body, status] of refused) assert.equal((await eve(method, path, body)).status, status, path);
    assert.equal((await alice("POST", "/threads/t/fork", { checkpointId, state: { dish: "x" } })).status, 403);
    assert.equal((await alice("POST", "/threads/t/runs", { checkpointId, state: { dish: "x" } })).status, 403);
    assert.equal((await alice("POST", "/threads/t/fork", { checkpointId, threadId: "t" })).status, 409);
    assert.equal((await alice("POST", "/threads/t/fork", { checkpointId: "none" })).status, 404);
    assert.equal((await alice("POST", "/threads/t/fork", { checkpointId, threadId: "b" })).status, 201);
    assert.equal((await op("POST", "/threads/t/fork?user=alice", { checkpointId, state: { dish: "x" } })).status, 201);
  });

  it("are nothing to say a message with, and no state without one", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const ask = asker(server.url);
    for (const [body, field] of [
      [{ message: "hi", checkpointId: "c" }, "message"],
      [{ state: { a: 1 } }, "checkpointId"],
      [{}, "message"],
    ] as const) {
      const { status, json } = await ask("POST", "/threads/t/runs", body);
      assert.deepEqual([status, json["error"].field], [400, field]);
    }
    assert.equal((await ask("POST", "/threads/t/fork", { resume: { a: 1 }, run: false })).json["error"].field, "resume");
  });

  it("are none in a thread that never was, nor in one whose agent is no graph", async () => {
    await using server = await serve({ agents: { default: obedient() } });
    const ask = asker(server.url);
    assert.equal((await ask("GET", "/threads/none/checkpoints")).status, 404);
    const handback = connect({ url: server.url });
    await finish(handback, "t", (await handback.run("t", "hello")).seq);
    assert.deepEqual((await ask("GET", "/threads/t/checkpoints")).json, { checkpoints: [] });
    assert.equal((await ask("POST", "/threads/t/runs", { checkpointId: "none" })).status, 404);
  });
});
