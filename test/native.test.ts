import assert from "node:assert/strict";
import { connect as connectSocket } from "node:net";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { StoredEvent } from "../src/core/event.ts";
import { type Answer, asker, authenticate, obedient, type RawFrame, Tail } from "./support/native.ts";
import { eventually, keyOf, type Served, serve } from "./support/serve.ts";

const agents = { default: obedient(), second: obedient() };
/** Without authentication: everyone is the same user. */
const open = (): Promise<Served> => serve({ agents, coalesce: 0 });
/** With users, operators and executors. */
const closed = (): Promise<Served> => serve({ agents, coalesce: 0, authenticate });

/** Runs to its end and gives what was said. */
async function say(url: string, id: string, message: unknown, who?: string): Promise<StoredEvent[]> {
  const threadId = encodeURIComponent(id);
  const { status, json, text } = await asker(url, who)("POST", `/threads/${threadId}/runs`, { message });
  assert.equal(status, 202, text);
  await using tail = await Tail.open(url, `/threads/${threadId}/events?after=${json["seq"]}&until=run`, who === undefined ? {} : { who });
  await tail.rest();
  return tail.events;
}

/** Asks for these tools and gives the ids of the calls. */
async function call(url: string, threadId: string, tools: string, who?: string): Promise<string[]> {
  const events = await say(url, threadId, `call ${tools}`, who);
  return events.flatMap((event) => (event.type === "tool.called" ? [event.callId] : []));
}

/** Bytes in buffers that somebody holds. */
function memory(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().arrayBuffers;
}

const jsonOf = ({ data }: RawFrame) => JSON.parse(data);
const typesOf = (events: readonly StoredEvent[]) => events.map(({ type }) => type);

describe("threads", () => {
  it("are listed newest first, in pages, by status and by words", async () => {
    await using server = await open();
    const ask = asker(server.url);
    for (const name of ["one", "two", "three"]) {
      await say(server.url, name, `about ${name}`);
      await server.clock.advance(1000);
    }
    await call(server.url, "waiter", "get_menu");
    const all = await ask("GET", "/threads");
    assert.equal(all.status, 200);
    const threads = all.json["threads"] as { threadId: string }[];
    assert.deepEqual(
      threads.map(({ threadId }) => threadId),
      ["waiter", "three", "two", "one"],
    );
    assert.deepEqual(threads[1], {
      threadId: "three",
      title: "about three",
      status: "idle",
      agent: "default",
      pending: 0,
      seq: 8,
      metadata: {},
      createdAt: "2026-01-05T12:00:02.000Z",
      updatedAt: "2026-01-05T12:00:02.000Z",
    });
    const named = async (query: string) => {
      const { json } = await ask("GET", `/threads?${query}`);
      return { ids: (json["threads"] as { threadId: string }[]).map(({ threadId }) => threadId), next: json["next"] };
    };
    assert.deepEqual((await named("status=waiting")).ids, ["waiter"]);
    assert.deepEqual((await named("search=ABOUT%20t")).ids, ["three", "two"]);
    const first = await named("limit=3");
    assert.deepEqual(first.ids, ["waiter", "three", "two"]);
    assert.deepEqual(await named(`limit=3&before=${first.next}`), { ids: ["one"], next: undefined });
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["limit=x", "limit"],
      ["limit=201", "limit"],
      ["status=odd", "status"],
      ["before=x", "before"],
    ]) {
      const { status, json } = await ask("GET", `/threads?${query}`);
      assert.equal(status, 400);
      assert.deepEqual({ ...(json["error"] as object), message: "" }, { code: "invalid", message: "", field });
    }
  });

  it("show what they wait for", async () => {
    await using server = await open();
    const [callId] = await call(server.url, "t", "brew");
    const { json } = await asker(server.url)("GET", "/threads/t");
    assert.equal(json["status"], "waiting");
    assert.equal(json["pending"], 1);
    assert.deepEqual(json["waits"], [
      {
        id: callId,
        threadId: "t",
        kind: "call",
        name: "brew",
        input: { n: 0, amount: 5 },
        owner: "external",
        status: "pending",
        createdAt: "2026-01-05T12:00:00.000Z",
        expiresAt: "2026-01-05T12:01:00.000Z",
      },
    ]);
  });

  it("can be renamed, described and deleted; a later life goes on behind the old offsets", async () => {
    await using server = await open();
    const ask = asker(server.url);
    await say(server.url, "a/b", "hi");
    const renamed = await ask("PATCH", "/threads/a%2Fb", { title: "New", metadata: { star: true } });
    assert.equal(renamed.status, 200);
    assert.equal(renamed.json["title"], "New");
    assert.deepEqual(renamed.json["metadata"], { star: true });
    assert.equal((await ask("PATCH", "/threads/a%2Fb", {})).status, 400);
    assert.equal((await ask("PATCH", "/threads/a%2Fb", { title: "two\nlines" })).json["error"]["field"], "title");
    await using tail = await Tail.open(server.url, "/threads/a%2Fb/events?after=0");
    await tail.until((frames) => frames.length === 9);
    assert.deepEqual([(await ask("DELETE", "/threads/a%2Fb")).status, (await ask("DELETE", "/threads/a%2Fb")).status], [204, 404]);
    await tail.rest(); // deletion ends it
    assert.equal((await ask("GET", "/threads/a%2Fb")).status, 404);
    const [first] = await say(server.url, "a/b", "again");
    assert.equal(first?.seq, 10);
  });

  it("that do not exist are not found", async () => {
    await using server = await open();
    const ask = asker(server.url);
    for (const [method, path, body] of [
      ["GET", "/threads/none"],
      ["PATCH", "/threads/none", { title: "x" }],
      ["DELETE", "/threads/none"],
      ["POST", "/threads/none/cancel", {}],
      ["GET", "/threads/none/events"],
      ["GET", "/threads/none/export"],
    ] as const) {
      const { status, json } = await ask(method, path, body);
      assert.deepEqual([status, json], [404, { error: { code: "not_found", message: "There is no thread none" } }], `${method} ${path}`);
    }
    assert.equal((await ask("GET", "/threads/none/blobs/blob_1")).status, 404);
    assert.equal((await ask("GET", "/threads/a%20b")).status, 400);
    assert.equal((await ask("GET", "/nothing")).status, 404);
  });
});

