import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { browserJsEval } from "../src/agent/browser-js-eval.ts";
import { chatAgent } from "../src/agent/chat.ts";
import { demoAgent } from "../src/cli/demo/agent.ts";
import { ToolContextBuilder } from "../src/model/profile/tool-context-builder.ts";
import type { Upstream } from "../src/testing/upstream.ts";
import { type Served, serve } from "./support/serve.ts";
import { ANSWER, ask, CODE, INTENT, JSON_CALL, primes, QUESTION, read, say, told, upstream, XML_CALL } from "./support/stateless.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const SENTENCE =
  'When a tool result is provided by the user in the format `{"tool_call_result": ...}`, treat it as the successful output of your previous tool request.';

const PROFILES = {
  JSON_Strict: { call: JSON_CALL, seed: '{\n   "tool_call_result": {\n      "toolCallId": "call_1",\n      "result": 76127\n   }\n}' },
  XML_Tag: {
    call: XML_CALL,
    seed: "<tool_result>\n  <id>browser_js_eval_result</id>\n  <content>\n    76127\n  </content>\n</tool_result>",
  },
} as const;

const agent = () => chatAgent({ model: "ling-1t", models: { "ling-2t": "ling-2t" }, tools: [browserJsEval], profile: "JSON_Strict" });
const serving = ({ url }: Upstream): Promise<Served> => serve({ agents: { default: agent() }, provider: { baseUrl: url } });
const threadsIn = async ({ store }: Served) => (await store.threads({ app: "default", limit: 10 })).threads;
/** What the seed's client does behind its button. */
const run = (code = "") => runInNewContext(code) as number;

