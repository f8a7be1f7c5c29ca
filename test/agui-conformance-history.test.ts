import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { START as BEGIN } from "../src/agent/graph/command.ts";
import { edge } from "../src/agent/graph/edge.ts";
import { field } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { tool } from "../src/agent/tool.ts";
import { AppError } from "../src/core/error.ts";
import { calls, fails, hangs, says, scripted, thinks } from "../src/model/scripted.ts";
import { memoryStore } from "../src/store/memory.ts";
import { strict } from "./support/agui.ts";
import {
  body,
  ends,
  gated,
  history,
  inRun,
  type Message,
  messages,
  messagesIn,
  passing,
  result,
  talking,
  text,
  user,
} from "./support/conformance.ts";
import { last, textOf, types } from "./support/frames.ts";
import { type Served, serve } from "./support/serve.ts";

strict();

/*
 * trpc-agent-go's list, 102–122; see agui-conformance-http. Without a test, because what they are about does not exist here:
 *   114     the index of event metadata (newer than the seeds)
 *   121     instances that share a store: one process owns a data directory; several will share the Postgres store
 */

const paint = { name: "paint", description: "Paints" };
const getTime = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });
const SNAPSHOT = inRun("MESSAGES_SNAPSHOT");
const ask = (server: Served, n = 1, more: object = {}) =>
  server.post(body([user(`q${n}`, `u${n}`)], { runId: `r${n}`, tools: [paint], ...more }));
const hand = (server: Served, n: number, ...results: object[]) => server.post(body(results, { runId: `r${n}` }));
const contents = (shown: readonly Message[]) => shown.map(({ role, content }) => `${role}: ${content}`);
const roles = (shown: readonly Message[]) => shown.map(({ role }) => role);
/** A run that stands still behind what it has said. */
const standing = async (server: Served, until: string) => {
  const stream = await server.open(body([user("q1", "u1")], { tools: [paint] }));
  await stream.until(until);
  return stream;
};

