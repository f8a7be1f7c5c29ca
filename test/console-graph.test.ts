import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { kitchen } from "./console/kitchen.ts";
import { eventually, isAccessible, openSite, type Page, person, type Site, shot } from "./console/support.ts";

const status = (page: Page, node: string) => page.getByTestId(`node-${node}`).getAttribute("data-status");
const question = (page: Page) => page.getByTestId("interrupt-card");

describe("a graph in the console", { timeout: 120_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents: { default: kitchen(1_200) } });
  });
  after(() => site[Symbol.asyncDispose]());
  const begin = async (page: Page, dish: string) => {
    await page.goto(`${site.url}/`);
    await page.getByRole("textbox").fill(dish);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/t\//);
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByTestId("node-plan").waitFor();
  };

  it("is drawn live: where it is, how long each node took, what waits and what failed", async () => {
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await begin(page, "burnt toast");
    await eventually(async () => (await status(page, "shop")) === "running");
    assert.equal(await status(page, "cook"), "idle");
    await page
      .getByTestId("working")
      .getByText(/shop|prepare/)
      .waitFor();
    await eventually(async () => (await status(page, "shop")) === "done");
    assert.match((await page.getByTestId("node-shop").textContent()) ?? "", /1\.\d sec/);
    await eventually(async () => (await status(page, "confirm")) === "waiting");
    await isAccessible(page);
    await shot(page, "graph-live");
    await page.getByTestId("node-confirm").click();
    assert.match(page.url(), /select=/);
    await question(page).getByText("Shall we cook").waitFor();
    assert.equal(await question(page).locator("strong").textContent(), "burnt toast");
    const yes = question(page).getByRole("button", { name: "Yes" });
    await yes.focus();
    await page.keyboard.press("Enter");
    assert.equal(await question(page).getAttribute("data-status"), "open", "Enter alone answers nothing");
    await page.keyboard.press("Control+Enter");
    await eventually(async () => (await status(page, "cook")) === "failed");
    const list = page.getByRole("list", { name: "Nodes" });
    await list.getByText("The pan caught fire").waitFor();
    await page.getByRole("alert").getByText("The pan caught fire").waitFor();
    assert.equal(await question(page).getAttribute("data-status"), "resolved");
  });

  it("has a page of its own, whose waiting node leads to its card, and a state that grows", async () => {
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await begin(page, "pancakes");
    await eventually(async () => (await status(page, "confirm")) === "waiting");
    await page.getByRole("tab", { name: "State" }).click();
    await page.getByRole("tabpanel").getByText("pancakes").waitFor();
    await page.goto(`${site.url}/graph`);
    await page.getByTestId("node-confirm").waitFor();
    await eventually(async () => (await status(page, "confirm")) === "waiting");
    await page.getByTestId("node-confirm").click();
    await page.waitForURL(/\/t\/.*select=/);
    await question(page).getByRole("button", { name: "Yes" }).click();
    await page.getByTestId("assistant-message").filter({ hasText: "Here is your pancakes." }).waitFor();
    await eventually(async () => (await status(page, "cook")) === "done");
  });

  it("may ask what no console knows: the question is shown as it is, and answered with any JSON, in the inbox too", async () => {
    await using one = await person(site, { width: 1400 });
    const page = await one.open();
    await begin(page, "strange soup");
    await question(page).getByRole("button", { name: "Yes" }).click();
    const card = question(page).filter({ hasText: "How is it?" });
    await card.getByText("sweetness").waitFor();
    await page.goto(`${site.url}/inbox`);
    const row = page.getByTestId("inbox-row").filter({ hasText: "tasting_panel" });
    await row.getByRole("link").click();
    await card.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{ "stars": 4 }');
    await page.keyboard.press("Control+Enter");
    await eventually(async () => (await row.count()) === 0);
    await page.goBack();
    await eventually(async () => {
      const { calls } = (await (await fetch(`${site.url}/v1/calls?status=pending`)).json()) as { calls: { name: string }[] };
      return calls.every(({ name }) => name !== "tasting_panel");
    });
  });
});
