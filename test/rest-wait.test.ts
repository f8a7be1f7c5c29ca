import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fakeClock } from "../src/testing/fake-clock.ts";
import { framesIn } from "./support/frames.ts";
import { backend, coffeeShop, OUTSIDE, waiting } from "./support/rest.ts";
import { directory, eventually, START, serve } from "./support/serve.ts";

const shop = (data?: string) => serve({ agents: { default: coffeeShop() }, ...(data !== undefined && { data }) });
const ok = (data: unknown) => ({ toolResult: { success: true, data } });
const WAIT = { toolExecutionConfig: { mode: "outside", outsideConfig: { waitForResult: true, timeout: 5_000 } } };

describe("waitForResult", () => {
  it("holds the chat until the turn is done, and shows the results in it", async () => {
    await using server = await shop();
    const { chat, pending, result } = backend(server.url);
    const held = chat({ message: "call get_menu place_order", ...WAIT });
    await eventually(async () => (await pending()).json.data?.count === 2);
    await result({ ...ok("menu"), metadata: { took: 3 } });
    await result({ toolResult: { success: false, error: "sold out" } });
    const { json } = await held;
    assert.equal(json.data.content, '这是我们的咖啡菜单：["menu","sold out"]');
    assert.equal(json.data.status, "done");
    const shown = json.data.toolCalls.map(({ result, success, error, metadata }: Record<string, unknown>) => [
      result,
      success,
      error,
      metadata,
    ]);
    assert.deepEqual(shown, [
      ["menu", true, undefined, { took: 3 }],
      [null, false, "sold out", undefined],
    ]);
    assert.deepEqual(json.data.metadata.toolsUsed, ["get_menu", "place_order"]);
  });

  it("ends with 外部执行超时 when nobody answers in time", async () => {
    await using server = await shop();
    const { chat, pending } = backend(server.url);
    const held = chat({ message: "call get_menu", ...WAIT });
    await eventually(async () => (await pending()).json.data?.count === 1);
    await server.clock.advance(5_600);
    const { json } = await held;
    const { success, error, status } = json.data.toolCalls[0];
    assert.deepEqual({ success, error, status }, { success: false, error: "外部执行超时", status: "expired" });
    assert.match(json.data.content, /外部执行超时/);
  });

  it("does not hold for ever what only a person can answer", async () => {
    await using server = await shop();
    const held = backend(server.url).chat({ message: "call pay", ...WAIT });
    await eventually(async () => (await server.thread())?.pending === 1);
    await server.clock.advance(8_000);
    assert.equal((await held).json.data.status, "waiting");
  });

  it("answers as if its time had passed when the server shuts down, and goes on under its key on the next one", async () => {
    using data = directory();
    const key = { "idempotency-key": "k1" };
    const body = { message: "call get_menu", ...WAIT };
    {
      await using server = await shop(data.path);
      const held = backend(server.url).chat(body, key);
      await eventually(async () => (await server.thread())?.status === "waiting");
      await server.close();
      assert.equal((await held).json.data.status, "waiting");
    }
    await using server = await shop(data.path);
    const { chat, result } = backend(server.url);
    const held = chat(body, key);
    await result(ok("menu"));
    assert.equal((await held).json.data.content, '这是我们的咖啡菜单：["menu"]');
    assert.equal((await server.events()).filter(({ type }) => type === "step.started").length, 2);
  });

  it("leaves the run alone when its client goes away", async () => {
    await using server = await shop();
    const abort = new AbortController();
    const body = JSON.stringify({ threadId: "t", message: "call get_menu", ...WAIT });
    const held = fetch(`${server.url}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal: abort.signal,
    });
    held.catch(() => {});
    await eventually(async () => (await server.thread())?.pending === 1);
    abort.abort();
    const { json } = await backend(server.url).result(ok("menu"));
    assert.match(json.data.agentResponse.content, /menu/);
  });
});

describe("Idempotency-Key", () => {
  it("makes a message safe to send again: one turn, the same answer", async () => {
    await using server = await shop();
    const { chat } = backend(server.url);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => chat({ message: "call get_menu", ...OUTSIDE }, { "idempotency-key": "a" })),
    );
    for (const answer of answers) assert.deepEqual([answer.status, answer.json], [200, answers[0]?.json]);
    assert.equal((await server.events()).filter(({ type }) => type === "run.started").length, 1);
  });

  it("makes a nameless result safe to send again, so that it does not answer the next call", async () => {
    await using server = await shop();
    const { result } = backend(server.url);
    const ids = await waiting(server, "get_menu", "place_order");
    const first = await result(ok("a"), { "idempotency-key": "a" });
    const again = await result(ok("a"), { "idempotency-key": "a" });
    assert.deepEqual(again.json, first.json);
    assert.equal((await result(ok("b"), { "idempotency-key": "b" })).json.data.toolCallId, ids[1]);
  });

  it("refuses another request under the same key, and is forgotten after a day", async () => {
    const clock = fakeClock(START);
    let days = 0;
    const jumping = { ...clock, now: () => clock.now() + days * 24 * 3_600_000 };
    await using server = await serve({ agents: { default: coffeeShop() }, clock: jumping });
    const { chat } = backend(server.url);
    const key = { "idempotency-key": "a" };
    await chat({ message: "one" }, key);
    for (const body of [{ message: "two" }, { message: "one", threadId: "other" }]) {
      const refused = await chat(body, key);
      assert.deepEqual([refused.status, refused.json.code, refused.json.field], [422, "unprocessable", "Idempotency-Key"]);
    }
    assert.equal((await chat({ message: "one" }, { "idempotency-key": "bad key" })).status, 400);
    days = 1;
    assert.equal((await chat({ message: "two" }, key)).json.data.content, "echo two");
  });

  it("finds its thread again where the request named none", async () => {
    await using server = await shop();
    const { send } = backend(server.url);
    const once = () => send("POST", "/chat", { message: "hi" }, { "idempotency-key": "a" });
    assert.deepEqual((await once()).json, (await once()).json);
  });
});

describe("a chat as a stream", () => {
  it("is the turn in native events, for those who accept them", async () => {
    await using server = await shop();
    const { result, pending } = backend(server.url);
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const post = (body: object) =>
      fetch(`${server.url}/chat`, { method: "POST", headers, body: JSON.stringify({ threadId: "t", ...body }) });
    const short = framesIn(await (await post({ message: "hi", ...OUTSIDE })).text()).map(({ type }) => type);
    assert.deepEqual([short[0], short.filter((type) => type === "run.ended").length], ["run.started", 1]);
    const held = post({ message: "call get_menu", ...WAIT });
    await eventually(async () => (await pending()).json.data?.count === 1);
    await result(ok("menu"));
    const frames = framesIn(await (await held).text());
    assert.equal(frames.filter(({ type }) => type === "run.ended").length, 2);
    assert.ok(!JSON.stringify(frames).includes("toolExecution"), "how tools are executed is not for users' eyes");
  });
});
