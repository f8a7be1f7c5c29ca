import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import type { ModelEvent, ModelRequest } from "../src/model/model.ts";
import { calls, says, scriptedBy } from "../src/model/scripted.ts";
import { type Browser, buildExample, openBrowser, openSite, type Page, type Site } from "./aisdk/browser.ts";
import { directory, eventually } from "./support/serve.ts";

const paint = tool({ name: "paint", description: "Paints", input: z.object({ colour: z.string() }), owner: "client" });
const askUser = tool({ name: "ask_user", description: "Asks", input: z.object({ question: z.string() }), owner: "client" });
const refund = tool({
  name: "refund",
  description: "Pays",
  input: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ amount }) => ({ paid: amount }),
});

const getMenu = tool({ name: "get_menu", description: "Menu", input: z.object({}) });

/** Does what the last message says, and says what came of it. Decides from the history alone, so a restart changes nothing. */
async function* obey({ history }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const last = history.at(-1);
  if (last?.role === "assistant") {
    const outputs = last.parts.flatMap((part) =>
      part.type === "call" ? [JSON.stringify(part.settlement?.output ?? part.settlement?.error)] : [],
    );
    return yield* says(`Result: ${outputs.join(" and ")}`);
  }
  const asked = String(last?.content);
  if (asked === "paint") return yield* calls("paint", { colour: "rgb(255, 200, 200)" });
  if (asked === "three") for (const colour of ["red", "green", "blue"]) yield* calls("paint", { colour });
  if (asked === "three") return;
  if (asked === "both") return yield* [...calls("paint", { colour: "red" }), ...calls("get_menu", {})];
  if (asked === "ask") return yield* calls("ask_user", { question: "Really?" });
  if (asked === "record") return yield* calls("create_record", { title: "Minutes" });
  if (asked === "refund") return yield* calls("refund", { amount: 5 });
  if (asked !== "count") return yield* says(`You said ${asked}`);
  yield* says("One");
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

const EXAMPLES = {
  "use-chat": {
    agent: () => chatAgent({ model: scriptedBy(obey), tools: [paint, askUser, refund, getMenu] }),
    waits: "ask",
    question: "Really?",
    answer: '{"confirmed":true}',
  },
  "assistant-ui": {
    agent: () => chatAgent({ model: scriptedBy(obey), tools: [refund, getMenu] }),
    waits: "record",
    question: 'Create "Minutes"?',
    answer: '{"created":"Minutes"}',
  },
};

for (const [name, { agent, waits, question, answer }] of Object.entries(EXAMPLES)) {
  describe(`the example ${name} in Chromium`, { timeout: 300_000 }, () => {
    const data = directory();
    let browser: Browser;
    let site: Site;
    let threads = 0;
    const problems: Error[] = [];

    before(async () => {
      site = await openSite(buildExample(name), { data: data.path, agents: { default: agent() }, aisdk: { version: 7 } });
      browser = await openBrowser();
    });
    after(async () => {
      await browser?.close();
      await site?.[Symbol.asyncDispose]();
      data[Symbol.dispose]();
    });

    const open = async (id = `${name}-${++threads}`): Promise<Page & { id: string }> => {
      const page = await browser.newPage();
      page.setDefaultTimeout(8_000);
      page.on("pageerror", (error) => problems.push(error));
      await page.goto(`${site.url}/?id=${id}`);
      return Object.assign(page, { id });
    };
    const say = async (page: Page, text: string) => {
      await page.getByLabel("Message").fill(text);
      await page.getByRole("button", { name: "Send" }).click();
    };
    const sees = (page: Page, text: string) => page.getByText(text).waitFor({ timeout: 8_000 });
    const painted = (page: Page) =>
      page.evaluate(() => Number((globalThis as unknown as { localStorage: Record<string, string> }).localStorage["painted"] ?? 0));
    const inThread = async (id: string) => (await (await fetch(`${site.url}/v1/threads/${id}`)).json()) as { status: string };

    it("runs a tool of the page, once", async () => {
      const page = await open();
      const before = await painted(page);
      await say(page, "paint");
      await sees(page, 'Result: "painted rgb(255, 200, 200)"');
      await page.reload();
      await sees(page, 'Result: "painted rgb(255, 200, 200)"');
      assert.equal((await painted(page)) - before, 1);
      await page.close();
    });

    it("runs three side by side", async () => {
      const page = await open();
      await say(page, "three");
      await sees(page, 'Result: "painted red" and "painted green" and "painted blue"');
      await page.close();
    });

    it("goes on by itself when another system answers its part", async () => {
      const page = await open();
      await say(page, "both");
      const pending = async () => {
        const response = await fetch(`${site.url}/v1/calls?status=pending&threadId=${page.id}`);
        return ((await response.json()) as { calls: { id: string; name: string }[] }).calls;
      };
      const theirs = await eventually(async () => {
        const calls = await pending();
        return calls.length === 1 && calls[0]?.name === "get_menu" ? calls[0] : undefined;
      });
      const body = JSON.stringify({ output: "tea" });
      await fetch(`${site.url}/v1/calls/${theirs.id}/result`, { method: "POST", headers: { "content-type": "application/json" }, body });
      await sees(page, 'Result: "painted red" and "tea"');
      await page.close();
    });

    it("asks before this server runs a tool, and takes a no", async () => {
      for (const [button, result] of [
        ["Yes", '{"paid":5}'],
        ["No", '"Rejected"'],
      ] as const) {
        const page = await open();
        await say(page, "refund");
        await sees(page, "Pay back 5?");
        await page.getByRole("button", { name: button }).click();
        await sees(page, `Result: ${result}`);
        await page.close();
      }
    });

    it("shows a question again after a reload, and goes on with the answer", async () => {
      const page = await open();
      await say(page, waits);
      await sees(page, question);
      await page.reload();
      await sees(page, question);
      await page.getByRole("button", { name: "Yes" }).click();
      await sees(page, `Result: ${answer}`);
      assert.equal(await page.getByText(`Result: ${answer}`).count(), 1);
      await page.close();
    });

    it("does not mind that the server restarts while it waits", async () => {
      const page = await open();
      await say(page, waits);
      await sees(page, question);
      await site.restart();
      await page.getByRole("button", { name: "Yes" }).click();
      await sees(page, `Result: ${answer}`);
      await page.close();
    });

    it("stops, and goes on with the next message", async () => {
      const page = await open();
      await say(page, "count");
      await sees(page, "One");
      await page.getByRole("button", { name: "Stop" }).click();
      await sees(page, "ready");
      await eventually(async () => (await inThread(page.id)).status === "idle");
      await say(page, "hello");
      await sees(page, "You said hello");
      await page.close();
    });

    it("lets a second tab follow", async () => {
      const first = await open();
      await say(first, "count");
      await sees(first, "One");
      const second = await open(first.id);
      await sees(second, "One");
      await first.getByRole("button", { name: "Stop" }).click();
      await sees(second, "ready");
      for (const page of [first, second]) await page.close();
    });

    it("runs a tool in one of two tabs, and shows the result in both", async () => {
      const id = `${name}-tabs`;
      const tools = { paint: { description: "Paints", parameters: { type: "object" } } };
      const body = JSON.stringify({ id, tools, messages: [{ id: "u", role: "user", parts: [{ type: "text", text: "paint" }] }] });
      await fetch(`${site.url}/api/chat`, { method: "POST", headers: { "content-type": "application/json" }, body });
      const blank = await browser.newPage();
      await blank.goto(`${site.url}/?id=${name}-none`);
      const before = await painted(blank);
      const pages = await Promise.all([open(id), open(id)]);
      for (const page of pages) await sees(page, 'Result: "painted rgb(255, 200, 200)"');
      assert.equal((await painted(blank)) - before, 1);
      for (const page of [blank, ...pages]) await page.close();
    });

    it("takes the answer from whichever tab the person is in", async () => {
      const first = await open();
      await say(first, waits);
      await sees(first, question);
      const second = await open(first.id);
      await sees(second, question);
      await second.getByRole("button", { name: "Yes" }).click();
      await sees(second, `Result: ${answer}`);
      for (const page of [first, second]) await page.close();
    });

    it("reports no errors of its own", () => assert.deepEqual(problems, []));
  });
}
