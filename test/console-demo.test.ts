// The first two minutes: a server as somebody starts it who has read nothing, and a browser.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { build, eventually, type Page, person } from "./console/support.ts";
import { scratch, startServer } from "./support/server-process.ts";

const sh = promisify(execFile);
const card = (page: Page, name: string) => page.getByRole("article", { name: `Call of ${name}` });
const said = (page: Page, text: string | RegExp) => page.getByTestId("assistant-message").filter({ hasText: text });
const send = async (page: Page, text: string) => {
  await page.getByRole("textbox", { name: /Message|Ask the agent/ }).fill(text);
  await page.keyboard.press("Enter");
};

build();
const server = await startServer(["dev", "--port", "0"], { cwd: scratch(), env: { HANDBACK_DEMO_PACE: "10" } });
after(() => server.stop());

describe("the first two minutes", { timeout: 120_000 }, () => {
  it("begin with five things to try, each with its code, and nothing from anywhere else", async () => {
    await using one = await person(server);
    const hosts = new Set<string>();
    one.context.on("request", (request) => hosts.add(new URL(request.url()).hostname));
    const start = performance.now();
    const page = await one.open();
    await page.getByTestId("scenario-primes").waitFor();
    const took = performance.now() - start;
    assert.ok(took < 5_000, `took ${took} ms (a shared machine; on a quiet one it is below two seconds)`);
    assert.equal(await page.locator("[data-testid^=scenario-]").count(), 5);
    await page.getByText("Demo model", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Server code of “Clean up draft orders”" }).click();
    const dialog = page.getByRole("dialog", { name: "Clean up draft orders" });
    await dialog.getByRole("button", { name: "Copy" }).click();
    assert.match(await page.evaluate<string>("navigator.clipboard.readText()"), /approval: true/);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    assert.deepEqual([...hosts], ["127.0.0.1"]);
  });

  it("compute the sum of the primes in the reader's browser, in Chinese, with text and arguments that grow", async () => {
    await using one = await person(server, { language: "zh-CN" });
    const page = await one.open();
    await page.getByTestId("scenario-primes").click();
    const call = page.getByRole("article", { name: "工具调用 browser_js_eval" });
    const lengths = new Set<number>();
    await eventually(async () => {
      if ((await call.count()) === 0) return false;
      if ((await call.getAttribute("data-phase")) === "streaming")
        lengths.add(((await call.locator("pre").first().textContent()) ?? "").length);
      return (await call.getByRole("button", { name: "在沙箱中执行" }).count()) > 0;
    });
    assert.ok(lengths.size > 1, "the arguments grew before they were code");
    await call.getByRole("button", { name: "在沙箱中执行" }).click();
    await said(page, /1000 以内所有素数之和是 76127/).waitFor();
    assert.equal(await call.getAttribute("data-phase"), "done");
    await call.getByText("76127").waitFor();
  });

  it("ask a person, who sets 10 in place of 120", async () => {
    await using one = await person(server);
    const page = await one.open();
    await page.getByTestId("scenario-approval").click();
    await card(page, "delete_orders").getByText("Waiting (human)").waitFor();
    await eventually(async () => /^\(1\) /.test(await page.title()));
    const badge = page.getByRole("navigation").getByText("1 call waits for somebody");
    assert.equal(await badge.count(), 1);
    await card(page, "delete_orders").getByRole("button", { name: "Edit arguments" }).click();
    const editor = card(page, "delete_orders").locator(".cm-content");
    await editor.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{ "status": "draft", "limit": 10 }');
    await page.keyboard.press("Control+Enter");
    await said(page, "I deleted 10 draft orders, the number you set.").waitFor();
    const text = (await card(page, "delete_orders").textContent()) ?? "";
    assert.match(text, /user changed the arguments:.*"limit": 120.*"limit": 10/s);
    await eventually(async () => (await badge.count()) === 0 && !(await page.title()).startsWith("("));
  });

  it("finish the menu by a command that is pasted into a terminal; pasted again it gets the same, changed it is refused", async () => {
    await using one = await person(server);
    const page = await one.open();
    await page.getByTestId("scenario-menu").click();
    await card(page, "get_menu").getByRole("button", { name: "Copy curl" }).click();
    const curl = await page.evaluate<string>("navigator.clipboard.readText()");
    const paste = async (command: string) => {
      const { stdout } = await sh("sh", ["-c", `${command} -s -w '\\n%{http_code}'`]);
      const [body = "", status = ""] = stdout.split("\n");
      return { status, body: JSON.parse(body) };
    };
    const first = await paste(curl);
    assert.equal(first.status, "200");
    await said(page, /Here is the menu: {"latte":30,"americano":25}/).waitFor();
    const again = await paste(curl);
    assert.deepEqual([again.status, again.body], ["200", first.body]);
    const changed = await paste(curl.replace('":30', '":31'));
    assert.equal(changed.status, "409");
    assert.equal(await said(page, /Here is the menu/).count(), 1);
    assert.equal(await page.getByText(/latte"?: ?31/).count(), 0);
  });

  it("write a report that opens by itself beside a chat that stays short", async () => {
    await using one = await person(server, { width: 1400 });
    const page = await one.open();
    await page.getByTestId("scenario-report").click();
    const report = page.getByTestId("document");
    await report.getByRole("heading", { name: "State of the shop" }).waitFor();
    const before = ((await report.textContent()) ?? "").length;
    await eventually(async () => ((await report.textContent()) ?? "").length > before);
    await said(page, "The report is finished.").waitFor();
    await page.getByRole("complementary").getByText("Done", { exact: true }).waitFor();
    await report.getByRole("cell", { name: "Espresso" }).waitFor();
    assert.equal(await page.getByRole("log").getByText("sold 40 times").count(), 0);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: ".md" }).click()]);
    assert.match(readFileSync(await file.path(), "utf8"), /\| Espresso \| 40 \| down \|/);
    await page.getByRole("complementary").getByRole("button", { name: "Close panel" }).click();
    await report.waitFor({ state: "hidden" });
    await page.getByTestId("document-chip").click();
    await report.getByRole("cell", { name: "Espresso" }).waitFor();
  });

  it("start an approval from the empty inbox", async () => {
    await using one = await person(server);
    const page = await one.open("/inbox");
    await page.getByRole("button", { name: "Run a demo that needs you" }).click();
    await card(page, "delete_orders").getByRole("button", { name: "Reject" }).click();
    await page.getByRole("textbox", { name: /Why not/ }).fill("too risky");
    await page.keyboard.press("Control+Enter");
    await said(page, "I did not delete anything: too risky.").waitFor();
    assert.match((await card(page, "delete_orders").textContent()) ?? "", /too risky.*Rejected by user/s);
  });
});

