import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { START } from "../src/agent/graph/command.ts";
import { edge } from "../src/agent/graph/edge.ts";
import { append, field } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { agentNode, graphNode } from "../src/agent/graph/node.ts";
import { tool } from "../src/agent/tool.ts";
import { emptyThread, fold } from "../src/core/thread.ts";
import { fork } from "../src/engine/fork.ts";
import { removeThread } from "../src/engine/remove.ts";
import { importThread } from "../src/engine/transfer.ts";
import { calls, says, scriptedBy } from "../src/model/scripted.ts";
import { begun, folded, only, open, outcomes, reply } from "./graph/support.ts";
import { keyOf, message, type Started, startEngine } from "./support/engine.ts";

const log = field(z.array(z.string()), { reduce: append, default: () => [] });

const recipe = graph(
  { dish: field(z.string()), log },
  {
    input: ({ text }) => ({ dish: text }),
    nodes: {
      plan: ({ state, text }) => {
        text(`Planning ${state.dish}.`);
        return { log: [`plan ${state.dish}`] };
      },
      confirm: async ({ interrupt }) => ({ log: [`confirmed ${await interrupt("confirm", "Cook?", { schema: z.boolean() })}`] }),
      cook: ({ state }) => ({ log: [`cook ${state.dish}`] }),
    },
    edges: [edge(START, "plan"), edge("plan", "confirm"), edge("confirm", "cook")],
  },
);

const checkpoints = async (started: Started, key = keyOf()) =>
  (await started.engine.store.checkpoints(key, { limit: 100 })).checkpoints.reverse();
const stateOf = async (started: Started, threadId: string) => {
  const thread = emptyThread();
  for (const event of await started.events(keyOf(threadId))) fold(thread, event);
  return thread.state;
};
const who = { runId: "r", turnId: "t", by: "user:user", via: "test" };

async function cooked(): Promise<Started> {
  const started = startEngine({ agents: { default: recipe } });
  await started.submit(message("pie"));
  await started.idle();
  await reply(started, { confirm: true });
  return started;
}

describe("checkpoints", () => {
  it("are listed, the latest first, and found by name in their own thread alone", async () => {
    await using started = await cooked();
    const { store } = started.engine;
    const list = await checkpoints(started);
    assert.deepEqual(
      list.map(({ superstep, tasks }) => [superstep, tasks.map(({ node }) => node).join()]),
      [
        [0, "plan"],
        [1, "confirm"],
        [2, "cook"],
        [3, ""],
      ],
    );
    const page = await store.checkpoints(keyOf(), { limit: 3 });
    assert.deepEqual(page.checkpoints, list.slice(1).reverse());
    assert.deepEqual(await store.checkpoints(keyOf(), { limit: 3, before: page.next ?? "" }), { checkpoints: list.slice(0, 1) });
    const id = list[1]?.checkpointId ?? "";
    assert.deepEqual(await store.checkpoint(keyOf(), id), list[1]);
    assert.equal(await store.checkpoint(keyOf("t", "mallory"), id), undefined);
    await assert.rejects(store.checkpoints(keyOf(), { limit: 3, before: "x" }), { code: "invalid" });
  });
});

