import assert from "node:assert/strict";
import { globSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { en } from "../console/src/i18n/en/all.ts";
import { zh } from "../console/src/i18n/zh/all.ts";
import { chatAgent } from "../src/agent/chat.ts";
import { createHandback } from "../src/handback.ts";
import { says, scriptedBy } from "../src/model/scripted.ts";
import { consoleRoutes } from "../src/server/console.ts";
import { consoleFiles } from "../src/server/console-files.ts";
import type { Door } from "../src/server/door.ts";
import { apiKeys } from "../src/server/principal.ts";
import { eventually, fitsWidth, isAccessible, openSite, type Page, person, type Site, say, shot } from "./console/support.ts";

const agents = { default: chatAgent({ model: scriptedBy(() => says("Hello.")) }) };

describe("the console's files", { timeout: 120_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite({ agents });
  });
  after(() => site[Symbol.asyncDispose]());
  const get = (path: string, headers: Record<string, string> = {}) => fetch(site.url + path, { headers });

  it("answer every view with the same page, which holds no data and no inline script", async () => {
    for (const path of [
      "/",
      "/t/a%2Fb",
      "/inbox",
      "/inbox/call_1",
      "/threads",
      "/runs",
      "/runs/r1",
      "/graph",
      "/playground",
      "/settings",
    ]) {
      const response = await get(path);
      assert.equal(response.status, 200, path);
      const html = await response.text();
      assert.match(html, /<div id="root"><\/div>/);
      assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)[^>]*>|<style|\son\w+=|javascript:/i);
      assert.match(html, new RegExp(`<base href="${path === "/" || path.split("/").length === 2 ? "./" : "../"}">`), path);
    }
  });

  it("carry a policy that allows nothing of anybody else", async () => {
    const { headers } = await get("/settings");
    const policy = headers.get("content-security-policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(rule), rule);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
  });

  it("come compressed to those who take it, and are never asked for twice", async () => {
    const [, name = ""] = /href="\.\/(assets\/shell-[\w-]+\.js)"/.exec(await (await get("/")).text()) ?? [];
    const path = `dist/console/${name}`;
    for (const [accept, encoding, file] of [
      ["br, gzip", "br", `${path}.br`],
      ["gzip;q=0.5", "gzip", `${path}.gz`],
      ["br;q=0, identity", null, path],
    ] as const) {
      const response = await get(`/${name}`, { "accept-encoding": accept });
      assert.equal(response.headers.get("content-encoding"), encoding);
      assert.equal(response.headers.get("content-type"), "text/javascript; charset=utf-8");
      assert.match(response.headers.get("cache-control") ?? "", /immutable/);
      assert.deepEqual(new Uint8Array(await response.arrayBuffer()), new Uint8Array(readFileSync(path)), `fetch unpacks ${file}`);
    }
    assert.deepEqual(gunzipSync(readFileSync(`${path}.gz`)), readFileSync(path));
  });

  it("are asked for again with their ETag, and answered with 304", async () => {
    for (const path of ["/inbox", "/theme.js"]) {
      const first = await get(path);
      assert.equal(first.headers.get("cache-control"), "no-cache");
      const second = await get(path, { "if-none-match": first.headers.get("etag") ?? "" });
      assert.equal(second.status, 304, path);
      assert.equal(await second.text(), "");
    }
  });

  it("are only those that were built", async () => {
    for (const path of [
      "/assets/..%2findex.html",
      "/assets/..%2f..%2fpackage.json",
      "/assets/nothing.js",
      "/assets/",
      "/index.html",
      "/.built-from",
    ]) {
      const response = await get(path);
      assert.equal(response.status, 404, path);
      assert.match(response.headers.get("content-type") ?? "", /json/);
    }
  });

  it("lie where the configuration says, or nowhere", async (t) => {
    const off = await createHandback({ agents, data: ":memory:", console: false });
    const moved = await createHandback({ agents, data: ":memory:", console: { basePath: "/ui" } });
    t.after(() => Promise.all([off.close({ grace: 0 }), moved.close({ grace: 0 })]));
    const at = async (handback: typeof off, path: string) => handback.fetch(new Request(`http://localhost${path}`));
    assert.equal((await at(off, "/")).status, 404);
    assert.equal((await at(off, "/inbox")).status, 404);
    assert.equal((await at(moved, "/")).status, 404);
    const html = await (await at(moved, "/ui/t/a")).text();
    assert.match(html, /<base href="\.\.\/">[\s\S]*content="\.\.\/"/);
    assert.match(await (await at(moved, "/ui")).text(), /<base href="\.\/ui\/">/);
    await assert.rejects(createHandback({ agents, data: ":memory:", console: { basePath: "ui" } }), /console\.basePath/);
  });

  it("share the root with an AG-UI door that lies there", async (t) => {
    const handback = await createHandback({ agents, data: ":memory:", agui: { basePath: "/" } });
    t.after(() => handback.close({ grace: 0 }));
    const page = await handback.fetch(new Request("http://localhost/"));
    assert.match(page.headers.get("content-type") ?? "", /html/);
    const body = JSON.stringify({ threadId: "t", messages: [{ role: "user", content: "hi" }] });
    const run = await handback.fetch(
      new Request("http://localhost/", { method: "POST", headers: { "content-type": "application/json" }, body }),
    );
    assert.match(await run.text(), /Hello\./);
  });

  it("say what to do where they are not built", async () => {
    const door = { authenticate: undefined } as unknown as Door;
    const app = consoleRoutes(door, { basePath: "/" }, consoleFiles("/nowhere"));
    const response = await app.request("/inbox");
    assert.equal(response.status, 503);
    assert.match(await response.text(), /npm run build/);
  });

  it("fit the first load into 150 KB, and no single file is large", async () => {
    await using somebody = await person(site);
    const loaded: string[] = [];
    somebody.context.on("request", (request) => void (request.url().endsWith(".js") && loaded.push(new URL(request.url()).pathname)));
    const page = await somebody.open("/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    for (let seen = -1; seen !== loaded.length; await page.waitForTimeout(300)) seen = loaded.length; // a live stream never falls idle
    const size = (path: string) => statSync(globSync(`dist/console${path}.gz`)[0] ?? `dist/console${path}`).size;
    const total = [...new Set(loaded)].reduce((sum, path) => sum + size(path), 0);
    assert.ok(loaded.length > 1 && total <= 150 * 1024, `${(total / 1024).toFixed(1)} KB gzip in ${loaded.join(" ")}`);
    for (const file of globSync("dist/console/assets/*.js.gz")) assert.ok(statSync(file).size <= 130 * 1024, file);
  });
});

