import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { actor } from "./console/agent.ts";
import { eventually, isAccessible, openSite, type Page, person, type Site, shot } from "./console/support.ts";

const send = async (page: Page, text: string) => {
  await page.getByRole("textbox", { name: /Message|Ask the agent/ }).fill(text);
  await page.keyboard.press("Enter");
};
const card = (page: Page, name: string) => page.getByRole("article", { name: `Call of ${name}` });
const said = (page: Page, text: string | RegExp) => page.getByTestId("assistant-message").filter({ hasText: text });

describe("calls in the console", { timeout: 120_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: actor() } });
  });
  after(() => site[Symbol.asyncDispose]());
  const begin = async (page: Page, text: string) => {
    await page.goto(`${site.url}/`);
    await send(page, text);
    await page.waitForURL(/\/t\//);
  };
  const callId = async (page: Page, name: string) => ((await card(page, name).getAttribute("id")) ?? "").replace(/^call-/, "");
  const post = (id: string, output: unknown) =>
    fetch(`${site.url}/v1/calls/${id}/result`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ output }),
    });

  it("run in the sandbox at a click, and the agent goes on by itself", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "primes");
    await card(page, "browser_js_eval").getByRole("button", { name: "Run in sandbox" }).waitFor();
    assert.match((await card(page, "browser_js_eval").textContent()) ?? "", /let sum = 0/);
    await shot(page, "card-browser");
    await card(page, "browser_js_eval").getByRole("button", { name: "Run in sandbox" }).click();
    await said(page, /completed 76127/).waitFor();
    assert.equal(await card(page, "browser_js_eval").getAttribute("data-phase"), "done");
  });

  it("are approved with who and when, and Enter alone does not do it", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "orders");
    const approve = card(page, "delete_orders").getByRole("button", { name: "Approve", exact: true });
    await approve.focus();
    await page.keyboard.press("Enter");
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert.equal(await card(page, "delete_orders").getAttribute("data-phase"), "waiting");
    assert.match(await page.title(), /^\(1\) /);
    await page.keyboard.press("Control+Enter");
    await said(page, /completed {"deleted":120}/).waitFor();
    assert.match((await card(page, "delete_orders").textContent()) ?? "", /approved by user/);
    await eventually(async () => !(await page.title()).startsWith("("));
  });

  it("are rejected with a reason that the agent hears", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "orders");
    await card(page, "delete_orders").getByRole("button", { name: "Reject" }).click();
    await page.getByRole("textbox", { name: /Why not/ }).fill("too risky");
    await page.keyboard.press("Control+Enter");
    await said(page, /rejected too risky/).waitFor();
    assert.match((await card(page, "delete_orders").textContent()) ?? "", /too risky.*Rejected by user/s);
  });

  it("are edited: broken JSON and wrong types are refused where they are, numbers stay numbers, and the change is shown", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "orders");
    await card(page, "delete_orders").getByRole("button", { name: "Edit arguments" }).click();
    const editor = card(page, "delete_orders").locator(".cm-content");
    const submit = card(page, "delete_orders").getByRole("button", { name: "Approve with edits" });
    const write = async (text: string) => {
      await editor.click();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(text);
    };
    await write('{\n  "table": "orders",\n  "limit": \n}');
    await card(page, "delete_orders")
      .getByText(/line 4, column \d/)
      .waitFor();
    assert.equal(await submit.isDisabled(), true);
    await write('{ "table": "orders", "limit": "10" }');
    await card(page, "delete_orders")
      .getByText(/\/limit/)
      .first()
      .waitFor();
    assert.equal(await submit.isDisabled(), true);
    await isAccessible(page);
    await write('{ "table": "orders", "limit": 10 }');
    await eventually(() => submit.isEnabled());
    await shot(page, "card-edit");
    await submit.click();
    await said(page, /completed {"deleted":10} with {"table":"orders","limit":10}/).waitFor();
    const changed = card(page, "delete_orders").getByRole("group", { name: "What was changed" });
    assert.match((await changed.textContent()) ?? "", /"limit": 120.*"limit": 10/s);
  });

  it("of other systems are answered by a pasted curl: the same again is the same, another is refused, an unknown one is not found", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "menu");
    await card(page, "get_menu").getByRole("button", { name: "Copy curl" }).click();
    const curl = await page.evaluate<string>("navigator.clipboard.readText()");
    const [, url = "", body = ""] = /POST (\S+) .*-d '(.*)'$/s.exec(curl) ?? [];
    const paste = (text = body, to = url) => fetch(to, { method: "POST", headers: { "content-type": "application/json" }, body: text });
    assert.equal((await paste()).status, 200);
    await said(page, /completed {"latte":30,"americano":25}/).waitFor();
    assert.equal((await paste()).status, 200);
    assert.equal((await paste('{"output":{"latte":1}}')).status, 409);
    assert.equal((await paste(body, url.replace(/call_\w+/, "call_nobody"))).status, 404);
    assert.equal(await said(page, /get_menu: completed/).count(), 1);
  });

  it("expire in sight, the agent says so, and a late answer is told that it is late", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "price");
    await card(page, "get_price")
      .getByText(/expires in/)
      .waitFor();
    const id = await callId(page, "get_price");
    await said(page, /get_price: expired/).waitFor();
    assert.equal(await card(page, "get_price").getAttribute("data-phase"), "expired");
    assert.equal((await post(id, 1)).status, 410);
  });

  it("side by side are answered in any order, and counted", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "two");
    await page.getByText("0 of 2 answered").waitFor();
    await card(page, "get_stock").getByRole("button", { name: "Simulate result" }).click();
    await page.getByText("1 of 2 answered").waitFor();
    assert.equal(await said(page, /get_menu: completed/).count(), 0);
    await card(page, "get_menu").getByRole("button", { name: "Simulate result" }).click();
    await said(page, /get_menu: completed.*get_stock: completed/).waitFor();
  });

  it("change the page only after a yes, and not again on reload or in another tab", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "blue");
    const colour = (tab: Page) => tab.evaluate<string>("getComputedStyle(document.documentElement).getPropertyValue('--canvas').trim()");
    const before = await colour(page);
    const other = await one.open(new URL(page.url()).pathname);
    await card(other, "change_background").waitFor();
    await card(page, "change_background").getByRole("button", { name: "Do it" }).click();
    await said(other, /change_background: completed/).waitFor();
    assert.equal(await colour(page), "rgb(10, 20, 200)");
    assert.equal(await colour(other), before);
    await page.reload();
    await said(page, /change_background: completed/).waitFor();
    assert.equal(await colour(page), before);
  });

  it("that never end are stopped by the sandbox while the page goes on", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "code while(true){}");
    await page.evaluate("globalThis.ticks = 0; setInterval(() => { globalThis.ticks += 1 }, 20)");
    await card(page, "browser_js_eval").getByRole("button", { name: "Run in sandbox" }).click();
    await said(page, /browser_js_eval: failed/).waitFor({ timeout: 20_000 });
    assert.ok((await page.evaluate<number>("globalThis.ticks")) > 50);
  });

  it("that want to reach out from the sandbox do not", async () => {
    await using one = await person(site, { expect: /Content Security Policy|violates|Refused|Connecting to/ });
    const page = await one.open();
    await begin(page, "code return await fetch('/v1/threads?stolen').then((r) => r.text())");
    await card(page, "browser_js_eval").getByRole("button", { name: "Run in sandbox" }).click();
    await said(page, /browser_js_eval: failed/).waitFor({ timeout: 20_000 });
    assert.equal(
      site.requests.some((request) => request.includes("stolen")),
      false,
    );
  });

  it("may be refused, answered by hand, or answered in the tool's place", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "menu");
    await card(page, "get_menu").getByRole("button", { name: "Enter a result" }).click();
    await card(page, "get_menu").locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{"mocha": 35}');
    await page.keyboard.press("Control+Enter");
    await said(page, /completed {"mocha":35}/).waitFor();
    await begin(page, "orders");
    await card(page, "delete_orders").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Answer instead of running it" }).click();
    await page.getByRole("textbox", { name: "Your answer" }).fill("I did it myself");
    await page.keyboard.press("Control+Enter");
    await said(page, /I did it myself/).waitFor();
    assert.equal(await said(page, /"deleted"/).count(), 0);
  });

  it("always allowed are not asked about again, are listed, and can be taken back", async () => {
    await using one = await person(site);
    const page = await one.open();
    await begin(page, "orders");
    await card(page, "delete_orders").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Always allow in this thread" }).click();
    await said(page, /"deleted":120/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Regenerate" }).waitFor(); // the run has ended
    await send(page, "orders");
    await eventually(async () => (await said(page, /"deleted":120/).count()) === 2);
    const thread = new URL(page.url()).pathname;
    await page.goto(`${site.url}/settings?section=grants`);
    await page.getByText("delete_orders").first().waitFor();
    await page
      .getByRole("button", { name: /Revoke/ })
      .first()
      .click();
    await eventually(async () => (await page.getByRole("button", { name: /Revoke/ }).count()) === 0);
    await page.goto(site.url + thread);
    await send(page, "orders");
    await card(page, "delete_orders").getByRole("button", { name: "Approve", exact: true }).waitFor();
  });
});
