import assert from "node:assert/strict";
import { before, describe, it, mock } from "node:test";
import { type Chat, openChat, RELEASES } from "./aisdk/chat.ts";
import { framesIn } from "./support/frames.ts";
import { CONFIRM, type Journal, recipe, searching, sideBySide, toolThenQuestion, twoQuestions } from "./support/graphs.ts";
import { authenticate } from "./support/native.ts";
import { backend } from "./support/rest.ts";
import { type Served, serve } from "./support/serve.ts";
import { loadEngine, openChat as openTdesign } from "./tdesign/engine.ts";

type Question = { interruptId: string; status: string; prompt?: unknown; schema?: object; value?: unknown; place?: { key: string } };

const questions = ({ messages }: Pick<Chat, "messages">): Question[] =>
  (messages.at(-1)?.parts ?? []).flatMap((part) => (part.type === "data-interrupt" ? [part["data"] as Question] : []));
const texts = ({ messages }: Pick<Chat, "messages">) =>
  (messages.at(-1)?.parts ?? []).flatMap(({ type, text }) => (type === "text" ? [text] : []));
const runs = async (server: Served) => (await server.events()).filter(({ type }) => type === "run.started").length;

for (const release of RELEASES) {
  describe(`AI SDK with ${release}: graphs`, () => {
    it("shows a question as a part of the message, and goes on in it with the answer", async () => {
      const done: Journal = [];
      await using server = await serve({ agents: { default: recipe(done) } });
      const { chat, requests, settled } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "omelette" });
      await settled();
      const [question] = questions(chat);
      assert.deepEqual([question?.status, question?.prompt, question?.place?.key], ["open", CONFIRM, "confirm"]);
      assert.equal(requests.length, 1);
      await chat.sendMessage(undefined, { body: { answers: [{ interruptId: question?.interruptId, value: true }] } });
      await settled();
      assert.deepEqual(texts(chat), ["Two eggs.", "Here is your omelette."]);
      assert.deepEqual(
        questions(chat).map(({ status, value }) => [status, value]),
        [["resolved", true]],
      );
      assert.deepEqual([chat.messages.length, chat.error, requests.length, done], [2, undefined, 2, ["confirm", "confirm", "cook"]]);
      await chat.sendMessage({ text: "soup" });
      assert.deepEqual([texts(chat), questions(chat).length], [["Two eggs."], 1]);
    });

    it("goes on by key, and says what is wrong with an answer", async () => {
      await using server = await serve({ agents: { default: recipe() } });
      const { chat, settled } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "omelette" });
      await settled();
      await chat.sendMessage(undefined, { body: { resume: { confirm: "perhaps" } } });
      assert.match(chat.error?.message ?? "", /schema/);
      assert.equal((await server.thread())?.pending, 1);
      await chat.sendMessage(undefined, { body: { resume: { confirm: true } } });
      await settled();
      assert.equal(texts(chat).at(-1), "Here is your omelette.");
      assert.equal(await runs(server), 2);
    });

    it("asks again after a reload", async () => {
      await using server = await serve({ agents: { default: recipe() } });
      const first = await openChat(release, { url: server.url });
      await first.chat.sendMessage({ text: "omelette" });
      await first.settled();
      const { messages } = (await (await fetch(`${server.url}/api/chat/t/messages`)).json()) as { messages: Chat["messages"] };
      const { chat, settled } = await openChat(release, { url: server.url, messages });
      await chat.resumeStream();
      await settled();
      assert.deepEqual(questions(chat), questions(first.chat));
      assert.deepEqual(texts(chat), ["Two eggs."]);
      await chat.sendMessage(undefined, { body: { answers: [{ interruptId: questions(chat)[0]?.interruptId, value: true }] } });
      await settled();
      assert.deepEqual(texts(chat), ["Two eggs.", "Here is your omelette."]);
    });

    it("does not make the page send for ever when a question follows a tool of the server's", async () => {
      await using server = await serve({ agents: { default: toolThenQuestion() } });
      const { chat, requests, settled } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "go" });
      await settled();
      assert.deepEqual([requests.length, questions(chat)[0]?.prompt, chat.error], [1, "Is it 2?", undefined]);
      await chat.sendMessage(undefined, { body: { resume: { right: true } } });
      await settled();
      assert.deepEqual([requests.length, texts(chat)], [2, ["Good."]]);
    });

    it("lets branches speak at the same time", async () => {
      await using server = await serve({ agents: { default: sideBySide() }, coalesce: 0 });
      const { chat, settled } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "go" });
      await settled();
      assert.equal(chat.error, undefined);
      assert.deepEqual([...texts(chat)].sort(), ["Left one two.", "Right one two.", "Whole."]);
    });

    it("hands a tool of a node to the outside and shows what came of it", async () => {
      await using server = await serve({ agents: { default: searching() } });
      const { chat, settled } = await openChat(release, { url: server.url });
      const sent = chat.sendMessage({ text: "tea?" });
      const wait = async () => (await server.store.waits({ app: "default", status: "pending", limit: 1 })).waits[0];
      while (!(await wait())) await new Promise((resolve) => setImmediate(resolve));
      const { json } = await backend(server.url).result({ toolCallId: (await wait())?.id, toolResult: "green tea" });
      assert.equal(json.data.status, "done");
      await sent;
      await settled();
      assert.equal(texts(chat).at(-1), "Found: green tea");
    });
  });
}

