import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { handBack, type Tool, tool } from "../src/agent/tool.ts";
import type { StoredEvent } from "../src/core/event.ts";
import type { Model } from "../src/model/model.ts";
import { calls, hangs, says, scripted } from "../src/model/scripted.ts";
import { fakeClock } from "../src/testing/fake-clock.ts";
import { message, startEngine } from "./support/engine.ts";
import { textOf } from "./support/frames.ts";
import { directory, eventually, type Reply, type Served, START, serve } from "./support/serve.ts";

const getMenu = (more: Partial<Parameters<typeof tool>[0]> = {}) =>
  tool({ name: "get_menu", description: "The menu", input: z.object({ category: z.string() }), timeout: "30s", ...more } as Parameters<
    typeof tool
  >[0]);
const agents = (model: Model, ...tools: Tool[]) => ({ default: chatAgent({ model, tools }) });
const user = (content: string, id = "u1") => ({ role: "user", id, content });
const result = (callId: string, content: string) => ({ role: "tool", toolCallId: callId, content });
const ask = (server: Served, content = "menu") => server.post({ threadId: "t", runId: "r1", messages: [user(content)] });
const give = (server: Served, callId: string, content: string, runId = "r2") =>
  server.post({ threadId: "t", runId, messages: [result(callId, content)] });

type Returned = Extract<StoredEvent, { type: "tool.returned" }>;
const settled = (events: readonly StoredEvent[]) => events.filter((event): event is Returned => event.type === "tool.returned");
const outcomes = (events: readonly StoredEvent[]) => events.flatMap((event) => (event.type === "run.ended" ? [event.outcome.type] : []));
const toldModel = (model: { requests: { history: readonly unknown[] }[] }, request: number) =>
  JSON.stringify(model.requests[request]?.history);

