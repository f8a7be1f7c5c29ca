import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { AppError } from "../src/core/error.ts";
import { createHandback } from "../src/handback.ts";
import { calls, hangs, says, scripted } from "../src/model/scripted.ts";
import { memoryStore } from "../src/store/memory.ts";
import { rawFetch, strict } from "./support/agui.ts";
import { body, gated, history, hungUp, messages, messagesIn, outcomes, raw, talking, text, user } from "./support/conformance.ts";
import { last, textOf, types } from "./support/frames.ts";
import { eventually, keyOf, type Served, serve } from "./support/serve.ts";

strict();

/*
 * The behaviour of trpc-agent-go's AG-UI server, case by case; the numbers are those of our catalogue of it, and of docs/agui.md. "Ours"
 * in a name marks what we decide otherwise. Without a test, because what they are about does not exist here:
 *   6       routes a runner may lack: every server has history and cancel (turned off they are 404: see 7)
 *   19      distributed cancel without a session service: there is always a store
 *   20      runner factories: nil, throwing, returning nil
 * The rest of the list: agui-conformance-run, -events and -history.
 */

const CLIENT = "https://app.example.com";
const ROUTES = ["/agui", "/agui/history", "/agui/cancel"];

describe("AG-UI conformance: HTTP", () => {
  it("1 a body that is no JSON is 400, and the agent is not called", async () => {
    const model = scripted(says("Hi."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    for (const path of ROUTES) assert.equal((await raw(server, path, { body: "{invalid" })).status, 400, path);
    assert.equal(model.requests.length, 0);
  });

  it("2 ours: another method is 404, in JSON", async () => {
    await using server = await serve({ agents: text("Hi.") });
    for (const path of ROUTES) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const response = await rawFetch(`${server.url}${path}`, { method });
        assert.equal(response.status, 404, `${method} ${path}`);
        assert.equal(((await response.json()) as { error: { code: string } }).error.code, "not_found");
      }
    }
  });

  it("3 ours: preflights are answered for configured origins alone, with the headers they ask for", async () => {
    await using closed = await serve({ agents: text("Hi.") });
    await using open = await serve({ cors: { origins: [CLIENT] }, agents: text("Hi.") });
    const ask = (server: Served, path: string, origin: string) =>
      rawFetch(`${server.url}${path}`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "x-token, content-type" },
      });
    for (const path of ROUTES) {
      const { status, headers } = await ask(open, path, CLIENT);
      assert.deepEqual([status, headers.get("access-control-allow-origin")], [204, CLIENT]);
      assert.match(headers.get("access-control-allow-methods") ?? "", /POST/);
      assert.equal(headers.get("access-control-allow-headers"), "x-token, content-type");
      assert.equal((await ask(open, path, "https://evil.example")).headers.get("access-control-allow-origin"), null);
      assert.equal((await ask(closed, path, CLIENT)).headers.get("access-control-allow-origin"), null);
    }
  });

  it("4 a run that cannot be started is an HTTP error, a busy thread 409, and pages may read both", async () => {
    const broken = { ...memoryStore(), append: () => Promise.reject(new AppError("unavailable", "The disk is full")) };
    await using full = await serve({ store: broken, agents: text("Hi.") });
    assert.deepEqual([(await full.post(body([user("hello")]))).status, (await full.thread())?.status], [503, undefined]);
    const odd = { ...memoryStore(), append: () => Promise.reject(new Error("secret path")) };
    await using wrong = await serve({ store: odd, agents: text("Hi.") });
    const reply = await wrong.post(body([user("hello")]));
    assert.deepEqual([reply.status, reply.text.includes("secret")], [500, false]);
    await using busy = await serve({ cors: { origins: [CLIENT] }, agents: talking() });
    const stream = await busy.open(body([user("talk")]));
    await stream.until("RUN_STARTED");
    const headers = { "content-type": "application/json", origin: CLIENT };
    const refused = await raw(busy, "/agui", { headers, body: JSON.stringify(body([user("more", "u2")], { runId: "r2" })) });
    assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [409, CLIENT]);
  });

  it("5 ours: a history is never refused because a run goes on", async () => {
    await using server = await serve({ agents: talking() });
    const stream = await server.open(body([user("talk")]));
    await stream.until("TEXT_MESSAGE_CONTENT");
    assert.deepEqual(types((await history(server)).frames), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  });

  it("7 a route that is turned off is 404", async () => {
    await using server = await serve({ agui: { paths: { cancel: false, history: false } }, agents: text("Hi.") });
    for (const path of ["/cancel", "/agui/cancel", "/agui/history"]) assert.equal((await server.post({ threadId: "t" }, path)).status, 404);
  });

  it("8 cancel is 404 without a run and 200 with one, readable for pages", async () => {
    await using server = await serve({ cors: { origins: [CLIENT] }, agents: talking() });
    const headers = { "content-type": "application/json", origin: CLIENT };
    const cancel = () => raw(server, "/agui/cancel", { headers, body: '{"threadId":"t"}' });
    assert.equal((await cancel()).status, 404);
    const stream = await server.open(body([user("talk")]));
    await stream.until("RUN_STARTED");
    const done = await cancel();
    assert.deepEqual([done.status, done.headers.get("access-control-allow-origin")], [200, CLIENT]);
    await stream.rest();
  });

  it("9 a stream is an event stream that nobody stores, on a connection that stays", async () => {
    await using server = await serve({ agents: text("Hi.") });
    for (const path of ["/agui", "/agui/history"]) {
      const { headers, body: stream } = await raw(server, path, { body: JSON.stringify(body([user("hello")])) });
      assert.equal(headers.get("content-type"), "text/event-stream");
      assert.match(headers.get("cache-control") ?? "", /no-cache/);
      assert.equal(headers.get("connection"), "keep-alive");
      assert.equal(headers.get("access-control-allow-origin"), null); // ours: see 3
      await stream?.cancel();
    }
  });

  it("10 ours: a path answers what is asked of it, and nothing else", async () => {
    await using server = await serve({ agui: { basePath: "/" }, agents: text("Hi.") });
    for (const path of ["/agui", "/agui/more", "/mistyped"])
      assert.equal((await server.post(body([user("hello")]), path)).status, 404, path);
    assert.equal(textOf((await server.post(body([user("hello")]), "/")).frames), "Hi.");
  });

  it("11 ours: a heart beats every 15 s by default; it is a comment and no event", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs()) }) } });
    const response = await rawFetch(`${server.url}/agui`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body([user("talk")])),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    while (!heard.includes("RUN_STARTED")) heard += (await reader?.read())?.value ?? "";
    await server.clock.advance(14_000);
    assert.ok(!/^:/m.test(heard), "nothing but events so far");
    await server.clock.advance(2_000);
    while (!heard.includes("\n\n: hb\n\n")) heard += (await reader?.read())?.value ?? "";
    await reader?.cancel();
  });

  it("12–14 a reader that is gone before the first event, in mid-text or while a heart beats holds nothing up", async () => {
    for (const until of ["nothing", "RUN_STARTED", "TEXT_MESSAGE_CONTENT"]) {
      const { rule, open } = gated(says("One ", "two."), 2);
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule, says("Three.")) }) } });
      const stream = await server.open(body([user("count")]));
      if (until !== "nothing") await stream.until(until);
      stream.abort();
      await hungUp();
      await server.clock.advance(60_000); // several heartbeats into nothing
      open();
      await eventually(async () => (await outcomes(server)).join() === "done");
      assert.equal((await messages(server)).at(-1)?.["content"], "One two.");
      assert.equal(textOf((await server.post(body([user("more", "u2")], { runId: "r2" }))).frames), "Three.");
    }
  });

  it("15 a history whose reader is gone is not written any further", async () => {
    const { rule, open } = gated(says("One ", "two ", "three."), 2);
    const told: unknown[] = [];
    const afterTranslate = [(frame: unknown) => void told.push(frame)];
    await using server = await serve({ agui: { afterTranslate }, agents: { default: chatAgent({ model: scripted(rule) }) } });
    const asker = await server.open(body([user("count")]));
    await asker.until("TEXT_MESSAGE_CONTENT");
    asker.abort();
    await hungUp();
    const follower = await server.open({ threadId: "t" }, "/agui/history");
    await follower.until("TEXT_MESSAGE_START");
    follower.abort();
    await hungUp();
    const before = told.length;
    open();
    await eventually(async () => (await outcomes(server)).length === 1);
    assert.equal(told.length, before);
  });

  it("16 ours: there is always an ending, also when an agent's stream just stops", async () => {
    const model = async function* () {
      yield* says("I was abou").slice(0, -1);
    };
    await using server = await serve({ agents: { default: chatAgent({ model }), quiet: chatAgent({ model: scripted([]) }) } });
    const { frames } = await server.post(body([user("hello")]));
    assert.deepEqual(types(frames).slice(-3), ["TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_ERROR"]);
    assert.match(String(last(frames)["message"]), /stopped in the middle/);
    const quiet = await server.post({ ...body([user("hello")]), threadId: "t2" }, "/agui/quiet");
    assert.deepEqual(types(quiet.frames), ["RUN_STARTED", "STEP_STARTED", "STEP_FINISHED", "RUN_FINISHED"]);
  });

  it("17 a base path and a path make one", async () => {
    for (const basePath of ["/agui", "/agui/", "agui"]) {
      await using server = await serve({ agui: { basePath, paths: { run: "/chat" } }, agents: text("Hi.") });
      assert.equal(textOf((await server.post(body([user("hello")]), "/agui/chat")).frames), "Hi.", basePath);
    }
  });

  it("18 ours: a server without an app name has a history; one without agents fails at start", async () => {
    await using server = await serve({ agents: text("Hi.") });
    await server.post(body([user("hello")]));
    assert.equal((await messages(server)).length, 2);
    await assert.rejects(createHandback({ agents: {}, store: memoryStore() }), /at least one agent/);
  });
});

