import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import type { StoredEvent } from "../src/core/event.ts";
import { calls, fails, finishes, hangs, says, scripted, thinks } from "../src/model/scripted.ts";
import { strict } from "./support/agui.ts";
import { type Frame, last, textOf, types } from "./support/frames.ts";
import { asking, client, runAgent } from "./support/judge.ts";
import { directory, eventually, type Served, serve } from "./support/serve.ts";

strict();

const getMenu = tool({ name: "get_menu", description: "The menu", input: z.object({ category: z.string() }), timeout: "30s" });
const getTime = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });
const refund = tool({
  name: "refund",
  description: "Pays back",
  input: z.object({ order: z.string(), amount: z.number() }),
  approval: true,
  execute: ({ order, amount }) => ({ order, amount }),
});
const paint = { name: "paint", description: "Paints the page", parameters: { type: "object", properties: { colour: { type: "string" } } } };

const TEXT = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
const CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];
const inStep = (...inner: string[]) => ["STEP_STARTED", ...inner, "STEP_FINISHED"];
const inRun = (...inner: string[]) => ["RUN_STARTED", ...inner, "RUN_FINISHED"];

const user = (content: string, id?: string) => ({ role: "user", content, ...(id !== undefined && { id }) });
const toolMessage = (toolCallId: string, content: string, id = `${toolCallId}-result`) =>
  ({ id, role: "tool", toolCallId, content }) as const;
const body = (runId: string, messages: object[], more: object = {}) => ({ threadId: "t", runId, messages, ...more });
const ends = (events: readonly StoredEvent[]) => events.flatMap((event) => (event.type === "run.ended" ? [event.outcome.type] : []));

describe("AG-UI: what an agent says", () => {
  it("streams a text the client shows as it was said", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Good ", "day.")) }) } });
    const agent = asking(server, "hello");
    const { types, outcome, pendingToolCallIds } = await runAgent(agent);
    assert.deepEqual(types, inRun(...inStep("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END")));
    assert.deepEqual([outcome, pendingToolCallIds], ["success", []]);
    assert.deepEqual(
      agent.messages.map(({ role, content }) => [role, content]),
      [
        ["user", "hello"],
        ["assistant", "Good day."],
      ],
    );
  });

  it("shows thoughts apart from the answer", async () => {
    await using server = await serve({
      agents: { default: chatAgent({ model: scripted([...thinks("Hm, ", "well."), ...says("Yes.")]) }) },
    });
    const agent = asking(server, "sure?");
    const { types } = await runAgent(agent);
    const thought = ["START", "MESSAGE_START", "MESSAGE_CONTENT", "MESSAGE_END", "END"].map((name) => `REASONING_${name}`);
    assert.deepEqual(types, inRun(...inStep(...thought, ...TEXT)));
    assert.deepEqual(
      agent.messages.map(({ role, content }) => [role, content]),
      [
        ["user", "sure?"],
        ["reasoning", "Hm, well."],
        ["assistant", "Yes."],
      ],
    );
  });

  it("runs a server tool and shows its result beneath the call", async () => {
    const model = scripted(calls("get_time", {}, { id: "c1" }), says("It is noon."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getTime] }) } });
    const agent = asking(server, "time?");
    const { types } = await runAgent(agent);
    assert.deepEqual(types, inRun(...inStep(...CALL), "TOOL_CALL_RESULT", ...inStep(...TEXT)));
    assert.deepEqual(
      agent.messages.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant"],
    );
    assert.equal(agent.messages[2]?.content, "noon");
  });

  it("adds up usage and names the model's words only once", async () => {
    const usage = { inputTokens: 3, outputTokens: 2 };
    const model = scripted([...calls("get_time", {}), ...finishes(usage)], [...says("Noon."), ...finishes(usage)]);
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getTime] }) } });
    const { events } = await runAgent(asking(server, "time?"));
    assert.deepEqual(events.at(-1)?.["usage"], [usage, usage]);
  });

  it("gives every event its seq as SSE id, on its last frame", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted([...thinks("Hm."), ...says("Hi.")]) }) } });
    const { frames } = await server.post(body("r1", [user("hello")]));
    const events = await server.events();
    assert.deepEqual(
      frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)])),
      events.map(({ seq }) => seq),
    );
    const [opening, started] = frames.slice(2);
    assert.deepEqual([opening?.type, opening?.id, started?.type], ["REASONING_START", undefined, "REASONING_MESSAGE_START"]);
  });

  it("keeps state the client sends and hands it back with the run", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Ok.")) }) } });
    const agent = asking(server, "hello", { initialState: { cart: ["latte"], "a/b~c": 1 } });
    const { types } = await runAgent(agent);
    assert.equal(types[1], "STATE_SNAPSHOT");
    assert.deepEqual(agent.state, { cart: ["latte"], "a/b~c": 1 });
  });

  it("goes on when the client hangs up, and a second client can read it all", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scripted(async function* () {
      yield* says("One ");
      await gate.promise;
      yield* says("two.");
    });
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const stream = await server.open(body("r1", [user("count", "u1")]));
    await stream.until("TEXT_MESSAGE_END");
    stream.abort();
    gate.resolve();
    const { frames } = await server.post(body("r1", [user("count", "u1")]));
    assert.equal(textOf(frames), "One two.");
    assert.equal(model.requests.length, 1);
    assert.deepEqual(ends(await server.events()), ["done"]);
  });
});