describe("runs", () => {
  it("answer with where to follow them from", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const { status, json } = await ask("POST", "/threads/t/runs", {
      message: "hello",
      runId: "mine",
      agent: "second",
      options: { metadata: { a: 1 } },
    });
    assert.deepEqual([status, json], [202, { runId: "mine", threadId: "t", seq: 0 }]);
    await using tail = await Tail.open(server.url, "/threads/t/events?until=run");
    const frames = await tail.rest();
    assert.deepEqual(typesOf(tail.events), [
      "run.started",
      "step.started",
      "text.started",
      "text.delta",
      "text.delta",
      "text.ended",
      "step.ended",
      "run.ended",
    ]);
    assert.deepEqual(
      frames.slice(0, -1).map(({ id }) => id),
      ["1", "2", "3", "4", "5", "6", "7", "8"],
    );
    assert.deepEqual(frames.at(-1), { event: "end", data: "{}" });
    const [started] = tail.events;
    assert.ok(started?.type === "run.started");
    assert.equal(started.agent, "second");
    assert.deepEqual({ by: started.by, via: started.via, at: typeof started.at }, { by: "user:user", via: "native", at: "number" });
  });

  it("start nothing for a message that is known, and answer the same", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const message = { id: "m1", content: "hello" };
    const first = await ask("POST", "/threads/t/runs", { message });
    await eventually(async () => (await server.thread())?.status === "idle");
    const before = (await server.events()).length;
    const again = await ask("POST", "/threads/t/runs", { message });
    assert.deepEqual([again.status, again.json], [202, first.json]);
    assert.equal((await server.events()).length, before);
    await say(server.url, "t", "another");
    assert.deepEqual((await ask("POST", "/threads/t/runs", { message })).json, first.json);
  });

  it("declare tools that run in the client, and go on with them", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const tools = [{ name: "beep", description: "Beeps", parameters: { type: "object" } }, { name: "boop" }];
    await ask("POST", "/threads/t/runs", { message: "call beep boop", tools });
    await eventually(async () => (await server.thread())?.pending === 2);
    const { json } = await ask("GET", "/calls?status=pending");
    const pending = json["calls"] as { name: string; owner: string; id: string }[];
    assert.deepEqual(
      pending.map(({ name, owner }) => [name, owner]),
      [
        ["beep", "client"],
        ["boop", "client"],
      ],
    );
    for (const { id, name } of pending) assert.equal((await ask("POST", `/calls/${id}/result`, { output: `${name}!` })).status, 200);
    await eventually(async () => (await server.thread())?.status === "idle");
    const text = (await server.events()).findLast((event) => event.type === "text.ended");
    assert.ok(text?.type === "text.ended");
    assert.equal(text.text, 'got ["beep!","boop!"]');
  });

  it("rewind to an earlier message", async () => {
    await using server = await open();
    const ask = asker(server.url);
    await say(server.url, "t", { id: "m1", content: "one" });
    await say(server.url, "t", { id: "m2", content: "two" });
    const { status, json } = await ask("POST", "/threads/t/runs", { rewindTo: "m1", message: { id: "m3", content: "uno" } });
    assert.equal(status, 202);
    await using tail = await Tail.open(server.url, `/threads/t/events?after=${json["seq"]}&until=run`);
    await tail.rest();
    assert.ok(tail.events.some((event) => event.type === "text.ended" && event.text === "echo uno"));
    assert.equal((await ask("POST", "/threads/t/runs", { rewindTo: "m3" })).status, 202);
    await eventually(async () => (await server.thread())?.status === "idle");
    assert.equal((await ask("POST", "/threads/t/runs", { rewindTo: "unheard" })).status, 404);
  });

  it("keep files beside the log", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const data = Buffer.from("<script>alert(1)</script>").toString("base64");
    const content = [
      { type: "text", text: "look" },
      { type: "file", mediaType: "text/html", name: "a.html", data },
      { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
    ];
    await say(server.url, "t", { content });
    const [started] = await server.events();
    assert.ok(started?.type === "run.started");
    const [, file, link] = (started.messages[0]?.content ?? []) as { blob?: string; url?: string }[];
    assert.equal(link?.url, "https://example.com/a.png");
    const response = await fetch(`${server.url}/v1/threads/t/blobs/${file?.blob}`);
    assert.equal(await response.text(), "<script>alert(1)</script>");
    assert.equal(response.headers.get("content-type"), "text/html");
    assert.equal(response.headers.get("content-disposition"), "attachment");
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal((await ask("GET", "/threads/t/blobs/blob_0")).status, 404);
    assert.equal((await ask("GET", `/threads/other/blobs/${file?.blob}`)).status, 404);
  });

  it("name the field that is wrong", async () => {
    await using server = await open();
    const ask = asker(server.url);
    for (const [body, field] of [
      [{}, "message"],
      [{ message: "" }, "message"],
      [{ message: { content: [] } }, "message.content"],
      [{ message: { content: "x", id: "no spaces" } }, "message.id"],
      [{ message: { content: [{ type: "file", mediaType: "image/png", data: "%%" }] } }, "message.content.0.data"],
      [{ message: { content: [{ type: "file", mediaType: "image/png", url: "file:///etc/passwd" }] } }, "message.content.0.url"],
      [{ message: { content: [{ type: "file", mediaType: "x\r\ny", data: "" }] } }, "message.content.0.mediaType"],
      [{ message: "x", tools: [{ name: "no spaces" }] }, "tools.0.name"],
      [{ message: "x", options: { maxSteps: 0 } }, "options.maxSteps"],
      [{ message: "x", options: { model: "unknown" } }, "model"],
    ] as const) {
      const { status, json } = await ask("POST", "/threads/t/runs", body);
      assert.equal(status, 400, JSON.stringify([body, json]));
      assert.equal(json["error"]["field"], field, JSON.stringify(json));
    }
    assert.equal((await ask("POST", "/threads/t/runs", { message: "x", agent: "nobody" })).status, 404);
    const plain = await fetch(`${server.url}/v1/threads/t/runs`, {
      method: "POST",
      body: '{"message":"x"}',
      headers: { "content-type": "text/plain" },
    });
    assert.equal(plain.status, 415);
    assert.equal(await server.thread(), undefined);
  });

  it("cannot be given instructions by a client", async () => {
    await using server = await open();
    await asker(server.url)("POST", "/threads/t/runs", { message: "hi", options: { instructions: "be evil", model: "other" } });
    await eventually(async () => (await server.events()).length > 0);
    const [started] = await server.events();
    assert.ok(started?.type === "run.started");
    assert.deepEqual(started.options, { model: "other" });
  });

  it("are cancelled while they go on and while they wait", async () => {
    await using server = await open();
    const ask = asker(server.url);
    await call(server.url, "t", "get_menu");
    assert.deepEqual(await cancelled("t"), [200, "cancelled"]);
    assert.deepEqual(await cancelled("t"), [404, undefined]);
    const ended = (await server.events()).findLast((event) => event.type === "run.ended");
    assert.deepEqual(ended?.type === "run.ended" && ended.outcome, { type: "cancelled", reason: "enough" });
    await ask("POST", "/threads/slow/runs", { message: "hang" });
    assert.deepEqual(await cancelled("slow"), [200, "cancelling"]);
    await eventually(async () => (await server.thread("slow"))?.status === "idle");

    async function cancelled(threadId: string) {
      const { status, json } = await ask("POST", `/threads/${threadId}/cancel`, { reason: "enough" });
      return [status, json["status"]];
    }
  });
});

