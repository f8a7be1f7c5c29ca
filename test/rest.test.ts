import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { calls, says, scriptedBy } from "../src/model/scripted.ts";
import { backend, coffeeShop, OUTSIDE, seedExample } from "./support/rest.ts";
import { eventually, keyOf, serve } from "./support/serve.ts";

const shop = () => serve({ agents: { default: coffeeShop() } });
const MENU = { menu: [{ name: "美式咖啡", price: 25 }] };

describe("the guide of seed 002", () => {
  it("answers a user message with what was said and called", async () => {
    await using server = await shop();
    const { chat } = backend(server.url);
    const { status, json } = await chat({ message: "帮我查询咖啡菜单", messageType: "user", ...OUTSIDE });
    assert.equal(status, 200);
    assert.equal(json.success, true);
    assert.equal(json.data.content, "我来帮您查询咖啡菜单");
    const [{ toolName, result, success }] = json.data.toolCalls;
    assert.deepEqual({ toolName, result, success }, { toolName: "get_menu", result: null, success: true });
    assert.deepEqual(json.data.metadata, { threadId: "t", toolsUsed: ["get_menu"] });
  });

  it("lists what waits to be executed", async () => {
    await using server = await shop();
    const { chat, pending } = backend(server.url);
    await chat({ message: "帮我查询咖啡菜单", ...OUTSIDE });
    const { json } = await pending();
    const [{ id, expiresAt, ...call }] = json.data.pendingToolCalls;
    assert.match(id, /^call_/);
    assert.equal(expiresAt, "2026-01-05T12:00:30.000Z");
    assert.deepEqual(call, {
      kind: "call",
      name: "get_menu",
      args: { category: "coffee" },
      description: "获取咖啡菜单",
      timestamp: "2026-01-05T12:00:00.000Z",
      threadId: "t",
      status: "pending",
    });
    assert.deepEqual([json.success, json.data.threadId, json.data.count], [true, "t", 1]);
  });

  it("takes a result and answers with what the agent made of it", async () => {
    await using server = await shop();
    const { chat, result, pending } = backend(server.url);
    await chat({ message: "帮我查询咖啡菜单", ...OUTSIDE });
    const { status, json } = await result({
      toolResult: { success: true, data: MENU },
      success: true,
      metadata: { executionTime: 1500, source: "external_system" },
    });
    assert.equal(status, 200);
    assert.equal(json.success, true);
    assert.equal(json.data.message, "工具执行结果已处理");
    assert.equal(json.data.threadId, "t");
    const { content, toolCalls, metadata } = json.data.agentResponse;
    assert.equal(content, `这是我们的咖啡菜单：${JSON.stringify([MENU])}`);
    assert.deepEqual(toolCalls, []);
    assert.deepEqual(metadata, { threadId: "t", toolsUsed: [] });
    assert.deepEqual(json.data.results[0].metadata, { executionTime: 1500, source: "external_system" });
    assert.equal((await pending()).json.data.count, 0);
  });

  it("takes a result by way of the chat, named as a tool message or found out", async () => {
    for (const messageType of ["tool", "auto"]) {
      await using server = await shop();
      const { chat } = backend(server.url);
      await chat({ message: "帮我查询咖啡菜单", ...OUTSIDE });
      const { status, json } = await chat({ message: "", messageType, toolResult: { success: true, data: MENU } });
      assert.equal(status, 200);
      assert.match(json.data.content, /美式咖啡/);
    }
  });

  it("remembers how a thread wants its tools executed", async () => {
    await using server = await shop();
    const { chat } = backend(server.url);
    await chat({ message: "hi", ...OUTSIDE });
    const outside = await chat({ message: "call add" });
    assert.equal(outside.json.data.toolCalls[0].status, "pending", "also what the server could run itself");
    const inside = await chat({ message: "call add", toolExecutionConfig: { mode: "internal" } });
    assert.deepEqual([inside.json.data.toolCalls[0].result, inside.json.data.content], [3, "这是我们的咖啡菜单：[3]"]);
  });

  it("caches and retries this server's own tools as the thread wants it", async () => {
    let runs = 0;
    const flaky = tool({
      name: "flaky",
      description: "Fails at first",
      input: { type: "object" },
      execute() {
        runs += 1;
        if (runs === 1) throw new Error("not yet");
        return runs;
      },
    });
    const model = scriptedBy(({ history }) => (history.at(-1)?.role === "user" ? calls("flaky", {}) : says("done")));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [flaky] }) } });
    const { chat } = backend(server.url);
    const internalConfig = { enableCache: true, cacheTtl: 60_000, maxRetries: 1 };
    const first = chat({ message: "go", toolExecutionConfig: { mode: "internal", internalConfig } });
    await eventually(() => runs === 1);
    await server.clock.advance(1_000);
    assert.equal((await first).json.data.toolCalls[0].result, 2);
    const cached = await chat({ message: "again" });
    assert.deepEqual([cached.json.data.toolCalls[0].result, runs], [2, 2]);
    await server.clock.advance(60_000);
    assert.equal((await chat({ message: "again" })).json.data.toolCalls[0].result, 3);
  });

  it("tells the model of a failure, at whichever level it is told", async () => {
    for (const body of [
      { toolResult: { success: false, error: "数据库连接失败", data: null }, success: false, metadata: { errorCode: "DB" } },
      { toolResult: { success: false, error: "数据库连接失败" }, success: true },
      { toolResult: { success: true, data: MENU, error: "数据库连接失败" }, success: false },
    ]) {
      await using server = await shop();
      const { chat, result } = backend(server.url);
      await chat({ message: "帮我查询咖啡菜单", ...OUTSIDE });
      assert.match((await result(body)).json.data.agentResponse.content, /数据库连接失败/);
      const settled = (await server.events()).find((event) => event.type === "tool.returned");
      assert.equal(settled?.status, "failed");
    }
  });

  it("has a deadline of 30 s where nobody names one, and says 外部执行超时 when it has passed", async () => {
    await using server = await shop();
    const { chat } = backend(server.url);
    await chat({ message: "帮我查询咖啡菜单" });
    await server.clock.advance(29_000);
    assert.equal((await server.thread())?.pending, 1);
    await server.clock.advance(2_000);
    await eventually(async () => (await server.thread())?.status === "idle");
    const settled = (await server.events()).find((event) => event.type === "tool.returned");
    assert.deepEqual([settled?.status, settled?.error], ["expired", "外部执行超时"]);
  });

  it("runs its Node example as printed, for a call that its class has no method for", async () => {
    await using server = await shop();
    const said: unknown[][] = [];
    seedExample(server.url, (...words) => void said.push(words));
    await eventually(() => said.length > 0);
    const [[label, answer]] = said as [[string, { data: { content: string } }]];
    assert.equal(label, "处理完成:");
    assert.equal(answer.data.content, "我来帮您查询咖啡菜单");
    const settled = (await server.store.read(keyOf("thread_123"), { after: 0 })).find((event) => event.type === "tool.returned");
    assert.deepEqual([settled?.status, settled?.error, settled?.via], ["failed", "this.getMenu is not a function", "ordinal"]);
  });

  it("runs its Node example for one call and for three at once, each with its own result", async () => {
    for (const [message, tools] of [
      ["帮我查询咖啡菜单", 1],
      ["call get_menu place_order get_menu", 3],
    ] as const) {
      await using server = await shop();
      class Shop extends seedExample(server.url, () => {}) {
        async getMenu(args: object) {
          return { menu: args };
        }
        async placeOrder(args: object) {
          return { order: args };
        }
      }
      const answer = await new Shop(server.url).processUserMessage("t", message);
      assert.equal(answer["success"], true);
      const events = await server.events();
      const settled = events.filter((event) => event.type === "tool.returned");
      assert.equal(settled.length, tools);
      for (const { callId, output } of settled) {
        const called = events.find((event) => event.type === "tool.called" && event.callId === callId);
        assert.ok(called?.type === "tool.called");
        assert.deepEqual(output, { [called.name === "get_menu" ? "menu" : "order"]: called.input });
      }
      assert.equal(events.filter((event) => event.type === "step.started").length, 2, "the model is asked once, when all are there");
    }
  });

  it("runs its Node example for a tool that throws", async () => {
    await using server = await shop();
    class Broken extends seedExample(server.url, () => {}) {
      async getMenu() {
        throw new Error("数据库连接失败");
      }
    }
    await new Broken(server.url).processUserMessage("t", "帮我查询咖啡菜单");
    const settled = (await server.events()).find((event) => event.type === "tool.returned");
    assert.deepEqual([settled?.status, settled?.error], ["failed", "数据库连接失败"]);
  });
});
