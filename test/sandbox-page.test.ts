import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browserJsEval } from "../src/agent/browser-js-eval.ts";
import { chatAgent } from "../src/agent/chat.ts";
import { connect } from "../src/client/client.ts";
import { createHandback, type Handback } from "../src/handback.ts";
import type { ModelEvent, ModelRequest } from "../src/model/model.ts";
import { calls, says, scriptedBy } from "../src/model/scripted.ts";
import { type Browser, openBrowser } from "./aisdk/browser.ts";
import { type Json, listen, openTab, type Result, type Site, servePage } from "./sandbox/site.ts";
import { runCli, scratch, startServer } from "./support/server-process.ts";

/** Runs what it is asked to, and says what came of it. */
function evaluates({ history }: ModelRequest): ModelEvent[] {
  const last = history.at(-1);
  if (last?.role === "user") return calls("browser_js_eval", { code: String(last.content) });
  const [call] = last?.parts.filter((part) => part.type === "call") ?? [];
  return says(JSON.stringify(call?.settlement?.output ?? call?.settlement?.error));
}

describe("a page with a sandbox", { timeout: 120_000 }, () => {
  let handback: Handback;
  let url: string;
  let port: string;
  let page: Site;
  let browser: Browser;

  before(async () => {
    // The page first: the server must let its origin in.
    const address = { port: "" };
    page = await servePage(() => `http://127.0.0.1:${address.port}`);
    handback = await createHandback({
      data: ":memory:",
      agents: { default: chatAgent({ model: scriptedBy(evaluates), tools: [browserJsEval] }) },
      cors: { origins: [`http://localhost:${page.port}`] },
    });
    ({ url } = await handback.listen({ port: 0 }));
    ({ port } = new URL(url));
    address.port = port;
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await page?.[Symbol.asyncDispose]();
    await handback?.close({ grace: 0 });
  });

  const open = (origin = `http://localhost:${port}`, path = "/", host = "localhost") =>
    openTab(browser, `http://${host}:${page.port}${path}?origin=${origin}`);
  const told = (result: Result | undefined) =>
    result?.ok === false ? `${result.error.name}: ${result.error.message}` : JSON.stringify(result);

  it("executes the calls of a thread", async () => {
    const tab = await open();
    const client = connect({ url });
    await tab.evaluate(`import("/src/client/client.ts").then(({ connect }) => {
      const handback = connect({ url: "${url}" });
      void handback.meta().then(({ sandbox }) => handback.execute({ tools: { browser_js_eval: sandboxOf({ path: sandbox.path, timeoutMs: 1000 }).tool } }));
    })`);
    for (const [code, answer] of [
      ["Array.from({ length: 4 }, (_, i) => i).reduce((a, b) => a + b)", "6"],
      ["throw new TypeError('no')", '"TypeError: no"'],
      ["for (;;);", '"TimeoutError: Stopped after 1000 ms"'],
    ] as const) {
      const { seq } = await client.run("t", code);
      let said = "";
      for await (const event of client.follow("t", { after: seq, until: "turn" })) if (event.type === "text.delta") said += event.delta;
      assert.equal(said, answer);
    }
    await tab.close();
  });

  it("needs nothing but a frame-src of the sandbox from its own policy", async () => {
    const tab = await open(undefined, "/strict");
    assert.deepEqual((await tab.attempt("6 * 7")).result, { ok: true, value: 42 });
    await tab.close();
  });

  it("may be on 127.0.0.1, too", async () => {
    const tab = await open(`http://127.0.0.1:${port}`, "/", "127.0.0.1");
    assert.deepEqual((await tab.attempt("6 * 7")).result, { ok: true, value: 42 });
    await tab.close();
  });

  it("may be cross-origin isolated", async () => {
    const tab = await open(undefined, "/isolated");
    assert.equal(await tab.evaluate("crossOriginIsolated"), true);
    assert.deepEqual((await tab.attempt("[6 * 7, crossOriginIsolated, typeof SharedArrayBuffer]")).result, {
      ok: true,
      value: [42, false, "undefined"],
    });
    await tab.close();
  });

  it("may run many things at once", async () => {
    const tab = await open();
    const results = await tab.evaluate<Result[]>(
      `(() => { const s = sandboxOf({ timeoutMs: 1500 }); return Promise.all([s.run("for (;;);"), ...[1, 2, 3, 4].map((i) => s.run("self.n = (self.n ?? 0) + " + i))]); })()`,
    );
    assert.match(told(results[0]), /^TimeoutError/);
    assert.deepEqual(
      results.slice(1).map((result) => result.ok && result.value),
      [1, 2, 3, 4],
    );
    await tab.close();
  });

  it("can stop a run, and all of them", async () => {
    const tab = await open();
    const results = await tab.evaluate<[Result, Result, Result, Result, number]>(`(async () => {
      const s = sandboxOf();
      const abort = new AbortController();
      const [one, two] = [s.run("for (;;);", { signal: abort.signal }), s.run("for (;;);")];
      setTimeout(() => abort.abort(), 100);
      const first = await one;
      setTimeout(() => s.dispose(), 100);
      const aborted = await s.run("1", { signal: AbortSignal.abort() });
      return [first, aborted, await two, await s.run("1"), document.querySelectorAll("iframe").length];
    })()`);
    for (const result of results.slice(0, 4)) assert.equal(told(result as Result), "AbortError: The run was stopped");
    assert.equal(results[4], 0);
    await tab.close();
  });

  it("is told when there is no sandbox", async () => {
    const closed = await listen(() => {});
    await closed[Symbol.asyncDispose]();
    await using other = await listen((_, response) => void response.writeHead(404).end("not here"));
    await using silent = await listen(() => {});
    await using foreign = await listen((_, response) => {
      void fetch(`${url}/sandbox`).then(async (real) => {
        const policy = real.headers
          .get("content-security-policy")
          ?.replace(/frame-ancestors .*$/, "frame-ancestors https://app.example.com");
        response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy ?? "" }).end(await real.text());
      });
    });
    for (const { port: there } of [closed, other, silent, foreign]) {
      const tab = await open(`http://localhost:${there}`);
      const { result, ms } = await tab.attempt("1", { timeoutMs: 1000 });
      assert.equal(
        told(result),
        `SandboxError: The sandbox at http://127.0.0.1:${there}/sandbox did not start: is the server there, and may this page embed it?`,
      );
      assert.ok(ms < 4500, `${ms} ms`);
      await tab.close();
    }
  });

  it("is told what is wrong with its options", async () => {
    const tab = await open();
    const wrong = (options: string) =>
      tab.evaluate<string>(
        `(async () => { try { return JSON.stringify(await sandboxOf(${options}).run("1")); } catch (error) { return error.message; } })()`,
      );
    assert.match(await wrong("{ origin: 'x' }"), /SandboxError.*origin x must look like/);
    assert.match(await wrong("{ timeoutMs: 0 }"), /timeoutMs 0: give a whole number/);
    assert.match(await wrong("{ maxOutput: NaN }"), /maxOutput NaN: give a whole number/);
    await tab.close();
  });
});

