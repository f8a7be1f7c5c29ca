import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { authenticate } from "./support/native.ts";
import { backend, coffeeShop, OUTSIDE, waiting } from "./support/rest.ts";
import { eventually, serve } from "./support/serve.ts";

const shop = () => serve({ agents: { default: coffeeShop() } });
const ok = (data: unknown) => ({ toolResult: { success: true, data } });

describe("results without a name", () => {
  it("answer the calls in the order they were offered", async () => {
    await using server = await shop();
    const { result } = backend(server.url);
    const ids = await waiting(server, "get_menu", "place_order", "get_menu");
    const first = await result(ok("a"));
    assert.deepEqual([first.status, first.json.data.toolCallId, first.json.data.toolName], [200, ids[0], "get_menu"]);
    const { content, status, remaining, toolCalls } = first.json.data.agentResponse;
    assert.deepEqual([content, status, remaining], ["", "waiting", 2]);
    assert.deepEqual(
      toolCalls.map(({ toolCallId, result }: { toolCallId: string; result: unknown }) => [toolCallId, result]),
      [
        [ids[1], null],
        [ids[2], null],
      ],
    );
    await result(ok("b"));
    const last = await result(ok("c"));
    assert.equal(last.json.data.agentResponse.content, '这是我们的咖啡菜单：["a","b","c"]');
  });

  it("skip what was answered by name, and never what was lost", async () => {
    await using server = await shop();
    const { result } = backend(server.url);
    const ids = await waiting(server, "get_menu", "place_order", "get_menu");
    await result({ ...ok("second"), toolCallId: ids[1] });
    assert.equal((await result(ok("first"))).json.data.toolCallId, ids[0]);
    const last = await result(ok("third"));
    assert.equal(last.json.data.toolCallId, ids[2]);
    assert.match(last.json.data.agentResponse.content, /\["first","second","third"\]/);
  });

  it("that come too late do not shift onto the next call", async () => {
    await using server = await shop();
    const { chat, pending, result } = backend(server.url);
    await chat({ message: "call brew get_menu", toolExecutionConfig: { mode: "internal", outsideConfig: { timeout: 60_000 } } });
    const [brew, menu] = (await pending()).json.data.pendingToolCalls;
    await server.clock.advance(11_000);
    await eventually(async () => (await server.thread())?.pending === 1);
    const late = await result(ok("brewed"));
    assert.equal(late.status, 410);
    assert.match(late.json.error, new RegExp(`${brew.id}.*外部执行超时`));
    const named = await result({ ...ok("the menu"), toolCallId: menu.id });
    assert.match(named.json.data.agentResponse.content, /\["外部执行超时","the menu"\]/);
  });

  it("are refused when nothing waits, unless they repeat the last ones", async () => {
    await using server = await shop();
    const { result } = backend(server.url);
    await waiting(server, "get_menu", "get_menu");
    await result(ok("a"));
    const first = await result(ok("b"));
    const again = await result(ok("b"));
    assert.deepEqual(again.json, first.json);
    const third = await result(ok("c"));
    assert.deepEqual([third.status, third.json.success, third.json.code], [409, false, "conflict"]);
    assert.equal((await server.events()).filter(({ type }) => type === "step.started").length, 2);
  });
});