describe("AG-UI: calls handed to the client", () => {
  it("hands out a tool of the request and goes on with the client's tool message", async () => {
    using data = directory();
    const model = scripted([...says("Let me."), ...calls("paint", { colour: "red" }, { id: "c1", chunks: 2 })], says("Done."));
    await using server = await serve({ data: data.path, agents: { default: chatAgent({ model }) } });
    const agent = asking(server, "red please");
    const first = await runAgent(agent, { tools: [paint] });
    assert.deepEqual(first.pendingToolCallIds, ["c1"]);
    assert.equal(first.types.filter((type) => type === "TOOL_CALL_RESULT").length, 0);
    agent.addMessage(toolMessage("c1", "painted"));
    const second = await runAgent(agent, { tools: [paint] });
    assert.deepEqual(second.types, inRun(...inStep(...TEXT)));
    assert.deepEqual(
      agent.messages.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant"],
    );
    assert.equal(model.requests.length, 2);
    assert.deepEqual(
      model.requests.map(({ tools }) => tools.map(({ name }) => name)),
      [["paint"], ["paint"]],
    );
  });

  it("names the message of a call, so that clients find it new", async () => {
    const model = scripted([...says("Let me."), ...calls("paint", {}, { id: "c1" })]);
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const { frames } = await server.post(body("r1", [user("red")], { tools: [paint] }));
    const text = frames.find(({ type }) => type === "TEXT_MESSAGE_START");
    const call = frames.find(({ type }) => type === "TOOL_CALL_START");
    assert.equal(call?.["parentMessageId"], text?.["messageId"]);
  });

  it("waits for the last of several calls, whatever their order, and asks the model once", async () => {
    const model = scripted(
      [...calls("paint", {}, { id: "a" }), ...calls("paint", {}, { id: "b" }), ...calls("paint", {}, { id: "c" })],
      says("All done."),
    );
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const agent = asking(server, "three times");
    assert.deepEqual((await runAgent(agent, { tools: [paint] })).pendingToolCallIds, ["a", "b", "c"]);
    agent.addMessage(toolMessage("c", "3"));
    assert.deepEqual((await runAgent(agent, { tools: [paint] })).types, inRun());
    agent.addMessage(toolMessage("a", "1"));
    assert.deepEqual((await runAgent(agent, { tools: [paint] })).types, inRun());
    assert.equal(model.requests.length, 1);
    agent.addMessage(toolMessage("b", "2"));
    assert.deepEqual((await runAgent(agent, { tools: [paint] })).types, inRun(...inStep(...TEXT)));
    const [, step] = model.requests[1]?.history ?? [];
    assert.ok(step?.role === "assistant");
    const outputs = step.parts.map((part) => part.type === "call" && part.settlement?.output);
    assert.deepEqual(outputs, ["1", "2", "3"]);
  });

  it("tells the model what went wrong in the client", async () => {
    const model = scripted(calls("paint", {}, { id: "a" }), says("Sorry."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const agent = asking(server, "paint");
    await runAgent(agent, { tools: [paint] });
    agent.addMessage({ ...toolMessage("a", "Error: no brush"), error: "no brush" });
    await runAgent(agent, { tools: [paint] });
    const [, step] = model.requests[1]?.history ?? [];
    assert.ok(step?.role === "assistant");
    assert.deepEqual(step.parts[0]?.type === "call" && step.parts[0].settlement, {
      status: "failed",
      error: "no brush",
      messageId: "a-result",
    });
  });

  it("shows a client the results that others handed back since", async () => {
    const model = scripted(
      [...calls("paint", {}, { id: "mine" }), ...calls("get_menu", { category: "tea" }, { id: "theirs" })],
      says("Both."),
    );
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) } });
    const agent = asking(server, "both");
    await runAgent(agent, { tools: [paint] });
    await server.post(body("w1", [{ role: "tool", toolCallId: "theirs", content: "green tea" }]));
    agent.addMessage(toolMessage("mine", "painted"));
    const { types } = await runAgent(agent, { tools: [paint] });
    assert.deepEqual(types, inRun("TOOL_CALL_RESULT", ...inStep(...TEXT)));
    const shown = agent.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    assert.deepEqual(shown.toSorted(), ["green tea", "painted"]);
    assert.equal(agent.messages.at(-1)?.content, "Both.");
  });

  it("never takes an empty message for the result of somebody else's call", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Done."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) } });
    await server.post(body("r1", [user("menu", "u1")]));
    await server.post(body("r2", [user("menu", "u1"), toolMessage("c1", "")]));
    assert.equal((await server.thread())?.status, "waiting");
    assert.equal(model.requests.length, 1);
  });
});