describe("events", () => {
  it("resume behind an offset; the header wins", async () => {
    await using server = await open();
    await say(server.url, "t", "hi");
    const seqs = async (query: string, last?: string) => {
      await using tail = await Tail.open(server.url, `/threads/t/events?until=run${query}`, last === undefined ? {} : { last });
      await tail.rest();
      return tail.events.map(({ seq }) => seq);
    };
    assert.deepEqual(await seqs(""), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(await seqs("&after=6"), [7, 8]);
    assert.deepEqual(await seqs("&after=2", "7"), [8]);
    assert.deepEqual(await seqs("&after=8"), []);
    for (const after of ["-1", "abc", "1e30", "1.5", "0x10", "9999999999999999"]) {
      assert.equal((await asker(server.url)("GET", `/threads/t/events?after=${after}`)).status, 400, after);
      const response = await fetch(`${server.url}/v1/threads/t/events`, { headers: { "last-event-id": after } });
      assert.equal(response.status, 400, after);
      assert.equal(((await response.json()) as { error: { field: string } }).error.field, "Last-Event-ID");
    }
    assert.equal((await asker(server.url)("GET", "/threads/t/events?until=noon")).status, 400);
  });

  it("behind an offset in the future wait for it", async () => {
    await using server = await open();
    await say(server.url, "t", "one");
    await using tail = await Tail.open(server.url, "/threads/t/events?after=10");
    await say(server.url, "t", "two");
    await tail.until((frames) => frames.length === 6);
    assert.deepEqual(
      tail.events.map(({ seq }) => seq),
      [11, 12, 13, 14, 15, 16],
    );
  });

  it("go on over the waits of a turn until it ends", async () => {
    await using server = await open();
    const [callId] = await call(server.url, "t", "get_menu");
    await using tail = await Tail.open(server.url, "/threads/t/events?until=turn");
    await tail.until(() => tail.events.at(-1)?.type === "run.ended");
    await asker(server.url)("POST", `/calls/${callId}/result`, { output: ["tea"] });
    await tail.rest();
    const outcomes = tail.events.flatMap((event) => (event.type === "run.ended" ? [event.outcome.type] : []));
    assert.deepEqual(outcomes, ["waiting", "done"]);
  });

  it("hide options and provider metadata from users, and nothing from operators", async () => {
    await using server = await closed();
    await asker(server.url, "alice")("POST", "/threads/t/runs", { message: "think", options: { maxSteps: 3 } });
    await eventually(async () => (await server.store.thread(keyOf("t", "alice")))?.status === "idle");
    const seen = async (who: string, query = "") => {
      await using tail = await Tail.open(server.url, `/threads/t/events?until=run${query}`, { who });
      await tail.rest();
      return tail.events;
    };
    const log = await server.store.read(keyOf("t", "alice"), { after: 0 });
    assert.deepEqual(await seen("op", "&user=alice"), log);
    const shown = await seen("alice");
    assert.equal(shown.length, log.length);
    assert.doesNotMatch(JSON.stringify(shown), /secret|maxSteps|"options"/);
    assert.match(JSON.stringify(log), /secret.*/);
  });

  it("lose and repeat nothing over cut connections", async () => {
    await using server = await open();
    await asker(server.url)("POST", "/threads/t/runs", { message: "long 3000 100" });
    const seen: StoredEvent[] = [];
    for (let cuts = 0; seen.at(-1)?.type !== "run.ended"; cuts += 1) {
      await using tail = await Tail.open(server.url, "/threads/t/events", seen.length === 0 ? {} : { last: String(seen.at(-1)?.seq) });
      const enough = 1 + ((cuts * 7919) % 400);
      await tail.until(() => tail.events.length >= enough || tail.events.at(-1)?.type === "run.ended");
      seen.push(...tail.events);
    }
    assert.deepEqual(seen, await server.events());
  });

  it("wait for a slow reader without losing anything for it or slowing the run", async () => {
    await using server = await open();
    await say(server.url, "t", "hi");
    const socket = connectSocket(Number(new URL(server.url).port), "127.0.0.1");
    socket.write("GET /v1/threads/t/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    await new Promise((resolve) => socket.once("readable", resolve)); // it has begun, and nobody reads on
    const before = memory();
    await say(server.url, "t", "long 3000 2000"); // 24 MB, more than any socket buffer holds
    assert.ok(memory() - before < 4_000_000, "the server keeps what it should read again");
    const { seq = 0 } = (await server.thread()) ?? {};
    const chunks: Buffer[] = [];
    for await (const chunk of socket) {
      chunks.push(chunk);
      if (chunk.includes(`\nid: ${seq}\n`)) break;
    }
    const text = Buffer.concat(chunks).toString("latin1");
    const ids = [...text.matchAll(/\nid: (\d+)\n/g)].map(([, id]) => Number(id));
    assert.deepEqual(
      ids,
      Array.from({ length: seq }, (_, i) => i + 1),
    );
  });

  it("say something now and then when there is nothing to say", async () => {
    await using server = await open();
    await say(server.url, "t", "hi");
    await using tail = await Tail.open(server.url, "/threads/t/events?after=8");
    await server.clock.advance(16_000);
    while (tail.comments.length < 2) await tail.more();
    assert.equal(tail.frames.length, 0);
  });
});

describe("calls", () => {
  it("are handed back, and the turn goes on", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [menu, brew] = await call(server.url, "t", "get_menu brew");
    const before = (await server.thread())?.seq ?? 0;
    const first = await ask("POST", `/calls/${menu}/result`, { output: ["tea"], metadata: { ms: 3 } });
    assert.deepEqual([first.status, { ...first.json, runId: "" }], [200, { status: "completed", threadId: "t", runId: "", seq: before }]);
    assert.equal((await ask("GET", `/calls/${menu}`)).json["status"], "completed");
    const second = await ask("POST", `/calls/${brew}/result`, { error: "no water" });
    assert.equal(second.json["status"], "failed");
    await using tail = await Tail.open(server.url, `/threads/t/events?after=${second.json["seq"]}&until=run`);
    await tail.rest();
    const [started] = tail.events;
    assert.equal(started?.type === "run.started" && started.runId, second.json["runId"]);
    assert.ok(tail.events.some((event) => event.type === "text.ended" && event.text === 'got [["tea"],"no water"]'));
    // The same again is no news and leads to the same place; another one is refused.
    assert.deepEqual((await ask("POST", `/calls/${menu}/result`, { output: ["tea"], metadata: { ms: 9 } })).json, first.json);
    assert.deepEqual((await ask("POST", `/calls/${brew}/result`, { error: "no water" })).json, second.json);
    assert.equal((await ask("POST", `/calls/${brew}/result`, { output: 1 })).status, 409);
  });

  it("are listed by status, tool, thread and kind, in pages", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [menu, brew] = await call(server.url, "a", "get_menu brew");
    const [pay] = await call(server.url, "b", "pay");
    const [added] = await call(server.url, "c", "add");
    await ask("POST", `/calls/${menu}/result`, { output: [] });
    const ids = async (query: string) => ((await ask("GET", `/calls?${query}`)).json["calls"] as { id: string }[]).map(({ id }) => id);
    assert.deepEqual(await ids("status=pending"), [brew, `${pay}:approval`]);
    assert.deepEqual(await ids(""), [menu, brew, `${pay}:approval`]);
    assert.deepEqual(await ids("tool=get_menu,show"), [menu]);
    assert.deepEqual(await ids("threadId=a&status=pending"), [brew]);
    assert.deepEqual(await ids("kind=interrupt"), [`${pay}:approval`]);
    const page = (await ask("GET", "/calls?limit=2")).json;
    assert.deepEqual(await ids(`limit=2&after=${page["next"]}`), [`${pay}:approval`]);
    const question = await ask("GET", `/calls/${pay}:approval`);
    assert.deepEqual(
      { callId: question.json["callId"], name: question.json["name"], input: question.json["input"] },
      { callId: pay, name: "tool_call", input: { tool: "pay", input: { n: 0, amount: 5 } } },
    );
    // What was never handed out is nobody's business.
    for (const id of [pay, added, "unheard"]) assert.equal((await ask("GET", `/calls/${id}`)).status, 404, id);
    assert.equal((await ask("GET", "/calls?kind=odd")).json["error"]["field"], "kind");
    assert.equal((await ask("GET", "/calls?after=odd")).json["error"]["field"], "after");
  });

  it("refuse what cannot be a result", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [menu, added] = await call(server.url, "t", "get_menu");
    for (const body of [{}, { output: 1, error: "x" }, { error: "" }, { output: [], claim: 0 }, []]) {
      assert.equal((await ask("POST", `/calls/${menu}/result`, body)).status, 400, JSON.stringify(body));
    }
    const bad = await ask("POST", `/calls/${menu}/result`, { output: "no list" });
    assert.deepEqual([bad.status, bad.json["error"]["code"], bad.json["error"]["field"]], [422, "unprocessable", "output"]);
    assert.equal((await ask("POST", "/calls/unheard/result", { output: 1 })).status, 404);
    assert.equal(added, undefined);
    assert.equal((await server.thread())?.pending, 1);
    assert.equal((await ask("POST", `/calls/${menu}/result`, { output: [] })).status, 200);
    const [pay] = await call(server.url, "u", "pay");
    assert.equal((await ask("POST", `/calls/${pay}/result`, { output: 1 })).status, 409);
    const [brew] = await call(server.url, "v", "brew");
    await ask("POST", "/threads/v/cancel", {});
    assert.equal((await ask("POST", `/calls/${brew}/result`, { output: 1 })).status, 410);
  });

  it("expire when their deadline passes", async () => {
    await using server = await open();
    const [brew] = await call(server.url, "t", "brew");
    await server.clock.advance(59_000);
    assert.equal((await asker(server.url)("GET", `/calls/${brew}`)).json["status"], "pending");
    await server.clock.advance(2_000);
    await eventually(async () => (await server.thread())?.status === "idle");
    assert.equal((await asker(server.url)("GET", `/calls/${brew}`)).json["status"], "expired");
    assert.equal((await asker(server.url)("POST", `/calls/${brew}/result`, { output: 1 })).status, 410);
  });

  it("of a server that hands back are the outside's", async () => {
    await using server = await open();
    const [id] = await call(server.url, "t", "delegate");
    assert.equal((await asker(server.url)("POST", `/calls/${id}/result`, { output: 1 })).status, 200);
  });

  it("are approved, edited and rejected", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [one, two, three] = await call(server.url, "t", "pay pay pay");
    const approved = await ask("POST", `/calls/${one}/approve`, { input: { amount: 1 }, reason: "less" });
    assert.deepEqual([approved.status, approved.json["status"]], [200, "approved"]);
    assert.deepEqual((await ask("POST", `/calls/${one}/approve`, { input: { amount: 1 }, reason: "less" })).json, approved.json);
    assert.equal((await ask("POST", `/calls/${one}/reject`, {})).status, 409);
    assert.deepEqual((await ask("GET", `/calls/${one}`)).json["input"], { amount: 1 });
    // By the question's own id it is the same.
    assert.equal((await ask("POST", `/calls/${two}:approval/reject`, { reason: "too dear" })).json["status"], "rejected");
    assert.equal((await ask("POST", `/calls/${three}/approve`, { input: {} })).status, 422);
    assert.equal((await ask("POST", `/calls/${three}/approve`, { input: 3 })).status, 400);
    assert.equal((await ask("POST", `/interrupts/${three}:approval/answer`, { status: "cancelled" })).json["status"], "cancelled");
    assert.equal((await ask("POST", `/calls/${one}/result`, { output: "paid" })).status, 200);
    await eventually(async () => (await server.thread())?.status === "idle");
    const text = (await server.events()).findLast((event) => event.type === "text.ended");
    assert.match(text?.type === "text.ended" ? text.text : "", /got \["paid","too dear","The approval was cancelled"\]/);
    assert.equal((await ask("POST", `/calls/${one}/approve`, {})).status, 409);
    const [menu] = await call(server.url, "u", "get_menu");
    assert.equal((await ask("POST", `/calls/${menu}/approve`, {})).status, 404);
    assert.equal((await ask("POST", `/interrupts/${menu}/answer`, { value: 1 })).status, 404);
    assert.equal((await ask("POST", `/interrupts/${two}:approval/answer`, {})).status, 400);
  });

  it("come and go in a stream of their own", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [early] = await call(server.url, "a", "get_menu");
    await using tail = await Tail.open(server.url, "/calls/events?tool=get_menu");
    await tail.until((frames) => frames.length === 1);
    const [late] = await call(server.url, "b", "get_menu brew");
    await tail.until((frames) => frames.length === 2);
    await server.clock.advance(200);
    await ask("POST", `/calls/${late}/claim`, { by: "me" });
    await server.clock.advance(200);
    await tail.until((frames) => frames.length === 3);
    await ask("POST", `/calls/${late}/result`, { output: [] });
    await server.clock.advance(200);
    await ask("DELETE", "/threads/a");
    await tail.until((frames) => frames.length === 5);
    const seen = tail.frames.map((frame) => [frame.event, jsonOf(frame).id, jsonOf(frame).status, jsonOf(frame).claim?.by]);
    assert.deepEqual(seen, [
      ["call", early, "pending", undefined],
      ["call", late, "pending", undefined],
      ["call", late, "pending", "user:user/me"],
      ["closed", late, "completed", undefined],
      ["closed", early, "cancelled", undefined],
    ]);
  });
});