describe("the console's dictionaries", () => {
  it("say the same things in both languages", () => {
    assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
    for (const [section, texts] of Object.entries(en)) {
      const others = zh[section as keyof typeof zh] as Record<string, unknown>;
      assert.deepEqual(Object.keys(others).sort(), Object.keys(texts).sort(), section);
      for (const [name, text] of Object.entries(texts)) {
        const holes = (entry: unknown) => [...new Set(JSON.stringify(entry).match(/\{\w+\}/g))].sort();
        assert.deepEqual(holes(others[name]), holes(text), `${section}.${name} has the same holes`);
        assert.ok(JSON.stringify(others[name]).length > 2, `${section}.${name} says something`);
      }
    }
  });

  it("do not mix languages", () => {
    for (const [section, texts] of Object.entries(en))
      for (const [name, text] of Object.entries(texts))
        if (`${section}.${name}` !== "shell.switchLanguage")
          assert.doesNotMatch(JSON.stringify(text), /\p{Script=Han}/u, `${section}.${name}`);
  });
});

describe("the console's shell in Chromium", { timeout: 300_000 }, () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site[Symbol.asyncDispose]());
  const theme = (page: Page) => page.evaluate<string>("document.documentElement.dataset.theme");

  it("opens every page by its address and by the rail, and the browser's back button goes back", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings?section=about");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.getByText("Apache-2.0").waitFor();
    const rail = page.getByRole("navigation", { name: "Pages" });
    for (const name of ["Chat", "Inbox", "Threads", "Runs", "Graph", "Playground"]) {
      await rail.getByRole("link", { name }).click();
      assert.equal(await rail.getByRole("link", { name }).getAttribute("aria-current"), "page");
      await page.getByRole("heading", { level: 1 }).first().waitFor();
    }
    await page.goBack();
    assert.equal(new URL(page.url()).pathname, "/graph");
    await page.goto(`${site.url}/t/there%2Fare%2Fslashes`);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
  });

  it("follows the system's theme until somebody chooses, and remembers the choice", async () => {
    await using somebody = await person(site, { theme: "dark" });
    const page = await somebody.open("/settings?section=appearance");
    await page.getByRole("radio", { name: "Dark" }).waitFor();
    assert.equal(await theme(page), "dark");
    await page.emulateMedia({ colorScheme: "light" });
    await eventually(async () => (await theme(page)) === "light");
    await page.getByText("Dark", { exact: true }).click();
    assert.equal(await theme(page), "dark");
    await page.reload();
    assert.equal(await theme(page), "dark");
    const other = await somebody.open("/settings");
    await other.getByRole("button", { name: "Switch to light" }).click();
    await eventually(async () => (await theme(page)) === "light"); // in the other tab, too
  });

  it("is dark before its code has come", async () => {
    await using somebody = await person(site, { theme: "dark", expect: /Failed to load|ERR_FAILED/ });
    const page = await somebody.context.newPage();
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto(site.url);
    const [red = 255] =
      /\d+/.exec(await page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor"))?.map(Number) ?? [];
    assert.ok(red < 40, `the ground is dark (${red})`);
  });

  it("speaks the browser's language first, changes every word at once, and remembers", async () => {
    await using somebody = await person(site, { language: "zh-CN" });
    const page = await somebody.open("/settings");
    await page.getByRole("heading", { level: 1, name: "设置" }).waitFor();
    assert.equal(await page.evaluate("document.documentElement.lang"), "zh-CN");
    assert.match(await page.title(), /设置/);
    const visible = (await page.locator("nav").first().textContent()) ?? "";
    assert.doesNotMatch(visible, /[a-z]{3}/i);
    await page.getByRole("button", { name: "Switch to English" }).click();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    assert.equal(await page.evaluate("document.documentElement.lang"), "en");
    assert.doesNotMatch((await page.locator("main").textContent()) ?? "", /\p{Script=Han}/u);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  });

  it("goes everywhere by keyboard, and leaves typing alone", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings?section=access");
    await page.getByLabel("API key or token").fill("gi?");
    assert.equal(new URL(page.url()).pathname, "/settings");
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    await page.keyboard.press("Control+k");
    const search = page.getByRole("dialog").getByRole("combobox");
    await search.fill("inbox");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
  });

  it("lets single keys be turned off", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings?section=appearance");
    await page.getByText("Single-key shortcuts").click();
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k"); // still works
    await page.getByRole("dialog").getByRole("combobox").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 1);
  });

  it("begins with a way past the rail, and shows where the focus is", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Skip to content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.activeElement.id"), "content");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    assert.notEqual(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none");
  });

  it("keeps a page that cannot be loaded from breaking the others", async () => {
    await using somebody = await person(site, { expect: /playground|Failed to|ERR_FAILED|React|error boundary/i });
    const page = await somebody.context.newPage();
    await page.route("**/assets/playground-page-*.js", (route) => route.abort());
    await page.goto(`${site.url}/playground`);
    await page.getByRole("heading", { name: "This page could not be shown" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  });

  it("says so where there is nothing", async () => {
    await using somebody = await person(site);
    const page = await somebody.open("/settings");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.evaluate("history.pushState(null, '', '/nowhere')");
    await page.getByRole("heading", { level: 1, name: "There is nothing at this address" }).waitFor();
  });

  it("says that the server is gone, and what has happened when it is back", async () => {
    await using own = await openSite();
    await using somebody = await person(own, { expect: /Failed to load resource|ERR_/ });
    const page = await somebody.open("/settings");
    const pill = page.getByTestId("connection");
    await eventually(async () => (await pill.getAttribute("data-state")) === "live");
    await own.stop();
    await page.getByRole("alert").getByText("Connection lost").waitFor();
    await isAccessible(page);
    await shot(page, "connection-lost-light-en");
    await own.start();
    await page
      .getByRole("button", { name: "Try now" })
      .click({ timeout: 2_000 })
      .catch(() => {}); // it may have been faster
    await page
      .getByTestId("banner")
      .getByText(/restarted|Connected again/)
      .waitFor();
    await eventually(async () => (await pill.getAttribute("data-state")) === "live");
    await page.getByTestId("banner").waitFor({ state: "detached" });
  });

  it("has a dock whose panel is in the address, as wide as somebody wants", async () => {
    await say(site, "docked", "hello");
    await using somebody = await person(site);
    const page = await somebody.open("/t/docked?dock=state");
    const dock = page.getByRole("complementary", { name: "Panel" });
    assert.equal(await dock.getByRole("tab", { name: "State" }).getAttribute("aria-selected"), "true");
    const width = async () => Math.round((await dock.boundingBox())?.width ?? 0);
    const before = await width();
    await page.getByRole("separator", { name: "Width of the panel" }).press("ArrowLeft");
    await eventually(async () => (await width()) === before + 24);
    await page.reload();
    await eventually(async () => (await width()) === before + 24);
    await page.getByRole("separator", { name: "Width of the panel" }).hover();
    await page.mouse.down();
    await page.mouse.move(700, 300);
    await page.mouse.up();
    await eventually(async () => Math.abs((await width()) - 580) < 10);
    await dock.getByRole("tab", { name: "State" }).press("ArrowRight");
    await page.waitForURL(/dock=document/);
    await dock.getByRole("button", { name: "Close panel" }).click();
    await dock.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Open panel" }).click();
    await dock.waitFor();
  });

  it("makes the dock a sheet on a phone", async () => {
    await say(site, "sheet", "hello");
    await using somebody = await person(site, { width: 390, height: 844 });
    const page = await somebody.open("/t/sheet");
    await page.getByRole("button", { name: "Open panel" }).click();
    const sheet = page.getByRole("dialog", { name: "Panel" });
    await sheet.getByRole("tab", { name: "Events" }).waitFor();
    await fitsWidth(page);
    await isAccessible(page);
    await shot(page, "dock-phone-light-en");
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
  });

  it("fits a phone, with the rest of the pages behind More", async () => {
    await using somebody = await person(site, { width: 390, height: 844 });
    const page = await somebody.open("/settings");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await fitsWidth(page);
    await isAccessible(page);
    await shot(page, "settings-phone-light-en");
    await page.getByRole("button", { name: "More" }).click();
    await isAccessible(page);
    await page.getByRole("link", { name: "Playground" }).click();
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    await fitsWidth(page);
  });

  describe("to everybody", { concurrency: 2 }, () => {
    for (const look of ["light", "dark"] as const)
      for (const language of ["en", "zh-CN"] as const)
        it(`has accessible settings, playground and layers, ${look} and in ${language}`, async () => {
          await using somebody = await person(site, { theme: look, language });
          const page = await somebody.open("/settings");
          for (const section of ["connect", "tools", "grants", "appearance", "access", "about"]) {
            await page.goto(`${site.url}/settings?section=${section}`);
            await page.locator("main section").first().waitFor();
            await isAccessible(page);
            await shot(page, `settings-${section}-${look}-${language}`);
          }
          await page.goto(`${site.url}/playground?profile=XML_Tag&case=forged`);
          await page.getByRole("table").waitFor();
          await isAccessible(page);
          await shot(page, `playground-${look}-${language}`);
          await page.locator("h1").click();
          await page.keyboard.press("?");
          await page.getByRole("dialog").waitFor();
          await isAccessible(page);
          await shot(page, `shortcuts-${look}-${language}`);
          await page.keyboard.press("Escape");
          await page.keyboard.press("Control+k");
          await page.getByRole("dialog").getByRole("combobox").waitFor();
          await isAccessible(page);
          await shot(page, `palette-${look}-${language}`);
        });
  });
});