describe("the sandbox's frame", () => {
  const server = async (config: object = {}) => {
    const handback = await createHandback({
      data: ":memory:",
      agents: { default: chatAgent({ model: scriptedBy(evaluates) }) },
      ...config,
    });
    const ask = (path: string, headers: Record<string, string> = {}) => handback.fetch(new Request(`http://localhost${path}`, { headers }));
    return { ask, [Symbol.asyncDispose]: () => handback.close({ grace: 0 }) };
  };

  it("has walls of headers", async () => {
    await using app = await server();
    const response = await app.ask("/sandbox");
    assert.equal(response.status, 200);
    const policy = response.headers.get("content-security-policy") ?? "";
    assert.match(
      policy,
      /^sandbox allow-scripts; default-src 'none'; script-src 'sha256-[^']+' 'unsafe-eval'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors http:\/\/localhost:\* /,
    );
    assert.doesNotMatch(policy, /allow-same-origin|connect-src|unsafe-inline|ancestors.*(\*;|\* \*| \*$)/);
    for (const [name, value] of Object.entries({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "public, max-age=300",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "cross-origin",
    }))
      assert.equal(response.headers.get(name), value);
    const again = await app.ask("/sandbox", { "if-none-match": response.headers.get("etag") ?? "" });
    assert.equal(again.status, 304);
    assert.equal(again.headers.get("content-security-policy"), policy);
  });

  it("is there for everyone, under every name, and says where", async () => {
    await using app = await server({ sandbox: { origin: "https://sandbox.example.net" }, authenticate: () => undefined });
    const response = await app.ask("/sandbox", { host: "sandbox.example.net" });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-security-policy") ?? "", /frame-ancestors \*$/);
    assert.equal((await app.ask("/v1/meta")).status, 401);
    await using open = await server({ sandbox: { origin: "https://sandbox.example.net", pages: ["https://app.example.com"] } });
    assert.match(
      (await open.ask("/sandbox", { host: "sandbox.example.net" })).headers.get("content-security-policy") ?? "",
      /frame-ancestors https:\/\/app\.example\.com$/,
    );
    const { sandbox } = (await (await open.ask("/v1/meta")).json()) as { sandbox: Json };
    assert.deepEqual(sandbox, { path: "/sandbox", origin: "https://sandbox.example.net" });
    await using plain = await server();
    assert.deepEqual(((await (await plain.ask("/v1/meta")).json()) as { sandbox: Json }).sandbox, { path: "/sandbox" });
  });

  it("is told its origin by flag, environment or file", async () => {
    const cwd = scratch();
    const metaOf = async (args: string[], env: Record<string, string> = {}) => {
      const { url, stop } = await startServer(["start", "--port", "0", ...args], { cwd, env });
      const { sandbox } = (await (await fetch(`${url}/v1/meta`)).json()) as { sandbox: { origin?: string } };
      await stop();
      return sandbox.origin;
    };
    assert.equal(
      await metaOf(["--sandbox-origin", "https://a.example"], { HANDBACK_SANDBOX_ORIGIN: "https://b.example" }),
      "https://a.example",
    );
    assert.equal(await metaOf([], { HANDBACK_SANDBOX_ORIGIN: "https://b.example" }), "https://b.example");
    const config = `export default { agents: { default: { tools: new Map(), next: () => ({ type: "done" }), step() {} } }, sandbox: { origin: "https://c.example" } };`;
    writeFileSync(join(cwd, "handback.config.mjs"), config);
    assert.equal(await metaOf([]), "https://c.example");
    assert.equal(await metaOf(["--sandbox-origin", "https://a.example"]), "https://a.example");
    const wrong = await runCli(["start", "--port", "0", "--sandbox-origin", "a.example"], { cwd });
    assert.deepEqual([wrong.code, wrong.stderr], [1, "sandbox.origin a.example must look like https://sandbox.example.net\n"]);
  });

  it("refuses a configuration that is none", async () => {
    for (const [sandbox, field] of [
      [{ origin: "sandbox.example.net" }, "sandbox.origin"],
      [{ origin: "https://sandbox.example.net/" }, "sandbox.origin"],
      [{ origin: "https://x; script-src *" }, "sandbox.origin"],
      [{ pages: ["*"] }, "sandbox.pages"],
      [{ pages: ["https://app.example.com; script-src *"] }, "sandbox.pages"],
    ] as const)
      await assert.rejects(server({ sandbox }), { field });
  });
});