describe("a result", () => {
  it("sent a hundred times at once is one model call and a hundred equal answers", async () => {
    using data = directory();
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Here ", "is ", "tea."));
    await using server = await serve({ data: data.path, agents: agents(model, getMenu()) });
    await ask(server);
    const replies = await Promise.all(Array.from({ length: 100 }, (_, i) => give(server, "c1", "tea", `r${i}`)));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
    assert.equal(textOf((replies[0] as Reply).frames), "Here is tea.");
    assert.equal(model.requests.length, 2);
    const events = await server.events();
    assert.equal(settled(events).length, 1);
    assert.deepEqual(outcomes(events), ["waiting", "done"]);
  });

  it("with other content comes too late: a door that carries histories ignores it", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Tea."));
    await using server = await serve({ agents: agents(model, getMenu()) });
    await ask(server);
    const once = await give(server, "c1", "tea");
    const other = await give(server, "c1", "coffee", "r3");
    assert.equal(other.text, once.text);
    assert.deepEqual(
      settled(await server.events()).map(({ output }) => output),
      ["tea"],
    );
    assert.equal(model.requests.length, 2);
  });

  it("of each of many calls may race with all others: nothing is lost, the model is asked once", async () => {
    using data = directory();
    const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
    const model = scripted(
      ids.flatMap((id) => calls("get_menu", { category: id }, { id })),
      says("All."),
    );
    await using server = await serve({ data: data.path, agents: agents(model, getMenu()) });
    await ask(server);
    const replies = await Promise.all(ids.toReversed().map((id) => give(server, id, `for ${id}`, `run-${id}`)));
    assert.ok(replies.every(({ status }) => status === 200));
    assert.equal(replies.filter(({ frames }) => textOf(frames) === "All.").length, 1);
    assert.equal(model.requests.length, 2);
    const history = toldModel(model, 1);
    for (const id of ids) assert.ok(history.includes(`for ${id}`));
  });

  it("that breaks the tool's output schema is refused and leaves the call open", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Tea."));
    const strict = getMenu({ output: z.object({ items: z.array(z.string()) }) });
    const { submit, events, idle } = startEngine({ agents: agents(model, strict) });
    await submit(message("menu"));
    await idle();
    await assert.rejects(submit({ results: [{ callId: "c1", status: "completed", output: { items: "tea" } }] }), {
      code: "unprocessable",
      field: "output",
    });
    assert.deepEqual(outcomes(await events()), ["waiting"]);
    await submit({ results: [{ callId: "c1", status: "completed", output: { items: ["tea"] } }] });
    assert.deepEqual(outcomes(await idle()), ["waiting", "done"]);
  });

  it("may be JSON in a text where the tool's output schema wants more than a text", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Tea."));
    await using server = await serve({ agents: agents(model, getMenu({ output: z.object({ items: z.array(z.string()) }) })) });
    await ask(server);
    assert.equal((await give(server, "c1", '{"items":"tea"}')).status, 422);
    assert.equal((await give(server, "c1", "tea")).status, 422);
    const once = await give(server, "c1", '{"items":["tea"]}');
    assert.equal(textOf(once.frames), "Tea.");
    assert.deepEqual(settled(await server.events())[0]?.output, { items: ["tea"] });
    assert.equal((await give(server, "c1", '{"items":["tea"]}')).text, once.text);
  });

  it("for a call of this server, of another thread or of nobody is refused", async () => {
    const gate = Promise.withResolvers<void>();
    const pay = tool({ name: "pay", description: "Pays", input: z.object({}), execute: () => gate.promise.then(() => "paid") });
    const model = scripted([...calls("pay", {}, { id: "s1" })], says("Paid."));
    await using server = await serve({ agents: agents(model, pay) });
    const stream = await server.open({ threadId: "t", runId: "r1", messages: [user("pay")] });
    await stream.until("STEP_FINISHED");
    const forged = await server.open({ threadId: "t", runId: "f1", messages: [result("s1", "forged")] });
    const elsewhere = await server.post({ threadId: "other", runId: "f2", messages: [result("s1", "forged")] });
    assert.deepEqual([elsewhere.status, elsewhere.error.code], [404, "not_found"]);
    gate.resolve();
    await forged.rest();
    assert.deepEqual(
      settled(await server.events()).map(({ output, by }) => [output, by]),
      [["paid", "server"]],
    );
    assert.equal(await server.thread("other"), undefined);
  });

  it("for a call that waits for approval is refused, whoever sends it", async () => {
    const pay = tool({ name: "pay", description: "Pays", input: z.object({}), approval: true });
    const model = scripted(calls("pay", {}, { id: "s1" }));
    const { submit, idle } = startEngine({ agents: agents(model, pay) });
    await submit(message("pay"));
    await idle();
    await assert.rejects(submit({ results: [{ callId: "s1", status: "completed", output: 1 }] }), {
      code: "conflict",
      message: /approval/,
    });
  });

  it("and the approval of its own call in one request: the call is only released", async () => {
    const pay = tool({ name: "pay", description: "Pays", input: z.object({}), approval: true });
    const model = scripted(calls("pay", {}, { id: "s1" }));
    await using server = await serve({ agents: agents(model, pay) });
    await ask(server, "pay");
    const resume = [{ interruptId: "s1:approval", status: "resolved", payload: { approved: true } }];
    await server.post({ threadId: "t", runId: "r2", messages: [result("s1", "forged")], resume });
    assert.deepEqual(settled(await server.events()), []);
    assert.equal((await server.store.wait("default", "s1"))?.status, "pending");
  });

  it("from another user is 404, and their thread of the same name is another", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Hello, Bob."));
    const authenticate = (request: Request) => ({ user: request.headers.get("x-user") ?? "user" });
    await using server = await serve({ agents: agents(model, getMenu()), authenticate });
    await ask(server);
    const as = (name: string, messages: object[]) =>
      fetch(`${server.url}/agui`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-user": name },
        body: JSON.stringify({ threadId: "t", runId: "r2", messages }),
      });
    assert.equal((await as("bob", [result("c1", "tea")])).status, 404);
    assert.match(await (await as("bob", [user("hi")])).text(), /Hello, Bob/);
    assert.equal((await server.thread())?.status, "waiting");
  });
});

