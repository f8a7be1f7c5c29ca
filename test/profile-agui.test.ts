import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import type { Event } from "../src/core/event.ts";
import { type Entry, emptyThread } from "../src/core/thread.ts";
import type { ProfileName } from "../src/model/profile/profiles.ts";
import { calls, says, scripted } from "../src/model/scripted.ts";
import { fakeClock } from "../src/testing/fake-clock.ts";
import { last, textOf, types } from "./support/frames.ts";
import { asking, judge, runAgent } from "./support/judge.ts";
import { serve } from "./support/serve.ts";

judge();

const CODE =
  "(function sumPrimes(limit) { let sum = 0; for (let i = 2; i <= limit; i++) { if (isPrime(i)) sum += i; } return sum; })(1000);";
const evaluate = tool({
  name: "browser_js_eval",
  description: "Runs JavaScript in the user's browser",
  input: z.object({ code: z.string(), times: z.number().optional() }),
});
const QUESTION = "计算 1000 以内的所有素数之和。";
const INTENT = "我将使用浏览器执行工具来计算 1000 以内的所有素数之和。";
const ANSWER = "计算完成。1000 以内的所有素数之和为 76127。";

/** The seed's model, once with calls of its own and once without. */
const CALL = JSON.stringify(
  {
    tool_calls: [{ id: "call_1", type: "function", function: { name: "browser_js_eval", arguments: JSON.stringify({ code: CODE }) } }],
  },
  null,
  2,
);
const native = () => scripted([...says(INTENT), ...calls("browser_js_eval", { code: CODE }, { id: "call_1", chunks: 9 })], says(ANSWER));
const plain = () => scripted(says(...`${INTENT}\n\n${CALL}`), says(...ANSWER));

const result = { id: "r1", role: "tool", toolCallId: "call_1", content: "76127" } as const;
const textIn = (entry: Entry | undefined) =>
  entry?.role === "user" ? entry.content : entry?.parts.map((part) => ("text" in part ? part.text : ""));

describe("tools by prompt: the seed's sum of primes over AG-UI", () => {
  it("looks to the official client as if the model had calls of its own", async () => {
    const stories = [];
    for (const [model, options] of [
      [native(), {}],
      [plain(), { profile: "JSON_Strict" as ProfileName }],
    ] as const) {
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [evaluate], ...options }) } });
      const agent = asking(server, QUESTION);
      const first = await runAgent(agent);
      assert.deepEqual(first.pendingToolCallIds, ["call_1"]);
      agent.addMessage(result);
      const second = await runAgent(agent);
      const messages = agent.messages.map((message) => ({ ...message, id: "" }));
      stories.push({ first: first.types, second: second.types, messages });
    }
    assert.deepEqual(stories[1], stories[0]);
    assert.equal(stories[1]?.messages.at(-1)?.content, ANSWER);
  });

  it("asks the model in the seed's words, step by step", async () => {
    const model = plain();
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [evaluate], profile: "JSON_Strict" }) } });
    const first = await server.post({ threadId: "t", runId: "a", messages: [{ id: "u1", role: "user", content: QUESTION }] });
    assert.equal(textOf(first.frames), INTENT);
    assert.ok(types(first.frames).includes("TOOL_CALL_ARGS"));
    const second = await server.post({ threadId: "t", runId: "b", messages: [result] });
    assert.equal(textOf(second.frames), ANSWER);
    assert.equal(last(second.frames).type, "RUN_FINISHED");
    const [, again] = model.requests;
    assert.deepEqual(again?.history.map(textIn), [
      QUESTION,
      [`${INTENT}\n\n${CALL}`],
      '{\n   "tool_call_result": {\n      "toolCallId": "call_1",\n      "result": "76127"\n   }\n}',
    ]);
    assert.deepEqual(again?.tools, []);
    assert.match(again?.instructions ?? "", /^### TOOL_USE_PROTOCOL[\s\S]*browser_js_eval/);
    assert.ok(again?.stop?.includes('{"tool_call_result"'));
    const called = (await server.events()).find((event) => event.type === "tool.called") as Event & { type: "tool.called" };
    assert.equal(called.source, CALL);
    assert.deepEqual(called.input, { code: CODE });
  });

  it("tells the model what is wrong with its call, and goes on when it is right", async () => {
    const wrong = '{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"browser_js_eval","arguments":"run it"}}]}';
    const unfit =
      '{"tool_calls":[{"id":"call_2","type":"function","function":{"name":"browser_js_eval","arguments":{"times":"many","code":"1"}}}]}';
    const right =
      '{"tool_calls":[{"id":"call_3","type":"function","function":{"name":"browser_js_eval","arguments":{"code":"1","times":"2"}}}]}';
    const model = scripted(says(wrong), says(unfit), says(right), says("Done."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [evaluate], profile: "JSON_Strict" }) } });
    const { pendingToolCallIds } = await runAgent(asking(server, "go"));
    assert.deepEqual(pendingToolCallIds, ["call_3"]);
    const reason = (i: number) => String(textIn(model.requests[i]?.history.at(-1)));
    assert.match(reason(1), /"error": "invalid_call"[\s\S]*the arguments are not JSON/);
    assert.match(reason(2), /"error": "invalid_call"[\s\S]*times/);
    const offered = (await server.events()).find((event) => event.type === "call.offered") as Event & { type: "call.offered" };
    assert.deepEqual(offered.input, { code: "1", times: 2 });
  });
});

