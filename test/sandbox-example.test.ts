import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { browserJsEval } from "../src/agent/browser-js-eval.ts";
import { chatAgent } from "../src/agent/chat.ts";
import { type ChatBody, fakeUpstream, type Turn, type Upstream } from "../src/testing/upstream.ts";
import { type Browser, buildExample, openBrowser, openSite, type Page, type Site } from "./aisdk/browser.ts";

const QUESTION = "计算 1000 以内的所有素数之和。";
const CODE = `(function sumPrimes(limit) {
  let sum = 0;
  for (let n = 2; n <= limit; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) sum += n;
  }
  return sum;
})(1000);`;

/** A call as a model writes it in each profile. */
const WRITTEN = {
  JSON_Strict: (code: string) =>
    JSON.stringify(
      {
        tool_calls: [{ id: "call_1", type: "function", function: { name: "browser_js_eval", arguments: JSON.stringify({ code }) } }],
      },
      null,
      2,
    ),
  XML_Tag: (code: string) => `<tool_code>\n${JSON.stringify({ name: "browser_js_eval", arguments: { code } }, null, 2)}\n</tool_code>`,
};

const CODES: Record<string, string> = { [QUESTION]: CODE, 错误: "throw new TypeError('算错了')", 偷: "fetch('/v1/threads')" };

/** How the model gets stuck, for the test that wants it. */
let hang: { hangAfter?: number } = {};

/** Writes a call for what it is asked, and an answer for what comes back. */
function ling({ messages }: ChatBody): Turn {
  const said = String(messages.at(-1)?.content);
  const code = CODES[said];
  if (code === undefined) {
    const [, value] = /"result": (\d+)|<content>\s*(\d+)/.exec(said)?.filter(Boolean) ?? [];
    const [, reason] = /"(?:reason|error)":\s*"((?!tool_failed)[^"]*)"/.exec(said) ?? [];
    return { text: value ? ["计算完成。", `1000 以内的所有素数之和为 ${value}。`] : [`没有成功：${reason ?? said}`] };
  }
  const written = String(messages[0]?.content).includes("<tool_code>") ? WRITTEN.XML_Tag(code) : WRITTEN.JSON_Strict(code);
  return {
    text: ["我将使用浏览器执行工具来计算", " 1000 以内的所有素数之和。\n\n", ...(written.match(/.{1,12}/gs) ?? [])],
    ms: 40,
    ...hang,
  };
}

/** What seed 004 prints as the user's next message. */
const RESULT = '{\n   "tool_call_result": {\n      "toolCallId": "call_1",\n      "result": 76127\n   }\n}';

type Body = { messages: { role: string; content: string }[]; config: object };