for (const [profile, { call, seed }] of Object.entries(PROFILES) as [keyof typeof PROFILES, (typeof PROFILES)["XML_Tag"]][]) {
  describe(`seed 004, the sum of all primes with ${profile}`, () => {
    const config = { mode: "chat", model: "ling-1t", profile };

    it("leaves calls in the text as the model wrote them, and tells it the result in the user's words", async () => {
      await using model = await upstream(primes(call));
      await using server = await serving(model);
      const raw = { ...config, toolCalls: "raw" };
      // steps 1 to 3
      const first = await say(server, [user(QUESTION)], raw);
      assert.equal(first.said, `${INTENT}\n\n${call}`);
      assert.deepEqual(first.types, ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"]);
      const asked = told(model);
      assert.match(asked.system, /^### TOOL_USE_PROTOCOL\n[\s\S]*browser_js_eval/);
      assert.deepEqual(asked.messages, [["user", QUESTION]]);
      assert.deepEqual([asked.body.model, asked.body.tools], ["ling-1t", undefined]);
      assert.ok((asked.body.stop?.length ?? 0) > 0);
      // steps 4 to 7: whatever was run, its result comes back as a message
      assert.equal(run(CODE), 76127);
      const second = await say(server, [user(QUESTION), assistant(first.said), user(seed)], raw);
      assert.equal(second.said, ANSWER);
      assert.deepEqual(told(model).messages, [
        ["user", QUESTION],
        ["assistant", first.said],
        ["user", seed],
      ]);
      assert.deepEqual(await threadsIn(server), []);
    });

    it("gives calls as tool parts, whose results the model is told in the profile's way", async () => {
      await using model = await upstream(primes(call));
      await using server = await serving(model);
      const first = await say(server, [user(QUESTION)], config);
      assert.equal(first.said, INTENT);
      assert.deepEqual(first.types.slice(4), [
        "text-end",
        "tool-input-start",
        "tool-input-delta",
        "finish-step",
        "tool-input-available",
        "message-metadata",
        "finish",
      ]);
      const [{ id = "", name = "", input = {} } = {}] = first.calls;
      assert.deepEqual([name, input], ["browser_js_eval", { code: CODE }]);
      assert.match(id, /^call_[\w-]{34}$/);
      const builder = new ToolContextBuilder(profile);
      const shown = `${first.said}\n\n${builder.profile.callTemplate([{ id, name, input }])}`;
      const result = builder.profile.resultTemplate(id, run(input.code), { name });
      const second = await say(server, [user(QUESTION), assistant(shown), user(result)], config);
      assert.equal(second.said, ANSWER);
      assert.deepEqual(told(model).messages, [
        ["user", QUESTION],
        ["assistant", shown],
        ["user", result],
      ]);
      assert.deepEqual(await threadsIn(server), []);
    });

    it("answers with bare text where that is asked for, calls included", async () => {
      await using model = await upstream(primes(call));
      await using server = await serving(model);
      const raw = await ask(server, [user(QUESTION)], { ...config, toolCalls: "raw" });
      assert.deepEqual(raw, { status: 200, type: "text/plain; charset=utf-8", text: `${INTENT}\n\n${call}` });
      const parsed = await ask(server, [user(QUESTION)], config);
      const id = /"id": "(call_[\w-]{34})"/.exec(parsed.text)?.[1];
      const written = new ToolContextBuilder(profile).profile.callTemplate([
        { id: id ?? "", name: "browser_js_eval", input: { code: CODE } },
      ]);
      assert.equal(parsed.text, `${INTENT}\n\n${written}`);
      const again = await ask(server, [user(QUESTION), assistant(parsed.text), user(seed.replace("call_1", id ?? ""))], config);
      assert.equal(again.text, ANSWER);
    });
  });
}

describe("seed 004 as it is printed", () => {
  const STEP_1 = `{
  "messages": [
    { "role": "user", "content": "计算 1000 以内的所有素数之和。" }
  ],
  "config": { "mode": "chat", "model": "ling-1t" }
}`;
  const STEP_6 = `{
  "messages": [
    { "role": "user", "content": "计算 1000 以内的所有素数之和。" },
    { "role": "assistant", "content": "我将使用浏览器执行工具... { \\"tool_calls\\": [...] }" },
    {
      "role": "user",
      "content": "{\\n   \\"tool_call_result\\": {\\n      \\"toolCallId\\": \\"call_1\\",\\n      \\"result\\": 76127\\n   }\\n}"
    }
  ]
}`;

  it("is served, and the model reads what the seed says it reads", async () => {
    await using model = await upstream(primes(JSON_CALL));
    await using server = await serving(model);
    const post = async (body: string) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${server.url}/api/chat`, { method: "POST", headers, body });
      assert.equal(response.headers.get("x-vercel-ai-ui-message-stream"), "v1");
      assert.equal(response.headers.get("x-resumable-stream-id"), null);
      const text = await response.text();
      assert.match(text, /data: \[DONE\]\n\n$/);
      return read(text);
    };
    assert.deepEqual(
      (await post(STEP_1)).calls.map(({ name, input }) => [name, input]),
      [["browser_js_eval", { code: CODE }]],
    );
    assert.equal((await post(STEP_6)).said, ANSWER);
    const { system, messages } = told(model);
    assert.ok(system.includes(SENTENCE));
    assert.deepEqual(messages, [
      ["user", QUESTION],
      ["assistant", '我将使用浏览器执行工具... { "tool_calls": [...] }'],
      ["user", '{\n   "tool_call_result": {\n      "toolCallId": "call_1",\n      "result": 76127\n   }\n}'],
    ]);
  });

  it("prompts XML_Tag's JSON payload, and understands the other grammar as well", async () => {
    const wanted = '<tool_code>\nbrowser_js_eval(code="1 + 1")\n</tool_code>';
    await using model = await upstream(() => ({ text: [wanted] }));
    await using server = await serving(model);
    const { calls } = await say(server, [user("go")], { profile: "XML_Tag" });
    assert.deepEqual(
      calls.map(({ input }) => input),
      [{ code: "1 + 1" }],
    );
    assert.match(told(model).system, /<tool_code>\n {2}\{\n {4}"name": "browser_js_eval",\n {4}"arguments": \{json_object\}/);
  });
});

describe("seed 004 in the documentation", () => {
  const exec = promisify(execFile);
  const page = readFileSync("docs/profiles.md", "utf8");
  const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? assert.fail(language);

  it("works as printed with the demo agent", async () => {
    await using server = await serve({ agents: { default: demoAgent({ pace: 0 }) } });
    const here = (text: string) => text.replace(/(http:\/\/)?localhost:4242/, server.url);
    const { stdout: first } = await exec("sh", ["-c", here(block("sh"))]);
    assert.match(first, /"tool_calls": \[\s+\{\s+"id": "call_[\w-]{34}"/);
    const { stdout: second } = await exec(process.execPath, ["--input-type=module", "-e", here(block("js"))]);
    assert.match(second, /76127/);
  });
});
