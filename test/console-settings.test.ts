import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { eventually, openSite, person, type Site } from "./console/support.ts";

const run = promisify(execFile);
const hole = (what: string) => `$\{${what}}`;

describe("the settings in Chromium", { timeout: 120_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site[Symbol.asyncDispose]());

  it("show code for each door that names this server", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings");
    const doors = page.getByRole("tablist", { name: "Connect" });
    for (const name of ["curl", "handback/client", "Worker", "AG-UI", "useChat", "assistant-ui", "CopilotKit", "REST"]) {
      await doors.getByRole("tab", { name, exact: true }).click();
      const code = await page.getByRole("tabpanel").textContent();
      assert.ok(code?.includes(site.url), `${name} names ${site.url}`);
      assert.doesNotMatch(code ?? "", /undefined|YOUR_KEY/);
    }
    await page.reload();
    assert.equal(await doors.getByRole("tab", { name: "REST" }).getAttribute("aria-selected"), "true");
  });

  it("give a curl that works as it is copied, and its thread appears by itself", async () => {
    await using somebody = await person(site);
    const threads = await somebody.open("/threads");
    await threads.getByRole("heading", { level: 1 }).waitFor();
    const page = await somebody.open("/settings?door=curl");
    await page.getByRole("tabpanel").getByRole("button", { name: "Copy" }).click();
    const copied = await eventually(async () => (await page.evaluate<string>("navigator.clipboard.readText()")) || undefined);
    const [first = ""] = copied.split("\n\n");
    const { stdout } = await run("sh", ["-c", first]);
    assert.equal(JSON.parse(stdout).threadId, "from-curl");
    await threads
      .getByText(/coffee menu/)
      .first()
      .waitFor();
  });

  it("give REST commands that work one after the other", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings?door=rest");
    const code = (await page.getByRole("tabpanel").locator("code").last().textContent()) ?? "";
    const commands = code.split("\n\n");
    assert.equal(commands.length, 3);
    for (const command of commands) {
      const { stdout } = await run("sh", ["-c", command]);
      assert.ok(JSON.parse(stdout).error === undefined, stdout);
    }
  });

  it("list the agents' tools with their schemas", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings?section=tools");
    await page.getByText("get_menu", { exact: true }).click();
    await page.getByRole("group", { name: "Schema of get_menu" }).getByText('"category"').first().waitFor();
  });

  it("list standing permissions and take them back", async () => {
    const body = JSON.stringify({ tool: "refund", threadId: "t1" });
    await fetch(`${site.url}/v1/grants`, { method: "POST", headers: { "content-type": "application/json" }, body });
    await using somebody = await person(site);
    const page = await somebody.open("/settings?section=grants");
    await page.getByText("refund", { exact: true }).waitFor();
    await page.getByRole("link", { name: "t1" }).waitFor();
    await page.getByRole("button", { name: "Revoke the permission for refund" }).click();
    await page.getByText("Nothing runs without asking").waitFor();
    const { grants } = (await (await fetch(`${site.url}/v1/grants`)).json()) as { grants: unknown[] };
    assert.deepEqual(grants, []);
  });
});

describe("the playground in Chromium", { timeout: 120_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site[Symbol.asyncDispose]());

  it("writes the same sample in each profile's way, and reads it", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/playground");
    const text = page.getByLabel("The model's text");
    await page.getByLabel("Profile", { exact: true }).selectOption("JSON_Strict");
    assert.match(await text.inputValue(), /"tool_calls"/);
    await page.getByRole("group", { name: "get_menu" }).getByText('"category"').first().waitFor();
    await page.getByLabel("Profile", { exact: true }).selectOption("XML_Tag");
    assert.match(await text.inputValue(), /<tool_code>/);
    await page.getByRole("group", { name: "get_menu" }).getByText('"category"').first().waitFor();
    assert.match(page.url(), /profile=XML_Tag/);
  });

  it("repairs a fence, and points at what it must refuse", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/playground?profile=JSON_Strict&case=fenced");
    await page.getByRole("group", { name: "get_menu" }).waitFor();
    await page.getByLabel("Case", { exact: true }).selectOption("truncated");
    await page.getByText("unfinished_tool_call").waitFor();
    assert.equal(await page.getByRole("group", { name: "browser_js_eval" }).count(), 0);
    await page.getByLabel("Case", { exact: true }).selectOption("unknown");
    await page.getByText("unknown_tool").waitFor();
    assert.match(page.url(), /case=unknown/);
  });

  it("reads what is typed", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/playground?profile=Pythonic");
    await page.getByLabel("The model's text").fill('[get_menu(category="tea")]');
    await page.getByRole("group", { name: "get_menu" }).getByText('"tea"').waitFor();
  });

  it("changes the prompt with a template at once, and exports it as code", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/playground?profile=XML_Tag");
    const prompt = page.getByRole("group", { name: "The system prompt" });
    await page.getByLabel("Introduction").fill(`### WERKZEUGE ${hole("x")} \`y\``);
    await prompt.getByText("### WERKZEUGE").waitFor();
    await page.getByLabel("One tool").fill('Tool {name}: {description} "{schema}"');
    await prompt.getByText('Tool get_menu: The menu of the coffee shop {"type":"object"').waitFor();
    await page.getByRole("button", { name: "Export as code" }).click();
    const code = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
    assert.ok(code.includes(`intro: \`### WERKZEUGE \\${hole("x")} \\\`y\\\`\`,`), code);
    assert.ok(code.includes(`\`Tool ${hole("name")}: ${hole("description")} ${hole("JSON.stringify(input)")}\``), code);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Reset" }).click();
    await prompt.getByText("You can invoke tools by wrapping").waitFor();
  });

  it("opens a cell of the table", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/playground");
    await page.getByRole("button", { name: "Two calls, GLM" }).click();
    assert.match(page.url(), /profile=GLM/);
    assert.match(page.url(), /case=two/);
    assert.match(await page.getByLabel("The model's text").inputValue(), /<arg_key>/);
  });
});
