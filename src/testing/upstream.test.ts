import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { type ChatMessage, fakeUpstream, type Upstream } from "./upstream.ts";

const upstreams: Upstream[] = [];
after(() => Promise.all(upstreams.map((upstream) => upstream.close())));

async function given(...[script]: Parameters<typeof fakeUpstream>): Promise<Upstream> {
  const upstream = await fakeUpstream(script);
  upstreams.push(upstream);
  return upstream;
}

function post(url: string, ...messages: ChatMessage[]): Promise<Response> {
  const body = JSON.stringify({ model: "m", messages, stream: true, stream_options: { include_usage: true } });
  return fetch(`${url}/chat/completions`, { method: "POST", body });
}

const wish = (what: object): ChatMessage => ({ role: "user", content: JSON.stringify(what) });
const count = (text: string, piece: string) => text.split(piece).length - 1;

describe("fakeUpstream", () => {
  it("streams as many tokens as the last message asks for, at its pace", async () => {
    const { url } = await given();
    const start = performance.now();
    const text = await (await post(url, wish({ n: 10, ms: 10 }))).text();
    const took = performance.now() - start;
    assert.equal(count(text, '"content":"token "'), 10);
    assert.match(text, /"completion_tokens":10/);
    assert.match(text, /data: \[DONE\]\n\n$/);
    assert.ok(took >= 85, `took ${took} ms`);
  });

  it("calls the tools the last message names, and answers once it has their results", async () => {
    const { url } = await given();
    const asked = wish({ tools: ["a", "b"], input: { x: 1 } });
    const text = await (await post(url, asked)).text();
    const ids = [...text.matchAll(/"id":"(call_\d+)"/g)].map(([, id]) => id ?? "");
    assert.equal(ids.length, 2);
    assert.match(text, /"finish_reason":"tool_calls"/);
    const calls = ids.map((id) => ({ id, function: { name: "a", arguments: "{}" } }));
    const results = ids.map((id): ChatMessage => ({ role: "tool", tool_call_id: id, content: "1" }));
    const answer = await (await post(url, asked, { role: "assistant", tool_calls: calls }, ...results)).text();
    assert.equal(count(answer, "token "), 3);
  });

  it("insists that calls and results pair up", async () => {
    const { url } = await given();
    const called: ChatMessage = { role: "assistant", tool_calls: [{ id: "c1", function: { name: "a", arguments: "{}" } }] };
    const result: ChatMessage = { role: "tool", tool_call_id: "c1", content: "1" };
    const user: ChatMessage = { role: "user", content: "hi" };
    for (const messages of [[], [user, called], [user, called, user], [user, result], [user, called, result, result]]) {
      assert.equal((await post(url, ...messages)).status, 400);
    }
    assert.match(await (await post(url, user, called)).text(), /tool_call_ids did not have response messages: c1/);
    assert.equal((await post(url, user, called, result)).status, 200);
  });

  it("refuses, cuts and falls silent on demand", async () => {
    const { url, requests } = await given();
    assert.equal((await post(url, wish({ status: 429 }))).status, 429);
    await assert.rejects(post(url, wish({ cutAfter: 0 })));
    const cut = await post(url, wish({ n: 5, cutAfter: 2 }));
    await assert.rejects(cut.text());
    const silent = await post(url, wish({ n: 5, ms: 1, hangAfter: 2 }));
    const reader = silent.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    assert.equal(await requests.at(-1)?.answered, false);
  });

  it("keeps the pace of many streams at once", async () => {
    const { url } = await given();
    const start = performance.now();
    const texts = await Promise.all(Array.from({ length: 100 }, async () => (await post(url, wish({ n: 20, ms: 10 }))).text()));
    assert.ok(texts.every((text) => count(text, "token ") === 20));
    assert.ok(performance.now() - start < 2000);
  });

  it("runs as a process of its own", async () => {
    const child = spawn(process.execPath, [`${import.meta.dirname}/upstream-main.ts`], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const text = await (await post(line.toString().trim(), wish({ n: 2 }))).text();
    assert.equal(count(text, "token "), 2);
    child.kill();
    await once(child, "exit");
  });
});