describe("AG-UI: the seeds' bodies", () => {
  const outside = () => scripted(calls("change_background", { colour: "red" }, { id: "tool-abc" }), says("It is red now."));
  const change = tool({ name: "change_background", description: "Changes it", input: z.object({ colour: z.string() }), owner: "client" });

  it("serves seed 000: no message ids, tool_id and tool_name, in its order", async () => {
    const model = outside();
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [change] }) } });
    const first = await server.post({ threadId: "sess-1", runId: "run-1", messages: [{ role: "user", content: "red" }] });
    assert.deepEqual(types(first.frames), inRun(...inStep(...CALL)));
    const second = await server.post({
      threadId: "sess-1",
      runId: "run-2",
      messages: [{ role: "tool", tool_id: "tool-abc", tool_name: "change_background", content: '{"status":"ok"}' }],
      state: {},
      forwardedProps: {},
    });
    // It brings nothing but the result, so it shows nothing: it hears the result (seed 003) where seed 000 would not say it again.
    assert.deepEqual(types(second.frames), inRun("TOOL_CALL_RESULT", ...inStep(...TEXT)));
    assert.equal(textOf(second.frames), "It is red now.");
    assert.equal(model.requests.length, 2);
  });

  it("serves seed 003: toolCallId and name, the result echoed under the client's own id", async () => {
    const search = tool({ name: "external_search", description: "Searches", input: z.object({ q: z.string() }) });
    const model = scripted(calls("external_search", { q: "x" }, { id: "c9" }), says("Found."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [search] }) } });
    const ask = { threadId: "demo-thread", runId: "demo-run-1", messages: [{ role: "user", content: "Search and answer my question." }] };
    assert.deepEqual(types((await server.post(ask)).frames), inRun(...inStep(...CALL)));
    const { frames } = await server.post({
      threadId: "demo-thread",
      runId: "demo-run-2",
      forwardedProps: { lineage_id: "lineage-from-graph-node-interrupt" },
      messages: [
        { id: "tool-result-c9", role: "tool", toolCallId: "c9", name: "external_search", content: "external tool output as string" },
      ],
    });
    assert.deepEqual(types(frames), inRun("TOOL_CALL_RESULT", ...inStep(...TEXT)));
    const { messageId, toolCallId, content } = frames[1] as Frame;
    assert.deepEqual([messageId, toolCallId, content], ["tool-result-c9", "c9", "external tool output as string"]);
  });

  it("takes null where a client means nothing", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Hi.")) }) } });
    const nothing = { state: null, tools: null, context: null, forwardedProps: null, resume: null, parentRunId: null };
    const { status } = await server.post(body("r1", [user("hello"), { role: "assistant", content: null, toolCalls: null }], nothing));
    assert.equal(status, 200);
  });

  it("refuses a result that names another tool than its call", async () => {
    const model = outside();
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [change] }) } });
    await server.post(body("r1", [user("red")]));
    await server.post(body("r2", [{ role: "tool", tool_id: "tool-abc", tool_name: "delete_all", content: "x" }]));
    assert.equal((await server.thread())?.status, "waiting");
    assert.equal(model.requests.length, 1);
  });
});