describe("a deadline", () => {
  const asked = () => scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Too slow."));

  it("lets the turn go on with 外部执行超时", async () => {
    using data = directory();
    const model = asked();
    await using server = await serve({ data: data.path, agents: agents(model, getMenu()) });
    await ask(server);
    await server.clock.advance(29_999);
    assert.equal((await server.thread())?.status, "waiting");
    await server.clock.advance(501);
    await eventually(async () => outcomes(await server.events()).includes("done"));
    assert.deepEqual(
      settled(await server.events()).map(({ status, error }) => [status, error]),
      [["expired", "外部执行超时"]],
    );
    assert.match(toldModel(model, 1), /外部执行超时/);
    const late = await give(server, "c1", "tea");
    assert.equal(textOf(late.frames), "Too slow.");
    assert.equal(model.requests.length, 2);
  });

  it("that passed while the server was down fires within a second of its start", async () => {
    using data = directory();
    {
      await using server = await serve({ data: data.path, agents: agents(asked(), getMenu()) });
      await ask(server);
    }
    const model = scripted(says("I was away."));
    await using server = await serve({ data: data.path, agents: agents(model, getMenu()), clock: fakeClock(START + 3_600_000) });
    await server.clock.advance(500);
    await eventually(async () => outcomes(await server.events()).includes("done"));
    assert.equal(settled(await server.events())[0]?.status, "expired");
  });

  it("can put a default in the place of the result", async () => {
    const model = asked();
    await using server = await serve({ agents: agents(model, getMenu({ onTimeout: { default: ["water"] } })) });
    await ask(server);
    await server.clock.advance(30_500);
    await eventually(async () => outcomes(await server.events()).includes("done"));
    assert.deepEqual(
      settled(await server.events()).map(({ status, output }) => [status, output]),
      [["expired", ["water"]]],
    );
    assert.match(toldModel(model, 1), /water/);
  });

  it("can deny", async () => {
    await using server = await serve({ agents: agents(asked(), getMenu({ onTimeout: "deny" })) });
    await ask(server);
    await server.clock.advance(30_500);
    await eventually(async () => outcomes(await server.events()).includes("done"));
    assert.match(settled(await server.events())[0]?.error ?? "", /denied/);
  });

  it("can cancel the turn with everything else that is open", async () => {
    const model = scripted([...calls("get_menu", { category: "tea" }, { id: "c1" }), ...calls("wait", {}, { id: "c2" })]);
    const wait = tool({ name: "wait", description: "Waits", input: z.object({}) });
    await using server = await serve({ agents: agents(model, getMenu({ onTimeout: "cancel" }), wait) });
    await ask(server);
    await server.clock.advance(30_500);
    await eventually(async () => (await server.thread())?.status === "idle");
    const events = await server.events();
    assert.deepEqual(
      settled(events).map(({ callId, status }) => [callId, status]),
      [
        ["c1", "expired"],
        ["c2", "cancelled"],
      ],
    );
    assert.deepEqual(outcomes(events), ["waiting", "cancelled"]);
    assert.equal(model.requests.length, 1);
  });

  it("of one of several calls settles that one and goes on waiting for the others", async () => {
    const model = scripted([...calls("get_menu", { category: "tea" }, { id: "c1" }), ...calls("wait", {}, { id: "c2" })], says("Well."));
    const wait = tool({ name: "wait", description: "Waits", input: z.object({}) });
    await using server = await serve({ agents: agents(model, getMenu(), wait) });
    await ask(server);
    await server.clock.advance(30_500);
    await eventually(async () => settled(await server.events()).length === 1);
    assert.deepEqual(outcomes(await server.events()), ["waiting", "waiting"]);
    assert.equal(textOf((await give(server, "c2", "done")).frames), "Well.");
  });

  it("starts at the offer, however long a person took to approve", async () => {
    const model = scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Tea."));
    await using server = await serve({ agents: agents(model, getMenu({ approval: true })) });
    await ask(server);
    await server.clock.advance(3_600_000);
    const resume = [{ interruptId: "c1:approval", status: "resolved", payload: { approved: true } }];
    await server.post({ threadId: "t", runId: "r2", messages: [], resume });
    assert.equal((await server.store.wait("default", "c1"))?.expiresAt, START + 3_600_000 + 30_000);
  });

  it("of an approval means that the call is not made", async () => {
    let paid = 0;
    const pay = tool({ name: "pay", description: "Pays", input: z.object({}), approval: { timeout: "1m" }, execute: () => ++paid });
    await using server = await serve({ agents: agents(scripted(calls("pay", {}, { id: "c1" }), says("Not paid.")), pay) });
    await ask(server);
    await server.clock.advance(60_500);
    await eventually(async () => outcomes(await server.events()).includes("done"));
    assert.deepEqual([paid, settled(await server.events())[0]?.status], [0, "expired"]);
  });

  it("that cannot be met in one thread does not keep the others from theirs", async () => {
    const model = (id: string) => scripted(calls("get_menu", { category: id }, { id }), says("Late."));
    await using server = await serve({
      agents: {
        default: chatAgent({ model: model("c1"), tools: [getMenu()] }),
        two: chatAgent({ model: model("c2"), tools: [getMenu()] }),
      },
    });
    await ask(server);
    await server.post({ threadId: "t2", runId: "r1", messages: [user("menu")] }, "/agui/two");
    const { read, append } = server.store;
    // The first thread has become unreadable.
    server.store.append = async (key, ...rest) => {
      if (key.threadId === "t") throw new Error("cannot be written");
      return append(key, ...rest);
    };
    await server.clock.advance(31_000);
    await eventually(async () => outcomes(await read({ app: "default", user: "user", threadId: "t2" }, { after: 0 })).includes("done"));
    server.store.append = append;
    await server.clock.advance(500);
    await eventually(async () => outcomes(await server.events()).includes("done"));
  });
});

