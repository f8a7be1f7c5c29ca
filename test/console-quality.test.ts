// What holds for every page: keyboard, language, phones, many tabs, times, and the pixels of a few screens.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { foldAll, spansOf, timeMapOf } from "../src/client/client.ts";
import { EMPTY_VIEW } from "../src/client/view/view.ts";
import { actor } from "./console/agent.ts";
import { looksAsBefore } from "./console/pixels.ts";
import { eventually, fitsWidth, openSite, type Page, person, type Site, say } from "./console/support.ts";

const box = (page: Page) => page.getByRole("textbox", { name: /Message|Ask the agent/ });
const said = (page: Page, text: string | RegExp) => page.getByTestId("assistant-message").filter({ hasText: text });
const card = (page: Page, name: string) => page.getByRole("article", { name: `Call of ${name}` });
const send = async (page: Page, text: string) => {
  await box(page).fill(text);
  await page.keyboard.press("Enter");
};

/** A log in which somebody was waited for, for ten minutes. */
function slowLog(): string {
  const at = Date.UTC(2026, 0, 5, 12);
  const minutes = 60_000;
  const place = { runId: "r1", turnId: "t1" };
  const by = { by: "user:ann", via: "native" };
  const events = [
    {
      at: 0,
      type: "run.started",
      ...place,
      epoch: 1,
      cause: "message",
      agent: "default",
      messages: [{ id: "m1", content: "the menu" }],
      ...by,
    },
    { at: 10, type: "step.started", stepId: "s1", name: "model", kind: "model", messageId: "a1" },
    { at: 400, type: "tool.started", callId: "c1", name: "get_menu", owner: "external", messageId: "a1", stepId: "s1" },
    {
      at: 900,
      type: "tool.called",
      callId: "c1",
      name: "get_menu",
      owner: "external",
      messageId: "a1",
      stepId: "s1",
      input: { category: "tea" },
    },
    { at: 910, type: "step.ended", stepId: "s1", name: "model", completed: true, finishReason: "tool-calls" },
    { at: 920, type: "call.offered", callId: "c1", name: "get_menu", owner: "external", ordinal: 1, input: { category: "tea" } },
    { at: 930, type: "run.ended", ...place, run: 1, outcome: { type: "waiting", for: [{ type: "call", callId: "c1", name: "get_menu" }] } },
    { at: 10 * minutes, type: "run.started", runId: "r2", turnId: "t1", epoch: 2, cause: "result", agent: "default", messages: [], ...by },
    { at: 10 * minutes + 5, type: "tool.returned", callId: "c1", name: "get_menu", status: "completed", output: { green: 20 }, ...by },
    { at: 10 * minutes + 20, type: "step.started", stepId: "s2", name: "model", kind: "model", messageId: "a2" },
    { at: 10 * minutes + 40, type: "text.started", messageId: "a2", stepId: "s2" },
    { at: 10 * minutes + 900, type: "text.ended", messageId: "a2", text: "Green tea is 20." },
    { at: 10 * minutes + 910, type: "step.ended", stepId: "s2", name: "model", completed: true },
    { at: 10 * minutes + 920, type: "run.ended", runId: "r2", turnId: "t1", run: 8, outcome: { type: "done" } },
    { at: 10 * minutes + 930, type: "weather.changed", sky: "clear" },
  ].map((event, i) => ({ seq: i + 1, v: 1, ...event, at: at + event.at }));
  return [{ handback: "1.0.0", threadId: "slow", title: "A slow answer", metadata: {}, exportedAt: "2026-01-05T13:00:00.000Z" }, ...events]
    .map((line) => JSON.stringify(line))
    .join("\n");
}