// Both are mostly waiting, so they do it together.
describe("the first two minutes, with patience", { timeout: 60_000, concurrency: 2 }, () => {
  it("lose nothing when the plug is pulled", async () => {
    await using one = await person(server, { width: 1400, expect: /ERR_|Failed to fetch|net::/ });
    const page = await one.open();
    await page.getByTestId("scenario-plug").click();
    await page.getByTestId("banner").getByText("Connection lost").waitFor();
    await page
      .getByTestId("banner")
      .getByText(/Connected again, [\d,]+ events caught up/)
      .waitFor({ timeout: 12_000 });
    await said(page, "Line 50 of 50").waitFor();
    const text = (await said(page, "Line 50 of 50").textContent()) ?? "";
    const lines = [...text.matchAll(/Line (\d+) of 50/g)].map(([, n]) => Number(n));
    assert.deepEqual(
      lines,
      Array.from({ length: 50 }, (_, i) => i + 1),
    );
    await page.getByRole("tab", { name: "Events" }).click();
    await eventually(async () => {
      const seqs = (await page.getByTestId("event-row").locator("button > span:first-child").allInnerTexts()).map(Number);
      return seqs.length > 10 && seqs.every((seq, i) => i === 0 || seq === (seqs[i - 1] ?? 0) + 1);
    });
    const { threadId } = await page.evaluate<{ threadId: string }>(
      "({ threadId: decodeURIComponent(location.pathname.split('/').pop()) })",
    );
    const { events } = (await (await fetch(`${server.url}/v1/threads/${threadId}/log?limit=2000`)).json()) as { events: { seq: number }[] };
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, i) => i + 1),
    );
  });

  it("let a deadline of ten seconds pass for whoever types “timeout”, and tell a late answer so", async () => {
    await using one = await person(server, { expect: /status of 410/ });
    const page = await one.open();
    await send(page, "timeout");
    await card(page, "ask_warehouse")
      .getByText(/expires in \d+ sec/)
      .waitFor();
    await card(page, "ask_warehouse").getByRole("button", { name: "Enter a result" }).click();
    await said(page, /did not answer in time/).waitFor({ timeout: 20_000 });
    assert.equal(await card(page, "ask_warehouse").getAttribute("data-phase"), "expired");
    await card(page, "ask_warehouse").getByText("Nobody answered in time").waitFor();
    const id = ((await card(page, "ask_warehouse").getAttribute("id")) ?? "").replace("call-", "");
    const late = await fetch(`${server.url}/v1/calls/${id}/result`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ output: "late" }),
    });
    assert.equal(late.status, 410);
  });
});