describe("going back in the same thread", () => {
  it("runs again from there: what was answered is asked anew, what was said since leaves the context", async () => {
    await using started = await cooked();
    const [, confirm] = await checkpoints(started);
    const before = await started.events();
    await started.submit({ resume: { checkpointId: confirm?.checkpointId ?? "", lineageId: confirm?.lineageId ?? "" } });
    await started.idle();
    assert.deepEqual(Object.keys(await open(started)), ["confirm"]);
    assert.deepEqual((await folded(started)).state, { dish: "pie", log: ["plan pie"] });
    const events = await reply(started, { confirm: false });
    assert.deepEqual((await folded(started)).state, { dish: "pie", log: ["plan pie", "confirmed false", "cook pie"] });
    const since = events.slice(before.length);
    assert.deepEqual(begun(since), ["confirm", "confirm", "cook"], "what was done before the checkpoint is not done again");
    assert.equal(only(since, "thread.rewound").length, 1);
    assert.equal(new Set(only(events, "interrupt.raised").map(({ interruptId }) => interruptId)).size, 2, "it is another question");
  });

  it("takes answers along, to questions that come later too, each once", async () => {
    await using started = await cooked();
    const [start] = await checkpoints(started);
    await started.submit({ resume: { checkpointId: start?.checkpointId ?? "", answers: { confirm: false }, state: { dish: "soup" } } });
    const events = await started.idle();
    assert.deepEqual(outcomes(events), ["waiting", "done", "done"]);
    assert.deepEqual((await folded(started)).state, { dish: "soup", log: ["plan soup", "confirmed false", "cook soup"] });
    assert.deepEqual((await folded(started)).graph.frames[""]?.given, {});
    assert.deepEqual(
      only(events, "interrupt.answered").map(({ via, value }) => [via, value]),
      [
        ["test", true],
        ["given", false],
      ],
    );
  });

  it("closes what waits, in a run of its own; goes back over turns; and the same request again does nothing", async () => {
    await using started = await cooked();
    const [, confirm] = await checkpoints(started);
    await started.submit(message("soup"));
    await started.idle();
    assert.deepEqual(Object.keys(await open(started)), ["confirm"]);
    const command = { runId: "back", resume: { checkpointId: confirm?.checkpointId ?? "", answers: { confirm: true } } };
    await started.submit(command);
    const events = await started.idle();
    assert.deepEqual(outcomes(events), ["waiting", "done", "waiting", "cancelled", "done"]);
    const thread = await folded(started);
    assert.deepEqual(thread.state, { dish: "pie", log: ["plan pie", "confirmed true", "cook pie"] });
    assert.deepEqual(
      thread.history.flatMap((entry) => (entry.role === "user" ? [entry.content] : [])),
      ["pie"],
      "the second turn is no part of the conversation any more",
    );
    assert.deepEqual((await started.submit(command)).events, []);
    assert.equal((await started.events()).length, events.length);
  });

  it("refuses a checkpoint that is another thread's, another user's or of another lineage", async () => {
    await using started = await cooked();
    const [, confirm] = await checkpoints(started);
    const command = { resume: { checkpointId: confirm?.checkpointId ?? "" } };
    await started.submit(message("other"), keyOf("t2"));
    await started.idle(keyOf("t2"));
    await assert.rejects(started.submit(command, keyOf("t2")), { code: "not_found" });
    await assert.rejects(started.submit(command, keyOf("t", "mallory")), { code: "not_found" });
    await assert.rejects(started.submit({ resume: { checkpointId: confirm?.checkpointId ?? "", lineageId: "other" } }), {
      code: "not_found",
    });
  });

  it("is the same after a restart", async () => {
    const started = await cooked();
    const { store } = started.engine;
    const [, confirm] = await checkpoints(started);
    await started.submit({ resume: { checkpointId: confirm?.checkpointId ?? "" } });
    await started.idle();
    await started.stop();
    await using fresh = startEngine({ agents: { default: recipe }, store });
    await reply(fresh, { confirm: true });
    assert.deepEqual((await folded(fresh)).state, { dish: "pie", log: ["plan pie", "confirmed true", "cook pie"] });
  });
});