describe("the example assistant-ui-raw in Chromium", { timeout: 300_000 }, () => {
  let upstream: Upstream;
  let site: Site;
  let browser: Browser;
  const problems: Error[] = [];
  let posted: Body[] = [];

  before(async () => {
    upstream = await fakeUpstream(ling);
    const agent = chatAgent({ model: "ling-1t", profile: "JSON_Strict", tools: [browserJsEval] });
    const page = buildExample("assistant-ui-raw", ["src/profiles.ts", "src/client/sandbox/*.ts", "src/model/profile/*.ts"]);
    site = await openSite(page, {
      data: ":memory:",
      agents: { default: agent },
      provider: { baseUrl: upstream.url },
      aisdk: { version: 7 },
    });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
    await upstream?.close();
  });
  beforeEach(() => {
    posted = [];
    upstream.requests.length = 0;
  });

  const open = async (profile = "JSON_Strict"): Promise<Page> => {
    const page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    page.on("pageerror", (error) => problems.push(error));
    type Sent = { url(): string; postDataJSON(): Body };
    (page as unknown as { on(event: "request", listener: (sent: Sent) => void): void }).on("request", (sent) => {
      if (new URL(sent.url()).pathname === "/api/chat") posted.push(sent.postDataJSON());
    });
    await page.goto(`${site.url}/?profile=${profile}`);
    return page;
  };
  const say = async (page: Page, text: string) => {
    await page.getByLabel("消息").fill(text);
    await page.getByRole("button", { name: "发送" }).click();
  };
  const sees = (page: Page, text: string) => page.getByText(text).waitFor();
  const button = (page: Page, name = "执行此 Tool Call") => page.getByRole("button", { name });

  it("computes the sum of primes as seed 004 tells it", async () => {
    const page = await open();
    await say(page, QUESTION);
    await sees(page, "正在生成工具调用…");
    await sees(page, "(function sumPrimes(limit) {");
    assert.equal(await page.getByText("tool_calls").count(), 0, "a call is shown as a call, not as text");
    assert.equal(posted.length, 1, "nothing goes on before a person has decided");
    await button(page).click();
    await sees(page, "计算完成。1000 以内的所有素数之和为 76127。");
    assert.equal(await button(page).count(), 0);
    const config = { mode: "chat", model: "ling-1t", profile: "JSON_Strict", toolCalls: "raw" };
    const answer = `我将使用浏览器执行工具来计算 1000 以内的所有素数之和。\n\n${WRITTEN.JSON_Strict(CODE)}`;
    const [asked, called] = [
      { role: "user", content: QUESTION },
      { role: "assistant", content: answer },
    ];
    assert.deepEqual(posted, [
      { messages: [asked], config },
      { messages: [asked, called, { role: "user", content: RESULT }], config },
    ]);
    assert.equal(upstream.requests.at(-1)?.body.messages.at(-1)?.content, RESULT);
    await page.close();
  });

  it("does the same with tags", async () => {
    const page = await open("XML_Tag");
    await say(page, QUESTION);
    await sees(page, "正在生成工具调用…");
    await button(page).click();
    await sees(page, "计算完成。1000 以内的所有素数之和为 76127。");
    assert.match(
      posted.at(-1)?.messages.at(-1)?.content ?? "",
      /^<tool_result>\n {2}<id>browser_js_eval_result<\/id>\n.*76127.*<\/tool_result>$/s,
    );
    await page.close();
  });

  it("runs nothing that nobody asked for, also not after a reload", async () => {
    const page = await open();
    await say(page, QUESTION);
    await button(page).waitFor();
    await page.reload();
    await button(page).waitFor();
    await sees(page, "(function sumPrimes(limit) {");
    assert.equal(posted.length, 1);
    assert.equal(await page.evaluate(() => (globalThis as unknown as { frames: { length: number } }).frames.length), 0);
    await button(page).click();
    await sees(page, "计算完成。1000 以内的所有素数之和为 76127。");
    await page.reload();
    await sees(page, "计算完成。1000 以内的所有素数之和为 76127。");
    assert.equal(await button(page).count(), 0);
    await page.close();
  });

  it("asks again when it was reloaded in the middle of an answer", async () => {
    const page = await open();
    hang = { hangAfter: 25 };
    await say(page, QUESTION);
    await sees(page, "正在生成工具调用…");
    hang = {};
    await page.reload();
    await button(page, "重试").click();
    await button(page).click();
    await sees(page, "计算完成。1000 以内的所有素数之和为 76127。");
    await page.close();
  });

  it("tells the model that a person said no", async () => {
    const page = await open();
    await say(page, QUESTION);
    await button(page, "拒绝").click();
    await sees(page, "没有成功：rejected_by_user");
    assert.deepEqual(JSON.parse(posted.at(-1)?.messages.at(-1)?.content ?? ""), {
      tool_call_result: { toolCallId: "call_1", result: { error: "rejected_by_user" } },
    });
    await page.close();
  });

  it("tells the model what is wrong with its code, and gives it nothing of the page", async () => {
    for (const [asked, reason] of [
      ["错误", "TypeError: 算错了"],
      ["偷", "ReferenceError: fetch is not defined"],
    ] as const) {
      const page = await open();
      await say(page, asked);
      await button(page).click();
      await sees(page, `没有成功：${reason}`);
      await page.close();
    }
  });

  it("goes on with another question instead of an answer", async () => {
    const page = await open();
    await say(page, QUESTION);
    await button(page).waitFor();
    await say(page, "你好");
    await sees(page, "没有成功：你好");
    assert.equal(await button(page).count(), 0);
    await page.close();
  });

  it("reports no errors of its own", () => assert.deepEqual(problems, []));
});
