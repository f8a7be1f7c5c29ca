import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after } from "node:test";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { demoAgent } from "../../src/cli/demo/agent.ts";
import { SCENARIOS } from "../../src/cli/demo/scenarios.ts";
import { type Config, createHandback, type Handback } from "../../src/handback.ts";
import { directory } from "../support/serve.ts";

export type { Browser, BrowserContext, Locator, Page } from "playwright-core";
export { eventually } from "../support/eventually.ts";

/** A server with its console, and a browser that looks at it. */
export type Site = AsyncDisposable & {
  url: string;
  readonly handback: Handback;
  /** Ends the server as a crash or a deploy does. Its address stays its own. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** What reached the server, as `GET /v1/meta`. */
  requests: string[];
};

/** Builds the console if it has changed and serves it on a free port, with the demo agent unless `config` names others. */
export async function openSite(config: Partial<Config> = {}): Promise<Site> {
  build();
  const data = directory();
  const demo = { agents: { default: demoAgent({ pace: 3 }) }, scenarios: SCENARIOS, demo: true };
  const given: Config = { ...(config.agents ? { agents: config.agents } : demo), data: data.path, coalesce: 0, ...config };
  const requests: string[] = [];
  let handback = await createHandback(given);
  let server = await listening(0);
  const { port } = server.address() as AddressInfo;

  async function listening(wanted: number) {
    const next = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      handback.handle(request, response);
    });
    next.on("upgrade", (request, socket, head) => handback.upgrade(request, socket, head));
    await new Promise<void>((done, failed) => next.on("error", failed).listen(wanted, "127.0.0.1", done));
    return next;
  }
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await handback.close({ grace: 0 });
  };
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get handback() {
      return handback;
    },
    stop,
    async start() {
      handback = await createHandback(given);
      server = await listening(port);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      data[Symbol.dispose]();
    },
  };
}

let built = false;

/** Builds the console if it has changed. */
export function build(): void {
  if (built) return;
  const { status, stderr } = spawnSync(process.execPath, ["scripts/build-console.mjs"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The console cannot be built:\n${stderr}`);
  built = true;
}

/** How Chromium is started. */
export const FLAGS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --font-render-hinting=none".split(
    " ",
  );

let browser: Promise<Browser> | undefined;

/** One Chromium for each test file; every person in it has a context of their own. */
function openBrowser(): Promise<Browser> {
  if (browser) return browser;
  browser = chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
  return browser;
}

// At the end of the file, not of whichever test opened it.
after(async () => (await browser)?.close());

/** Where Chromium is; installed first where it is missing and may be. */
export function chromiumPath(): string {
  const found = () => ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
  if (!found() && process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const fonts = ["fonts-noto-cjk", "fonts-noto-color-emoji", "fonts-liberation"];
    spawnSync("apt-get", ["update"]);
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium", ...fonts], { env });
  }
  const path = found();
  if (path === undefined) throw new Error("These tests need Chromium: install it (`apt-get install chromium`), or run them as root once");
  return path;
}

/** How a person sees the console. */
export type Look = {
  theme?: "light" | "dark";
  language?: "en" | "zh-CN";
  width?: number;
  height?: number;
  /** Console messages that are part of the test, such as the browser's own line about a 401. */
  expect?: RegExp;
};

/** Somebody with a browser of their own. Whatever goes wrong in their pages, or leaves this machine, fails `done()`. */
export type Person = AsyncDisposable & {
  context: BrowserContext;
  /** A new tab; `path` is below the site. */
  open(path?: string): Promise<Page>;
  problems: string[];
};

/** A person who looks at a site. Use with `await using`: at the end their browser is closed, and it must have had nothing to complain about. */
export async function person(site: { url: string }, look: Look = {}): Promise<Person> {
  const { theme = "light", language = "en", width = 1280, height = 800, expect } = look;
  const context = await (await openBrowser()).newContext({
    viewport: { width, height },
    colorScheme: theme,
    locale: language,
    timezoneId: "UTC",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(8_000);
  const problems: string[] = [];
  const problem = (text: string) => void (!expect?.test(text) && problems.push(text));
  await context.route(
    (url) => !["127.0.0.1", "localhost"].includes(url.hostname) && /^(https?|wss?):$/.test(url.protocol),
    (route) => {
      problems.push(`left this machine: ${route.request().url()}`);
      return route.abort();
    },
  );
  context.on("page", (page) => {
    page.on("pageerror", (error) => problem(`error: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        problem(`${message.type()}: ${message.text()} (${message.location().url})`);
    });
    page.on("dialog", (dialog) => {
      problem(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
  return {
    context,
    problems,
    async open(path = "/") {
      const page = await context.newPage();
      await page.goto(site.url + path);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(problems, [], "the browser had nothing to complain about");
    },
  };
}

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Asserts that axe finds nothing on the page as it is now. */
export async function isAccessible(page: Page, what = page.url()): Promise<void> {
  // Evaluated through the debugger, which the page's policy does not bind.
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(axe.source);
  type Violation = { id: string; help: string; nodes: { html: string; failureSummary: string }[] };
  const options = JSON.stringify({ runOnly: RULES, rules: { "target-size": { enabled: true } } });
  const found = await page.evaluate<Violation[]>(`axe.run(document, ${options}).then(({ violations }) => violations)`);
  const lines = found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${help}): ${html}\n${failureSummary}`),
  );
  assert.equal(lines.join("\n\n"), "", `axe on ${what}`);
}

/** Asserts that the page is not wider than the screen. */
export async function fitsWidth(page: Page): Promise<void> {
  const over = await page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.ok(over <= 0, `the page is ${over} px wider than the screen`);
}

/** A picture into `SHOTS` (a folder), if there is one: `SHOTS=docs/console node --test test/console-*.test.ts`. */
export async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env["SHOTS"];
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Says something in a thread through the API, as another client would. */
export async function say(site: { url: string }, threadId: string, text: string): Promise<void> {
  const response = await fetch(`${site.url}/v1/threads/${encodeURIComponent(threadId)}/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: text }),
  });
  assert.equal(response.status, 202, await response.text());
}
