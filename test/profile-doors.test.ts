import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserJsEval } from "../src/agent/browser-js-eval.ts";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import type { ProfileName } from "../src/model/profile/profiles.ts";
import { ToolContextBuilder } from "../src/model/profile/tool-context-builder.ts";
import type { Script } from "../src/testing/upstream.ts";
import { openChat } from "./aisdk/chat.ts";
import { framesIn } from "./support/frames.ts";
import { asking, judge, runAgent } from "./support/judge.ts";
import { serve } from "./support/serve.ts";
import { ANSWER, CODE, INTENT, QUESTION, told, upstream } from "./support/stateless.ts";

judge();

const NAMES: ProfileName[] = ["JSON_Strict", "XML_Tag", "Hermes", "Qwen_XML", "GLM", "Ling", "Pythonic"];
const getSum = tool({ name: "get_sum", description: "Adds", input: { type: "object" }, execute: () => 76127 });

/** One model, asked with its own calls or by prompt: it answers as it is asked. */
function bilingual(profile: ProfileName, name = "browser_js_eval"): Script {
  const written = new ToolContextBuilder(profile).profile.callTemplate([{ id: "call_1", name, input: { code: CODE } }]);
  return ({ messages, tools }) => {
    if (JSON.stringify(messages.at(-1)).includes("76127")) return { text: [...ANSWER] };
    if (tools) return { text: [INTENT], calls: [{ id: "call_1", name, input: [JSON.stringify({ code: CODE })] }] };
    return { text: [...`${INTENT}\n\n${written}`] };
  };
}

/** In how many pieces something comes is up to the model. */
const order = (types: readonly string[]) => types.filter((type, i, all) => type !== all[i - 1]);

const serving = async (profile: ProfileName, name?: string) => {
  const model = await upstream(bilingual(profile, name));
  const agent = chatAgent({ model: "m", tools: [browserJsEval, getSum] });
  const server = await serve({ agents: { default: agent }, provider: { baseUrl: model.url } });
  const close = async () => {
    await server.close();
    await model.close();
  };
  return { model, server, [Symbol.asyncDispose]: close };
};

for (const profile of NAMES) {
  describe(`${profile}, chosen by a request: its client cannot tell that the model has no calls`, () => {
    it("over AG-UI", async () => {
      const stories = [];
      for (const forwardedProps of [{}, { config: { profile } }]) {
        await using world = await serving(profile);
        const agent = asking(world.server, QUESTION);
        const first = await runAgent(agent, { forwardedProps });
        const [id = ""] = first.pendingToolCallIds ?? [];
        agent.addMessage({ id: "r1", role: "tool", toolCallId: id, content: "76127" });
        const second = await runAgent(agent); // the turn goes on as it began
        const messages = JSON.parse(JSON.stringify(agent.messages).replaceAll(id, "call"), (key, value) => (key === "id" ? "" : value));
        assert.equal(told(world.model).body.tools === undefined, "config" in forwardedProps);
        stories.push({ first: order(first.types), second: order(second.types), messages });
      }
      assert.deepEqual(stories[1], stories[0]);
      assert.equal(stories[1]?.messages.at(-1).content, ANSWER);
    });

    it("over useChat", async () => {
      const stories = [];
      for (const body of [{}, { config: { profile } }]) {
        await using world = await serving(profile);
        const { chat, settled, streams, tools } = await openChat("ai7", { url: world.server.url, onToolCall: () => 76127 });
        await chat.sendMessage({ text: QUESTION }, { body });
        await settled();
        assert.equal(chat.error, undefined);
        assert.equal(told(world.model).body.tools === undefined, "config" in body);
        const types = streams.map((text) => order(framesIn(text).map(({ type }) => type)));
        const parts = chat.messages.at(-1)?.parts.map((part) => ({ ...part, ...(part.toolCallId && { toolCallId: "call" }) }));
        stories.push({ types, parts, ran: tools.length });
      }
      assert.deepEqual(stories[1], stories[0]);
      assert.equal(stories[1]?.parts?.at(-1)?.text, ANSWER);
    });
  });
}

describe("a profile, chosen by a request", () => {
  it("goes through REST and /v1 as well", async () => {
    for (const [path, body] of [
      ["/chat", { threadId: "t", message: QUESTION, config: { profile: "XML_Tag" } }],
      ["/v1/threads/t/runs", { message: QUESTION, options: { profile: "XML_Tag" } }],
    ] as const) {
      await using world = await serving("XML_Tag", "get_sum");
      await world.server.post(body, path);
      const events = await fetch(`${world.server.url}/v1/threads/t/events?until=turn`);
      assert.match(await events.text(), /76127。/);
      assert.deepEqual(
        world.model.requests.map(({ body }) => body.tools),
        [undefined, undefined],
      );
      assert.match(told(world.model).system, /^### TOOL_USE_PROTOCOL\nYou can invoke tools by wrapping/);
    }
  });

  it("is the app's to choose on AG-UI, whatever the client says", async () => {
    const model = await upstream(bilingual("XML_Tag", "get_sum"));
    const agents = { default: chatAgent({ model: "m", tools: [getSum] }) };
    await using server = await serve({
      agents,
      provider: { baseUrl: model.url },
      agui: { resolveOptions: () => ({ profile: "XML_Tag" }) },
    });
    await runAgent(asking(server, QUESTION), { forwardedProps: { config: { profile: "native" } } });
    assert.match(told(model).system, /<tool_code>/);
    await model.close();
  });

  it("is refused through every door where there is none of that name", async () => {
    await using world = await serving("XML_Tag");
    const message = { id: "u", role: "user", content: "hi", parts: [{ type: "text", text: "hi" }] };
    const asked: [string, object][] = [
      ["/agui", { threadId: "a", messages: [message], forwardedProps: { config: { profile: "Nope" } } }],
      ["/api/chat", { id: "b", messages: [message], config: { profile: "Nope" } }],
      ["/api/chat", { messages: [{ role: "user", content: "hi" }], config: { profile: "Nope" } }],
      ["/chat", { threadId: "c", message: "hi", config: { profile: "Nope" } }],
      ["/v1/threads/d/runs", { message: "hi", options: { profile: "Nope" } }],
    ];
    for (const [path, body] of asked) {
      const { status, text } = await world.server.post(body, path);
      assert.equal(status, 400, path);
      assert.match(text, /There is no profile Nope; there are JSON_Strict, XML_Tag/, path);
    }
    assert.deepEqual((await world.server.store.threads({ app: "default", limit: 10 })).threads, []);
    assert.equal(world.model.requests.length, 0);
  });
});

describe("settings of a request", () => {
  it("reach the model's provider, where they are on the list", async () => {
    await using world = await serving("JSON_Strict");
    const callSettings = {
      temperature: 0.2,
      maxTokens: 64,
      topP: 0.9,
      presencePenalty: 1,
      frequencyPenalty: -1,
      seed: 7,
      headers: { a: "b" },
    };
    const message = { id: "u", role: "user", parts: [{ type: "text", text: "76127" }] };
    await world.server.post({ id: "t", messages: [message], callSettings }, "/api/chat");
    const { temperature, max_tokens, top_p, presence_penalty, frequency_penalty, seed } = told(world.model).body as unknown as Record<
      string,
      number
    >;
    assert.deepEqual([temperature, max_tokens, top_p, presence_penalty, frequency_penalty, seed], [0.2, 64, 0.9, 1, -1, 7]);
    assert.equal(world.model.requests[0]?.headers["a"], undefined);
  });
});
