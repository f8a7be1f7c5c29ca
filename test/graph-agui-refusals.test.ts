import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HttpAgent } from "@ag-ui/client";
import { textOf } from "./support/frames.ts";
import { approving, type Journal, recipe, searching, twoQuestions } from "./support/graphs.ts";
import { judge, runAgent } from "./support/judge.ts";
import { type Reply, type Served, serve } from "./support/serve.ts";

judge();

type Interrupt = { key: string; checkpointId: string; lineageId: string };

/** Asks, and says what the graph then waits for. */
async function asked(server: Served, path = "/agui", threadId = "t"): Promise<Interrupt & { callId: string }> {
  const { frames } = await server.post({ threadId, runId: "r1", messages: [{ id: "u1", role: "user", content: "omelette" }] }, path);
  const patches = frames.flatMap(({ patch }) => (patch ?? []) as { path: string; value: Interrupt }[]);
  const interrupt = patches.find(({ path: at }) => at === "/interrupt")?.value;
  assert.ok(interrupt);
  return { ...interrupt, callId: String(frames.find(({ type }) => type === "TOOL_CALL_START")?.["toolCallId"]) };
}
const resume = (server: Served, forwardedProps: object, more: object = {}) =>
  server.post({ threadId: "t", runId: "r2", messages: [], forwardedProps, ...more });
const open = async (server: Served) => (await server.thread())?.pending;
const runs = async (server: Served) => (await server.events()).filter(({ type }) => type === "run.started").length;
const refused = ({ status, error }: Reply) => [status, error.code];

describe("AG-UI: what a graph does not go on with", () => {
  it("is a lineage, a checkpoint or a key that this thread does not know; the question stays open", async () => {
    const done: Journal = [];
    await using server = await serve({ agents: { default: recipe(done) } });
    const { lineageId } = await asked(server);
    const wrong: [object, RegExp][] = [
      [{ lineage_id: "nobody", resume_map: { confirm: true } }, /nobody/],
      [{ lineage_id: lineageId, checkpoint_id: "nowhere", resume_map: { confirm: true } }, /nowhere/],
      [{ lineage_id: lineageId, resume_map: { nothing: true } }, /nothing/],
    ];
    for (const [props, named] of wrong) {
      const reply = await resume(server, props);
      assert.deepEqual(refused(reply), [404, "not_found"], JSON.stringify(props));
      assert.match(reply.error.message ?? "", named);
    }
    assert.deepEqual([await open(server), await runs(server), done], [1, 1, ["confirm"]]);
  });

  it("is an answer that breaks the question's schema", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { lineageId } = await asked(server);
    for (const props of [{ resume_map: { confirm: "perhaps" } }, { resume: 7 }]) {
      assert.deepEqual(refused(await resume(server, { lineage_id: lineageId, ...props })), [422, "unprocessable"]);
    }
    assert.deepEqual([await open(server), await runs(server)], [1, 1]);
    assert.equal((await resume(server, { lineage_id: lineageId, resume: true })).frames.at(-1)?.type, "RUN_FINISHED");
  });

  it("is one answer for several questions: it would be anybody's", async () => {
    await using server = await serve({ agents: { default: twoQuestions() } });
    const { lineageId } = await asked(server);
    const reply = await resume(server, { lineage_id: lineageId, resume: "yes" });
    assert.deepEqual(refused(reply), [400, "invalid"]);
    assert.match(reply.error.message ?? "", /salt.*sugar/);
  });

  it("is what a stranger sends, who learns no more than that there is nothing", async () => {
    const resolveUser = ({ forwardedProps }: { forwardedProps?: unknown }) => (forwardedProps as { userId?: string } | undefined)?.userId;
    await using server = await serve({ agents: { default: recipe() }, agui: { resolveUser } });
    const { lineageId } = await asked(server); // of the user "user"
    const stranger = await resume(server, { userId: "eve", lineage_id: lineageId, resume_map: { confirm: true } });
    const nobody = await resume(server, { userId: "eve", lineage_id: "made-up", resume_map: { confirm: true } });
    assert.deepEqual([stranger.status, stranger.error.code], [nobody.status, nobody.error.code]);
    assert.equal(stranger.status, 404);
    assert.equal(await open(server), 1);
  });

  it("is the lineage of another thread of the same user", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    await asked(server);
    const other = await asked(server, "/agui", "other");
    assert.deepEqual(refused(await resume(server, { lineage_id: other.lineageId, resume: true })), [404, "not_found"]);
  });

  it("is a result under a lineage that is not its own", async () => {
    await using server = await serve({ agents: { default: searching() } });
    const { callId, lineageId } = await asked(server);
    const messages = [{ role: "tool", toolCallId: callId, content: "green" }];
    assert.deepEqual(refused(await resume(server, { lineage_id: "nobody" }, { messages })), [404, "not_found"]);
    assert.equal(await open(server), 1);
    assert.equal((await resume(server, { lineage_id: lineageId }, { messages })).frames.at(-1)?.type, "RUN_FINISHED");
  });

  it("is a new message while a question is open, told in the stream", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    await asked(server);
    const { frames } = await server.post({ threadId: "t", messages: [{ id: "u2", role: "user", content: "hurry" }] });
    assert.deepEqual(
      frames.map(({ type }) => type),
      ["RUN_ERROR"],
    );
  });
});

