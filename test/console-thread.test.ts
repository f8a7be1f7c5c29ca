import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { actor } from "./console/agent.ts";
import { eventually, openSite, type Page, person, type Site, say, shot } from "./console/support.ts";

const box = (page: Page) => page.getByRole("textbox", { name: /Message|Ask the agent/ });
const send = async (page: Page, text: string) => {
  await box(page).fill(text);
  await page.keyboard.press("Enter");
};
const said = (page: Page, text: string | RegExp) => page.getByTestId("assistant-message").filter({ hasText: text });
const WORDS = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");

describe("a thread in the console", { timeout: 180_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: actor(25) } });
  });
  after(() => site[Symbol.asyncDispose]());
  const begin = async (page: Page, text: string) => {
    await page.goto(`${site.url}/`);
    await send(page, text);
    await page.waitForURL(/\/t\//);
  };

  it("goes on after a reload in the middle, with no word missing or doubled", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "long");
    await said(page, "word5").waitFor();
    await page.reload();
    await said(page, "word59").waitFor();
    await eventually(async () => (await page.getByText("Idle", { exact: true }).count()) > 0);
    assert.equal(((await said(page, "word59").locator(".prose").textContent()) ?? "").trim(), WORDS);
  });

  it("shows what began elsewhere by itself", async () => {
    await using one = await person(site);
    const first = await one.open("/threads");
    await say(site, "from-curl", "say hello from a terminal");
    await first.getByText("say hello from a terminal").first().waitFor();
  });

  it("says that the server is gone, that it is back, and what still waits", async () => {
    await using one = await person(site, { expect: /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_CONNECTION_RESET|502/ });
    const page = await one.open();
    await begin(page, "menu");
    await page.getByRole("button", { name: "Copy curl" }).waitFor();
    await site.stop();
    await page.getByText("Connection lost").waitFor();
    await shot(page, "connection-lost");
    await site.start();
    await page
      .getByTestId("banner")
      .getByText(/still wait|caught up/)
      .waitFor({ timeout: 15_000 });
    await page.getByRole("button", { name: "Simulate result" }).click();
    await said(page, /get_menu: completed/).waitFor();
  });

  it("asks what to do with a message that comes while a run goes on", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "long");
    await said(page, "word2").waitFor();
    await send(page, "say queued words");
    await page.getByRole("button", { name: "Send when it has ended" }).click();
    await said(page, "queued words").waitFor();
    assert.equal(await said(page, "word59").count(), 1);
    assert.equal(await box(page).inputValue(), "", "what is queued is not in the box any more");
    await send(page, "long");
    await eventually(async () => (await said(page, "word2").count()) === 2);
    await send(page, "say at once");
    await page.getByRole("button", { name: "Stop it and send" }).click();
    await said(page, "at once").waitFor();
    await page
      .getByText(/cancelled/)
      .first()
      .waitFor();
  });

  it("stops at a click", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "long");
    await said(page, "word3").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("Cancelled", { exact: true }).waitFor();
    assert.equal(await said(page, "word59").count(), 0);
  });

  it("is said differently, and answered again", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "say first words");
    await said(page, "first words").waitFor();
    await page.getByRole("button", { name: "Edit message" }).click();
    await page.getByRole("textbox", { name: "Edit message" }).fill("say other words");
    await page.keyboard.press("Control+Enter");
    await said(page, "other words").waitFor();
    assert.equal(await said(page, "first words").count(), 0);
    const run = await page.getByRole("link", { name: /^Run #/ }).textContent(); // one: what was said first has left
    await page.getByRole("button", { name: "Regenerate" }).click();
    await eventually(async () => ![run, null].includes(await page.getByRole("link", { name: /^Run #/ }).textContent()));
    await said(page, "other words").waitFor();
    assert.equal(await said(page, "other words").count(), 1);
  });

  it("does not send what an input method is still writing", async () => {
    await using one = await person(site);
    const page = await one.open();
    await box(page).focus();
    const debug = await one.context.newCDPSession(page);
    await debug.send("Input.imeSetComposition", { text: "你好", selectionStart: 2, selectionEnd: 2 });
    await debug.send("Input.dispatchKeyEvent", { type: "keyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 });
    assert.equal(new URL(page.url()).pathname, "/");
    await debug.send("Input.insertText", { text: "你好" });
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/t\//);
    await page.getByText("你好").first().waitFor();
  });

  it("shows failures with their reason and another try", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "fail");
    const alert = page.getByRole("alert").filter({ hasText: "The run failed" });
    await alert.waitFor();
    assert.match((await alert.textContent()) ?? "", /out of coffee/);
    await alert.getByRole("button", { name: "Try again" }).waitFor();
  });

  it("writes a report beside the conversation, which stays short", async () => {
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await begin(page, "report");
    await said(page, "The report is done.").waitFor();
    await page.getByTestId("document-chip").click();
    const report = page.getByTestId("document");
    await report.getByRole("heading", { name: "Weekly report" }).waitFor();
    await report.getByRole("cell", { name: "north" }).waitFor();
    assert.equal(await page.getByRole("region", { name: "Conversation" }).getByText("opened on time").count(), 0);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: ".md" }).click()]);
    assert.match(readFileSync(await file.path(), "utf8"), /All \*\*nine\*\* shops/);
    await shot(page, "report");
  });

  it("shows its log, event by event, as it is stored", async () => {
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await begin(page, "menu");
    await page.getByRole("button", { name: "Simulate result" }).click();
    await said(page, /get_menu: completed/).waitFor();
    await page.getByRole("tab", { name: "Events" }).click();
    await page.getByRole("searchbox", { name: "Filter events" }).fill("TOOL_CALL");
    const rows = page.getByTestId("event-row");
    await eventually(async () => (await rows.count()) > 0 && (await rows.allInnerTexts()).every((text) => text.includes("tool.")));
    await rows.filter({ hasText: "tool.returned" }).getByRole("button").first().click();
    await rows.filter({ hasText: "tool.returned" }).getByRole("button", { name: "Copy" }).click();
    const copied = JSON.parse(await page.evaluate<string>("navigator.clipboard.readText()"));
    assert.equal(copied.type, "tool.returned");
    assert.match(page.url(), /event=\d+/);
  });

  it("goes back in time and forth again, with everything that shows it", async () => {
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await begin(page, "menu");
    await page.getByRole("button", { name: "Simulate result" }).click();
    await said(page, /get_menu: completed/).waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    const scrubber = page.getByRole("slider", { name: "Place in the log" });
    await scrubber.fill("5");
    await page.getByText(/You see event 5 of/).waitFor();
    assert.equal(await said(page, /get_menu: completed/).count(), 0);
    assert.equal(await page.getByRole("button", { name: "Simulate result" }).count(), 0, "the past cannot be answered");
    await scrubber.press("End");
    await said(page, /get_menu: completed/).waitFor();
    const waits = page.locator('[data-segment="wait"]');
    assert.ok((await waits.count()) > 0);
    await page
      .getByTestId("waterfall")
      .getByRole("button", { name: /get_menu/ })
      .click();
    assert.match(page.url(), /select=call/);
  });

  it("cannot be made to run what is only text", async () => {
    await using one = await person(site);
    const page = await one.open();
    const evil = `<img src=x onerror=alert(1)> [click](javascript:alert(2)) <script>alert(3)</script> ![](http://example.com/x.png)`;
    await begin(page, `say ${evil}`);
    await said(page, "<img src=x").waitFor();
    assert.equal(await page.locator(".prose img, .prose script").count(), 0);
    assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
    await begin(page, "menu");
    const id = ((await page.getByRole("article").getAttribute("id")) ?? "").replace("call-", "");
    await fetch(`${site.url}/v1/calls/${id}/result`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ output: evil }),
    });
    await page.getByRole("article").getByText("<img src=x").waitFor();
    assert.equal(await page.locator("article img, article script").count(), 0);
  });

  it("of ten thousand events opens in good time and keeps few rows in the page", async () => {
    const threadId = "ten-thousand";
    const lines = [
      {
        seq: 1,
        at: 1,
        v: 1,
        type: "run.started",
        runId: "r",
        turnId: "t",
        epoch: 1,
        cause: "message",
        agent: "default",
        messages: [{ id: "m", content: "hi" }],
        by: "user:user",
        via: "native",
      },
      { seq: 2, at: 1, v: 1, type: "step.started", stepId: "s", name: "model", kind: "model", messageId: "a" },
      { seq: 3, at: 1, v: 1, type: "text.started", messageId: "a", stepId: "s" },
      ...Array.from({ length: 9_993 }, (_, i) => ({ seq: 4 + i, at: 2, v: 1, type: "custom.emitted", name: "tick", value: i })),
      { seq: 9_997, at: 3, v: 1, type: "text.ended", messageId: "a", text: "That was long." },
      { seq: 9_998, at: 3, v: 1, type: "step.ended", stepId: "s", name: "model", completed: true },
      { seq: 9_999, at: 3, v: 1, type: "run.ended", runId: "r", turnId: "t", run: 1, outcome: { type: "done" } },
    ];
    const exported = await (await fetch(`${site.url}/v1/threads/from-curl/export`)).text();
    const [head = "{}"] = exported.split("\n");
    const file = [head, ...lines.map((line) => JSON.stringify(line))].join("\n");
    const response = await fetch(`${site.url}/v1/threads/import?threadId=${threadId}`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: file,
    });
    assert.ok(response.ok, await response.text());
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await page.getByRole("textbox").waitFor();
    const start = performance.now();
    await page.goto(`${site.url}/t/${threadId}?dock=events`);
    await said(page, "That was long.").waitFor();
    await page.getByTestId("event-row").first().waitFor();
    const took = performance.now() - start;
    assert.ok(took < 8_000, `took ${took} ms (a shared machine; on a quiet one it is below two seconds)`);
    assert.ok((await page.getByTestId("event-row").count()) < 60);
    await page.getByRole("searchbox", { name: "Filter events" }).fill("run.ended");
    await eventually(async () => (await page.getByTestId("event-row").count()) === 1);
  });
});