describe("a call", () => {
  it("is checked before anybody could run it: the model is told, and may try again", async () => {
    const model = scripted(
      calls("get_food", {}, { id: "c1" }),
      calls("get_menu", {}, { id: "c2", text: '{"category":' }),
      [...calls("get_menu", { category: 7 }, { id: "c3" }), ...calls("get_menu", { category: "tea" }, { id: "c4" })],
      says("Sorry."),
    );
    await using server = await serve({ agents: agents(model, getMenu()) });
    await ask(server);
    const events = await server.events();
    assert.deepEqual(
      events.flatMap((event) => (event.type === "call.offered" ? [event.callId] : [])),
      ["c4"],
    );
    const errors = settled(events).map(({ error }) => error ?? "");
    assert.match(errors[0] ?? "", /no tool get_food/);
    assert.match(errors[1] ?? "", /cannot be read/);
    assert.match(errors[2] ?? "", /schema: category/);
    await give(server, "c4", "tea");
    assert.equal(model.requests.length, 4);
  });

  it("made wrongly three times in a row fails the run", async () => {
    const model = scripted(calls("x", {}), calls("y", {}), calls("z", {}), says("never"));
    await using server = await serve({ agents: agents(model) });
    const { frames } = await ask(server);
    assert.deepEqual([frames.at(-1)?.type, frames.at(-1)?.["code"]], ["RUN_ERROR", "limit"]);
    assert.equal(model.requests.length, 3);
  });

  it("of a request's tool is checked by the schema it was declared with", async () => {
    const paint = {
      name: "paint",
      description: "",
      parameters: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
    };
    const model = scripted(calls("paint", { color: "red" }, { id: "c1" }), calls("paint", { colour: "red" }, { id: "c2" }));
    await using server = await serve({ agents: agents(model) });
    await server.post({ threadId: "t", runId: "r1", messages: [user("paint")], tools: [paint] });
    assert.equal((await server.store.wait("default", "c2"))?.status, "pending");
    assert.match(settled(await server.events())[0]?.error ?? "", /colour/);
  });

  it("of a name that both sides have is the server's", async () => {
    const model = scripted(calls("get_time", {}), says("Noon."));
    const time = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });
    await using server = await serve({ agents: agents(model, time) });
    const { frames } = await server.post({
      threadId: "t",
      runId: "r1",
      messages: [user("time")],
      tools: [{ name: "get_time", description: "" }],
    });
    assert.equal(textOf(frames), "Noon.");
    assert.deepEqual(
      model.requests[0]?.tools.map(({ name }) => name),
      ["get_time"],
    );
  });

  it("may be handed back by its own code (seed 000's stop)", async () => {
    const pay = tool({
      name: "pay",
      description: "Pays",
      input: z.object({ amount: z.number() }),
      execute: ({ amount }) => (amount > 100 ? handBack({ timeout: "1d" }) : "paid"),
    });
    const model = scripted(
      [...calls("pay", { amount: 1 }, { id: "small" }), ...calls("pay", { amount: 900 }, { id: "large" })],
      says("Both paid."),
    );
    await using server = await serve({ agents: agents(model, pay) });
    await ask(server, "pay");
    const row = await server.store.wait("default", "large");
    assert.deepEqual([row?.status, row?.owner, row?.expiresAt], ["pending", "external", START + 86_400_000]);
    assert.equal((await server.store.wait("default", "small"))?.status, "completed");
    assert.equal(textOf((await give(server, "large", "paid by hand")).frames), "Both paid.");
  });

  it("of a server tool runs beside the others while outside ones are answered", async () => {
    const gates = { a: Promise.withResolvers<string>(), b: Promise.withResolvers<string>() };
    const slow = tool({
      name: "slow",
      description: "",
      input: z.object({ gate: z.enum(["a", "b"]) }),
      execute: ({ gate }) => gates[gate].promise,
    });
    const model = scripted(
      [
        ...calls("slow", { gate: "a" }, { id: "a" }),
        ...calls("get_menu", { category: "tea" }, { id: "c" }),
        ...calls("slow", { gate: "b" }, { id: "b" }),
      ],
      says("All three."),
    );
    using data = directory();
    await using server = await serve({ data: data.path, agents: agents(model, slow, getMenu()) });
    const stream = await server.open({ threadId: "t", runId: "r1", messages: [user("go")] });
    await eventually(async () => (await server.events()).filter(({ type }) => type === "call.claimed").length === 2);
    gates.b.resolve("second");
    const helper = await server.open({ threadId: "t", runId: "w1", messages: [result("c", "tea")] });
    await helper.until("TOOL_CALL_RESULT");
    gates.a.resolve("first");
    assert.equal(textOf(await stream.rest()), "All three.");
    const told = model.requests[1]?.history[1];
    assert.ok(told?.role === "assistant");
    assert.deepEqual(
      told.parts.map((part) => part.type === "call" && [part.callId, part.settlement?.output]),
      [
        ["a", "first"],
        ["c", "tea"],
        ["b", "second"],
      ],
    );
    assert.deepEqual(outcomes(await server.events()), ["done"]);
  });

  it("that waits refuses a new message where the agent says so", async () => {
    const waiting = chatAgent({
      model: scripted(calls("get_menu", { category: "tea" }, { id: "c1" }), says("Tea.")),
      tools: [getMenu()],
      whilePending: "reject",
    });
    await using server = await serve({ agents: { default: chatAgent({ model: scripted() }), patient: waiting } });
    await server.post({ threadId: "t", runId: "r1", messages: [user("menu")] }, "/agui/patient");
    const refused = await server.post({ threadId: "t", runId: "r2", messages: [user("menu"), user("hurry", "u2")] }, "/agui/patient");
    assert.equal(refused.status, 409);
    const unnamed = await server.post({ threadId: "t", runId: "r2", messages: [user("menu"), user("hurry", "u2")] });
    assert.equal(unnamed.status, 409);
    assert.equal((await server.thread())?.pending, 1);
  });

  it("that a running model has begun is closed when the run is cancelled, and offered to nobody", async () => {
    const model = scripted(hangs(...calls("get_menu", { category: "tea" }, { id: "c1" }).slice(0, 2)));
    await using server = await serve({ agents: agents(model, getMenu()) });
    const stream = await server.open({ threadId: "t", runId: "r1", messages: [user("go")] });
    await stream.until("TOOL_CALL_ARGS");
    await server.post({ threadId: "t" }, "/agui/cancel");
    await stream.rest();
    const events = await server.events();
    assert.ok(events.every(({ type }) => type !== "call.offered"));
    assert.deepEqual(
      settled(events).map(({ status }) => status),
      ["cancelled"],
    );
  });
});
