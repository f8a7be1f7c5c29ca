import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { normalize } from "node:path";
import { json } from "node:stream/consumers";
import type { Browser } from "../aisdk/browser.ts";

/** A server on loopback, closed with its scope. */
export type Site = AsyncDisposable & { port: number };

export async function listen(listener: RequestListener): Promise<Site & { server: ReturnType<typeof createServer> }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A page that runs `handback/client/sandbox`, straight from its sources: an ordinary one, one with a policy that allows just that, an isolated one. */
export async function servePage(frameSource: () => string): Promise<Site & { reported: Promise<Attempt[]> }> {
  const { promise: reported, resolve: report } = Promise.withResolvers<Attempt[]>();
  const pages: Record<string, () => Record<string, string>> = {
    "/": () => ({}),
    "/strict": () => ({ "content-security-policy": `default-src 'none'; script-src 'self'; frame-src ${frameSource()}` }),
    "/isolated": () => ({ "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" }),
  };
  const site = await listen((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/report") return void json(request).then((body) => report(body as Attempt[]));
    const headers = pages[pathname]?.();
    if (headers) {
      response.writeHead(200, { "content-type": "text/html", ...headers });
      return void response.end('<!doctype html><body><script type="module" src="/test/sandbox/page.js"></script>');
    }
    if (!/^\/(test\/sandbox\/page\.js|src\/.*\.ts)$/.test(pathname)) return void response.writeHead(404).end();
    const source = readFileSync(normalize(pathname).slice(1), "utf8");
    response.writeHead(200, { "content-type": "text/javascript" }).end(pathname.endsWith(".ts") ? stripTypeScriptTypes(source) : source);
  });
  return Object.assign(site, { reported });
}

/** Where everything stolen would go: counts what reaches it, down to bare connections and datagrams. */
export type Evil = AsyncDisposable & { port: number; udp: number; hits: string[] };

export async function serveEvil(): Promise<Evil> {
  const hits: string[] = [];
  const site = await listen((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "access-control-allow-origin": "*", "content-type": "text/javascript" }).end("self.stolen = true");
  });
  site.server.on("connection", () => hits.push("connection"));
  site.server.on("upgrade", (_, socket) => socket.destroy());
  const socket = createSocket("udp4", () => hits.push("datagram")).bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: site.port,
    udp: socket.address().port,
    hits,
    async [Symbol.asyncDispose]() {
      socket.close();
      await site[Symbol.asyncDispose]();
    },
  };
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Result = { ok: true; value: Json } | { ok: false; error: { name: string; message: string } };
export type Attempt = { result: Result; ms: number; longest: number; frames: number };

/** The page in a browser. */
export type Tab = {
  attempt(code: string, options?: object): Promise<Attempt>;
  evaluate<T>(expression: string): Promise<T>;
  close(): Promise<void>;
};

export async function openTab(browser: Browser, url: string): Promise<Tab> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByText("ready").waitFor({ timeout: 10_000 });
  const evaluate = <T>(expression: string) => page.evaluate(expression as unknown as () => T);
  return {
    attempt: (code, options = {}) => evaluate(`attempt(${JSON.stringify(code)}, ${JSON.stringify(options)})`),
    evaluate,
    close: () => page.close(),
  };
}
