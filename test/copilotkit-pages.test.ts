import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import type { ModelEvent, ModelRequest } from "../src/model/model.ts";
import { calls, hangs, says, scriptedBy } from "../src/model/scripted.ts";
import { type Browser, buildExample, openBrowser, openSite, type Page, type Site } from "./aisdk/browser.ts";
import { directory, eventually } from "./support/serve.ts";

const refund = tool({
  name: "refund",
  description: "Pays",
  input: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ amount }) => ({ paid: amount }),
});

/** Does what the last message says, and says what came of it. Decides from the history alone, so a restart changes nothing. */
async function* obey(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const last = request.history.at(-1);
  if (last?.role === "assistant") {
    const [call] = last.parts.filter((part) => part.type === "call");
    const { output, error } = call?.settlement ?? {};
    return yield* says(`Result: ${typeof output === "string" ? output : JSON.stringify(output ?? error)}`);
  }
  const asked = String(last?.content);
  if (asked === "paint") return yield* calls("paint", { colour: "rgb(255, 200, 200)" });
  if (asked === "ask") return yield* calls("ask_user", { question: "Really?" });
  if (asked === "refund") return yield* calls("refund", { amount: 5 });
  if (asked !== "count") return yield* says(`You said ${asked}`);
  yield* hangs(...says("One"))(request, signal) as AsyncIterable<ModelEvent>;
}

describe("the example copilotkit in Chromium", { timeout: 600_000 }, () => {
  const data = directory();
  const problems: Error[] = [];
  let browser: Browser;
  let site: Site;
  let threads = 0;

  before(async () => {
    const agents = { default: chatAgent({ model: scriptedBy(obey), tools: [refund] }) };
    site = await openSite(buildExample("copilotkit"), { data: data.path, agents });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
    data[Symbol.dispose]();
  });

  const open = async (id = `page-${++threads}`): Promise<Page & { id: string }> => {
    const page = await browser.newPage();
    page.setDefaultTimeout(8_000);
    page.on("pageerror", (error) => problems.push(error));
    await page.goto(`${site.url}/?id=${id}`);
    return Object.assign(page, { id });
  };
  const say = async (page: Page, text: string) => {
    await page.getByTestId("copilot-chat-textarea").fill(text);
    await page.getByTestId("copilot-send-button").click();
  };
  const sees = (page: Page, text: string) => page.getByText(text).waitFor();
  const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
  const painted = (page: Page) =>
    page.evaluate(() => Number((globalThis as unknown as { localStorage: Record<string, string> }).localStorage["painted"] ?? 0));

  const statusOf = async (id: string) => ((await (await fetch(`${site.url}/v1/threads/${id}`)).json()) as { status: string }).status;

  it("runs a tool of the page once, and shows it again after a reload", async () => {
    const page = await open();
    const before = await painted(page);
    await say(page, "paint");
    await sees(page, "Result: painted rgb(255, 200, 200)");
    await page.reload();
    await sees(page, "Result: painted rgb(255, 200, 200)");
    await sees(page, "paint rgb(255, 200, 200): complete");
    assert.equal((await painted(page)) - before, 1);
    await page.close();
  });

  it("asks its person again after a reload, and goes on with the answer", async () => {
    const page = await open();
    await say(page, "ask");
    await sees(page, "Really?");
    await page.reload();
    await sees(page, "Really?");
    await press(page, "Yes");
    await sees(page, 'Result: {"confirmed":true}');
    await page.close();
  });

  it("does not mind that the server restarts while it waits", async () => {
    const page = await open();
    await say(page, "ask");
    await sees(page, "Really?");
    await site.restart();
    await press(page, "No");
    await sees(page, 'Result: {"confirmed":false}');
    await page.close();
  });

  it("asks before this server runs a tool, and takes a no", async () => {
    for (const [button, result] of [
      ["Yes", 'Result: {"paid":5}'],
      ["No", 'Result: "'],
    ] as const) {
      const page = await open();
      await say(page, "refund");
      await sees(page, "May refund be called?");
      await press(page, button);
      await sees(page, result);
      await page.close();
    }
  });

  it("asks for approval again after a reload", async () => {
    const page = await open();
    await say(page, "refund");
    await sees(page, "May refund be called?");
    await page.reload();
    await sees(page, "May refund be called?");
    await press(page, "Yes");
    await sees(page, 'Result: {"paid":5}');
    await page.close();
  });

  it("follows a run over a reload, stops it, and goes on", async () => {
    const page = await open();
    await say(page, "count");
    await sees(page, "One");
    await page.reload();
    await sees(page, "One");
    assert.equal(await statusOf(page.id), "running");
    await page.getByTestId("copilot-send-button").click(); // a stop button while something runs
    await eventually(async () => (await statusOf(page.id)) === "idle");
    await say(page, "hello");
    await sees(page, "You said hello");
    await page.close();
  });

  it("reports no errors of its own", () => assert.deepEqual(problems, []));
});
