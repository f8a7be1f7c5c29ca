import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { actor } from "./console/agent.ts";
import { eventually, openSite, type Page, person, type Site } from "./console/support.ts";

const card = (page: Page, name: string) => page.getByRole("article", { name: `Call of ${name}` });

describe("an operator's console", { timeout: 60_000 }, () => {
  let site: Site;
  before(async () => {
    const authenticate = (request: Request) => {
      const who = /\bwho=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
      if (who === "op") return { kind: "operator" as const, app: "default", name: "op" };
      return who === undefined ? undefined : { user: who };
    };
    site = await openSite({ agents: { default: actor() }, authenticate });
    // Two people, the same thread id.
    for (const user of ["ann", "bob"]) await as(user, "/v1/threads/same/runs", { message: user === "ann" ? "orders" : "menu" });
  });
  after(() => site[Symbol.asyncDispose]());
  const as = async (user: string, path: string, body: object) => {
    const headers = { "content-type": "application/json", cookie: `who=${user}` };
    const response = await fetch(site.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    assert.ok(response.ok, await response.text());
  };
  const operator = async () => {
    const somebody = await person(site);
    await somebody.context.addCookies([{ name: "who", value: "op", url: site.url }]);
    return somebody;
  };

  it("tells threads of the same name apart, and opens, renames and finds the right one", async () => {
    await using op = await operator();
    const page = await op.open("/threads");
    const row = page.getByTestId("thread-row").filter({ hasText: "bob" });
    await eventually(async () => (await page.getByTestId("thread-row").count()) === 2);
    await row.getByRole("button", { name: /What to do with/ }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Rename" }).fill("Bob's menu");
    await page.keyboard.press("Enter");
    await row.getByRole("link", { name: /Bob's menu/ }).click();
    await card(page, "get_menu").getByRole("button", { name: "Simulate result" }).click();
    await page.getByTestId("assistant-message").filter({ hasText: "get_menu: completed" }).waitFor();
    await page
      .getByRole("link", { name: /^Run #/ })
      .last()
      .click();
    await page.getByTestId("waterfall").waitFor();
    assert.match(page.url(), /bob~same/);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("orders");
    await page.getByRole("option", { name: "orders" }).click();
    await card(page, "delete_orders").waitFor();
  });

  it("answers for anybody, and allows for the one whose thread it is", async () => {
    await using op = await operator();
    const page = await op.open("/inbox");
    await page.getByTestId("inbox-row").getByText("ann").waitFor();
    await card(page, "delete_orders").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Always allow in this thread" }).click();
    await eventually(async () => (await page.getByTestId("inbox-row").count()) === 0);
    const response = await fetch(`${site.url}/v1/grants`, { headers: { cookie: "who=ann" } });
    const { grants } = (await response.json()) as { grants: { tool: string; threadId: string }[] };
    assert.deepEqual(
      grants.map(({ tool, threadId }) => [tool, threadId]),
      [["delete_orders", "same"]],
    );
  });
});