describe("the console", { timeout: 180_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: actor(4) } });
  });
  after(() => site[Symbol.asyncDispose]());
  const begin = async (page: Page, text: string) => {
    await page.goto(`${site.url}/`);
    await send(page, text);
    await page.waitForURL(/\/t\//);
  };
  const openLog = async (page: Page, text: string) => {
    await page.goto(`${site.url}/threads`);
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "log.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(text) });
    await page.waitForURL(/\/t\/file/);
  };

  it("folds a wait of ten minutes, so that the work around it can be read, and shows a file as it was", async () => {
    const lines = slowLog().split("\n").slice(1);
    const spans = spansOf(
      foldAll(
        EMPTY_VIEW,
        lines.map((line) => JSON.parse(line)),
      ),
    );
    const map = timeMapOf(spans, 0);
    assert.equal(map.gaps.length, 1);
    const model = spans.filter(({ kind }) => kind === "model");
    for (const { start, end = 0 } of model) assert.ok(map.at(end) - map.at(start) > 0.2, "a model's bar is wide enough to be read");

    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await openLog(page, slowLog());
    await said(page, "Green tea is 20.").waitFor();
    await page.getByText("an event this console does not know").waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page
      .getByTestId("gap")
      .getByText(/9 min 59 sec/)
      .waitFor();
    assert.ok((await page.locator('[data-segment="wait"]').count()) > 0);
    await page
      .getByTestId("waterfall")
      .getByRole("button", { name: /get_menu/ })
      .click();
    assert.match((await card(page, "get_menu").getAttribute("class")) ?? "", /ring-accent/);
    assert.match((await card(page, "get_menu").textContent()) ?? "", /9 min 59 sec|10 min/);
    await page.getByRole("tab", { name: "Events" }).click();
    await page.getByRole("button", { name: /weather\.changed/ }).click();
    await page.getByTestId("event-row").getByText('"sky": "clear"').waitFor();
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByTestId("node-model").waitFor();
  });

  it("shows ten tabs live over one connection, and goes on when the first is closed", async () => {
    await using one = await person(site);
    const first = await one.open();
    await begin(first, "say hello to all");
    await said(first, "hello to all").waitFor();
    const path = new URL(first.url()).pathname;
    const before = streams();
    const tabs: Page[] = [];
    for (let i = 0; i < 9; i += 1) tabs.push(await one.open(path));
    for (const tab of tabs) await said(tab, "hello to all").waitFor();
    assert.ok(streams() - before <= 1, `${streams() - before} more streams for nine more tabs`);
    await first.close();
    const start = performance.now();
    await send(tabs[8] as Page, "say and without the first");
    for (const tab of tabs) await said(tab, "and without the first").waitFor();
    assert.ok(performance.now() - start < 5_000);
  });
  const streams = () => site.requests.filter((request) => request.startsWith("GET /v1/events")).length;

  it("is reached and used by keyboard alone, and always shows where the focus is", async () => {
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await begin(page, "orders");
    await card(page, "delete_orders").getByRole("button", { name: "Approve", exact: true }).waitFor();
    const wanted = ["Approve", "Edit arguments", "Reject…", "More", "Send", "Events", "What to do with this thread", "Close panel"];
    const seen = new Set<string>();
    await page.evaluate("document.body.focus()");
    for (let i = 0; i < 90 && seen.size < wanted.length; i += 1) {
      await page.keyboard.press("Tab");
      const focus = await page.evaluate<{ name: string; visible: boolean }>(`(() => {
        const at = document.activeElement;
        const ring = (e) => { const s = getComputedStyle(e); return (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none"; };
        let visible = false;
        for (let e = at, i = 0; e && i < 3; e = e.parentElement, i += 1) visible ||= ring(e);
        visible ||= [...at.children].some((e) => getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)");
        if (at === document.body) return { name: "", visible: true }; // the end, and from the start again
        return { name: (at.getAttribute("aria-label") ?? at.textContent ?? "").trim(), visible };
      })()`);
      assert.ok(focus.visible, `the focus cannot be seen on ${focus.name}`);
      for (const name of wanted) if (focus.name === name) seen.add(name);
    }
    // Send is not there to be pressed while there is nothing to send.
    assert.deepEqual(
      wanted.filter((name) => !seen.has(name) && name !== "Send"),
      [],
    );
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  });

  it("says aloud what waits and how runs end, and no single words", async () => {
    await using one = await person(site);
    const page = await one.open("/inbox");
    await page
      .getByText(/No calls wait for anybody|Choose a call|About this tool/)
      .first()
      .waitFor(); // it knows what waits already
    await page.evaluate(`globalThis.said = []; new MutationObserver((records) => {
      for (const { target } of records) if (target.textContent) globalThis.said.push(target.textContent);
    }).observe(document.querySelector("[data-testid=live-region]").parentElement, { subtree: true, childList: true, characterData: true })`);
    const heard = () => page.evaluate<string[]>("[...new Set(globalThis.said)]");
    await page.keyboard.press("n");
    await send(page, "orders");
    await eventually(async () => (await heard()).length === 1);
    await card(page, "delete_orders").getByRole("button", { name: "Approve", exact: true }).click();
    await said(page, /"deleted":120/).waitFor();
    await eventually(async () => (await heard()).length > 1);
    assert.deepEqual(await heard(), ["Waiting for approval: delete_orders", "Run finished"]);
  });

  it("stays at the end while something is written, and where the reader is when they have gone up", async () => {
    await using one = await person(site, { height: 500 });
    const page = await one.open();
    const lines = Array.from({ length: 60 }, (_, i) => `line ${i}`).join("\\n\\n");
    await begin(page, `say ${lines.replaceAll("\\n", "\n")}`);
    await said(page, "line 59").waitFor();
    const scroller = page.getByRole("group", { name: "Conversation" });
    const measure = (what: string) =>
      page.evaluate<number>(`((e) => ${what})(document.querySelector('[role=group][aria-label=Conversation]'))`);
    const fromEnd = () => measure("e.scrollHeight - e.scrollTop - e.clientHeight");
    const top = () => measure("e.scrollTop");
    await eventually(async () => (await fromEnd()) < 2);
    await scroller.hover();
    await page.mouse.wheel(0, -300);
    await page.getByRole("button", { name: "To the end" }).waitFor();
    await eventually(async () => (await fromEnd()) > 200);
    const before = await top();
    await send(page, "long");
    await page.getByRole("button", { name: /\d+ new/ }).waitFor();
    assert.ok(Math.abs((await top()) - before) < 5, "the reader was not moved");
    await page.getByRole("button", { name: /\d+ new/ }).click();
    await eventually(async () => (await fromEnd()) < 2);
    await page.getByText("Idle", { exact: true }).waitFor();
    await eventually(async () => (await fromEnd()) < 2);
  });

  it("asks before a message calls off what waits, leads to what waits, and keeps a draft", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "menu");
    await card(page, "get_menu").getByRole("button", { name: "Copy curl" }).waitFor();
    await send(page, "say never mind");
    const choice = page.getByRole("alertdialog");
    await choice.getByText("The agent waits for 1 result.").waitFor();
    await page.keyboard.press("Enter");
    await choice.waitFor();
    await choice.getByRole("button", { name: "Answer what waits" }).click();
    await eventually(async () => /^call-/.test(await page.evaluate<string>("document.activeElement.id")));
    assert.equal(await box(page).inputValue(), "say never mind");
    await eventually(() => page.evaluate<boolean>("Object.keys(localStorage).some((key) => key.startsWith('handback.draft.'))"));
    await page.reload();
    await eventually(async () => (await box(page).inputValue()) === "say never mind");
    await box(page).press("Enter");
    await choice.getByRole("button", { name: "Cancel what waits and send" }).click();
    await said(page, "never mind").waitFor();
    assert.equal(await card(page, "get_menu").getAttribute("data-phase"), "cancelled");
    assert.equal(await box(page).inputValue(), "");
  });

  it("says what went wrong with what somebody asked for, and keeps what they typed", async () => {
    await using one = await person(site, { expect: /status of (404|500|503)/ });
    const page = await one.open();
    await begin(page, "say something");
    await said(page, "something").waitFor();
    await page.route(/\/v1\/threads\/[^/]+$/, (route) =>
      route.request().method() === "PATCH"
        ? route.fulfill({ status: 422, json: { error: { code: "invalid", message: "No such names here" } } })
        : route.fallback(),
    );
    await page.getByRole("button", { name: "What to do with this thread" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Rename" }).fill("another");
    await page.keyboard.press("Enter");
    await page.getByText("That did not work: No such names here").first().waitFor();
    one.problems.splice(0, one.problems.length, ...one.problems.filter((problem) => !/422/.test(problem)));
  });

  it("shows who is at a call to the others, and that they have left it", async () => {
    await say(site, "claims", "menu");
    await using one = await person(site);
    await using two = await person(site);
    const mine = await one.open("/t/claims");
    const theirs = await two.open("/t/claims");
    await card(mine, "get_menu").getByRole("button", { name: "Enter a result" }).click();
    await card(theirs, "get_menu").getByText("console is at it.").waitFor();
    assert.equal(await card(theirs, "get_menu").getAttribute("data-phase"), "claimed");
    await card(mine, "get_menu").getByRole("button", { name: "Cancel" }).click();
    await eventually(async () => (await card(theirs, "get_menu").getAttribute("data-phase")) === "waiting");
  });

  it("lists what expires first on top, with its thread and its time", async () => {
    await say(site, "sort-a", "orders");
    await say(site, "sort-b", "menu");
    await say(site, "sort-c", "deadline");
    await using one = await person(site);
    const page = await one.open("/inbox");
    const rows = page.getByTestId("inbox-row");
    await eventually(async () => (await rows.count()) >= 3);
    assert.match((await rows.first().textContent()) ?? "", /get_delivery.*expires in.*deadline/s);
  });

  it("loads the editor and the graph when they are first opened, and not before", async () => {
    await using one = await person(site);
    const files: string[] = [];
    one.context.on("request", (request) => files.push(new URL(request.url()).pathname));
    const loaded = (name: string) => files.some((file) => file.includes(name));
    const page = await one.open();
    await begin(page, "orders");
    await card(page, "delete_orders").getByRole("button", { name: "Edit arguments" }).waitFor();
    assert.ok(!loaded("json-editor-view") && !loaded("flow"), files.join(" "));
    await card(page, "delete_orders").getByRole("button", { name: "Edit arguments" }).click();
    await card(page, "delete_orders").locator(".cm-content").waitFor();
    assert.ok(loaded("json-editor-view") && !loaded("flow"));
    await page.goto(`${site.url}/graph`);
    await page.getByTestId("node-model").waitFor();
    assert.ok(loaded("flow"));
  });

  it("does not draw a long conversation again for each word", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "say one");
    const ended = async (word: string) => {
      await said(page, word).waitFor();
      await eventually(async () => (await page.getByText("Idle", { exact: true }).count()) > 0);
    };
    await ended("one");
    for (const word of ["two", "three", "four", "five"]) {
      await send(page, `say ${word}`);
      await ended(word);
    }
    await page.evaluate(`globalThis.changed = {}; new MutationObserver((records) => {
      for (const { target } of records) {
        const row = (target.nodeType === 1 ? target : target.parentElement)?.closest("[data-index]");
        if (row) globalThis.changed[row.dataset.index] = (globalThis.changed[row.dataset.index] ?? 0) + 1;
      }
    }).observe(document.querySelector("[role=log]"), { subtree: true, childList: true, characterData: true })`);
    await send(page, "long");
    await said(page, "word59").waitFor();
    const changed = await page.evaluate<Record<string, number>>("globalThis.changed");
    const often = Object.entries(changed).filter(([, times]) => times > 6);
    // Others change once or twice: what is written cannot be edited meanwhile.
    assert.equal(often.length, 1, JSON.stringify(changed));
  });

  it("shortens long titles and long words, whichever way they run, and fits a phone", async () => {
    await say(site, "wide", `say ${"Donaudampfschiff".repeat(20)} ${"اختبار ".repeat(30)}`);
    await using one = await person(site, { width: 390, height: 780 });
    const page = await one.open("/t/wide");
    await said(page, "Donaudampfschiff").waitFor();
    await fitsWidth(page);
    await page.goto(`${site.url}/threads`);
    await page.getByTestId("thread-row").first().waitFor();
    await fitsWidth(page);
    await page.goto(`${site.url}/runs/wide%3Alatest`);
    await page.getByTestId("waterfall").waitFor();
    await fitsWidth(page);
  });
});

describe("screens", { timeout: 90_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: actor() } });
  });
  after(() => site[Symbol.asyncDispose]());

  it("look as they did", async (t) => {
    for (const theme of ["light", "dark"] as const) {
      await using one = await person(site, { theme, width: 1200, height: 760 });
      const page = await one.open("/");
      await page.getByRole("textbox").waitFor();
      await looksAsBefore(t, page, `start-${theme}`);
      await page.goto(`${site.url}/inbox`);
      await page.getByText("No calls wait for anybody").waitFor();
      await looksAsBefore(t, page, `inbox-empty-${theme}`);
      await page.goto(`${site.url}/threads`);
      await page
        .locator('input[type="file"]')
        .setInputFiles({ name: "log.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(slowLog()) });
      await said(page, "Green tea is 20.").waitFor();
      await page.getByRole("tab", { name: "Timeline" }).click();
      await page.getByTestId("gap").waitFor();
      await looksAsBefore(t, page, `timeline-${theme}`);
      await page.goto(`${site.url}/graph`);
      await page.getByTestId("node-tools").waitFor();
      await looksAsBefore(t, page, `graph-${theme}`);
    }
  });
});