describe("AG-UI conformance: what a history holds", () => {
  it("102 a question, a text with its call, the result, the answer; ours: without names", async () => {
    const model = scripted([...says("Let me."), ...calls("get_time", {}, { id: "c1" })], says("Noon."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getTime] }) } });
    await ask(server);
    const [question, step, time, answer] = (await messages(server)).map(({ id: _, ...message }) => message);
    assert.deepEqual(question, { role: "user", content: "q1" });
    const toolCalls = [{ id: "c1", type: "function", function: { name: "get_time", arguments: "{}" } }];
    assert.deepEqual(step, { role: "assistant", content: "Let me.", toolCalls });
    assert.deepEqual(time, { role: "tool", toolCallId: "c1", content: "noon" });
    assert.deepEqual(answer, { role: "assistant", content: "Noon." });
  });

  it("103 a thread nobody has asked anything is empty and over; ours: nothing comes before a question, so nothing is dropped", async () => {
    await using server = await serve({ agents: text("Hi.") });
    const { frames } = await history(server, "");
    assert.deepEqual([types(frames), messagesIn({ frames }), last(frames)["runId"]], [SNAPSHOT, [], "h"]);
  });

  it("104 a result of a later run stands with its call; ours: siblings stand in the order in which their results came", async () => {
    const model = scripted([...calls("paint", {}, { id: "a" }), ...calls("paint", {}, { id: "b" })], says("Done."), says("Done."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await ask(server);
    await hand(server, 2, result("b", "second"));
    await hand(server, 3, result("a", "first"));
    await ask(server, 4);
    assert.deepEqual(contents(await messages(server)).slice(2), [
      "tool: second",
      "tool: first",
      "assistant: Done.",
      "user: q4",
      "assistant: Done.",
    ]);
  });

  it("105 a result stands right behind the message of its call, whatever was said since", async () => {
    const model = scripted([...says("Let me."), ...calls("paint", {}, { id: "a" }), ...says("One moment.")], says("Done."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await ask(server);
    await hand(server, 2, result("a", "painted"));
    assert.deepEqual(contents(await messages(server)), [
      "user: q1",
      "assistant: Let me.",
      "tool: painted",
      "assistant: One moment.",
      "assistant: Done.",
    ]);
  });

  it("106 what is being said is there as far as it was said: a text, arguments, a thought without a word", async () => {
    const saying = (...events: Parameters<typeof hangs>) => ({
      coalesce: 0,
      agents: { default: chatAgent({ model: scripted(hangs(...events)) }) },
    });
    await using speaking = await serve(saying(...says("Half a ").slice(0, -1)));
    await standing(speaking, "TEXT_MESSAGE_CONTENT");
    assert.equal((await messages(speaking))[1]?.["content"], "Half a ");
    await using calling = await serve(saying(...calls("paint", {}, { id: "a", text: '{"colour":"red"}', chunks: 2 }).slice(0, 2)));
    await standing(calling, "TOOL_CALL_ARGS");
    assert.match(JSON.stringify((await messages(calling))[1]), /"arguments":"{\\"colou/);
    await using thinking = await serve(saying(...thinks("Hm.").slice(0, 1)));
    const stream = await thinking.open(body([user("q1")]));
    await passing(thinking, async () => (await thinking.events()).some(({ type }) => type === "reasoning.started"));
    assert.deepEqual(contents(await messages(thinking)), ["user: q1", "reasoning: "]);
    stream.abort();
  });

  it("107 ours: a result that is unknown, forged or sent twice is never written, so it shortens no history", async () => {
    const model = scripted(calls("paint", {}, { id: "a" }), says("Done."), says("More."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await ask(server);
    await hand(server, 2, result("a", "painted"));
    await hand(server, 2, result("a", "painted"));
    await hand(server, 3, result("a", "another"));
    assert.equal((await hand(server, 4, result("nobody", "x"))).status, 404);
    await ask(server, 5);
    const shown = await messages(server);
    assert.deepEqual([roles(shown), shown[2]?.["content"]], [["user", "assistant", "tool", "assistant", "user", "assistant"], "painted"]);
  });

  it("108 that runs started, finished or failed is no message", async () => {
    const model = scripted(fails("down"), says("Up."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await ask(server);
    await ask(server);
    assert.deepEqual(contents(await messages(server)), ["user: q1", "assistant: Up."]);
  });

  it("109 ours: activities are messages and the state is a snapshot; steps and custom events were for those who were there", async () => {
    const work = graph(
      { dish: field(z.string()) },
      {
        nodes: {
          work({ activity, emit }) {
            activity("plan", [{ op: "add", path: "/done", value: 1 }]);
            emit("note", "x");
            return { dish: "soup" };
          },
        },
        edges: [edge(BEGIN, "work")],
      },
    );
    await using server = await serve({ agents: { default: work } });
    await ask(server);
    const { frames } = await history(server);
    assert.deepEqual(types(frames), inRun("STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"));
    assert.deepEqual(frames[1]?.["snapshot"], { dish: "soup" });
    const shown = messagesIn({ frames }).filter(({ role }) => role !== "user");
    assert.deepEqual(
      shown.map(({ role, activityType, content }) => [role, activityType, content]),
      [["activity", "plan", { done: 1 }]],
    );
  });

  it("110 ours: a store that cannot be read is RUN_ERROR at once, in words that give nothing away", async () => {
    const reasons: [Error, string][] = [
      [new AppError("unavailable", "The disk is gone"), "The disk is gone"],
      [new Error("secret path"), "Internal error"],
    ];
    for (const [reason, words] of reasons) {
      const store = { ...memoryStore(), read: () => Promise.reject(reason) };
      await using server = await serve({ store, agents: text("Hi.") });
      const { status, frames } = await history(server);
      assert.deepEqual([status, types(frames), last(frames)["message"]], [200, ["RUN_ERROR"], words]);
    }
  });

  it("111 any number may look at once, also while a run goes on", async () => {
    await using server = await serve({ agents: talking() });
    await standing(server, "TEXT_MESSAGE_CONTENT");
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => history(server)));
    for (const { frames } of replies) assert.deepEqual(contents(messagesIn({ frames })), ["user: q1", "assistant: One "]);
  });

  it("112 a message of several parts is told as parts", async () => {
    await using server = await serve({ agents: text("Hi.") });
    await server.post(
      body([
        user([
          { type: "text", text: "a" },
          { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
        ]),
      ]),
    );
    assert.deepEqual((await messages(server))[0]?.["content"], [
      { type: "text", text: "a" },
      { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
    ]);
  });

  it("113 a provider that names two calls alike has two calls, over turns and within one answer", async () => {
    const again = calls("get_time", {}, { id: "same" });
    const model = scripted(again, says("Noon."), [...again, ...again], says("Still noon."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getTime] }) } });
    await ask(server);
    await ask(server, 2);
    const shown = await messages(server);
    const made = shown.flatMap(({ toolCalls }) => ((toolCalls ?? []) as { id: string }[]).map(({ id }) => id));
    const settled = shown.flatMap(({ toolCallId }) => (toolCallId === undefined ? [] : [toolCallId]));
    assert.deepEqual([made.length, new Set(made).size, settled], [3, 3, made]);
  });
});

describe("AG-UI conformance: a history that follows", () => {
  it("115 goes on behind its snapshot to the run's own end; ours: under the run's own id, with one start", async () => {
    const { rule, open } = gated(says("One ", "two."), 2);
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule) }) } });
    await standing(server, "TEXT_MESSAGE_CONTENT");
    const page = await server.open({ threadId: "t", runId: "h" }, "/agui/history");
    await page.until("TEXT_MESSAGE_START");
    open();
    const frames = await page.rest();
    assert.deepEqual(types(frames), [
      ...SNAPSHOT.slice(0, 2),
      "STEP_STARTED",
      ...types(frames).slice(3, -2),
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    assert.deepEqual([contents(messagesIn({ frames })).at(-1), textOf(frames)], ["assistant: One ", "two."]);
    assert.deepEqual([frames[0]?.["runId"], last(frames)["runId"]], ["r1", "r1"]);
    assert.equal(frames.filter(({ type }) => type === "RUN_STARTED").length, 1);
  });

  it("116 tells the failure of the run it follows, once", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scripted(async function* (...given) {
      yield* says("One ").slice(0, -1);
      await gate.promise;
      yield* fails("boom")(...given) as AsyncIterable<never>;
    });
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await standing(server, "TEXT_MESSAGE_CONTENT");
    const page = await server.open({ threadId: "t" }, "/agui/history");
    await page.until("TEXT_MESSAGE_START");
    gate.resolve();
    const frames = await page.rest();
    assert.deepEqual([ends(frames), last(frames)["message"]], [["RUN_ERROR"], "boom"]);
  });

  it("117 ends at once where nothing runs: over, failed, waiting, never begun, or told not to follow", async () => {
    const model = scripted(says("Hi."), fails("down"), calls("paint", {}, { id: "a" }));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const over = async () => assert.deepEqual(types((await history(server, "")).frames), SNAPSHOT);
    await over();
    for (const n of [1, 2, 3]) {
      await ask(server, n);
      await over();
    }
    await using running = await serve({ agui: { follow: false }, agents: talking() });
    await standing(running, "TEXT_MESSAGE_CONTENT");
    assert.deepEqual(types((await history(running, "")).frames), SNAPSHOT);
  });

  it("118 follows a run that has not said anything yet", async () => {
    const { rule, open } = gated(says("Hi."), 0);
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule) }) } });
    await standing(server, "RUN_STARTED");
    const page = await server.open({ threadId: "t" }, "/agui/history");
    await page.until("MESSAGES_SNAPSHOT");
    open();
    assert.equal(textOf(await page.rest()), "Hi.");
  });

  it("119 gives up when it has followed long enough; ours: with the code `timeout`", async () => {
    await using server = await serve({ agui: { followMaxDuration: "30s" }, agents: talking() });
    await standing(server, "TEXT_MESSAGE_CONTENT");
    const page = await server.open({ threadId: "t" }, "/agui/history");
    await page.until("TEXT_MESSAGE_START");
    await server.clock.advance(30_000);
    const end = last(await page.rest());
    assert.deepEqual([end.type, end["code"]], ["RUN_ERROR", "timeout"]);
  });

  it("120 ours: it goes by places in the log, so nothing that happens in one millisecond is lost", async () => {
    const words = Array.from({ length: 50 }, (_, i) => `w${i} `);
    const { rule, open } = gated(says(...words), 2);
    await using server = await serve({ coalesce: 0, agents: { default: chatAgent({ model: scripted(rule) }) } }); // its clock stands still
    const asker = await standing(server, "TEXT_MESSAGE_CONTENT");
    const page = await server.open({ threadId: "t" }, "/agui/history");
    await page.until("TEXT_MESSAGE_START");
    open();
    const [whole, rest] = [textOf(await asker.rest()), await page.rest()];
    assert.equal(whole, words.join(""));
    assert.equal(`${messagesIn({ frames: rest }).at(-1)?.["content"]}${textOf(rest)}`, whole);
    assert.equal(new Set((await server.events()).map(({ at }) => at)).size, 1);
  });

  it("120 a reader for whom the log cannot be read is told so, and the run goes on", async () => {
    const store = memoryStore();
    let gone = false;
    const read: typeof store.read = (...given) => (gone ? Promise.reject(new AppError("unavailable", "boom")) : store.read(...given));
    const model = scripted(says("A1."), hangs(...says("One ").slice(0, -1)));
    await using server = await serve({ store: { ...store, read }, agents: { default: chatAgent({ model }) } });
    await ask(server);
    gone = true;
    const behind = await ask(server, 2); // it shows nothing of the first turn, and would be shown it
    const again = await ask(server, 2); // the same request follows the run from its start
    for (const { frames } of [behind, again]) assert.deepEqual([ends(frames), last(frames)["message"]], [["RUN_ERROR"], "boom"]);
    assert.equal((await server.thread())?.status, "running");
  });

  it("122 begins an open thought again and goes on with it", async () => {
    const { rule, open } = gated([...thinks("Hm, ", "well."), ...says("Yes.")], 2);
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule) }) } });
    await standing(server, "REASONING_MESSAGE_CONTENT");
    const page = await server.open({ threadId: "t" }, "/agui/history");
    await page.until("REASONING_MESSAGE_START");
    open();
    const frames = await page.rest();
    assert.equal(contents(messagesIn({ frames })).at(-1), "reasoning: Hm, ");
    const thought = types(frames).filter((type) => type.startsWith("REASONING"));
    assert.deepEqual(
      thought,
      ["START", "MESSAGE_START", "MESSAGE_CONTENT", "MESSAGE_END", "END"].map((name) => `REASONING_${name}`),
    );
    assert.equal(textOf(frames), "Yes.");
  });
});
