import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { fakeUpstream } from "../src/testing/upstream.ts";
import { VERSION } from "../src/version.ts";
import { runCli, scratch, startServer, until } from "./support/server-process.ts";

describe("handback", () => {
  it("answers with a demo agent when nothing is configured", async () => {
    const cwd = scratch();
    const server = await startServer(["dev", "--port", "0"], { cwd });
    assert.match(server.stdout(), /^Handback listening on http:\/\/127\.0\.0\.1:\d+\n/);
    const text = await ask(server.url, "hello");
    assert.match(text, /RUN_FINISHED/);
    assert.equal(await server.stop(), 0);
  });

  it("serves the configuration in the current directory, types and all", async (t) => {
    const upstream = await fakeUpstream((body) => ({ text: [`${body.model} has ${body.tools?.length} tools`] }));
    t.after(() => upstream.close());
    const cwd = resolve("examples/coffee-shop");
    const env = { OPENAI_BASE_URL: upstream.url, OPENAI_API_KEY: "sk-secret", HANDBACK_PORT: "0", HANDBACK_DATA: scratch() };
    const server = await startServer(["start"], { cwd, env });
    assert.match(await ask(server.url, "hi"), /gpt-4o-mini has 3 tools/);
    assert.equal(upstream.requests[0]?.headers["authorization"], "Bearer sk-secret");
    assert.equal(await server.stop(), 0);
    for (const line of server.stderr().trim().split("\n")) assert.equal(typeof JSON.parse(line).event, "string");
    assert.doesNotMatch(server.stderr(), /sk-secret/);
  });

  it("chats with a model that is named on the command line", async (t) => {
    const upstream = await fakeUpstream((body) => ({ text: [`I am ${body.model}`] }));
    t.after(() => upstream.close());
    const server = await startServer(["start", "--port=0", "--data", scratch(), "--model", "llama", "--base-url", upstream.url], {
      cwd: scratch(),
    });
    assert.match(await ask(server.url, "hi"), /I am llama/);
    await server.stop();
  });

  it("starts again when the configuration changes, and waits when it is broken", async () => {
    const cwd = scratch();
    const config = join(cwd, "handback.config.mjs");
    const agent = (text: string) =>
      `import { chatAgent } from ${JSON.stringify(resolve("src/handback.ts"))};
       import { scriptedBy, says } from ${JSON.stringify(resolve("src/model/scripted.ts"))};
       export default { agents: { default: chatAgent({ model: scriptedBy(() => says(${JSON.stringify(text)})) }) } };`;
    writeFileSync(config, agent("first"));
    const server = await startServer(["dev", "--port", "0"], { cwd });
    assert.match(await ask(server.url, "hi"), /first/);
    writeFileSync(config, "export default nonsense");
    await until(() => /Waiting for the next change/.exec(server.stderr()) ?? undefined, server.child);
    writeFileSync(config, agent("second"));
    const [, url] = await until(() => /listening on[\s\S]*listening on (http:\S+)/.exec(server.stdout()) ?? undefined, server.child);
    assert.match(await ask(url ?? "", "hi"), /second/);
    assert.equal(await server.stop("SIGINT"), 0);
  });

  it("tells its version and how to use it", async () => {
    assert.equal((await runCli(["--version"])).stdout.trim(), VERSION);
    assert.equal(JSON.parse(readFileSync("package.json", "utf8")).version, VERSION);
    assert.match((await runCli(["--help"])).stdout, /handback dev/);
  });

  describe("says in one sentence what is wrong, and ends with 1", () => {
    const cases: [string, string[], RegExp][] = [
      ["a flag it does not know", ["start", "--prot", "1"], /Unknown option '--prot'/],
      ["a command it does not know", ["serve"], /no command serve/],
      ["a port that is none", ["start", "--port", "http"], /--port http is no port/],
      ["a base url that is none", ["start", "--base-url", "localhost"], /--base-url localhost is no http url/],
      ["a configuration that is not there", ["start", "--config", "/nowhere/x.ts"], /no configuration file \/nowhere\/x\.ts/],
      ["a data directory it cannot use", ["start", "--port", "0", "--data", "/dev/null/data"], /\/dev\/null\/data/],
    ];
    for (const [name, args, message] of cases) {
      it(name, async () => assertRefused(await runCli(args, { cwd: scratch() }), message));
    }

    it("a port that is in use", async () => {
      const other = createServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      const { port } = other.address() as { port: number };
      assertRefused(await runCli(["start", "--port", String(port)], { cwd: scratch() }), new RegExp(`[Pp]ort ${port} is in use`));
      other.close();
    });

    it("a data directory that another process uses", async () => {
      const data = scratch();
      const server = await startServer(["start", "--port", "0", "--data", data], { cwd: scratch() });
      assertRefused(await runCli(["start", "--port", "0", "--data", data], { cwd: scratch() }), new RegExp(`in use.*${server.child.pid}`));
      await server.stop();
    });

    it("a configuration that is broken", async () => {
      const cwd = scratch();
      writeFileSync(join(cwd, "handback.config.ts"), "export default { agents: {");
      assertRefused(await runCli(["start", "--port", "0"], { cwd }), /cannot be loaded/);
      writeFileSync(join(cwd, "handback.config.ts"), "export default { agents: { default: 1 } }");
      assertRefused(await runCli(["dev", "--port", "0"], { cwd }), /agents\.default is no agent/);
    });
  });
});

function assertRefused({ code, stderr }: { code: number | null; stderr: string }, message: RegExp): void {
  assert.match(stderr, message);
  assert.equal(code, 1);
  assert.equal(stderr.trim().split("\n").length, 1, stderr);
  assert.doesNotMatch(stderr, /\n\s+at /);
}

async function ask(url: string, content: string): Promise<string> {
  const body = JSON.stringify({ threadId: "t", messages: [{ role: "user", content }] });
  const response = await fetch(`${url}/agui`, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(response.status, 200);
  return response.text();
}