describe("AG-UI: approvals", () => {
  const asked = () => scripted(calls("refund", { order: "o1", amount: 5 }, { id: "c1" }), says("As you wish."));
  const ask = async (server: Served) => {
    const agent = asking(server, "money back");
    const judged = await runAgent(agent);
    assert.equal(judged.outcome, "interrupt");
    return agent;
  };
  const returned = async (server: Served) => (await server.events()).find((event) => event.type === "tool.returned");

  it("asks as an interrupt, with the call, the question and a schema for the answer", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: asked(), tools: [refund] }) } });
    const agent = await ask(server);
    const [interrupt] = agent.pendingInterrupts;
    assert.equal(interrupt?.id, "c1:approval");
    assert.equal(interrupt?.reason, "tool_call");
    assert.equal(interrupt?.toolCallId, "c1");
    assert.deepEqual(interrupt?.metadata, { prompt: { tool: "refund", input: { order: "o1", amount: 5 } } });
    assert.deepEqual(interrupt?.responseSchema?.["required"], ["approved"]);
  });

  it("runs the call when a person approves, without telling it again", async () => {
    using data = directory();
    const model = asked();
    await using server = await serve({ data: data.path, agents: { default: chatAgent({ model, tools: [refund] }) } });
    const agent = await ask(server);
    const { types } = await runAgent(agent, { resume: [{ interruptId: "c1:approval", status: "resolved", payload: { approved: true } }] });
    assert.deepEqual(types, inRun("TOOL_CALL_RESULT", ...inStep(...TEXT)));
    assert.deepEqual(agent.pendingInterrupts, []);
    assert.equal(agent.messages[2]?.content, '{"order":"o1","amount":5}');
  });

  it("runs what a person made of the input, and tells the model of it", async () => {
    const model = asked();
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
    const agent = await ask(server);
    const payload = { approved: true, editedArgs: { order: "o1", amount: 3 } };
    await runAgent(agent, { resume: [{ interruptId: "c1:approval", status: "resolved", payload }] });
    const result = await returned(server);
    assert.deepEqual(result?.type === "tool.returned" && result.output, { order: "o1", amount: 3 });
    const [, step] = model.requests[1]?.history ?? [];
    assert.ok(step?.role === "assistant");
    const [part] = step.parts;
    assert.ok(part?.type === "call");
    assert.deepEqual(
      [part.input, part.edited],
      [
        { order: "o1", amount: 5 },
        { order: "o1", amount: 3 },
      ],
    );
  });

  it("refuses an edit that breaks the tool's schema and keeps the question open", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: asked(), tools: [refund] }) } });
    await server.post(body("r1", [user("money back")]));
    const payload = { approved: true, editedArgs: { order: "o1", amount: "all" } };
    const { status, error } = await server.post(body("r2", [], { resume: [{ interruptId: "c1:approval", status: "resolved", payload }] }));
    assert.equal(status, 422);
    assert.match(error.message ?? "", /refund: amount/);
    assert.equal((await server.thread())?.pending, 1);
  });

  it("tells the model why a person said no", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: asked(), tools: [refund] }) } });
    const agent = await ask(server);
    const payload = { approved: false, reason: "too much" };
    const { types } = await runAgent(agent, { resume: [{ interruptId: "c1:approval", status: "resolved", payload }] });
    assert.deepEqual(types, inRun("TOOL_CALL_RESULT", ...inStep(...TEXT)));
    const result = await returned(server);
    assert.deepEqual(result?.type === "tool.returned" && [result.status, result.error], ["rejected", "too much"]);
  });

  it("takes a cancelled question for a call that is not made", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: asked(), tools: [refund] }) } });
    const agent = await ask(server);
    await runAgent(agent, { resume: [{ interruptId: "c1:approval", status: "cancelled" }] });
    const result = await returned(server);
    assert.equal(result?.type === "tool.returned" && result.status, "cancelled");
    assert.equal(agent.messages.at(-1)?.content, "As you wish.");
  });

  it("answers the same resume again with the same run, and executes once", async () => {
    const model = asked();
    let paid = 0;
    const counted = tool({ name: "refund", description: "Pays", input: z.object({}).loose(), approval: true, execute: () => ++paid });
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [counted] }) } });
    await server.post(body("r1", [user("money back")]));
    const resume = [{ interruptId: "c1:approval", status: "resolved", payload: { approved: true } }];
    const once = await server.post(body("r2", [], { resume }));
    const again = await server.post(body("r2", [], { resume }));
    const elsewhere = await server.post(body("r3", [], { resume }));
    assert.equal(again.text, once.text);
    assert.equal(elsewhere.text, once.text);
    assert.deepEqual([paid, model.requests.length], [1, 2]);
  });

  it("asks again for what a resume leaves open", async () => {
    const model = scripted(
      [...calls("refund", { order: "a", amount: 1 }, { id: "a" }), ...calls("refund", { order: "b", amount: 2 }, { id: "b" })],
      says("Both."),
    );
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
    await server.post(body("r1", [user("money back")]));
    const yes = (call: string) => [{ interruptId: `${call}:approval`, status: "resolved", payload: { approved: true } }];
    const first = await server.post(body("r2", [], { resume: yes("a"), protocolVersion: "1.0" }));
    assert.deepEqual(types(first.frames), inRun("TOOL_CALL_RESULT"));
    const outcome = last(first.frames)["outcome"] as { type: string; interrupts: { id: string }[] };
    assert.deepEqual([outcome.type, outcome.interrupts.map(({ id }) => id)], ["interrupt", ["b:approval"]]);
    const second = await server.post(body("r3", [], { resume: yes("b") }));
    assert.equal(textOf(second.frames), "Both.");
    assert.equal(model.requests.length, 2);
  });

  it("ignores a made-up result beside the answer (CopilotKit sends the decision as one)", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: asked(), tools: [refund] }) } });
    await server.post(body("r1", [user("money back", "u1")]));
    const resume = [{ interruptId: "c1:approval", status: "resolved", payload: { approved: true } }];
    await server.post(body("r1", [user("money back", "u1"), toolMessage("c1", '{"approved":true}')], { resume }));
    const result = await returned(server);
    assert.deepEqual(result?.type === "tool.returned" && [result.by, result.output], ["server", { order: "o1", amount: 5 }]);
  });

  it("answers a new message beside an open question with RUN_ERROR, and writes nothing", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: asked(), tools: [refund] }) } });
    await server.post(body("r1", [user("money back", "u1")]));
    const before = (await server.events()).length;
    const { status, frames } = await server.post(body("r2", [user("money back", "u1"), user("hurry up", "u2")]));
    assert.equal(status, 200);
    assert.deepEqual(types(frames), ["RUN_ERROR"]);
    assert.equal(frames[0]?.["code"], "conflict");
    assert.match(String(frames[0]?.["message"]), /c1:approval/);
    assert.equal((await server.events()).length, before);
  });

  it("passes the question's deadline to those who can read it", async () => {
    const slow = tool({ name: "refund", description: "Pays", input: z.object({}).loose(), approval: { timeout: "1m" }, execute: () => 1 });
    await using server = await serve({ agents: { default: chatAgent({ model: asked(), tools: [slow] }) } });
    const agent = await ask(server);
    assert.equal(agent.pendingInterrupts[0]?.expiresAt, "2026-01-05T12:01:00.000Z");
  });
});

