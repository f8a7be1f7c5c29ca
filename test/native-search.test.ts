import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { connect } from "../src/client/client.ts";
import { calls, says, scriptedBy } from "../src/model/scripted.ts";
import { authenticate } from "./support/native.ts";
import { directory, serve } from "./support/serve.ts";

/** Answers with what it is told behind a `>`, or calls a tool. */
const agents = {
  default: chatAgent({
    model: scriptedBy(({ history }) => {
      const last = history.at(-1);
      const text = last?.role === "user" && typeof last.content === "string" ? last.content : "";
      return text.startsWith("call") ? calls("get_weather", {}) : says(text.split(">")[1] ?? "ok");
    }),
    tools: [tool({ name: "get_weather", description: "The weather", input: { type: "object" } })],
  }),
};

async function say(url: string, thread: string, text: string, who?: string): Promise<void> {
  const client = connect({ url, ...(who !== undefined && { headers: { authorization: `Bearer ${who}` } }) });
  const { seq } = await client.run(thread, text);
  for await (const _ of client.follow(thread, { after: seq, until: "run" }));
}

describe("searching threads", () => {
  it("finds words of questions and of answers, in any script, and tools by name", async () => {
    await using server = await serve({ agents });
    await say(server.url, "a", "第一个问题 > 1000 以内的素数之和是 76127。");
    await say(server.url, "b", "An Überraschung with naïve prefixes > Latte macchiato");
    await say(server.url, "c", "call it");
    await say(server.url, "d", "コーヒーをください > 한국어도 찾기");
    const client = connect(server);
    const find = async (search: string) => (await client.threads.list({ search })).threads.map(({ threadId }) => threadId).sort();
    for (const [search, found] of [
      ["素数", ["a"]],
      ["素", ["a"]],
      ["素数之和", ["a"]],
      ["和是", ["a"]],
      ["数素", []],
      ["76127", ["a"]],
      ["以内 1000", ["a"]],
      ["macch", ["b"]],
      ["MACCHIATO latte", ["b"]],
      ["latte tea", []],
      ["ubeRR", ["b"]],
      ["naive", ["b"]],
      ["get_weather", ["c"]],
      ["ーヒー", ["d"]],
      ["국어", ["d"]],
      ['"', []],
      ['latte" OR "素数', []],
      ["NEAR(latte", []],
    ] as [string, string[]][])
      assert.deepEqual(await find(search), found, search);
  });

  it("finds no word of another user, and none of a thread that is gone", async () => {
    await using server = await serve({ agents, authenticate });
    await say(server.url, "t", "hi > the secret word is 咖啡", "alice");
    await say(server.url, "t", "hi > tea", "bob");
    const as = (who: string) => connect({ url: server.url, headers: { authorization: `Bearer ${who}` } });
    const count = async (who: string, search: string, user?: string) =>
      (await as(who).threads.list({ search, ...(user !== undefined && { user }) })).threads.length;
    assert.deepEqual([await count("alice", "咖啡"), await count("bob", "咖啡"), await count("op", "咖啡")], [1, 0, 1]);
    assert.deepEqual([await count("op", "咖啡", "bob"), await count("elsewhere", "咖啡")], [0, 0]);
    await as("alice").threads.remove("t");
    assert.equal(await count("alice", "咖啡"), 0);
    await say(server.url, "t", "hi > nothing", "alice");
    assert.equal(await count("alice", "咖啡"), 0);
  });

  it("goes page by page, over a restart", async () => {
    using data = directory();
    {
      await using server = await serve({ agents, data: data.path });
      for (let i = 0; i < 7; i += 1) await say(server.url, `t${i}`, `question ${i} > about coffee`);
    }
    await using server = await serve({ agents, data: data.path });
    const client = connect(server);
    const found: string[] = [];
    let before: string | undefined;
    do {
      const page = await client.threads.list({ search: "coffee", limit: 3, ...(before !== undefined && { before }) });
      found.push(...page.threads.map(({ threadId }) => threadId));
      before = page.next;
    } while (before !== undefined);
    assert.deepEqual([found.length, new Set(found).size], [7, 7]);
  });
});

