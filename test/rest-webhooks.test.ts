import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, it } from "node:test";
import { isSigned, type Receiver, receiver } from "./support/receiver.ts";
import { backend, coffeeShop } from "./support/rest.ts";
import { eventually, type Served, serve } from "./support/serve.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OLD = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;

const shop = ({ origin }: { origin: string }, publicUrl?: string) =>
  serve({
    agents: { default: coffeeShop() },
    webhooks: { secrets: [SECRET, OLD], allow: [origin], ...(publicUrl !== undefined && { publicUrl }) },
  });

const calling = (callbackUrl: string, timeout = 3_600_000) => ({
  toolExecutionConfig: { mode: "outside", outsideConfig: { callbackUrl, timeout } },
});

/** Lets the server's time pass, a little at a time, until it has happened. */
async function inTime<T>(server: Served, ms: number, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (let passed = 0; passed <= ms; passed += 500) {
    const found = await look();
    if (found) return found;
    await server.clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 2)); // real sockets need real time
  }
  return eventually(look);
}

const idle = (server: Served) => async () => (await server.thread())?.status === "idle";
const deliveries = async (server: Served) => (await backend(server.url).send("GET", "/v1/deliveries")).json.deliveries;

async function delivered(server: Served, to: Receiver, message = "call get_menu"): Promise<void> {
  assert.equal((await backend(server.url).chat({ message, ...calling(to.url) })).status, 200);
  await inTime(server, 2_000, () => to.received.length > 0);
}

describe("a webhook", () => {
  it("announces a call, signed with every secret, and takes the result from the answer", async () => {
    await using to = await receiver({ status: 200, body: { toolResult: { success: true, data: "menu" }, metadata: { took: 1 } } });
    await using server = await shop(to, "https://a.example");
    await delivered(server, to);
    await inTime(server, 2_000, idle(server));
    const [first] = to.received;
    assert.ok(first && isSigned(first, SECRET) && isSigned(first, OLD));
    assert.equal(isSigned({ ...first, body: `${first.body} ` }, SECRET), false);
    const { type, timestamp, data } = JSON.parse(first.body);
    assert.deepEqual([type, typeof timestamp, first.id], ["tool_call.pending", "string", data.id]);
    assert.deepEqual([data.name, data.args, data.description, data.threadId], ["get_menu", { n: 0 }, "获取咖啡菜单", "t"]);
    assert.equal(data.resultUrl, "https://a.example/chat/tool-result");
    const settled = (await server.events()).find((event) => event.type === "tool.returned");
    assert.deepEqual([settled?.output, settled?.via, settled?.metadata], ["menu", "webhook", { took: 1 }]);
    assert.equal(to.received.length, 1);
    const [row] = await deliveries(server);
    assert.deepEqual([row.status, row.attempts, row.log[0].status], ["delivered", 1, 200]);
  });

  it("announces each call of a step once, and nothing that the server or the browser runs", async () => {
    await using to = await receiver();
    await using server = await shop(to);
    const { chat } = backend(server.url);
    const { outsideConfig } = calling(to.url).toolExecutionConfig;
    await chat({ message: "call add get_menu place_order", toolExecutionConfig: { mode: "internal", outsideConfig } });
    await inTime(server, 2_000, () => to.received.length === 2);
    await server.clock.advance(5_000);
    assert.deepEqual(to.received.map(({ data }) => data.name).sort(), ["get_menu", "place_order"]);
  });

  it("can be answered later with the token it came with, which is good for nothing else", async () => {
    await using to = await receiver();
    await using server = await shop(to);
    const { result, send } = backend(server.url);
    await delivered(server, to, "call get_menu place_order");
    await inTime(server, 2_000, () => to.received.length === 2);
    const [menu, order] = to.received;
    const token = menu?.data.token;
    const ok = { toolResult: { success: true, data: 1 } };
    assert.equal((await result({ ...ok, toolCallId: order?.id, token })).status, 404);
    assert.equal((await result({ ...ok, toolCallId: menu?.id, token: `${token.slice(0, -2)}xx` })).status, 401);
    assert.equal((await result({ ...ok, toolCallId: menu?.id, token, threadId: "other" })).status, 404);
    const bearer = { authorization: `Bearer ${token}` };
    const { status, json } = await send("POST", "/chat/tool-result", { ...ok, toolCallId: menu?.id }, bearer);
    assert.deepEqual(
      [status, json.data.toolCallId, json.data.agentResponse.content],
      [200, menu?.id, ""],
      "it learns nothing of the thread",
    );
    assert.equal((await result({ ...ok, token: order?.data.token, threadId: undefined })).json.data.toolCallId, order?.id);
    await inTime(server, 1_000, idle(server));
    assert.equal((await send("GET", "/v1/threads", undefined, bearer)).status, 200, "without authentication everyone is the user");
  });

  it("accepted with 202 is left alone as long as there are heartbeats", async () => {
    await using to = await receiver(202);
    await using server = await shop(to);
    const { send } = backend(server.url);
    await delivered(server, to);
    const [{ id, data }] = to.received as [Receiver["received"][number]];
    const beat = () => send("POST", "/chat/tool-heartbeat", { toolCallId: id, token: data.token, seconds: 60 });
    for (let i = 0; i < 3; i += 1) {
      await server.clock.advance(50_000);
      assert.equal((await beat()).status, 200);
    }
    assert.equal(to.received.length, 1);
    await inTime(server, 65_000, () => to.received.length === 2);
    assert.equal(to.received[1]?.id, id);
    await backend(server.url).result({ toolResult: { success: true, data: 1 } });
    assert.equal((await beat()).status, 410);
    assert.equal((await send("POST", "/chat/tool-heartbeat", { toolCallId: id, token: "x" })).status, 401);
  });

  it("is tried again with growing pauses and the same id while its receiver fails", async () => {
    await using to = await receiver(500);
    await using server = await shop(to);
    const start = server.clock.now();
    await delivered(server, to);
    await inTime(server, 5_000, () => to.received.length === 2);
    to.answer({ status: 503, headers: { "retry-after": "60" } });
    await inTime(server, 20_000, () => to.received.length === 3);
    const asked = server.clock.now();
    to.answer({ status: 200, body: { success: true, data: "menu" } });
    await inTime(server, 90_000, () => to.received.length === 4);
    assert.ok(server.clock.now() - asked >= 59_000, "it waits as long as it is asked to");
    await inTime(server, 2_000, idle(server));
    assert.equal(new Set(to.received.map(({ id }) => id)).size, 1);
    const [row] = await deliveries(server);
    assert.deepEqual(
      row.log.map(({ status }: { status: number }) => status),
      [500, 500, 503, 200],
    );
    assert.ok(server.clock.now() - start > 70_000);
  });

  it("stops when its receiver is gone, also for the calls to come", async () => {
    await using to = await receiver(410);
    await using server = await shop(to);
    await delivered(server, to);
    await inTime(server, 1_000, async () => (await deliveries(server))[0].status === "stopped");
    await backend(server.url).result({ toolResult: { success: true, data: 1 } });
    await backend(server.url).chat({ message: "call get_menu" });
    await server.clock.advance(10_000);
    assert.equal(to.received.length, 1);
  });

  it("stops when somebody else has answered", async () => {
    await using to = await receiver(500);
    await using server = await shop(to);
    await delivered(server, to);
    await backend(server.url).result({ toolResult: { success: true, data: 1 } });
    await server.clock.advance(60_000);
    assert.equal((await deliveries(server))[0].status, "stopped");
    assert.ok(to.received.length <= 2);
  });

  it("can be sent again by hand as long as its call waits", async () => {
    await using to = await receiver(200);
    await using server = await shop(to);
    const { send, result } = backend(server.url);
    await delivered(server, to);
    const [{ id }] = to.received as [Receiver["received"][number]];
    await inTime(server, 1_000, async () => (await deliveries(server))[0].status === "delivered");
    assert.equal((await send("POST", `/v1/deliveries/${id}/redeliver`)).status, 202);
    await inTime(server, 2_000, () => to.received.length === 2);
    assert.equal(to.received[1]?.id, id);
    await result({ toolResult: { success: true, data: 1 } });
    assert.equal((await send("POST", `/v1/deliveries/${id}/redeliver`)).status, 410);
    assert.equal((await send("POST", "/v1/deliveries/none/redeliver")).status, 404);
  });
});

