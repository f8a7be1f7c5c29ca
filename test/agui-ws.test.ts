import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { chatAgent } from "../src/agent/chat.ts";
import type { AguiEvent } from "../src/handback.ts";
import { createHandback } from "../src/handback.ts";
import { calls, hangs, says, scripted } from "../src/model/scripted.ts";
import { memoryStore } from "../src/store/memory.ts";
import { lint } from "./support/agui.ts";
import { types } from "./support/frames.ts";
import { judge } from "./support/judge.ts";
import { eventually, serve } from "./support/serve.ts";

judge();

const paint = { name: "paint", description: "Paints", parameters: { type: "object" } };
const ask = (more: object = {}) => ({
  threadId: "t",
  runId: "r1",
  protocolVersion: "1.0",
  messages: [{ id: "u1", role: "user", content: "hi" }],
  ...more,
});
const TEXT = [
  "RUN_STARTED",
  "STEP_STARTED",
  "TEXT_MESSAGE_START",
  "TEXT_MESSAGE_CONTENT",
  "TEXT_MESSAGE_END",
  "STEP_FINISHED",
  "RUN_FINISHED",
];

/** A client of a few lines: a request out, its events in, until the run ends. */
async function connect(url: string, options: { headers?: Record<string, string> } = {}) {
  const socket = new WebSocket(url.replace("http", "ws"), options);
  await Promise.race([once(socket, "open"), once(socket, "error").then(([error]) => Promise.reject(error))]);
  const heard: AguiEvent[] = [];
  socket.on("message", (data) => void heard.push(JSON.parse(data.toString()) as AguiEvent));
  return {
    socket,
    heard,
    async run(body: unknown): Promise<AguiEvent[]> {
      heard.length = 0;
      socket.send(typeof body === "string" ? body : JSON.stringify(body));
      await eventually(() => ["RUN_FINISHED", "RUN_ERROR"].includes(heard.at(-1)?.type ?? ""));
      return [...heard];
    },
  };
}

describe("AG-UI over WebSocket", () => {
  it("answers one frame with one frame for each event, request after request, the same as over SSE", async () => {
    const model = scripted(says("Hello."), calls("paint", {}, { id: "c1" }), says("Done."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const { socket, run } = await connect(`${server.url}/agui/ws`);
    const first = await run(ask());
    assert.deepEqual(types(first), TEXT);
    await lint(first.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    const again = await server.post(ask());
    assert.deepEqual(
      again.frames.map(({ id, ...event }) => event),
      first,
    );

    const second = await run({ ...ask(), threadId: "t2", tools: [paint] });
    assert.deepEqual(second.at(-1)?.["outcome"], { type: "success", pendingToolCallIds: ["c1"] });
    const third = await run({ threadId: "t2", messages: [{ role: "tool", toolCallId: "c1", content: "ok" }] });
    assert.ok(types(third).includes("TOOL_CALL_RESULT"));
    socket.close(1000);
  });

  it("chooses an agent by name", async () => {
    await using server = await serve({
      agents: { default: chatAgent({ model: scripted() }), two: chatAgent({ model: scripted(says("Two.")) }) },
    });
    const { socket, run } = await connect(`${server.url}/agui/ws?agent=two`);
    assert.equal((await run(ask())).find(({ type }) => type === "TEXT_MESSAGE_CONTENT")?.["delta"], "Two.");
    socket.close();
  });

  it("tells every refusal as RUN_ERROR, and takes the next request", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Hello.")) }) } });
    const { socket, run } = await connect(`${server.url}/agui/ws`);
    assert.equal((await run("{"))[0]?.["code"], "invalid");
    assert.match(String((await run({ runId: "r1" }))[0]?.["message"]), /threadId/);
    assert.equal((await run({ threadId: "t", messages: [{ role: "tool", toolCallId: "x", content: "" }] }))[0]?.["code"], "not_found");
    assert.deepEqual(types(await run(ask())), TEXT);
    socket.close();
  });

  it("goes on without its client", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs(...says("One ").slice(0, -1))) }) } });
    const { socket, heard } = await connect(`${server.url}/agui/ws`);
    socket.send(JSON.stringify(ask()));
    await eventually(() => heard.some(({ type }) => type === "TEXT_MESSAGE_CONTENT"));
    socket.terminate();
    await once(socket, "close");
    assert.equal((await server.thread())?.status, "running");
  });

  it("is not for pages of other sites, other hosts or strangers", async () => {
    await using server = await serve({
      cors: { origins: ["https://mine.example"] },
      agents: { default: chatAgent({ model: scripted() }) },
    });
    const refused = (headers: Record<string, string>, path = "/agui/ws") =>
      assert.rejects(connect(`${server.url}${path}`, { headers }), /Unexpected server response: 40[34]/);
    await refused({ origin: "https://evil.example" });
    await refused({ host: "evil.example" });
    await refused({}, "/agui/nothing");
    for (const origin of [server.url, "https://mine.example"])
      (await connect(`${server.url}/agui/ws`, { headers: { origin } })).socket.close();
    await using closed = await serve({ authenticate: () => undefined, agents: { default: chatAgent({ model: scripted() }) } });
    await assert.rejects(connect(`${closed.url}/agui/ws`), /401/);
    assert.equal((await fetch(`${server.url}/agui/ws`)).status, 426);
  });

  it("is told when the server goes", async () => {
    const server = await serve({ agents: { default: chatAgent({ model: scripted() }) } });
    const { socket } = await connect(`${server.url}/agui/ws`);
    const [[code]] = await Promise.all([once(socket, "close"), server.close()]);
    assert.equal(code, 1001);
  });

  it("serves beside a server of one's own", async () => {
    const handback = await createHandback({ agents: { default: chatAgent({ model: scripted(says("Hello.")) }) }, store: memoryStore() });
    const server = createServer(handback.handle).on("upgrade", handback.upgrade).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { socket, run } = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/agui/ws`);
    assert.deepEqual(types(await run(ask())), TEXT);
    socket.close();
    server.close();
    await handback.close({ grace: 0 });
  });

  it("is one transport of many: the seam behind it is anyone's", async () => {
    const handback = await createHandback({ agents: { default: chatAgent({ model: scripted(says("Hello.")) }) }, store: memoryStore() });
    const request = new Request("http://localhost/");
    const signal = new AbortController().signal;
    const heard: AguiEvent[] = [];
    for await (const event of (await handback.agui.run(ask(), { request }))(signal)) heard.push(event);
    assert.deepEqual(types(heard), TEXT);
    const past: AguiEvent[] = [];
    for await (const event of (await handback.agui.history({ threadId: "t" }, { request }))(signal)) past.push(event);
    assert.deepEqual(types(past), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    await assert.rejects(handback.agui.cancel({ threadId: "t" }, { request }), { code: "not_found" });
    await handback.close({ grace: 0 });
  });
});