describe("AG-UI conformance: what comes in", () => {
  const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMBAH+X1d0AAAAASUVORK5CYII=";

  it("21–25 ours: what is malformed is 400 with its field, and the agent is not called", async () => {
    const model = scripted(says("Hi."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const wrong: [string, object[], string, RegExp][] = [
      ["21", [], "messages", /send a message/],
      ["22", [{ id: "a1", role: "assistant", content: "I said" }], "messages", /nothing to answer/],
      ["22", [{ role: "stranger", content: "hi" }], "messages.0.role", /must be user, tool/],
      ["23", [{ role: "tool", content: "x" }], "messages.0.toolCallId", /names its call/],
      ["24", [user({ text: "hi" })], "messages.0.content", /expected string/],
      ["25", [{ id: "tool-msg", role: "tool", toolCallId: "c1", content: { ok: true } }], "messages.0.content", /expected string/],
    ];
    for (const [number, given, field, why] of wrong) {
      const { status, error } = await server.post(body(given));
      assert.deepEqual([status, error.field], [400, field], number);
      assert.match(error.message ?? "", why, number);
    }
    assert.deepEqual([model.requests.length, await server.events()], [0, []]);
  });

  it("22 ours: a list that ends with an assistant message is no news, but the user's before it is", async () => {
    await using server = await serve({ agents: text("Hi.") });
    const list = [user("hello"), { id: "a1", role: "assistant", content: "I never said that" }];
    assert.equal(textOf((await server.post(body(list))).frames), "Hi.");
    assert.equal(textOf((await server.post(body(list))).frames), "Hi."); // again: the same run, without the model
  });

  it("26–29 parts reach the model as text, links and bytes, under lower-case types", async () => {
    const model = scripted(says("Seen."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const parts = [
      { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
      { type: "binary", mimeType: " Image/JPEG ", url: " https://example.com/b.jpg " },
      { type: "binary", mimeType: "audio/wav", data: PIXEL },
      { type: "binary", mimeType: "image/png", data: `data:image/png;base64,${PIXEL}` },
      { type: "binary", mimeType: "application/pdf", data: PIXEL, filename: "a.pdf" },
      { type: "text", text: "What is it?" },
    ];
    assert.equal((await server.post(body([user(parts)]))).status, 200);
    const [entry] = model.requests[0]?.history ?? [];
    assert.ok(entry?.role === "user" && typeof entry.content !== "string");
    assert.deepEqual(
      entry.content.map((part) =>
        part.type === "text" ? part.text : "url" in part ? [part.mediaType, part.url] : [part.mediaType, part.name],
      ),
      [
        ["image/*", "https://example.com/a.png"],
        ["image/jpeg", "https://example.com/b.jpg"],
        ["audio/wav", undefined],
        ["image/png", undefined],
        ["application/pdf", "a.pdf"],
        "What is it?",
      ],
    );
  });

  it("27 ours: what was `binary` is told as typed parts of 1.0, which every client knows", async () => {
    await using server = await serve({ agents: text("Seen.") });
    await server.post(
      body([
        user([
          { type: "binary", mimeType: "image/jpeg", url: "https://example.com/b.jpg" },
          { type: "text", text: "?" },
        ]),
      ]),
    );
    assert.deepEqual((await messages(server))[0]?.["content"], [
      { type: "image", source: { type: "url", value: "https://example.com/b.jpg", mimeType: "image/jpeg" } },
      { type: "text", text: "?" },
    ]);
  });

  it("28 ours: a link in `binary` is an image; other links are typed parts, and no name is guessed", async () => {
    const model = scripted(says("Seen."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const pdf = "https://example.com/a.pdf";
    const refused = await server.post(body([user([{ type: "binary", mimeType: "application/pdf", url: pdf, filename: "a.pdf" }])]));
    assert.deepEqual([refused.status, refused.error.field], [400, "messages.0.content.0.url"]);
    const source = { type: "url", value: pdf, mimeType: "Application/PDF" };
    assert.equal((await server.post(body([user([{ type: "document", source }])]))).status, 200);
    const [entry] = model.requests[0]?.history ?? [];
    assert.deepEqual(entry?.role === "user" && entry.content, [{ type: "file", mediaType: "application/pdf", url: pdf }]);
  });

  it("30–33 parts that cannot be read are 400 and say why", async () => {
    await using server = await serve({ agents: text("Hi.") });
    const data = (value: string) => ({ type: "binary", mimeType: "image/png", data: value });
    const typed = (type: string, source?: object) => ({ type, ...(source && { source }) });
    const wrong: [string, unknown[], RegExp][] = [
      ["30", [{ type: "binary", mimeType: "image/png" }], /needs its url, its data or its id/],
      ["30", [{ type: "binary", mimeType: "image/png", url: "  " }], /needs its url, its data or its id/],
      ["31", [data(`data:image/png;base64${PIXEL}`)], /base64 behind a comma/],
      ["31", [data("data:image/png,plain")], /base64 behind a comma/],
      ["31", [data("%%%")], /no base64/],
      ["31", [data("data:image/png;base64,")], /no base64/],
      ["31", [data("   ")], /no base64/],
      ["32", [{ type: "hologram" }], /none of its parts/],
      ["32", [], /must say something/],
      ["33", [typed("image", { type: "data", value: PIXEL, mimeType: "audio/wav" })], /no kind of image/],
      ["33", [typed("audio", { type: "data", value: PIXEL })], /mimeType/],
      ["33", [typed("video")], /source: is missing/],
      ["33", [typed("document", { type: "url" })], /source.value/],
    ];
    for (const [number, parts, why] of wrong) {
      const { status, error } = await server.post(body([user(parts)]));
      assert.equal(status, 400, `${number} ${JSON.stringify(parts)}`);
      assert.match(error.message ?? "", why, number);
    }
    assert.deepEqual(await server.events(), []);
  });

  it("34 what an input hook returns is what resolvers, translator and agent see; nothing keeps the request", async () => {
    const seen: unknown[] = [];
    const model = scripted(says("Hi."), says("Ho."));
    await using server = await serve({
      agui: {
        onInput: (input) => (input.runId === "r1" ? { ...input, threadId: "other", messages: [user("changed")] } : undefined),
        resolveUser: (input) => void seen.push(input.threadId),
        translator: (inner, { threadId }) => {
          seen.push(threadId);
          return inner;
        },
      },
      agents: { default: chatAgent({ model }) },
    });
    await server.post(body([user("hello")]));
    await server.post(body([user("kept")], { runId: "r2" }));
    assert.deepEqual(seen, ["other", "other", "t", "t"]);
    assert.deepEqual(
      model.requests.map(({ history: [entry] }) => entry?.role === "user" && entry.content),
      ["changed", "kept"],
    );
  });

  it("34, 35 ours: a hook or resolver that throws is RUN_ERROR in the stream, and the agent is not called", async () => {
    for (const name of ["onInput", "resolveUser", "resolveApp", "resolveOptions", "resolveState"]) {
      const model = scripted(says("Hi."));
      const fail = () => Promise.reject(new AppError("forbidden", "Not on Sundays"));
      await using server = await serve({ agui: { [name]: fail }, agents: { default: chatAgent({ model }) } });
      const { status, frames } = await server.post(body([user("hello")]));
      assert.deepEqual([status, types(frames), frames[0]?.["message"]], [200, ["RUN_ERROR"], "Not on Sundays"], name);
      assert.deepEqual([model.requests.length, await server.events()], [0, []], name);
    }
  });

  it("36 tools of the request are seen by the model and run by the client, beside those of the server", async () => {
    const own = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });
    const model = scripted([...calls("get_time", {}, { id: "s1" }), ...calls("paint", {}, { id: "c1" })]);
    const agents = { default: chatAgent({ model, tools: [own] }) };
    await using server = await serve({ agui: { resolveOptions: () => ({ instructions: "Be brief." }) }, agents });
    const tools = [{ name: "paint" }, { name: "get_time", description: "a forgery" }];
    const { frames } = await server.post(body([user("paint")], { tools, protocolVersion: "1.0" }));
    assert.deepEqual(
      model.requests[0]?.tools.map(({ name, description }) => [name, description]),
      [
        ["get_time", "Now"],
        ["paint", ""],
      ],
    );
    assert.equal(frames.find(({ type }) => type === "TOOL_CALL_RESULT")?.["content"], "noon");
    assert.deepEqual(last(frames)["outcome"], { type: "success", pendingToolCallIds: ["c1"] });
    const nameless = await server.post({ ...body([user("paint")], { tools: [{ description: "no name" }] }), threadId: "t2" });
    assert.deepEqual([nameless.status, nameless.error.field], [400, "tools.0.name"]);
    assert.equal((await server.store.thread(keyOf("t2")))?.seq, undefined);
    assert.equal(messagesIn(await history(server)).length, 3);
  });
});
