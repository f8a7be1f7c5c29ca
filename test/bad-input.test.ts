import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { chatAgent } from "../src/agent/chat.ts";
import { says, scriptedBy } from "../src/model/scripted.ts";
import { last, textOf } from "./support/frames.ts";
import { type Reply, serve, toReply } from "./support/serve.ts";

const model = scriptedBy(({ history }) => says(`${history.length} messages.`));
const server = await serve({ agents: { default: chatAgent({ model }) } });
after(() => server.close());

const send = async (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
  path = "/agui",
): Promise<Reply> =>
  toReply(
    await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      duplex: "half",
    } as RequestInit),
  );
const json = (body: unknown) => send(JSON.stringify(body));

/** Whatever was sent: a clear no, nothing written, and the server goes on. */
async function refused(reply: Reply, status: number, field?: string): Promise<void> {
  assert.equal(reply.status, status, reply.text);
  if (field !== undefined) assert.equal(reply.error.field, field, reply.text);
  assert.ok(reply.error.code && reply.error.message, reply.text);
  assert.deepEqual((await server.store.threads({ app: "default", limit: 9 })).threads, []);
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
  assert.ok(
    server.logged.every(({ event }) => event === "request"),
    JSON.stringify(server.logged.at(-1)),
  );
}

const valid = { threadId: "t", runId: "r", messages: [{ id: "u", role: "user", content: "hi" }] };
const said = (message: object) => ({ ...valid, messages: [message] });
const part = (wire: object) => said({ role: "user", content: [wire] });

describe("a body that is no request", () => {
  for (const [name, text] of Object.entries({
    nothing: "",
    blanks: "  \n ",
    "half an object": '{"threadId":"t","messages":[',
    "an object too many": `${JSON.stringify(valid)}{}`,
    "no JSON": "threadId=t",
    "JSON with comments": `{"threadId":"t" /* mine */}`,
    "single quotes": "{'threadId':'t'}",
    "a bare word": "undefined",
  })) {
    it(`is refused: ${name}`, async () => refused(await send(text), 400));
  }

  for (const value of [null, [], "t", 7, true]) {
    it(`is refused when it is ${JSON.stringify(value)}`, async () => refused(await json(value), 400));
  }

  it("is refused in broken UTF-8", async () => {
    const bytes = Buffer.from(JSON.stringify(valid).replace("hi", "h§"), "latin1");
    await refused(await send(bytes), 400);
    await refused(await send(Buffer.from([0xff, 0xfe, 0x7b, 0x00])), 400);
  });

  it("is refused in any other type than JSON", async () => {
    const text = JSON.stringify(valid);
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json; charset=latin1",
      "application/jsonp",
    ]) {
      await refused(await send(text, { "content-type": type }), 415);
    }
    await refused(await send(text, { "content-encoding": "gzip" }), 415);
  });

  it("is refused when it is too long, said so or not", async () => {
    const long = JSON.stringify(said({ role: "user", content: "x".repeat(2 * 1024 * 1024) }));
    await refused(await send(long), 413);
    const stream = new ReadableStream({
      start(controller) {
        for (let i = 0; i < long.length; i += 65_536) controller.enqueue(new TextEncoder().encode(long.slice(i, i + 65_536)));
        controller.close();
      },
    });
    await refused(await send(stream), 413);
  });

  it("is refused when it is nested deeper than anybody would", async () => {
    const deep = `${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`;
    await refused(await send(JSON.stringify({ ...valid, state: "§" }).replace('"§"', deep)), 400);
    await refused(await send("[".repeat(100_000)), 400);
    await refused(await send('{"a":'.repeat(100_000)), 400);
  });

  it("is refused when it names a key twice, a prototype, or a number beyond all", async () => {
    await refused(await send(`{"threadId":"t","threadId":"u","messages":[]}`), 400, "threadId");
    await refused(await send(JSON.stringify(valid).replace('"id"', '"__proto__":{"role":"admin"},"id"')), 400, "messages.0.__proto__");
    await refused(await send(`{"threadId":"t","state":{"constructor":{"prototype":{"x":1}}}}`), 400, "state.constructor");
    await refused(await send(`{"threadId":"t","state":{"__pro\\u0074o__":1}}`), 400, "state.__proto__");
    await refused(await send(`{"threadId":"t","state":{"n":1e999}}`), 400, "state.n");
    assert.equal(({} as { role?: string }).role, undefined);
  });
});