describe("a fork", () => {
  it("is a thread of its own, with what was and nothing that is open", async () => {
    await using started = await cooked();
    const [, confirm] = await checkpoints(started);
    const { seq } = await fork(started.engine, keyOf(), {
      checkpointId: confirm?.checkpointId ?? "",
      threadId: "f",
      state: { dish: "cake" },
    });
    const events = await started.events(keyOf("f"));
    assert.equal(events.length, seq);
    assert.equal(events.at(-1)?.type, "thread.forked");
    assert.deepEqual(outcomes(events), ["cancelled"]);
    assert.ok(events.every(({ type }) => type !== "text.delta"));
    assert.deepEqual(await stateOf(started, "f"), { dish: "cake", log: ["plan pie"] });
    assert.equal((await started.engine.store.thread(keyOf("f")))?.status, "idle");
    const tasks = (threadId: string) =>
      started
        .events(keyOf(threadId))
        .then((all) => only(all, "checkpoint.reached").flatMap(({ tasks }) => tasks.map(({ taskId }) => taskId)));
    const mine = new Set(await tasks("t"));
    assert.ok(
      (await tasks("f")).every((taskId) => !mine.has(taskId)),
      "its tasks are its own",
    );
  });

  it("goes on at once, with other answers, while its origin stays as it is", async () => {
    await using started = await cooked();
    const [, confirm] = await checkpoints(started);
    const before = await started.events();
    const options = { checkpointId: confirm?.checkpointId ?? "", threadId: "f", state: { dish: "cake" } };
    await fork(started.engine, keyOf(), { ...options, run: { ...who, answers: { confirm: false } } });
    await started.idle(keyOf("f"));
    assert.deepEqual(await stateOf(started, "f"), { dish: "cake", log: ["plan pie", "confirmed false", "cook cake"] });
    assert.deepEqual(await started.events(), before);
    await fork(started.engine, keyOf(), { ...options, threadId: "g", run: who });
    await started.idle(keyOf("g"));
    await assert.rejects(fork(started.engine, keyOf(), { ...options, threadId: "g" }), { code: "conflict" });
    const asked = only(await started.events(keyOf("g")), "interrupt.raised").at(-1);
    await started.submit({ answers: [{ interruptId: asked?.interruptId ?? "", status: "resolved", value: true }] }, keyOf("g"));
    await started.idle(keyOf("g"));
    assert.deepEqual(await stateOf(started, "g"), { dish: "cake", log: ["plan pie", "confirmed true", "cook cake"] });
    assert.ok(await removeThread(started.engine, keyOf()));
    assert.deepEqual(
      await stateOf(started, "f"),
      { dish: "cake", log: ["plan pie", "confirmed false", "cook cake"] },
      "it outlives its origin",
    );
  });

  it("begins at the last checkpoint unless it is told where, and can be forked and gone back in again", async () => {
    await using started = startEngine({ agents: { default: recipe } });
    await started.submit(message("pie"));
    await started.idle();
    await fork(started.engine, keyOf(), { threadId: "f", run: { ...who, answers: { confirm: true } } });
    await started.idle(keyOf("f"));
    assert.deepEqual(await stateOf(started, "f"), { dish: "pie", log: ["plan pie", "confirmed true", "cook pie"] });
    const [start] = await checkpoints(started, keyOf("f"));
    await fork(started.engine, keyOf("f"), {
      threadId: "g",
      checkpointId: start?.checkpointId ?? "",
      run: { ...who, answers: { confirm: false } },
    });
    await started.idle(keyOf("g"));
    assert.deepEqual(await stateOf(started, "g"), { dish: "pie", log: ["plan pie", "confirmed false", "cook pie"] });
    await started.submit({ resume: { checkpointId: start?.checkpointId ?? "", answers: { confirm: true } } }, keyOf("g"));
    await started.idle(keyOf("g"));
    assert.deepEqual(await stateOf(started, "g"), { dish: "pie", log: ["plan pie", "confirmed true", "cook pie"] });
    await fork(started.engine, keyOf("g"), { threadId: "h" });
    assert.deepEqual(
      await stateOf(started, "h"),
      { dish: "pie", log: ["plan pie", "confirmed true", "cook pie"] },
      "a rewound log forks too",
    );
    await assert.rejects(fork(started.engine, keyOf("t", "mallory"), { threadId: "x" }), { code: "not_found" });
    await assert.rejects(fork(started.engine, keyOf(), { threadId: "x", checkpointId: "nope" }), { code: "not_found", message: /nope/ });
  });

  it("takes calls, files and graphs inside along under names of its own", async () => {
    const look = tool({ name: "look", description: "", input: z.object({}) });
    const model = scriptedBy(({ history }) => (history.length < 2 ? calls("look", {}, { id: "c1" }) : says("Seen.")));
    const inner = graph(
      { log },
      {
        nodes: { a: agentNode(chatAgent({ model, tools: [look] }), { input: () => "go", output: ({ text }) => ({ log: [text] }) }) },
        edges: [edge(START, "a")],
      },
    );
    const agent = graph(
      { log },
      {
        nodes: {
          sub: graphNode(inner, { output: ({ log }) => ({ log: [...log] }) }),
          ask: async ({ interrupt }) => ({ log: [`${await interrupt("k", "?")}`] }),
        },
        edges: [edge(START, "sub"), edge("sub", "ask")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.engine.store.saveBlob(keyOf(), { id: "blob_1", mediaType: "text/plain", data: new Uint8Array([1]) });
    await started.submit({ messages: [{ id: "m", content: [{ type: "file", mediaType: "text/plain", blob: "blob_1" }] }] });
    await started.idle();
    await started.submit({ results: [{ callId: "c1", status: "completed", output: 1 }] });
    await started.idle();
    await fork(started.engine, keyOf(), { threadId: "f", run: { ...who, answers: { k: 5 } } });
    const events = await started.idle(keyOf("f"));
    assert.deepEqual(await stateOf(started, "f"), { log: ["Seen.", "5"] });
    assert.notEqual(only(events, "tool.called")[0]?.callId, "c1");
    assert.ok(await started.engine.store.blob(keyOf("f"), "blob_1"));
  });

  it("of a thread without graphs is a copy, once it is idle", async () => {
    const chat = chatAgent({ model: scriptedBy(() => says("Hi.")) });
    await using started = startEngine({ agents: { default: chat } });
    await started.submit(message("hello"));
    await started.idle();
    await fork(started.engine, keyOf(), { threadId: "f" });
    await started.submit(message("more"), keyOf("f"));
    assert.deepEqual(outcomes(await started.idle(keyOf("f"))), ["done", "done"]);
    await assert.rejects(fork(started.engine, keyOf(), { threadId: "g", run: who }), { code: "invalid" });
  });

  it("can come from elsewhere: a log that was exported while it waited is closed, and can be gone back in", async () => {
    await using started = startEngine({ agents: { default: recipe } });
    await started.submit(message("pie"));
    const events = await started.idle();
    await importThread(started.engine, keyOf("copy"), { metadata: {}, events, blobs: [] });
    const last = await started.events(keyOf("copy"));
    assert.deepEqual(outcomes(last), ["waiting", "cancelled"]);
    const [, confirm] = await checkpoints(started, keyOf("copy"));
    await started.submit({ resume: { checkpointId: confirm?.checkpointId ?? "", answers: { confirm: true } } }, keyOf("copy"));
    await started.idle(keyOf("copy"));
    assert.deepEqual(await stateOf(started, "copy"), { dish: "pie", log: ["plan pie", "confirmed true", "cook pie"] });
    await importThread(started.engine, keyOf("again"), { metadata: {}, events: await started.events(keyOf("copy")), blobs: [] });
    assert.deepEqual(await stateOf(started, "again"), await stateOf(started, "copy"), "also with the going back in it");
  });
});