describe("AI SDK: graphs on the wire", () => {
  const ask = (server: Served, body: object = {}) =>
    server.post({ id: "t", messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "omelette" }] }], ...body }, "/api/chat");

  it("has the question in the messages, where the unfinished one is asked for", async () => {
    await using server = await serve({ agents: { default: twoQuestions() } });
    await ask(server);
    const get = async (query: string) =>
      (await (await fetch(`${server.url}/api/chat/t/messages${query}`)).json()) as Pick<Chat, "messages">;
    assert.equal((await get("")).messages.length, 1);
    const active = await get("?include=active");
    assert.deepEqual(
      questions(active).map(({ place }) => place?.key),
      ["salt", "sugar"],
    );
  });

  it("is 404 for questions that nobody asks, and takes a cancelled one for an answer", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    await ask(server);
    const unknown = await server.post({ id: "t", answers: [{ interruptId: "nobody", value: true }] }, "/api/chat");
    assert.deepEqual([unknown.status, unknown.error.code], [404, "not_found"]);
    assert.equal((await server.post({ id: "t", resume: { nothing: 1 } }, "/api/chat")).status, 404);
    const [{ id } = { id: "" }] = (await server.store.waits({ app: "default", status: "pending", limit: 1 })).waits;
    const { text } = await server.post({ id: "t", answers: [{ interruptId: id, status: "cancelled" }] }, "/api/chat");
    assert.equal(framesIn(text).at(-1)?.type !== undefined, true);
    assert.equal((await server.thread())?.pending, 0);
  });
});

describe("REST: graphs", () => {
  it("says what it waits for, lists it apart from calls, and takes the answer", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const { chat, pending, result } = backend(server.url);
    const { json } = await chat({ message: "omelette" });
    assert.deepEqual([json.data.status, json.data.remaining, json.data.content], ["waiting", 1, "Two eggs."]);
    const [question] = json.data.interrupts;
    const { id, schema, ...rest } = question;
    assert.deepEqual(rest, { kind: "interrupt", reason: "question", prompt: CONFIRM, node: "confirm", key: "confirm" });
    assert.equal(schema.type, "boolean");
    const listed = (await pending()).json.data;
    assert.deepEqual([listed.pendingToolCalls, listed.count, listed.pendingInterrupts], [[], 0, [question]]);
    assert.equal((await result({ interruptId: id, toolResult: "perhaps" })).status, 422);
    assert.equal((await result({ interruptId: "nobody", toolResult: true })).status, 404);
    assert.equal((await result({ interruptId: id })).status, 400);
    const done = await result({ interruptId: id, toolResult: true });
    assert.deepEqual([done.status, done.json.data.agentResponse.content, done.json.data.interruptId], [200, "Here is your omelette.", id]);
    const again = await result({ interruptId: id, toolResult: true });
    assert.deepEqual(again.json, done.json);
    assert.equal(await runs(server), 2);
  });

  it("finds a question without its thread, but no stranger's and none for an executor", async () => {
    await using server = await serve({ agents: { default: recipe() }, authenticate });
    const as = (name: string) => backend(server.url, { authorization: `Bearer ${name}` });
    const { json } = await as("alice").chat({ message: "omelette" });
    const body = { interruptId: json.data.interrupts[0].id, toolResult: true };
    const send = (name: string) => as(name).send("POST", "/chat/tool-result", body);
    assert.equal((await send("eve")).status, 404);
    assert.equal((await send("tools:x")).status, 404);
    assert.equal((await send("alice")).json.data.status, "done");
  });

  it("answers with what the last node said, however many spoke at once", async () => {
    await using server = await serve({ agents: { default: sideBySide() } });
    const { json } = await backend(server.url).chat({ message: "go" });
    assert.equal(json.data.content, "Whole.");
  });
});

describe("TDesign Chat: graphs", () => {
  let module: Awaited<ReturnType<typeof loadEngine>>;
  before(async () => {
    module = await loadEngine();
    for (const told of ["info", "log", "warn"] as const) mock.method(console, told, () => {});
  });

  it("hands nodes and the question to the app, and goes on with seed 003's request", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const chat = await openTdesign(server.url, module);
    // As trpc-agent-go's own page does: patches are folded by the kind of activity.
    const shown = (type: string) => {
      const folded: Record<string, unknown> = {};
      for (const { activityType, patch } of chat.heard) {
        if (activityType === type) for (const { path, value } of patch ?? []) folded[path.slice(1)] = value;
      }
      return folded;
    };
    await chat.say("omelette");
    assert.deepEqual([chat.errors, chat.engine.status], [[], "complete"]);
    assert.deepEqual(shown("graph.node.lifecycle"), { node: { nodeId: "confirm", phase: "start" } });
    const { prompt, lineageId } = shown("graph.node.interrupt")["interrupt"] as { prompt: string; lineageId: string };
    assert.equal(prompt, CONFIRM);
    await chat.goOn({ forwardedProps: { lineage_id: lineageId, resume_map: { confirm: true } } });
    assert.deepEqual([chat.errors, chat.engine.status], [[], "complete"]);
    assert.equal(shown("graph.node.interrupt")["interrupt"], null);
    assert.deepEqual(shown("graph.node.lifecycle"), { node: { nodeId: "cook", phase: "complete" } });
    assert.match(JSON.stringify(chat.engine.messages.at(-1)), /Here is your omelette\./);
  });
});