describe("a field that is wrong is named", () => {
  const ids = [7, "", "a b", "a\nb", "ü", "\ud800", "x".repeat(201), {}, []];
  const cases: [field: string, body: object][] = [
    ["threadId", { runId: "r", messages: [] }],
    ...[null, ...ids].map((threadId): [string, object] => ["threadId", { ...valid, threadId }]),
    ...ids.map((runId): [string, object] => ["runId", { ...valid, runId }]),
    ["parentRunId", { ...valid, parentRunId: 7 }],
    ["protocolVersion", { ...valid, protocolVersion: 1 }],
    ["messages", { ...valid, messages: [] }],
    ["messages", { ...valid, messages: null }],
    ["messages", { ...valid, messages: "hi" }],
    ["messages", { ...valid, messages: { 0: valid.messages[0] } }],
    ["messages.0", { ...valid, messages: [7] }],
    ["messages.0", { ...valid, messages: [null] }],
    ["messages.0.role", said({ content: "hi" })],
    ["messages.0.role", said({ role: "admin", content: "hi" })],
    ["messages.0.role", said({ role: ["user"], content: "hi" })],
    ...ids.filter((id) => id !== "").map((id): [string, object] => ["messages.0.id", said({ role: "user", content: "hi", id })]),
    ["messages.0.content", said({ role: "user" })],
    ["messages.0.content", said({ role: "user", content: null })],
    ["messages.0.content", said({ role: "user", content: 7 })],
    ["messages.0.content", said({ role: "user", content: "" })],
    ["messages.0.content", said({ role: "user", content: [] })],
    ["messages.0.content", said({ role: "user", content: { text: "hi" } })],
    ["messages.0.name", said({ role: "user", content: "hi", name: {} })],
    ["messages.0.toolCallId", said({ role: "tool", content: "x" })],
    ["messages.0.toolCallId", said({ role: "tool", toolCallId: "a b", content: "x" })],
    ["messages.0.content", said({ role: "tool", toolCallId: "c", content: 7 })],
    ["messages.0.content", said({ role: "tool", toolCallId: "c" })],
    ["messages.0.error", said({ role: "tool", toolCallId: "c", content: "x", error: {} })],
    ["messages.0.toolCalls", said({ role: "assistant", toolCalls: "c" })],
    ["messages.0.toolCalls.0.id", said({ role: "assistant", toolCalls: [{}] })],
    ["messages.0.content", part({ type: "hologram" })],
    ["messages.0.content.0.text", part({ type: "text" })],
    ["messages.0.content.0.text", part({ type: "text", text: "" })],
    ["messages.0.content.0.source", part({ type: "image" })],
    ["messages.0.content.0.source.type", part({ type: "image", source: { type: "ftp", value: "x" } })],
    ["messages.0.content.0.source.value", part({ type: "image", source: { type: "url", value: "javascript:alert(1)" } })],
    ["messages.0.content.0.source.value", part({ type: "image", source: { type: "url", value: "file:///etc/passwd" } })],
    ["messages.0.content.0.source.value", part({ type: "document", source: { type: "data", value: "§§§", mimeType: "application/pdf" } })],
    ["messages.0.content.0.source.mimeType", part({ type: "document", source: { type: "data", value: "aGk=" } })],
    ["messages.0.content.0.data", part({ type: "binary", mimeType: "image/png", data: "no base64!" })],
    ["messages.0.content.0.data", part({ type: "binary", mimeType: "image/png", data: "data:image/png;base64,a" })],
    ["messages.0.content.0.mimeType", part({ type: "binary", data: "aGk=" })],
    ["messages.0.content.0.url", part({ type: "binary", mimeType: "application/pdf", url: "https://example.com/x.pdf" })],
    ["tools", { ...valid, tools: "x" }],
    ["tools.0", { ...valid, tools: [7] }],
    ["tools.0.name", { ...valid, tools: [{ description: "x" }] }],
    ["tools.0.name", { ...valid, tools: [{ name: "" }] }],
    ["tools.0.name", { ...valid, tools: [{ name: 7 }] }],
    ["tools.0.parameters", { ...valid, tools: [{ name: "x", parameters: "y" }] }],
    ["context", { ...valid, context: {} }],
    ["context.0.value", { ...valid, context: [{ description: "d", value: 7 }] }],
    ["resume", { ...valid, resume: {} }],
    ["resume.0.interruptId", { ...valid, resume: [{ status: "resolved" }] }],
    ["resume.0.status", { ...valid, resume: [{ interruptId: "i", status: "maybe" }] }],
  ];
  for (const [field, body] of cases) {
    const shown = JSON.stringify(body).replace(JSON.stringify(valid).slice(1, -1), "…").slice(0, 110);
    it(`${field}: ${shown}`, async () => refused(await json(body), 400, field));
  }
});

