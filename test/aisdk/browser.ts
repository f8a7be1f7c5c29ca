import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { type Config, createHandback, type Handback } from "../../src/handback.ts";
import { install, load } from "./setup.ts";

/** As much of playwright as the tests use. */
export type Page = {
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  getByLabel(name: string): Locator;
  getByRole(role: string, options: { name: string }): Locator;
  getByText(text: string, options?: { exact?: boolean }): Locator;
  getByTestId(id: string): Locator;
  evaluate<T>(work: () => T): Promise<T>;
  setDefaultTimeout(ms: number): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  close(): Promise<void>;
};
export type Locator = {
  fill(text: string): Promise<void>;
  click(): Promise<void>;
  waitFor(options?: { timeout?: number }): Promise<void>;
  count(): Promise<number>;
};
export type Browser = { newPage(): Promise<Page>; close(): Promise<void> };

const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

/** A Chromium with a profile of its own: its tabs share storage, as a person's do. */
export async function openBrowser(flags: readonly string[] = []): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "handback-chromium-"));
  type Playwright = { chromium: { launchPersistentContext(profile: string, options: object): Promise<Browser> } };
  const { chromium } = (await load<{ default: Playwright }>("playwright-core")).default;
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    args: [...FLAGS.split(" "), ...flags],
  });
  return {
    newPage: () => context.newPage(),
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

function chromiumPath(): string {
  const found = () => ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
  if (!found() && process.getuid?.() === 0) {
    spawnSync("apt-get", ["update"]);
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  const path = found();
  if (path === undefined) throw new Error("These tests need Chromium: install it (`apt-get install chromium`), or run them as root once");
  return path;
}

/** Builds an example as its reader would, once for each state of its files and of our sources it is built from. Returns where the page is. */
export function buildExample(name: string, sources: readonly string[] = []): string {
  const folder = resolve("examples", name);
  const files = [...globSync(join(folder, "*.*")).sort(), ...sources.flatMap((pattern) => globSync(pattern).sort())];
  const state = createHash("sha256")
    .update(files.map((file) => readFileSync(file, "utf8")).join("\0"))
    .digest("hex");
  const dist = join(folder, "node_modules", ".dist"); // where no linter looks
  const stamp = join(dist, ".state");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === state) return dist;
  install(folder);
  const npm = spawnSync("npm", ["run", "build", "--", "--outDir", "node_modules/.dist", "--emptyOutDir"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (npm.status !== 0) throw new Error(`npm run build failed in examples/${name}:\n${npm.stdout}${npm.stderr}`);
  writeFileSync(stamp, state);
  return dist;
}

/** A page and its Handback on one origin. */
export type Site = AsyncDisposable & {
  url: string;
  handback: Handback /** Ends the server as a deploy does, and starts it again. */;
  restart(): Promise<void>;
};

export async function openSite(page: string, config: Config): Promise<Site> {
  let handback = await createHandback(config);
  const listener: RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (/^\/(api|v1|copilotkit|sandbox)\b/.test(pathname)) handback.handle(request, response);
    else sendFile(response, join(page, pathname === "/" ? "index.html" : pathname));
  };
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get handback() {
      return handback;
    },
    async restart() {
      await handback.close({ grace: 0 });
      handback = await createHandback(config);
    },
    async [Symbol.asyncDispose]() {
      await handback.close({ grace: 0 });
      server.closeAllConnections();
      server.close();
    },
  };
}

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

function sendFile(response: ServerResponse, path: string): void {
  if (!existsSync(path)) return void response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(readFileSync(path));
}
