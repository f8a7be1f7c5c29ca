import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { demoAgent } from "../src/cli/demo/agent.ts";
import { SCENARIOS } from "../src/cli/demo/scenarios.ts";
import { type CallView, connect, EMPTY_VIEW, foldAll, pendingOf, type ThreadView } from "../src/client/client.ts";
import { type Config, createHandback } from "../src/handback.ts";
import { eventually, serve } from "./support/serve.ts";
import { scratch } from "./support/server-process.ts";

const agents = { default: demoAgent({ pace: 0 }) };

/** Says something and returns the thread when the turn is over or waits. */
async function play(url: string, thread: string, text: string): Promise<ThreadView> {
  const { seq } = await connect({ url }).run(thread, text);
  return rest(url, thread, seq);
}

async function rest(url: string, thread: string, after: number): Promise<ThreadView> {
  const client = connect({ url });
  for await (const _ of client.follow(thread, { after, until: "run" }));
  return foldAll(EMPTY_VIEW, (await client.log(thread)).events);
}

function open(view: ThreadView): CallView[] {
  return pendingOf(view).filter((wait): wait is CallView => "owner" in wait);
}

function lastText(view: ThreadView): string {
  const message = view.messages.at(-1);
  return message?.role === "assistant" ? message.parts.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
}

describe("the demo agent", () => {
  for (const language of ["en", "zh"] as const) {
    describe(language, () => {
      const prompt = (id: string) => SCENARIOS.find((scenario) => scenario.id === id)?.prompt[language] ?? "";

      it("has primes computed by the browser", async () => {
        await using server = await serve({ agents });
        const asked = await play(server.url, "t", prompt("primes"));
        const [call] = open(asked);
        assert.deepEqual([call?.name, call?.waitingFor, call?.phase], ["browser_js_eval", "browser", "waiting"]);
        const value = runInNewContext((call?.input as { code: string } | undefined)?.code ?? "") as number;
        assert.equal(value, 76127);
        const { seq } = await connect(server).calls.result(call?.id ?? "", value);
        assert.match(lastText(await rest(server.url, "t", seq)), /76127/);
      });

      it("asks before it deletes, takes edited arguments, and quotes a refusal", async () => {
        await using server = await serve({ agents });
        const client = connect(server);
        const [call] = open(await play(server.url, "t", prompt("approval")));
        assert.deepEqual([call?.waitingFor, call?.input], ["human", { status: "draft", limit: 120 }]);
        await assert.rejects(client.calls.approve(call?.id ?? "", { input: { status: "draft", limit: "10" } }), { status: 422 });
        const { seq } = await client.calls.approve(call?.id ?? "", { input: { status: "draft", limit: 10 } });
        const done = await rest(server.url, "t", seq);
        assert.match(lastText(done), /\b10\b/);
        assert.deepEqual(done.calls.get(call?.id ?? "")?.edited, { status: "draft", limit: 10 });
        const [other] = open(await play(server.url, "u", prompt("approval")));
        const refused = await client.calls.reject(other?.id ?? "", "too risky");
        assert.match(lastText(await rest(server.url, "u", refused.seq)), /too risky/);
      });

      it("gets the menu from whoever hands it back, once", async () => {
        await using server = await serve({ agents });
        const { calls } = connect(server);
        const [call] = open(await play(server.url, "t", prompt("menu")));
        const id = call?.id ?? "";
        assert.deepEqual([call?.name, call?.waitingFor], ["get_menu", "external"]);
        const first = await calls.result(id, { latte: 30 });
        assert.match(lastText(await rest(server.url, "t", first.seq)), /latte/);
        assert.deepEqual(await calls.result(id, { latte: 30 }), first);
        await assert.rejects(calls.result(id, { latte: 31 }), { status: 409 });
      });

      it("counts while the plug is pulled", async () => {
        await using server = await serve({ agents });
        const text = lastText(await play(server.url, "t", prompt("plug")));
        for (let n = 1; n <= 50; n += 1) assert.ok(text.includes(`\n${n}. `), `${n}`);
      });

      it("writes a report beside the chat", async () => {
        await using server = await serve({ agents });
        const view = await play(server.url, "t", prompt("report"));
        const document = view.documents.at(0);
        assert.deepEqual([view.documents.length, document?.state], [1, "done"]);
        assert.match(document?.text ?? "", /^# .+\n[\s\S]+## /);
        const chat = view.messages.map((message) => (message.role === "assistant" ? message.parts.map(({ type }) => type) : []));
        assert.deepEqual(chat.flat(), ["text", "document", "text"]);
        assert.ok(!JSON.stringify(view.messages.map((message) => message.role === "assistant" && message.parts.toArray())).includes("##"));
      });
    });
  }

  it("lets a call expire after ten seconds, and says so", async () => {
    await using server = await serve({ agents });
    const [call] = open(await play(server.url, "t", "timeout"));
    assert.equal((call?.deadline ?? 0) - (call?.offeredAt ?? 0), 10_000);
    await server.clock.advance(10_000);
    await eventually(async () => (await server.thread("t"))?.status === "idle");
    const view = await rest(server.url, "t", call?.seq ?? 0);
    assert.equal(view.calls.get(call?.id ?? "")?.phase, "expired");
    assert.match(lastText(view), /did not answer in time/);
    await assert.rejects(connect(server).calls.result(call?.id ?? "", "late"), { status: 410 });
  });

  it("waits for two at once, and changes the page only through the page", async () => {
    await using server = await serve({ agents });
    const both = open(await play(server.url, "t", "两个一起查"));
    assert.deepEqual(
      both.map(({ name, waitingFor }) => `${name} ${waitingFor}`),
      ["get_stock external", "get_stock external"],
    );
    const [paint] = open(await play(server.url, "u", "make the background teal"));
    assert.deepEqual([paint?.name, paint?.waitingFor, paint?.input], ["change_background", "browser", { color: "teal" }]);
  });

  it("says what it is told, runs what it is told, and fails when it is told to", async () => {
    await using server = await serve({ agents });
    assert.equal(lastText(await play(server.url, "a", "echo <img src=x onerror=alert(1)>")), "<img src=x onerror=alert(1)>");
    assert.deepEqual(open(await play(server.url, "b", "run while(true){}"))[0]?.input, { code: "while(true){}" });
    assert.equal((await play(server.url, "c", "fail")).status, "failed");
    assert.match(lastText(await play(server.url, "d", "你好")), /素数/);
  });

  it("shows code that is a configuration", async () => {
    const directory = scratch();
    for (const { id, code } of SCENARIOS) {
      if (id === "plug") continue; // a client, and not a configuration
      const file = join(directory, `${id}.ts`);
      const here = code.replace('from "handback"', `from "${pathToFileURL(resolve("src/handback.ts")).href}"`);
      writeFileSync(file, here.replace('from "zod"', `from "${import.meta.resolve("zod")}"`));
      const { default: config } = (await import(pathToFileURL(file).href)) as { default: Config };
      const handback = await createHandback({ ...config, data: ":memory:" });
      const response = await handback.fetch(new Request("http://localhost/v1/meta"));
      const meta = (await response.json()) as { agents: { tools: { name: string }[] }[] };
      const names = meta.agents[0]?.tools.map(({ name }) => name) ?? [];
      assert.ok(names.length > 0 && names.every((name) => agents.default.tools.has(name)), `${id}: ${names}`);
      await handback.close({ grace: 0 });
    }
  });
});