describe("AG-UI: the same answer twice", () => {
  it("goes on once, and both hear what came of it", async () => {
    const done: Journal = [];
    await using server = await serve({ agents: { default: recipe(done) } });
    const { lineageId } = await asked(server);
    const send = () => resume(server, { lineage_id: lineageId, resume_map: { confirm: true } });
    const [one, two] = await Promise.all([send(), send()]);
    const later = await send();
    for (const reply of [one, two, later]) assert.equal(reply.frames.at(-1)?.type, "RUN_FINISHED", reply.text);
    assert.deepEqual([await runs(server), done], [2, ["confirm", "confirm", "cook"]]);
  });

  it("is a result handed back twice, too", async () => {
    await using server = await serve({ agents: { default: searching() } });
    const { callId, lineageId } = await asked(server);
    const send = () =>
      resume(server, { lineage_id: lineageId }, { messages: [{ id: "x", role: "tool", toolCallId: callId, content: "green" }] });
    for (const reply of await Promise.all([send(), send(), send()])) assert.equal(reply.frames.at(-1)?.type, "RUN_FINISHED");
    assert.equal(await runs(server), 2);
  });

  it("is another answer the second time: the first one counts", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { lineageId } = await asked(server);
    await resume(server, { lineage_id: lineageId, resume_map: { confirm: true } });
    const reply = await resume(server, { lineage_id: lineageId, resume_map: { confirm: false } }, { runId: "r3" });
    assert.ok(reply.status >= 400 && reply.status < 500, reply.text);
    assert.equal(await runs(server), 2);
  });
});

describe("AG-UI: answers by key", () => {
  it("are for calls that were handed out, too: their key is their id", async () => {
    await using server = await serve({ agents: { default: searching() } });
    const { key, lineageId } = await asked(server);
    const { frames } = await resume(server, { lineage_id: lineageId, resume_map: { [key]: "green tea" } });
    assert.equal(textOf(frames), "Found: green tea");
    assert.ok(frames.some(({ type, content }) => type === "TOOL_CALL_RESULT" && content === "green tea"));
  });

  it("are for approvals, which are called like their call and acknowledged like any question", async () => {
    await using server = await serve({ agents: { default: approving() } });
    const { key, lineageId } = await asked(server);
    const wrong = await resume(server, { lineage_id: lineageId, resume_map: { [key]: "sure" } });
    assert.ok(wrong.status === 400 || wrong.status === 422, wrong.text);
    const { frames } = await resume(server, { lineage_id: lineageId, resume_map: { [key]: { approved: true } } });
    assert.equal(textOf(frames), "Paid 5.");
    const [, delta] = frames.filter(({ type }) => type.startsWith("ACTIVITY"));
    assert.deepEqual((delta?.["patch"] as { path: string; value: unknown }[] | undefined)?.[0], {
      op: "add",
      path: "/interrupt",
      value: null,
    });
  });
});

describe("AG-UI: going back", () => {
  it("takes a page back to a checkpoint it names, and shows it what is left", async () => {
    const done: Journal = [];
    await using server = await serve({ agents: { default: recipe(done) } });
    const agent = new HttpAgent({
      url: `${server.url}/agui`,
      threadId: "t",
      initialMessages: [{ id: "u1", role: "user", content: "omelette" }],
    });
    const first = await runAgent(agent);
    const interrupt = first.events
      .flatMap(({ patch }) => (patch ?? []) as { path: string; value: Interrupt }[])
      .find(({ path }) => path === "/interrupt")?.value;
    const payload = (value: boolean) =>
      agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved" as const, payload: value }));
    await runAgent(agent, { resume: payload(true) });
    assert.equal(agent.messages.findLast(({ role }) => role === "assistant")?.content, "Here is your omelette.");
    const forwardedProps = { lineage_id: interrupt?.lineageId, checkpoint_id: interrupt?.checkpointId, resume_map: { confirm: false } };
    await runAgent(agent, { forwardedProps });
    assert.equal(agent.messages.findLast(({ role }) => role === "assistant")?.content, "Two eggs.");
    assert.deepEqual(agent.state, { dish: "omelette", log: ["Two eggs.", "stopped"] });
    assert.deepEqual(done, ["confirm", "confirm", "cook", "confirm"]);
  });
});