describe("claims", () => {
  it("are won by one, kept by heartbeats, and fence results", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [id] = await call(server.url, "t", "get_menu");
    const claim = (by: string, body: object = {}) => ask("POST", `/calls/${id}/claim`, { by, ...body });
    const racers = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(`w${i}`)));
    assert.deepEqual(racers.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
    const winner = racers.find(({ status }) => status === 200);
    assert.deepEqual(winner?.json, { claim: 1, until: "2026-01-05T12:00:30.000Z" });
    for (let beat = 0; beat < 5; beat += 1) {
      await server.clock.advance(20_000);
      const { status, json } = await ask("POST", `/calls/${id}/heartbeat`, { claim: 1 });
      assert.deepEqual([status, json["claim"]], [200, 1]);
      assert.equal((await claim("other")).status, 409);
    }
    assert.deepEqual((await ask("GET", `/calls/${id}`)).json["claim"]["until"], "2026-01-05T12:02:10.000Z");
    await server.clock.advance(30_000); // it lapses
    assert.equal((await ask("GET", `/calls/${id}`)).json["claim"], undefined);
    assert.deepEqual((await claim("other", { seconds: 5 })).json, { claim: 2, until: "2026-01-05T12:02:15.000Z" });
    assert.equal((await ask("POST", `/calls/${id}/heartbeat`, { claim: 1 })).status, 409);
    assert.equal((await ask("POST", `/calls/${id}/release`, { claim: 1 })).status, 409);
    assert.equal((await ask("POST", `/calls/${id}/result`, { output: [], claim: 1 })).status, 409);
    assert.equal((await ask("POST", `/calls/${id}/release`, { claim: 2 })).status, 200);
    assert.equal((await claim("third")).json["claim"], 3);
    assert.equal((await ask("POST", `/calls/${id}/result`, { output: [], claim: 3 })).status, 200);
    assert.equal((await claim("late")).status, 410);
    assert.equal((await ask("POST", `/calls/${id}/heartbeat`, { claim: 3 })).status, 409);
    // Heartbeats leave nothing in the log.
    assert.equal((await server.events()).filter(({ type }) => type === "call.claimed").length, 3);
  });

  it("never reach beyond the deadline", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [id] = await call(server.url, "t", "brew");
    const { json } = await ask("POST", `/calls/${id}/claim`, { by: "w", seconds: 3600 });
    assert.equal(json["until"], "2026-01-05T12:01:00.000Z");
    await server.clock.advance(40_000);
    assert.equal((await ask("POST", `/calls/${id}/heartbeat`, { claim: 1, seconds: 60 })).json["until"], "2026-01-05T12:01:00.000Z");
  });

  it("need sound bodies and known calls", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [id, pay] = await call(server.url, "t", "get_menu pay");
    for (const body of [{ seconds: 0 }, { seconds: 3601 }, { by: "" }, { by: "a\nb" }, { seconds: "1" }]) {
      assert.equal((await ask("POST", `/calls/${id}/claim`, body)).status, 400, JSON.stringify(body));
    }
    assert.equal((await ask("POST", `/calls/${id}/heartbeat`, {})).json["error"]["field"], "claim");
    assert.equal((await ask("POST", `/calls/${id}/release`, {})).status, 400);
    for (const path of [`/calls/${pay}/claim`, "/calls/unheard/claim"]) assert.equal((await ask("POST", path, { by: "w" })).status, 404);
    assert.equal((await ask("POST", `/calls/${id}/claim`, {})).json["claim"], 1);
  });
});