describe("results with a name", () => {
  it("come in any order, one by one or together", async () => {
    await using server = await shop();
    const { result } = backend(server.url);
    const [a, b, c] = await waiting(server, "get_menu", "place_order", "get_menu");
    await result({ ...ok("c"), toolCallId: c });
    const both = await result({
      toolResults: [
        { ...ok("b"), toolCallId: b, metadata: { took: 5 } },
        { toolResult: { success: false, error: "no" }, toolCallId: a },
      ],
    });
    assert.equal(both.json.data.agentResponse.content, '这是我们的咖啡菜单：["no","b","c"]');
    assert.deepEqual(both.json.data.results, [
      { toolCallId: b, toolName: "place_order", metadata: { took: 5 } },
      { toolCallId: a, toolName: "get_menu" },
    ]);
  });

  it("may carry it in the result or in its metadata", async () => {
    for (const name of [
      (id: string) => ({ toolResult: { success: true, data: 1, toolCallId: id } }),
      (id: string) => ({ ...ok(1), metadata: { toolCallId: id } }),
    ]) {
      await using server = await shop();
      const [, b] = await waiting(server, "get_menu", "place_order");
      assert.equal((await backend(server.url).result(name(b ?? ""))).json.data.toolCallId, b);
    }
  });

  it("get the same answer however often they come, and call no model again", async () => {
    await using server = await shop();
    const { result } = backend(server.url);
    const [id] = await waiting(server, "get_menu");
    const answers = await Promise.all(Array.from({ length: 100 }, () => result({ ...ok({ x: 1, y: 2 }), toolCallId: id })));
    for (const answer of answers) assert.deepEqual([answer.status, answer.json], [200, answers[0]?.json]);
    const later = await result({ toolResult: { success: true, data: { y: 2, x: 1 } }, toolCallId: id });
    assert.deepEqual(later.json, answers[0]?.json);
    assert.equal((await server.events()).filter(({ type }) => type === "step.started").length, 2);
  });

  it("that say something else, are for another tool, too late, unknown or misshapen are refused in the seed's words", async () => {
    await using server = await shop();
    const { chat, result } = backend(server.url);
    const [id] = await waiting(server, "count", "get_menu");
    const refused = async (status: number, code: string, body: object) => {
      const answer = await result(body);
      assert.deepEqual([answer.status, answer.json.success, answer.json.code], [status, false, code], JSON.stringify(answer.json));
      assert.equal(typeof answer.json.error, "string");
    };
    await refused(409, "conflict", { ...ok(1), toolCallId: id, toolName: "get_menu" });
    await refused(422, "unprocessable", { ...ok("many"), toolCallId: id });
    await refused(422, "unprocessable", ok("many"));
    await result({ ...ok(1), toolCallId: id });
    await refused(409, "conflict", { ...ok(2), toolCallId: id });
    await refused(404, "not_found", { ...ok(1), toolCallId: "never" });
    await refused(404, "not_found", { ...ok(1), threadId: "nowhere" });
    await refused(400, "invalid", {});
    await refused(400, "invalid", { ...ok(1), toolCallId: 7 });
    await refused(400, "invalid", { ...ok(1), threadId: "no such id" });
    const [menu] = (await backend(server.url).pending()).json.data.pendingToolCalls;
    await chat({ message: "never mind" });
    await refused(410, "gone", { ...ok(1), toolCallId: menu.id });
    await refused(410, "gone", ok(1));
    assert.equal((await backend(server.url).pending("nowhere")).status, 404);
  });

  it("come in seed 001's words too, under both paths", async () => {
    for (const path of ["/chat/tool-result", "/api/chat/tool-result"]) {
      await using server = await shop();
      const { send } = backend(server.url);
      const [a, b] = await waiting(server, "get_menu", "get_menu");
      const body = { session_id: "t", tool_call_id: a, result: { menu: [] }, is_error: false };
      const { status, json } = await send("POST", path, body);
      assert.deepEqual([status, json.ok, json.success, json.data.toolCallId], [200, true, true, a]);
      const failed = await send("POST", path, { session_id: "t", tool_call_id: b, result: "broken", is_error: true });
      assert.match(failed.json.data.agentResponse.content, /\[\{"menu":\[\]\},"broken"\]/);
      assert.equal((await send("POST", path, { session_id: "t", tool_call_id: "x", result: 1 })).status, 404);
      assert.equal((await send("POST", path, { session_id: "s", tool_call_id: a, result: 1 })).status, 404);
    }
  });

  it("settle nothing of strangers, and executors settle calls of their tools without seeing the thread", async () => {
    await using server = await serve({ agents: { default: coffeeShop() }, authenticate });
    const as = (who: string) => backend(server.url, { authorization: `Bearer ${who}` });
    await as("alice").chat({ message: "call get_menu place_order", ...OUTSIDE });
    const [menu, order] = (await as("alice").pending()).json.data.pendingToolCalls;
    for (const body of [{ toolCallId: menu.id }, { toolCallId: menu.id, threadId: undefined }, {}]) {
      assert.equal((await as("bob").result({ ...ok(1), ...body })).status, 404);
    }
    assert.equal((await as("bob").pending()).status, 404);
    assert.equal((await backend(server.url).result(ok(1))).status, 401);
    assert.equal((await backend(server.url).pending()).status, 401);
    const worker = as("tools:place_order");
    assert.equal((await worker.pending()).status, 404);
    assert.equal((await worker.result({ ...ok(1), toolCallId: menu.id, threadId: undefined })).status, 404);
    const { status, json } = await worker.result({ ...ok(1), toolCallId: order.id, threadId: undefined });
    assert.deepEqual([status, json.data.toolCallId, json.data.agentResponse.content], [200, order.id, ""]);
    const operator = await as("op").send("POST", "/chat/tool-result?user=alice", { ...ok(2), threadId: "t" });
    assert.match(operator.json.data.agentResponse.content, /\[2,1\]/);
  });
});

describe("a chat that cannot be answered", () => {
  it("says why, with a status and a code", async () => {
    await using server = await shop();
    const { chat } = backend(server.url);
    const cases: [object, number, string][] = [
      [{ message: "" }, 400, "invalid"],
      [{ message: "hi", threadId: "no such id" }, 400, "invalid"],
      [{ message: "hi", messageType: "robot" }, 400, "invalid"],
      [{ message: "", messageType: "tool" }, 400, "invalid"],
      [{ message: "hi", toolResult: {} }, 400, "invalid"],
      [{ message: "hi", agent: "nobody" }, 404, "not_found"],
      [{ message: "hi", toolExecutionConfig: { mode: "elsewhere" } }, 400, "invalid"],
      [{ message: "hi", toolExecutionConfig: { mode: "outside", outsideConfig: { timeout: 0 } } }, 400, "invalid"],
      [{ message: "hi", toolExecutionConfig: { mode: "outside", outsideConfig: { callbackUrl: "https://x.example" } } }, 400, "invalid"],
      [{ messageType: "tool", toolResult: {}, threadId: "nowhere" }, 404, "not_found"],
      [{ message: "fail", threadId: "f" }, 502, "model"],
    ];
    for (const [body, status, code] of cases) {
      const answer = await chat(body);
      assert.deepEqual([answer.status, answer.json.success, answer.json.code], [status, false, code], JSON.stringify(body));
      assert.equal(typeof answer.json.error, "string");
    }
  });

  it("takes a thread of its own where none is named", async () => {
    await using server = await shop();
    const { json } = await backend(server.url).send("POST", "/chat", { message: "hi" });
    assert.match(json.data.metadata.threadId, /^thread_/);
    assert.equal(json.data.content, "echo hi");
  });

  it("shows the questions a person has to answer first", async () => {
    await using server = await shop();
    const { json } = await backend(server.url).chat({ message: "call pay" });
    assert.deepEqual([json.data.status, json.data.remaining], ["waiting", 1]);
    assert.equal(json.data.interrupts[0].toolCallId, json.data.toolCalls[0].toolCallId);
    assert.equal((await backend(server.url).pending()).json.data.count, 0, "nobody may run it yet");
    assert.equal((await backend(server.url).result(ok(1))).status, 409);
  });
});