describe("what the console asks for besides", () => {
  it("reads a log page by page, with and without deltas", async () => {
    await using server = await serve({ agents, coalesce: 0 });
    await say(server.url, "t", "hi > there");
    const client = connect(server);
    const whole = await client.log("t");
    assert.deepEqual([whole.events.map(({ seq }) => seq), whole.seq, whole.next], [[1, 2, 3, 4, 5, 6, 7], 7, undefined]);
    assert.deepEqual(whole.events, await Array.fromAsync(client.follow("t", { until: "run" })));
    const page = await client.log("t", { after: 2, limit: 2 });
    assert.deepEqual([page.events.map(({ seq }) => seq), page.next], [[3, 4], 4]);
    assert.equal((await client.log("t", { deltas: false })).events.length, 6);
    await assert.rejects(client.log("nobody"), { status: 404 });
    await assert.rejects(client.log("t", { limit: 0 }), { status: 400, field: "limit" });
  });

  it("lists calls by how they were settled, the latest first", async () => {
    await using server = await serve({ agents });
    const client = connect(server);
    for (const thread of ["a", "b", "c"]) {
      await say(server.url, thread, "call it");
      await server.clock.advance(1000);
    }
    const pending = (await client.calls.list({ status: "pending" })).calls;
    assert.deepEqual(
      pending.map(({ threadId }) => threadId),
      ["a", "b", "c"],
    );
    await client.calls.result(pending[0]?.id ?? "", 1);
    await client.calls.fail(pending[1]?.id ?? "", "no");
    const settled = await client.calls.list({ status: "completed,failed", order: "newest", limit: 1 });
    assert.deepEqual([settled.calls[0]?.threadId, settled.calls[0]?.status], ["b", "failed"]);
    const rest = await client.calls.list({ status: "completed,failed", order: "newest", limit: 1, after: settled.next ?? "" });
    assert.deepEqual([rest.calls[0]?.threadId, rest.next], ["a", undefined]);
  });

  it("shows with a call its tool, its thread and what was said, but an executor only the tool", async () => {
    await using server = await serve({ agents, authenticate });
    await say(server.url, "t", "Good morning > Hello", "alice");
    await say(server.url, "t", "call the weather", "alice");
    const as = (who: string) => connect({ url: server.url, headers: { authorization: `Bearer ${who}` } });
    const [call] = (await as("alice").calls.list({ status: "pending" })).calls;
    const detail = await as("alice").calls.get(call?.id ?? "");
    assert.deepEqual([detail.title, detail.tool?.description, detail.tool?.approval], ["Good morning > Hello", "The weather", "never"]);
    assert.deepEqual(detail.context, [
      { role: "user", text: "Good morning > Hello" },
      { role: "assistant", text: " Hello" },
      { role: "user", text: "call the weather" },
    ]);
    const seen = await as("tools:get_weather").calls.get(call?.id ?? "");
    assert.deepEqual([seen.tool?.name, seen.title, seen.context], ["get_weather", undefined, undefined]);
  });

  it("answers in place of a tool that waits for approval or was handed out, and says the same again", async () => {
    const paid: string[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays",
      input: { type: "object" },
      output: { type: "string" },
      approval: true,
      execute: () => paid.push("paid"),
    });
    const model = scriptedBy(({ history }) => {
      const last = history.at(-1);
      if (last?.role === "user") return [...calls("pay", {}), ...calls("get_weather", {})];
      const outputs = last?.parts.map((part) => (part.type === "call" ? part.settlement?.output : ""));
      return says(JSON.stringify(outputs));
    });
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [pay, ...agents.default.tools.values()] }) } });
    const client = connect(server);
    await say(server.url, "t", "go");
    const waits = (await client.threads.get("t")).waits;
    const question = waits.find(({ kind }) => kind === "interrupt");
    const weather = waits.find(({ kind }) => kind === "call");
    await assert.rejects(client.calls.respond(question?.callId ?? "", 7), { status: 422, field: "output" });
    const first = await client.calls.respond(question?.callId ?? "", "by hand");
    assert.equal(first.status, "completed");
    assert.deepEqual(await client.calls.respond(question?.callId ?? "", "by hand"), first);
    await assert.rejects(client.calls.respond(question?.callId ?? "", "otherwise"), { status: 409 });
    const { seq } = await client.calls.respond(weather?.id ?? "", "sunny");
    const events = await Array.fromAsync(client.follow("t", { after: seq, until: "turn" }));
    assert.ok(events.some((event) => event.type === "text.ended" && event.text === '["by hand","sunny"]'));
    assert.deepEqual(paid, []);
  });
});
