import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { actor } from "./console/agent.ts";
import { eventually, fitsWidth, isAccessible, openSite, type Page, person, type Site, say, shot } from "./console/support.ts";

const LOOKS = (["light", "dark"] as const).flatMap((theme) => (["en", "zh-CN"] as const).map((language) => ({ theme, language })));
const rows = (page: Page) => page.getByTestId("inbox-row");

describe("the inbox", { timeout: 180_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: actor() } });
  });
  after(() => site[Symbol.asyncDispose]());
  const clear = async () => {
    for (const { id } of await pending()) await answer(id);
  };
  const pending = async () => {
    const { calls } = (await (await fetch(`${site.url}/v1/calls?status=pending`)).json()) as { calls: { id: string; callId?: string }[] };
    return calls;
  };
  const answer = (id: string) =>
    fetch(`${site.url}/v1/calls/${id.replace(/:approval$/, "")}/${id.endsWith(":approval") ? "reject" : "result"}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(id.endsWith(":approval") ? {} : { output: 1 }),
    });

  it("says when nobody owes anything", async () => {
    await using one = await person(site);
    const page = await one.open("/inbox");
    await page.getByText("No calls wait for anybody").waitFor();
    await page.getByRole("button", { name: /New thread|Run a demo/ }).waitFor();
  });

  it("lists the calls of all threads, and its filters are in the URL", async () => {
    await say(site, "inbox-a", "orders");
    await say(site, "inbox-b", "two");
    await using one = await person(site);
    const page = await one.open("/inbox");
    await eventually(async () => (await rows(page).count()) === 3);
    assert.match(await page.title(), /^\(3\) /);
    await page.getByRole("combobox", { name: "Who owes it" }).selectOption("human");
    await eventually(async () => (await rows(page).count()) === 1);
    assert.match(page.url(), /owner=human/);
    await page.reload();
    await eventually(async () => (await rows(page).count()) === 1);
    assert.match((await rows(page).textContent()) ?? "", /delete_orders/);
    await clear();
  });

  it("is worked through with keys alone, and goes on to the next", async () => {
    await say(site, "keys-a", "orders");
    await eventually(async () => (await pending()).length === 1);
    await say(site, "keys-b", "orders");
    await eventually(async () => (await pending()).length === 2);
    await using one = await person(site);
    const page = await one.open("/inbox");
    await eventually(async () => (await rows(page).count()) === 2);
    const first = page.url();
    await page.getByRole("button", { name: "Edit arguments" }).waitFor();
    await page.keyboard.press("e");
    const editor = page.locator(".cm-content");
    await editor.waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{ "table": "orders", "limit": 7 }');
    await page.keyboard.press("Control+Enter");
    await eventually(async () => (await rows(page).count()) === 1);
    await eventually(() => page.url() !== first && /\/inbox\/./.test(page.url()));
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await page.keyboard.press("a");
    await page.getByText("1 approval goes out in 5 s.").first().waitFor();
    await page.keyboard.press("u");
    await eventually(async () => (await rows(page).count()) === 1);
    assert.equal((await pending()).length, 1);
    await clear();
  });

  it("tells another tab that somebody was faster, without an error", async () => {
    await say(site, "race", "menu");
    await using one = await person(site);
    const a = await one.open("/inbox");
    const b = await one.open("/inbox");
    for (const page of [a, b]) await page.getByRole("button", { name: "Simulate result" }).waitFor();
    await a.getByRole("button", { name: "Simulate result" }).click();
    await b.getByText(/Answered by user/).waitFor();
    assert.equal(await b.getByRole("alert").count(), 0);
    await b.getByRole("tab", { name: "Answered" }).click();
    await b.getByText("get_menu").first().waitFor();
    await clear();
  });

  it("is of use on a phone", async () => {
    await say(site, "phone", "orders");
    await using one = await person(site, { width: 390, height: 800 });
    const page = await one.open("/inbox");
    await rows(page).first().getByRole("link").click();
    await fitsWidth(page);
    await shot(page, "inbox-phone");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await eventually(async () => (await pending()).length === 0);
    await page.goto(`${site.url}/t/phone`);
    await page.getByRole("button", { name: "Open panel" }).click();
    await page.getByRole("dialog").getByRole("tab", { name: "Timeline" }).click();
    await fitsWidth(page);
  });

  for (const { theme, language } of LOOKS) {
    it(`is accessible in ${theme} and ${language}`, async () => {
      await say(site, `axe-${theme}-${language}`, "orders");
      await using one = await person(site, { theme, language, width: 1360 });
      const page = await one.open("/inbox");
      await page.getByRole("button", { name: /^(Approve|批准)$/ }).waitFor();
      await isAccessible(page);
      await shot(page, `inbox-${theme}-${language}`);
      await clear();
    });
  }
});

describe("the list of threads", { timeout: 120_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: actor() } });
    await say(site, "beans", "say 我们需要更多的咖啡豆");
    await say(site, "other", "say nothing much");
  });
  after(() => site[Symbol.asyncDispose]());

  it("finds a Chinese word that was said, renames, and keeps the name", async () => {
    await using one = await person(site);
    const page = await one.open("/threads");
    await eventually(async () => (await page.getByTestId("thread-row").count()) === 2);
    await page.getByRole("searchbox").fill("咖啡豆");
    await eventually(async () => (await page.getByTestId("thread-row").count()) === 1);
    await page.getByRole("button", { name: /What to do with/ }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Rename" }).fill("采购");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /采购/ }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: /采购/ }).waitFor();
  });

  it("deletes, and takes it back", async () => {
    await using one = await person(site);
    const page = await one.open("/threads");
    const row = page.getByTestId("thread-row").filter({ hasText: "nothing much" });
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await eventually(async () => (await row.count()) === 0);
    await page.getByRole("button", { name: "Undo" }).click();
    await row.waitFor();
    assert.equal((await fetch(`${site.url}/v1/threads/other`)).status, 200);
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.waitForResponse((response) => response.request().method() === "DELETE" && response.ok());
    assert.equal((await fetch(`${site.url}/v1/threads/other`)).status, 404);
  });

  it("exports a log and imports it as it was", async () => {
    await using one = await person(site);
    const page = await one.open("/t/beans");
    await page.getByTestId("assistant-message").waitFor();
    await page.getByRole("button", { name: "What to do with this thread" }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Export log (JSONL)" }).click()]);
    const log = readFileSync(await file.path());
    assert.ok(log.toString("utf8").split("\n").length > 5);
    await page.goto(`${site.url}/threads`);
    await page.locator('input[type="file"]').setInputFiles({ name: "beans.jsonl", mimeType: "application/x-ndjson", buffer: log });
    await page.waitForURL(/\/t\/file/);
    const words = page.getByTestId("assistant-message").filter({ hasText: "我们需要更多的咖啡豆" });
    await words.waitFor();
    await page.getByText("A log from a file.").waitFor();
    assert.equal(await page.getByRole("textbox", { name: /Message/ }).count(), 0, "it is only read");
    assert.equal(await page.getByRole("button", { name: "Regenerate" }).count(), 0);
    await page.reload();
    await words.waitFor();
    await page.getByRole("button", { name: "Import into this server" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/t/") && !/file|beans/.test(url.pathname));
    await words.waitFor();
    await page.getByRole("textbox", { name: /Message/ }).waitFor();
    await page.goto(`${site.url}/threads`);
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "bad.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from("no log") });
    await page
      .getByText(/could not be opened: line 1/)
      .first()
      .waitFor();
  });
});

describe("pages", { timeout: 180_000, concurrency: 2 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: actor() } });
    await say(site, "look", "menu");
    await say(site, "done", "say all is well");
  });
  after(() => site[Symbol.asyncDispose]());

  for (const { theme, language } of LOOKS) {
    it(`are accessible in ${theme} and ${language}, and speak one language`, async () => {
      await using one = await person(site, { theme, language, width: 1360, height: 850 });
      const page = await one.open("/");
      for (const [name, path, ready] of [
        ["chat-new", "/", page.getByRole("textbox")],
        ["chat", "/t/look?dock=events", page.getByTestId("event-row").first()],
        ["timeline", "/t/look?dock=timeline", page.getByTestId("waterfall")],
        ["graph-panel", "/t/look?dock=graph", page.getByTestId("node-model")],
        ["threads", "/threads", page.getByTestId("thread-row").first()],
        ["runs", "/runs", page.getByRole("listitem").first()],
        ["run", "/runs/look%3Alatest", page.getByTestId("waterfall")],
        ["graph", "/graph", page.getByTestId("node-tools")],
      ] as const) {
        await page.goto(site.url + path);
        await ready.waitFor();
        await isAccessible(page, `${path} ${theme} ${language}`);
        await shot(page, `${name}-${theme}-${language}`);
        if (language === "zh-CN") {
          assert.equal(await page.evaluate("document.documentElement.lang"), "zh-CN");
          assert.doesNotMatch(
            (await page.locator("header, nav").first().textContent()) ?? "",
            /\b(Chat|Inbox|Threads|Runs|Settings|Search)\b/,
          );
        }
      }
    });
  }

  it("fit a phone", async () => {
    await using one = await person(site, { width: 390, height: 800 });
    const page = await one.open("/");
    for (const path of ["/", "/t/look", "/inbox", "/threads", "/runs", "/runs/look%3Alatest", "/graph", "/settings", "/playground"]) {
      await page.goto(site.url + path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await eventually(() => page.evaluate<boolean>("document.querySelector('main [role=status]') === null"));
      await fitsWidth(page);
    }
  });
});
