import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { fakeUpstream } from "../src/testing/upstream.ts";
import { blocksOf, read } from "./docs/markdown.ts";
import { eventually } from "./support/eventually.ts";
import { scratch, startServer } from "./support/server-process.ts";

const READMES = ["README.md", "README.zh-CN.md"];
const JSON_BODY = { "content-type": "application/json" };

for (const readme of READMES) {
  describe(`${readme}, as printed`, () => {
    it("has two commands that are there", () => {
      const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
      const [two = ""] = blocksOf(readme, "sh");
      const commands = [...two.matchAll(/^npm (?:run )?(\S+)/gm)].map(([, name = ""]) => name);
      assert.deepEqual(commands, ["start", "test"]);
      for (const name of commands) assert.ok(scripts[name], name);
    });

    it("asks, finds who owes a result, and hands it back, also over kill -9", async () => {
      const [, tried = ""] = blocksOf(readme, "sh");
      const [ask = "", list = "", handBack = ""] = tried.split("\n\n");
      const start = ["dev", "--port", "0", "--data", scratch()];
      const env = { HANDBACK_DEMO_PACE: "0" };
      const first = await startServer(start, { cwd: scratch(), env });
      assert.match(await sh(ask, first.url), /RUN_FINISHED/);
      await first.stop("SIGKILL");

      const { url } = await startServer(start, { cwd: scratch(), env });
      const { calls } = JSON.parse(await sh(list, url)) as { calls: { id: string; name: string; input: unknown }[] };
      assert.deepEqual(
        calls.map(({ name, input }) => ({ name, input })),
        [{ name: "get_menu", input: { category: "coffee" } }],
      );
      const give = handBack.replace("<id>", calls[0]?.id ?? "");
      const answer = await sh(give, url);
      assert.equal(JSON.parse(answer).status, "completed");
      assert.equal(await sh(give, url), answer);
      assert.equal(JSON.parse(await sh(give.replace('":30', '":31'), url)).error.code, "conflict");
    });

    it("has ten lines that run", async (t) => {
      const upstream = await fakeUpstream((body) => ({ text: [`I am ${body.model} with ${body.tools?.length} tool`] }));
      t.after(() => upstream.close());
      const [lines = ""] = blocksOf(readme, "ts");
      const { url } = await configured(lines, { OPENAI_BASE_URL: upstream.url, OPENAI_API_KEY: "k" });
      assert.match(await say(url, "hi"), /I am gpt-4o-mini with 1 tool/);
    });

    it("has a graph that asks and cooks", async () => {
      const [, lines = ""] = blocksOf(readme, "ts");
      const { url } = await configured(lines);
      assert.match(await say(url, "pancakes"), /Cook pancakes\?/);
      const { calls } = (await (await fetch(`${url}/v1/calls?status=pending`)).json()) as { calls: { id: string }[] };
      const answer = { method: "POST", headers: JSON_BODY, body: '{"value":true}' };
      const answered = await fetch(`${url}/v1/interrupts/${encodeURIComponent(calls[0]?.id ?? "")}/answer`, answer);
      assert.equal(answered.status, 200);
      await eventually(async () => /Here is your pancakes\./.test(await (await fetch(`${url}/v1/threads/t/log`)).text()));
    });
  });
}

describe("configurations in docs/", () => {
  for (const file of ["docs/configuration.md", "docs/langgraph.md"]) {
    for (const lines of blocksOf(file, "ts").filter((block) => /^export default defineConfig/m.test(block))) {
      it(`${file}: ${lines.split("\n").length} lines that run`, async () => {
        const { url } = await configured(lines);
        const { agents } = (await (await fetch(`${url}/v1/meta`)).json()) as { agents: { name: string }[] };
        assert.deepEqual(
          agents.map(({ name }) => name),
          ["default"],
        );
      });
    }
  }
});

/** Runs a command of a README against this server. */
async function sh(command: string, url: string): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["-c", command.replaceAll("http://127.0.0.1:4242", url)]);
  return stdout;
}

/** A server in an empty project with this configuration, and with what `npm install` would have put there. */
async function configured(lines: string, env: Record<string, string> = {}) {
  const cwd = scratch();
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(resolve("."), join(cwd, "node_modules", "handback"));
  for (const name of ["zod", "@langchain"]) symlinkSync(resolve("node_modules", name), join(cwd, "node_modules", name));
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
  writeFileSync(join(cwd, "handback.config.ts"), lines);
  return startServer(["start", "--port", "0"], { cwd, env });
}

async function say(url: string, content: string): Promise<string> {
  const body = JSON.stringify({ threadId: "t", messages: [{ role: "user", content }] });
  return (await fetch(`${url}/agui`, { method: "POST", headers: JSON_BODY, body })).text();
}