describe("the console behind authentication", { timeout: 120_000 }, () => {
  const key = "hb_alice.0123456789abcdef0123";
  const robot = "hb_robot.0123456789abcdef0123";
  const byKey = apiKeys({
    keys: [
      { id: "alice", secret: "0123456789abcdef0123", principal: { user: "alice" } },
      { id: "robot", secret: "0123456789abcdef0123", principal: { kind: "executor", app: "default", name: "robot", tools: ["get_menu"] } },
    ],
  });
  let site: Site;
  before(async () => {
    const authenticate = (request: Request) => (/\bwho=bob\b/.test(request.headers.get("cookie") ?? "") ? { user: "bob" } : byKey(request));
    site = await openSite({ agents, authenticate });
  });
  after(() => site[Symbol.asyncDispose]());

  it("answers strangers with 401, and with a page that asks for a key", async () => {
    const response = await fetch(`${site.url}/inbox`);
    assert.equal(response.status, 401);
    assert.match(response.headers.get("www-authenticate") ?? "", /Bearer/);
    assert.ok(response.headers.get("content-security-policy"));
    await using stranger = await person(site, { expect: /401|404/ });
    const page = await stranger.open("/inbox");
    await page.getByRole("heading", { level: 1, name: "This server wants to know who you are" }).waitFor();
    await isAccessible(page);
    await shot(page, "sign-in-light-en");
    assert.deepEqual(
      site.requests.filter((line) => line.includes("/v1/")),
      [],
      "nothing was asked without a key",
    );
    await page.getByLabel("API key or token").fill("hb_alice.wrong");
    await page.keyboard.press("Enter");
    await page.getByText("The server does not accept this key.").waitFor();
    await page.getByLabel("API key or token").fill(robot);
    await page.keyboard.press("Enter");
    await page.getByText("This key belongs to an executor").waitFor();
    await page.getByLabel("API key or token").fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
    assert.equal(await page.evaluate(`JSON.stringify(localStorage).includes("0123456789")`), false, "the key is not kept on disk");
    assert.doesNotMatch(page.url(), /hb_/);
    await page.reload(); // the same tab keeps it
    await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
    await page.goto(`${site.url}/settings?section=access`);
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByRole("heading", { level: 1, name: "This server wants to know who you are" }).waitFor();
  });

  it("opens by itself for those whose browser brings a cookie", async () => {
    await using bob = await person(site);
    await bob.context.addCookies([{ name: "who", value: "bob", url: site.url }]);
    const page = await bob.open("/settings");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  });
});

describe("the console below somebody else's path", { timeout: 120_000 }, () => {
  it("finds its files, its pages and its server", async (t) => {
    const site = await openSite({ agents });
    const app = new Hono();
    app.get("/", (c) => c.text("my app"));
    app.mount("/agents", site.handback.fetch);
    const server = createServer(getRequestListener(app.fetch));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    t.after(async () => {
      server.closeAllConnections();
      server.close();
      await site[Symbol.asyncDispose]();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using somebody = await person({ url });
    const page = await somebody.open("/agents/settings");
    await page.getByText(`${url}/agents`, { exact: true }).waitFor();
    await page.getByRole("link", { name: "Playground" }).click();
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/agents/playground");
    await page.goto(`${url}/agents/t/deep`);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByText(`${url}/agents`, { exact: true }).waitFor();
  });
});