describe("chatAgent({ profile })", () => {
  const clock = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });

  it("lets a thread go on with native calls, and back: either model is told all calls in its own way", async () => {
    const prompted = scripted(says("<tool_code>get_time()</tool_code>"), says("Noon."), says("Still noon."));
    const able = scripted(calls("get_time", {}, { id: "call_9" }), says("Noon again."));
    const agents = {
      prompted: chatAgent({ model: prompted, tools: [clock], profile: "XML_Tag" }),
      able: chatAgent({ model: able, tools: [clock] }),
    };
    await using server = await serve({ agents });
    for (const [i, agent] of ["prompted", "able", "prompted"].entries()) {
      const { frames } = await server.post(
        { threadId: "t", runId: `r${i}`, messages: [{ id: `u${i}`, role: "user", content: "time?" }] },
        `/agui/${agent}`,
      );
      assert.equal(last(frames).type, "RUN_FINISHED");
    }
    const seenByAble = able.requests[0]?.history.flatMap((entry) =>
      entry.role === "assistant" ? entry.parts.map(({ type }) => type) : [],
    );
    assert.deepEqual(seenByAble, ["call", "text"]);
    assert.deepEqual(
      able.requests[0]?.tools.map(({ name }) => name),
      ["get_time"],
    );
    const told = prompted.requests[2]?.history.map(textIn).join("\n") ?? "";
    assert.match(told, /<tool_code>get_time\(\)<\/tool_code>/); // its own words
    assert.match(told, /<tool_code>\n\{\n {2}"name": "get_time",\n {2}"arguments": \{\}\n\}\n<\/tool_code>/); // the other's, in its way
    assert.equal(told.split("<content>\n    noon\n  </content>").length, 3);
  });

  it("takes the profile a turn asks for", async () => {
    for (const [profile, intro] of [
      [undefined, /<tool_code>/],
      ["Hermes", /<tool_call>/],
      ["native", /^$/],
    ] as const) {
      const model = scripted(says("ok"));
      const agent = chatAgent({ model, tools: [clock], profile: "XML_Tag" });
      const thread = emptyThread();
      thread.options = profile === undefined ? {} : { profile };
      thread.history.push({ role: "user", seq: 1, turnId: "t1", id: "u1", content: "hi" });
      const nothing = () => assert.fail();
      const context = {
        thread,
        signal: new AbortController().signal,
        clock: fakeClock(),
        key: { app: "default", user: "user", threadId: "t" },
        mint: String,
        runCalls: nothing,
        callId: nothing,
        model: nothing,
        blob: nothing,
        saveBlob: nothing,
      };
      await Array.fromAsync(agent.step(context));
      assert.match(model.requests[0]?.instructions ?? "", intro);
      agent.check?.(thread.options);
      assert.throws(() => agent.check?.({ profile: "Nope" }), /There is no profile Nope/);
    }
  });
});