describe("AG-UI: busy, cancelled, failed, again", () => {
  it("refuses a second message while the thread runs", async (t) => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs()) }) } });
    const stream = await server.open(body("r1", [user("one", "u1")]));
    await stream.until("RUN_STARTED");
    const { status, error } = await server.post(body("r2", [user("one", "u1"), user("two", "u2")]));
    assert.deepEqual([status, error.code], [409, "conflict"]);
    t.mock.method(console, "error", () => {}); // where the client tells of what it also throws
    await assert.rejects(runAgent(client(server, { initialMessages: [{ id: "u3", role: "user", content: "three" }] })), /HTTP 409/);
  });

  it("cancels a run that goes on: the stream ends as cancelled, with everything closed", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs(...says("Well, ").slice(0, -1))) }) } });
    const agent = asking(server, "talk");
    const running = runAgent(agent);
    await eventually(async () => (await server.events()).some(({ type }) => type === "text.delta"));
    const { status, text } = await server.post({ threadId: "t" }, "/agui/cancel");
    assert.deepEqual([status, JSON.parse(text)], [200, { threadId: "t", status: "cancelled" }]);
    const { outcome } = await running;
    assert.equal(outcome, "cancelled");
    assert.equal(agent.messages.at(-1)?.content, "Well, ");
    assert.deepEqual(ends(await server.events()), ["cancelled"]);
  });

  it("cancels a thread that waits: what is open is settled", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) } });
    await server.post(body("r1", [user("menu")]));
    assert.equal((await server.post({ threadId: "t" }, "/agui/cancel")).status, 200);
    const row = await server.thread();
    assert.deepEqual([row?.status, row?.pending], ["idle", 0]);
    assert.equal((await server.store.wait("default", "c1"))?.status, "cancelled");
  });

  it("knows nothing to cancel in an idle or unknown thread", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Hi.")) }) } });
    assert.equal((await server.post({ threadId: "t" }, "/agui/cancel")).status, 404);
    await server.post(body("r1", [user("hello")]));
    assert.equal((await server.post({ threadId: "t" }, "/agui/cancel")).status, 404);
    assert.equal((await server.post({}, "/agui/cancel")).error.field, "threadId");
  });

  it("follows the continuation when a result comes twice, without asking the model again", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Tea."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) } });
    await server.post(body("r1", [user("menu", "u1")]));
    const result = body("r2", [{ role: "tool", tool_id: "c1", content: "tea" }]);
    const once = await server.post(result);
    const again = await server.post(result);
    const later = await server.post({ ...result, runId: "r9" });
    assert.equal(again.text, once.text);
    assert.equal(later.text, once.text);
    assert.equal(model.requests.length, 2);
  });

  it("says 404 to a request of nothing but results for calls it never made", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) } });
    await server.post(body("r1", [user("menu", "u1")]));
    const { status, error } = await server.post(body("r2", [{ role: "tool", tool_id: "c2", content: "tea" }]));
    assert.deepEqual([status, error.code], [404, "not_found"]);
    assert.match(error.message ?? "", /c2/);
  });

  it("reports a provider's failure as RUN_ERROR, and the same request again goes on", async () => {
    const model = scripted(fails("The provider is down", { after: says("Let me") }), says("Here I am."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const agent = asking(server, "hello");
    const first = await runAgent(agent, { runId: "r1" });
    assert.equal(first.types.at(-1), "RUN_ERROR");
    assert.deepEqual([first.events.at(-1)?.["message"], first.events.at(-1)?.["code"]], ["The provider is down", "model"]);
    const second = await runAgent(agent, { runId: "r1" });
    assert.deepEqual(second.types, inRun(...inStep(...TEXT)));
    assert.equal(agent.messages.at(-1)?.content, "Here I am.");
    const shownToModel = model.requests[1]?.history.map(({ role }) => role);
    assert.deepEqual(shownToModel, ["user"]);
  });

  it("lets a result be sent again when its continuation failed", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), fails("Overloaded"), says("Tea."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) } });
    await server.post(body("r1", [user("menu", "u1")]));
    const result = body("r2", [{ role: "tool", tool_id: "c1", content: "tea" }]);
    assert.equal(last((await server.post(result)).frames).type, "RUN_ERROR");
    const { frames } = await server.post(result);
    assert.equal(textOf(frames), "Tea.");
  });

  it("cancels what waits when a new message comes, and starts a new turn", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Never mind then."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) } });
    const agent = asking(server, "menu");
    await runAgent(agent);
    agent.addMessage({ id: "u2", role: "user", content: "forget it" });
    const { types } = await runAgent(agent);
    assert.deepEqual(types, inRun("TOOL_CALL_RESULT", ...inStep(...TEXT)));
    assert.deepEqual(
      agent.messages.map(({ role }) => role),
      ["user", "assistant", "tool", "user", "assistant"],
    );
    assert.deepEqual(ends(await server.events()), ["waiting", "cancelled", "done"]);
    const late = await server.post(body("r9", [{ role: "tool", tool_id: "c1", content: "tea" }]));
    assert.equal(late.status, 200);
    assert.equal(model.requests.length, 2);
  });

  it("answers again when the client took the answer away", async () => {
    const model = scripted(says("One."), says("Two."), says("Three."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const agent = asking(server, "say something");
    await runAgent(agent);
    agent.setMessages(agent.messages.slice(0, 1));
    await runAgent(agent);
    assert.deepEqual(
      agent.messages.map(({ content }) => content),
      ["say something", "Two."],
    );
    agent.addMessage({ id: "u2", role: "user", content: "and?" });
    await runAgent(agent);
    const contents = model.requests[2]?.history.map((entry) =>
      entry.role === "user" ? entry.content : entry.parts.map((part) => part.type === "text" && part.text),
    );
    assert.deepEqual(contents, ["say something", ["Two."], "and?"]);
  });

  it("follows and asks nothing when a finished request is sent once more under its own name", async () => {
    const model = scripted(says("One."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const request = body("r1", [user("hello", "u1")]);
    const once = await server.post(request);
    assert.equal((await server.post(request)).text, once.text);
    assert.equal(model.requests.length, 1);
  });

  it("serves agents by name, and keeps a thread with its agent", async () => {
    const [one, two] = [scripted(says("I am one.")), scripted(calls("paint", {}, { id: "c1" }), says("I am two."))];
    await using server = await serve({ agents: { default: chatAgent({ model: one }), two: chatAgent({ model: two }) } });
    await server.post(body("r1", [user("who?", "u1")], { tools: [paint] }), "/agui/two");
    const { frames } = await server.post(body("r2", [{ role: "tool", tool_id: "c1", content: "ok" }]));
    assert.equal(textOf(frames), "I am two.");
    assert.equal((await server.post(body("r3", [user("x")]), "/agui/three")).status, 404);
  });
});

describe("AG-UI: clients before 1.0", () => {
  const old = (messages: object[], more: object = {}) => body("r1", messages, more);

  it("never see pendingToolCallIds", async () => {
    const model = scripted(calls("paint", {}, { id: "c1" }));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const { frames } = await server.post(old([user("paint")], { tools: [paint] }));
    assert.deepEqual(last(frames)["outcome"], undefined);
    const modern = await server.post({ ...old([user("paint", "u1")], { tools: [paint], protocolVersion: "1.0" }), threadId: "t2" });
    assert.equal(modern.status, 200);
  });

  it("never see a cancelled outcome", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs()) }) } });
    const stream = await server.open(old([user("talk")]));
    await stream.until("RUN_STARTED");
    await server.post({ threadId: "t" }, "/agui/cancel");
    const end = last(await stream.rest());
    assert.deepEqual([end.type, end["outcome"]], ["RUN_FINISHED", undefined]);
  });

  it("never see when a question expires", async () => {
    const slow = tool({ name: "refund", description: "Pays", input: z.object({}).loose(), approval: { timeout: "1m" }, execute: () => 1 });
    const model = scripted(calls("refund", {}, { id: "c1" }));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [slow] }) } });
    const { frames, text } = await server.post(old([user("money")]));
    assert.equal((last(frames)["outcome"] as { type: string }).type, "interrupt");
    assert.ok(!text.includes("expiresAt"));
  });
});