describe("a receiver that", () => {
  const misbehaving: [string, Parameters<Receiver["answer"]>[0], RegExp][] = [
    ["hangs is cut off", () => {}, /within 10000 ms/],
    ["drips is cut off", (response) => void setInterval(() => response.write("x"), 5).unref(), /within 10000 ms|64|65536/],
    ["never stops talking is cut off", (response) => flood(response), /65536 bytes/],
    ["hangs up is tried again", (response) => void response.socket?.destroy(), /./],
    ["hangs up in the middle is tried again", breakOff, /./],
    ["has moved is not followed", { status: 307, headers: { location: "http://127.0.0.1:1/" } }, /HTTP 307/],
    ["lies about the result is not believed", { status: 200, body: { success: true, data: "many" } }, /does not fit/],
    ["says what is no JSON is tried again", (response) => void response.end("{nonsense"), /not valid JSON/],
  ];
  for (const [what, how, error] of misbehaving) {
    it(what, async () => {
      await using to = await receiver(how);
      await using server = await shop(to);
      await delivered(server, to, "call count");
      const row = await inTime(server, 15_000, async () =>
        (await deliveries(server)).find(({ attempts }: { attempts: number }) => attempts > 0),
      );
      assert.match(row.log[0].error, error);
      assert.equal((await server.thread())?.pending, 1);
      to.answer({ status: 200, body: { toolResult: 7 } });
      await inTime(server, 30_000, idle(server));
      const settled = (await server.events()).find((event) => event.type === "tool.returned");
      assert.equal(settled?.output, 7);
    });
  }

  it("hangs does not keep others from their calls", async () => {
    await using stuck = await receiver(() => {});
    await using to = await receiver({ status: 200, body: { success: true, data: 1 } });
    await using server = await serve({
      agents: { default: coffeeShop() },
      webhooks: { secrets: [SECRET], allow: [stuck.origin, to.origin] },
    });
    const { chat } = backend(server.url);
    for (let i = 0; i < 150; i += 1) await chat({ threadId: `stuck${i}`, message: "call get_menu", ...calling(stuck.url) });
    await inTime(server, 2_000, () => stuck.received.length === 10);
    await chat({ message: "call get_menu", ...calling(to.url) });
    await inTime(server, 2_000, idle(server));
  });
});

function breakOff(response: ServerResponse): void {
  response.write('{"success":');
  setTimeout(() => response.socket?.destroy(), 5);
}

function flood(response: ServerResponse): void {
  while (!response.destroyed && response.write("x".repeat(10_000)));
  if (!response.destroyed) response.once("drain", () => flood(response));
}