describe("principals", () => {
  it("see their own, and strangers see nothing", async () => {
    await using server = await closed();
    const [alice, bob, op, elsewhere] = ["alice", "bob", "op", "elsewhere"].map((who) => asker(server.url, who));
    assert.ok(alice && bob && op && elsewhere);
    const [menu, pay] = await call(server.url, "t", "get_menu pay", "alice");
    const paths: [string, string, unknown?][] = [
      ["GET", "/threads/t"],
      ["PATCH", "/threads/t", { title: "x" }],
      ["DELETE", "/threads/t"],
      ["POST", "/threads/t/cancel", {}],
      ["GET", "/threads/t/events"],
      ["GET", "/threads/t/export"],
      ["GET", `/calls/${menu}`],
      ["POST", `/calls/${menu}/result`, { output: [] }],
      ["POST", `/calls/${menu}/claim`, { by: "x" }],
      ["POST", `/calls/${menu}/heartbeat`, { claim: 1 }],
      ["POST", `/calls/${menu}/release`, { claim: 1 }],
      ["POST", `/calls/${pay}/approve`, {}],
      ["POST", `/calls/${pay}/reject`, {}],
      ["POST", `/interrupts/${pay}:approval/answer`, { value: { approved: true } }],
    ];
    for (const [method, path, body] of paths) {
      const unknown = path
        .replace(/\/t\b/, "/x")
        .replace(menu ?? "", "nope")
        .replace(pay ?? "", "nope");
      for (const stranger of [bob, elsewhere]) {
        const seen: Answer = await stranger(method, path, body);
        const never: Answer = await stranger(method, unknown, body);
        assert.equal(seen.status, 404, `${method} ${path}`);
        assert.equal(seen.text.replaceAll(/ (t|\S*call_\S*|nope\S*|x)"/g, ' ?"'), never.text.replaceAll(/ (x|nope\S*)"/g, ' ?"'));
      }
      assert.equal((await asker(server.url)(method, path, body)).status, 401);
    }
    assert.deepEqual([(await bob("GET", "/threads")).json["threads"], (await bob("GET", "/calls")).json["calls"]], [[], []]);
    assert.deepEqual((await elsewhere("GET", "/calls")).json["calls"], []);
    // The same thread id under another user is another thread.
    assert.equal((await bob("POST", "/threads/t/runs", { message: "hi" })).json["seq"], 0);

    const threads = (await op("GET", "/threads?status=waiting")).json["threads"] as { user: string }[];
    assert.deepEqual(
      threads.map(({ user }) => user),
      ["alice"],
    );
    assert.equal((await op("GET", "/threads?user=nobody")).json["threads"]["length"], 0);
    assert.equal((await op("GET", "/threads/t?user=alice")).json["user"], "alice");
    assert.equal((await alice("GET", "/threads/t?user=bob")).json["user"], undefined);
    assert.equal((await op("GET", "/threads/t")).status, 404);
    const listed = (await op("GET", "/calls?status=pending")).json["calls"] as { user: string }[];
    assert.deepEqual(
      listed.map(({ user }) => user),
      ["alice", "alice"],
    );
    assert.equal((await op("POST", `/calls/${pay}/approve`, {})).status, 200);
    const answered = (await server.store.read(keyOf("t", "alice"), { after: 0 })).find((event) => event.type === "interrupt.answered");
    assert.equal(answered?.type === "interrupt.answered" && answered.by, "operator:op");
  });

  it("who execute see calls of their tools and nothing else", async () => {
    await using server = await closed();
    const worker = asker(server.url, "tools:get_menu,pay");
    const [menu, brew, pay] = await call(server.url, "t", "get_menu brew pay", "alice");
    const listed = (await worker("GET", "/calls")).json["calls"] as { id: string; user?: string }[];
    assert.deepEqual(
      listed.map(({ id, user }) => [id, user]),
      [[menu, undefined]],
    );
    assert.deepEqual((await worker("GET", "/calls?tool=brew")).json["calls"], []);
    assert.deepEqual((await worker("GET", "/calls?kind=interrupt")).json["calls"], []);
    await using tail = await Tail.open(server.url, "/calls/events", { who: "tools:get_menu,pay" });
    await tail.until((frames) => frames.length === 1 && jsonOf(frames[0] as RawFrame).id === menu);
    const status = async (method: string, path: string, body?: unknown) => (await worker(method, path, body)).status;
    assert.equal(await status("GET", `/calls/${brew}`), 404);
    assert.equal(await status("POST", `/calls/${brew}/result`, { output: 1 }), 404);
    assert.equal(await status("POST", `/calls/${pay}/approve`, {}), 403);
    assert.equal(await status("POST", `/calls/${brew}/approve`, {}), 404);
    assert.equal(await status("POST", `/interrupts/${pay}:approval/answer`, { value: { approved: true } }), 404);
    for (const path of ["/threads", "/threads/t", "/threads/t/events", "/events", "/grants", "/meta"])
      assert.equal(await status("GET", path), 404, path);
    assert.equal(await status("POST", "/threads/t/runs", { message: "hi" }), 404);
    assert.equal(await status("POST", `/calls/${menu}/claim`, { by: "w1" }), 200);
    assert.equal(await status("POST", `/calls/${menu}/result`, { output: [], claim: 1 }), 200);
    const log = await server.store.read(keyOf("t", "alice"), { after: 0 });
    assert.ok(log.some((event) => event.type === "call.claimed" && event.by === "executor:worker/w1"));
    assert.ok(log.some((event) => event.type === "tool.returned" && event.by === "executor:worker"));
  });
});

describe("grants", () => {
  it("let a tool run without asking, until they are taken back", async () => {
    await using server = await closed();
    const [alice, bob, op] = ["alice", "bob", "op"].map((who) => asker(server.url, who));
    assert.ok(alice && bob && op);
    const given = await alice("POST", "/grants", { tool: "pay", user: "bob" });
    assert.equal(given.status, 201);
    assert.deepEqual({ ...given.json, id: "" }, { id: "", tool: "pay", createdAt: "2026-01-05T12:00:00.000Z", by: "user:alice" });
    assert.deepEqual((await alice("GET", "/grants")).json, { grants: [given.json] });
    assert.deepEqual((await bob("GET", "/grants")).json, { grants: [] });
    const [pay] = await call(server.url, "t", "pay", "alice");
    assert.equal((await alice("GET", `/calls/${pay}`)).json["status"], "pending");
    assert.equal((await bob("DELETE", `/grants/${given.json["id"]}`)).status, 404);
    assert.equal((await alice("DELETE", `/grants/${given.json["id"]}`)).status, 204);
    const other = await op("POST", "/grants", { tool: "pay", user: "bob", threadId: "b1" });
    assert.deepEqual([other.json["user"], other.json["threadId"]], ["bob", "b1"]);
    assert.deepEqual((await op("GET", "/grants")).json["grants"]["length"], 1);
    assert.equal((await op("GET", "/grants?user=alice")).json["grants"]["length"], 0);
    assert.equal((await alice("POST", "/grants", {})).json["error"]["field"], "tool");
  });
});

describe("meta", () => {
  it("says what there is", async () => {
    await using server = await open();
    const { status, json } = await asker(server.url)("GET", "/meta");
    assert.equal(status, 200);
    assert.equal(json["name"], "handback");
    assert.match(json["version"], /^\d+\.\d+\.\d+/);
    const agentNames = (json["agents"] as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(agentNames, ["default", "second"]);
    const [first] = json["agents"] as { tools: { name: string; owner: string }[] }[];
    assert.deepEqual(
      first?.tools.map(({ name, owner }) => `${name} ${owner}`),
      ["get_menu external", "pay external", "brew external", "show client", "add server", "delegate server"],
    );
    assert.equal(json["doors"]["native"], "/v1");
    assert.deepEqual(json["agents"][0].tools[1], {
      name: "pay",
      description: "Pays",
      input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
      owner: "external",
      approval: "always",
    });
    assert.deepEqual([json["agents"][0].models, json["demo"], json["scenarios"]], [["other"], false, []]);
    assert.ok(json["profiles"].includes("JSON_Strict"));
  });
});

describe("the stream of all threads", () => {
  const heads = (frames: readonly RawFrame[]) => frames.filter(({ event }) => event === "head").map(jsonOf);

  it("shows heads first, then changes, and events of what is watched", async () => {
    await using server = await open();
    await say(server.url, "old", "hi");
    await server.clock.advance(1000);
    await say(server.url, "new", "hi");
    await using tail = await Tail.open(server.url, "/events?watch=new:6,later:0");
    await tail.until((frames) => frames.length === 4);
    assert.deepEqual([tail.frames[0]?.event, jsonOf(tail.frames[0] as RawFrame).now], ["hello", "2026-01-05T12:00:01.000Z"]);
    const [first] = heads(tail.frames);
    assert.deepEqual(first, { threadId: "old", seq: 8, status: "idle", pending: 0, title: "hi", updatedAt: "2026-01-05T12:00:00.000Z" });
    const events = tail.frames.filter(({ event }) => event === "event");
    assert.deepEqual(
      events.map(({ id, data }) => [id, JSON.parse(data).threadId, JSON.parse(data).event.seq]),
      [
        ["new:7,later:0", "new", 7],
        ["new:8,later:0", "new", 8],
      ],
    );
    await say(server.url, "later", "hi"); // watched before it was born
    await tail.until((frames) => frames.at(-1)?.id === "new:8,later:8");
    await call(server.url, "old", "get_menu");
    await server.clock.advance(150);
    const waiting = await tail.until((frames) => heads(frames).find(({ threadId, status }) => threadId === "old" && status === "waiting"));
    assert.equal(waiting.pending, 1);
    assert.ok(heads(tail.frames).length <= 4, "changes are gathered");
    await asker(server.url)("DELETE", "/threads/old");
    await server.clock.advance(150);
    await tail.until((frames) => frames.some(({ event, data }) => event === "gone" && JSON.parse(data).threadId === "old"));
    await asker(server.url)("DELETE", "/threads/new");
    await tail.until((frames) => frames.some(({ event, data }) => event === "gone" && JSON.parse(data).threadId === "new"));
    await say(server.url, "new", "reborn");
    await tail.until((frames) => frames.some(({ id }) => id === "new:9,later:8"));
  });

  it("loses and repeats nothing over cut connections", async () => {
    await using server = await open();
    for (const name of ["a", "b", "c"]) await asker(server.url)("POST", `/threads/${name}/runs`, { message: "long 700 50" });
    const seen = new Map<string, StoredEvent[]>([
      ["a", []],
      ["b", []],
      ["c", []],
    ]);
    const over = () => [...seen.values()].every((events) => events.at(-1)?.type === "run.ended");
    let last: string | undefined;
    for (let cuts = 1; !over(); cuts += 1) {
      await using tail = await Tail.open(server.url, "/events?watch=a:0,b:0,c:0", last === undefined ? {} : { last });
      let read = 0;
      const take = () => {
        for (; read < tail.frames.length; read += 1) {
          const { event, id, data } = tail.frames[read] as RawFrame;
          if (event !== "event") continue;
          last = id;
          const { threadId, event: said } = JSON.parse(data);
          seen.get(threadId)?.push(said);
        }
      };
      const enough = (cuts * 7919) % 500;
      do take();
      while (read < enough && !over() && (await tail.more()));
    }
    for (const [name, events] of seen) assert.deepEqual(events, await server.events(name), name);
  });

  it("shows operators everybody's threads, and users nobody else's", async () => {
    await using server = await closed();
    await say(server.url, "t", "hi", "alice");
    await using bob = await Tail.open(server.url, "/events?watch=t:0", { who: "bob" });
    await using op = await Tail.open(server.url, `/events?watch=${encodeURIComponent("al%69ce~t:7")}`, { who: "op" });
    const frame = await op.until((frames) => frames.find(({ event }) => event === "event"));
    assert.deepEqual([frame.id, jsonOf(frame).user, jsonOf(frame).event.type], ["alice~t:8", "alice", "run.ended"]);
    await say(server.url, "u", "hi", "bob");
    await op.until((frames) => heads(frames).find(({ threadId, user }) => threadId === "u" && user === "bob"));
    await bob.until((frames) => heads(frames).find(({ threadId }) => threadId === "u"));
    assert.ok(bob.frames.every(({ data }) => !data.includes('"t"') && !data.includes("alice")));
  });

  it("gathers what a slow reader does not take", async () => {
    await using server = await open();
    for (let i = 0; i < 20; i += 1) await say(server.url, `t${i}`, "hi");
    const socket = connectSocket(Number(new URL(server.url).port), "127.0.0.1");
    socket.write("GET /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    await new Promise((resolve) => socket.once("readable", resolve));
    for (let round = 0; round < 5; round += 1) {
      for (let i = 0; i < 20; i += 1) await say(server.url, `t${i}`, "hi");
      await server.clock.advance(150);
    }
    let text = "";
    const final = `"seq":${6 * 8}`;
    for await (const chunk of socket) {
      text += chunk;
      if (
        new Set(
          text
            .split("\n")
            .filter((line) => line.includes(final))
            .map((line) => /t\d+/.exec(line)?.[0]),
        ).size === 20
      )
        break;
    }
    assert.ok(text.split("event: head").length < 20 * 6 * 4);
  });

  it("refuses what is no vector", async () => {
    await using server = await open();
    for (const watch of ["a", "a:-1", "a:x", "a b:1", ":1", "a:1,,b:2", Array(101).fill("a:1").join()]) {
      assert.equal((await asker(server.url)("GET", `/events?watch=${encodeURIComponent(watch)}`)).json["error"]["field"], "watch", watch);
    }
    assert.equal((await fetch(`${server.url}/v1/events`, { headers: { "last-event-id": "junk" } })).status, 400);
    await using tail = await Tail.open(server.url, `/events?watch=${encodeURIComponent("a:b:c:0")}`);
    await say(server.url, "a:b:c", "hi");
    await tail.until((frames) => frames.some(({ id }) => id === "a:b:c:8"));
  });
});

describe("export and import", () => {
  const load = async (url: string, query: string, text: string, who?: string) => {
    const headers = { "content-type": "application/x-ndjson", ...(who !== undefined && { authorization: `Bearer ${who}` }) };
    const response = await fetch(`${url}/v1/threads/import?${query}`, { method: "POST", headers, body: text });
    return {
      status: response.status,
      json: (await response.json()) as { seq?: number; error?: { message: string; code: string; field?: string } },
    };
  };

  it("carry a thread to another server, where it goes on", async () => {
    await using server = await open();
    await using other = await open();
    const ask = asker(server.url);
    await say(server.url, "t", {
      content: [
        { type: "text", text: "see" },
        { type: "file", mediaType: "text/plain", data: btoa("bytes") },
      ],
    });
    const [menu, pay] = await call(server.url, "t", "get_menu pay");
    await ask("POST", `/calls/${menu}/result`, { output: ["tea"] });
    await ask("POST", `/calls/${pay}/approve`, {});
    await ask("POST", `/calls/${pay}/result`, { output: "paid" });
    await eventually(async () => (await server.thread())?.status === "idle");
    await say(server.url, "t", { id: "m9", content: "nine" });
    await ask("POST", "/threads/t/runs", { rewindTo: "m9" });
    await eventually(async () => (await server.thread())?.status === "idle");
    await ask("PATCH", "/threads/t", { title: "Tea", metadata: { a: 1 } });

    const { text, headers } = await ask("GET", "/threads/t/export");
    assert.equal(headers.get("content-type"), "application/x-ndjson");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(lines[0], {
      handback: lines[0].handback,
      threadId: "t",
      title: "Tea",
      metadata: { a: 1 },
      exportedAt: "2026-01-05T12:00:00.000Z",
    });
    assert.deepEqual(
      lines.slice(1).filter(({ type }) => type !== "blob"),
      await server.events(),
    );
    const small = (await ask("GET", "/threads/t/export?deltas=false")).text;
    assert.ok(!small.includes("text.delta") && small.includes("text.ended"));

    for (const [threadId, file] of [
      ["copy", text],
      ["small", small],
    ] as const) {
      const { status, json } = await load(other.url, `threadId=${threadId}`, file);
      assert.equal(status, 201, JSON.stringify(json));
      const row = await other.thread(threadId);
      assert.deepEqual([row?.status, row?.pending, row?.title, row?.metadata, row?.seq], ["idle", 0, "Tea", { a: 1 }, json.seq]);
      const log = await other.events(threadId);
      assert.ok(!JSON.stringify(log).includes(menu ?? "?"), "calls are renamed");
      const before = typesOf(await server.events()).filter((type) => !type.endsWith(".delta"));
      assert.deepEqual(
        typesOf(log).filter((type) => !type.endsWith(".delta")),
        before,
      );
      const events = await say(other.url, threadId, "and on");
      assert.ok(
        events.some((event) => event.type === "text.ended" && event.text === "echo and on"),
        JSON.stringify(events.at(-1)),
      );
    }
    const blob = (await other.events("copy")).flatMap((event) => (event.type === "run.started" ? event.messages : []))[0]?.content;
    assert.equal((await fetch(`${other.url}/v1/threads/copy/blobs/${(blob as { blob: string }[])[1]?.blob}`)).status, 200);
    // On the same server too: ids are the app's, so they must not clash.
    assert.equal((await load(server.url, "threadId=twin", text)).status, 201);
    assert.equal((await load(server.url, "", text)).status, 409);
    assert.equal((await load(server.url, "threadId=twin", text)).status, 409);
    await asker(other.url)("DELETE", "/threads/copy");
    const again = await load(other.url, "threadId=copy", text);
    assert.equal(again.status, 201);
    assert.ok((again.json.seq ?? 0) > lines.length);
    assert.equal((await say(other.url, "copy", "hi")).at(-1)?.type, "run.ended");
  });

  it("leave nothing open, wherever the file breaks off", async () => {
    await using server = await open();
    const ask = asker(server.url);
    const [menu] = await call(server.url, "t", "get_menu pay add delegate");
    await ask("POST", `/calls/${menu}/claim`, { by: "w" });
    await ask("POST", `/calls/${menu}/result`, { output: ["tea"] });
    const lines = (await ask("GET", "/threads/t/export")).text.trimEnd().split("\n");
    for (let length = 2; length <= lines.length; length += 1) {
      const { status, json } = await load(server.url, `threadId=cut${length}`, lines.slice(0, length).join("\n"));
      assert.equal(status, 201, `${length}: ${JSON.stringify(json)}`);
      const row = await server.thread(`cut${length}`);
      assert.deepEqual([row?.status, row?.pending], ["idle", 0], `after ${lines[length - 1]}`);
      assert.deepEqual((await ask("GET", `/calls?status=pending&threadId=cut${length}`)).json["calls"], []);
    }
    assert.equal((await say(server.url, "cut14", "hi")).at(-1)?.type, "run.ended");
    assert.equal((await say(server.url, `cut${lines.length}`, "hi")).at(-1)?.type, "run.ended");
  });

  it("refuse what is no log, and say in which line", async () => {
    await using server = await open();
    const header = JSON.stringify({ handback: "0", threadId: "x", metadata: {} });
    const started = {
      type: "run.started",
      seq: 1,
      at: 0,
      v: 1,
      runId: "r",
      turnId: "t",
      epoch: 1,
      cause: "message",
      agent: "default",
      messages: [],
      by: "b",
      via: "v",
    };
    const line = (value: object) => JSON.stringify({ seq: 2, at: 0, v: 1, ...value });
    const begun = `${header}\n${JSON.stringify(started)}`;
    for (const [text, message] of [
      ["", /empty/],
      ["{}", /^line 1: handback/],
      [header, /no events/],
      [`${header}\n{`, /^line 2: .*not valid JSON/],
      [`${header}\n{"__proto__":1}`, /^line 2: .*not allowed/],
      [`${header}\n\n${line({ type: "odd" })}`, /^line 3: type: odd is no event/],
      [`${header}\n${line({ type: "constructor" })}`, /^line 2: type: constructor is no event/],
      [`${header}\n${line({ type: "text.delta", messageId: "m" })}`, /^line 2: delta/],
      [`${header}\n${line({ type: "state.patched", ops: [], v: 99 })}`, /^line 2: v: .*newer/],
      [`${begun}\n${JSON.stringify(started)}`, /^line 3: run.started while/],
      [`${header}\n${line({ type: "run.ended", runId: "r", turnId: "t", run: 1, outcome: { type: "done" } })}`, /^line 2: .*no run at 1/],
      [
        `${begun}\n${line({ type: "tool.returned", callId: "c", name: "n", owner: "server", messageId: "m", status: "completed", by: "b", via: "v" })}`,
        /^line 3: .*not open/,
      ],
      [`${begun}\n${line({ type: "call.offered", callId: "c", name: "n", owner: "client", input: 1, ordinal: 1 })}`, /^line 3: .*not open/],
      [`${begun}\n${line({ type: "interrupt.answered", interruptId: "i", status: "resolved", by: "b", via: "v" })}`, /^line 3: .*not open/],
      [
        `${begun}\n${line({ type: "part.added", messageId: "m", stepId: "s", part: { type: "file", mediaType: "a/b", blob: "blob_1" } })}`,
        /^line 3: the file blob_1/,
      ],
      [`${header}\n${line({ type: "thread.rewound", to: 5, removed: [] })}`, /^line 2: .*no run at 5/],
    ] as const) {
      const { status, json } = await load(server.url, "", text);
      assert.equal(status, 400, text);
      assert.match(json.error?.message ?? "", message);
    }
    assert.equal((await load(server.url, "threadId=a%20b", begun)).status, 400);
    const wrongType = await fetch(`${server.url}/v1/threads/import`, {
      method: "POST",
      body: begun,
      headers: { "content-type": "text/plain" },
    });
    assert.equal(wrongType.status, 415);
    assert.equal((await load(server.url, "", " ".repeat(33 * 1024 * 1024))).status, 413);
    assert.equal(await server.thread("x"), undefined);
  });

  it("are for operators where users are told apart", async () => {
    await using server = await closed();
    await say(server.url, "t", "hi", "alice");
    const { text } = await asker(server.url, "alice")("GET", "/threads/t/export");
    assert.equal((await load(server.url, "threadId=u", text, "alice")).status, 403);
    assert.equal((await load(server.url, "threadId=u", text, "tools:a")).status, 404);
    assert.equal((await load(server.url, "threadId=u&user=alice", text, "op")).status, 201);
    assert.equal((await asker(server.url, "alice")("GET", "/threads/u")).status, 200);
  });
});