describe("a request that is none of ours", () => {
  it("is 404 for an agent, a path or a method we do not have", async () => {
    await refused(await send(JSON.stringify(valid), {}, "/agui/nobody"), 404, "agent");
    await refused(await send(JSON.stringify(valid), {}, "/agui/default/more"), 404);
    await refused(await toReply(await fetch(`${server.url}/agui`)), 404);
    await refused(await toReply(await fetch(`${server.url}/agui`, { method: "DELETE" })), 404);
  });

  it("is 404 when it brings results or answers to a thread that never was", async () => {
    await refused(await json(said({ role: "tool", toolCallId: "c", content: "x" })), 404);
    await refused(await json({ ...valid, messages: [], resume: [{ interruptId: "i", status: "resolved", payload: true }] }), 404);
    await refused(await send('{"threadId":"t"}', {}, "/agui/cancel"), 404);
  });

  it("leaves no file behind, however good the file was", async () => {
    const file = { type: "binary", mimeType: "image/png", data: "aGFuZGJhY2s=" };
    await refused(await send(JSON.stringify(part(file)), {}, "/agui/nobody"), 404);
    const hash = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from("handback"))).toString("hex");
    assert.equal(await server.store.blob({ app: "default", user: "user", threadId: "t" }, `blob_${hash.slice(0, 40)}`), undefined);
  });
});

describe("what is odd but sound", () => {
  it("is answered: lone surrogates, controls, other scripts, keys that look like methods", async () => {
    await using other = await serve({
      agents: { default: chatAgent({ model: scriptedBy(({ history }) => says(JSON.stringify(history.at(-1)))) }) },
    });
    const content = "\ud800 \u0000 \u2028 👩‍👩‍👧 日本 \r\n data: x\n\n";
    const { frames } = await other.post({ ...said({ id: "u", role: "user", content }), state: { toString: 1, hasOwnProperty: 2, "": 3 } });
    assert.equal(last(frames).type, "RUN_FINISHED");
    assert.equal(JSON.parse(textOf(frames)).content, content);
    const { frames: again } = await other.post({ ...said({ id: "u", role: "user", content }) });
    assert.equal(textOf(again), textOf(frames));
  });

  it("is answered: fields of clients newer than we are", async () => {
    await using other = await serve({ agents: { default: chatAgent({ model }) } });
    const { status } = await other.post({
      ...valid,
      protocolVersion: "1.9",
      hologram: true,
      messages: [{ ...valid.messages[0], mood: "good" }],
    });
    assert.equal(status, 200);
  });
});

describe("a history of 100,000 messages", () => {
  const messages = Array.from({ length: 100_000 }, (_, i) =>
    i % 2 ? { id: `a${i}`, role: "assistant", content: "Yes." } : { id: `u${i}`, role: "user", content: `Question ${i}?` },
  );

  it("is too large for the usual limits", async () => {
    await refused(await json({ ...valid, messages }), 413);
    const small = messages.slice(0, 20_000).map(() => ({ role: "user", content: "x" }));
    await refused(await json({ ...valid, messages: [...small, ...small] }), 413);
  });

  it("is answered where the limits allow it, and sent again costs no model call", { timeout: 30_000 }, async () => {
    const counting = scriptedBy(({ history }) => says(`${history.length} messages.`), { keep: 0 });
    let asked = 0;
    const limits = { bytes: 64 * 1024 * 1024, keys: 2_000_000 };
    const agent = chatAgent({
      model: (request, signal) => {
        asked += 1;
        return counting(request, signal);
      },
    });
    await using other = await serve({ agents: { default: agent }, limits });
    const began = performance.now();
    const first = await other.post({ ...valid, messages });
    assert.equal(textOf(first.frames), "50000 messages.");
    const again = await other.post({ ...valid, messages });
    assert.equal(textOf(again.frames), "50000 messages.");
    const next = await other.post({ ...valid, runId: "r2", messages: [...messages, { id: "last", role: "user", content: "And?" }] });
    assert.equal(textOf(next.frames), "50002 messages.");
    assert.equal(asked, 2);
    const seconds = (performance.now() - began) / 1_000;
    assert.ok(seconds < 20, `three such requests took ${seconds.toFixed(1)} s`);
  });
});
