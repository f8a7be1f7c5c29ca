import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type Call, connect, type Grant, HandbackError, type Head, type StoredEvent, type Thread } from "../src/client/client.ts";
import { createHandback } from "../src/handback.ts";
import type { CallJson, GrantJson, HeadJson, ThreadJson } from "../src/server/native-row.ts";
import { memoryStore } from "../src/store/memory.ts";
import { cutter } from "./support/cutter.ts";
import { authenticate, obedient } from "./support/native.ts";
import { eventually, keyOf, serve } from "./support/serve.ts";

// What the server writes is what the client says it reads; the type checker compares them.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const TYPES: [Same<Thread, ThreadJson>, Same<Call, CallJson>, Same<Grant, GrantJson>, Same<Head, HeadJson>] = [true, true, true, true];
assert.equal(TYPES.length, 4);

const agents = { default: obedient() };

/** A server in real time. */
async function real(config: { authenticate?: typeof authenticate } = {}) {
  const store = memoryStore();
  const handback = await createHandback({ agents, store, coalesce: 0, ...config });
  const { url } = await handback.listen({ port: 0 });
  return { url, store, close: () => handback.close({ grace: 0 }), [Symbol.asyncDispose]: () => handback.close({ grace: 0 }) };
}

const as = (url: string, who: string) => connect({ url, headers: { authorization: `Bearer ${who}` } });
/** Stops an executor also where its test has failed. */
function stopper(t: TestContext): AbortController {
  const abort = new AbortController();
  t.after(() => abort.abort());
  return abort;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function rejects(work: Promise<unknown>, code: string, status: number, field?: string): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof HandbackError, String(error));
    assert.deepEqual([error.code, error.status, error.field], [code, status, field]);
    return true;
  });
}

describe("connect", () => {
  it("reaches every noun of a server", async () => {
    await using server = await real();
    const handback = connect({ url: `${server.url}/` });
    const { seq, runId, threadId } = await handback.run("a/b", "call get_menu pay", { runId: "mine" });
    assert.deepEqual([runId, threadId, seq], ["mine", "a/b", 0]);
    const events = await Array.fromAsync(handback.follow("a/b", { after: seq, until: "run" }));
    assert.equal(events.at(-1)?.type, "run.ended");

    const { waits, ...thread } = await handback.threads.get("a/b");
    assert.deepEqual((await handback.threads.list({ status: "waiting", search: "MENU" })).threads, [thread]);
    assert.equal((await handback.threads.rename("a/b", "Tea")).title, "Tea");
    assert.deepEqual((await handback.threads.describe("a/b", { star: 1 })).metadata, { star: 1 });

    const [menu, pay] = waits;
    assert.ok(menu && pay);
    assert.deepEqual((await handback.calls.list({ tools: ["get_menu"], status: "pending" })).calls, [menu]);
    const { claim } = await handback.calls.claim(menu.id, { by: "me", seconds: 60 });
    assert.equal((await handback.calls.heartbeat(menu.id, claim, 90)).claim, 1);
    assert.match((await handback.calls.get(menu.id)).claim?.by ?? "", /me$/);
    await handback.calls.release(menu.id, claim);
    await rejects(handback.calls.result(menu.id, "tea"), "unprocessable", 422, "output");
    assert.equal((await handback.calls.result(menu.id, ["tea"], { metadata: { ms: 1 } })).status, "completed");
    await rejects(handback.calls.fail(menu.id, "no"), "conflict", 409);
    assert.equal((await handback.calls.approve(pay.callId ?? "", { input: { amount: 1 } })).status, "approved");
    assert.equal((await handback.calls.fail(pay.callId ?? "", "no money")).status, "failed");
    assert.equal((await Array.fromAsync(handback.follow("a/b", { until: "turn" }))).at(-1)?.type, "run.ended");

    const asked = await Array.fromAsync(
      handback.follow("a/b", { after: (await handback.run("a/b", "call pay pay pay")).seq, until: "run" }),
    );
    const [one = "", two = "", three = ""] = asked.flatMap((event) => (event.type === "tool.called" ? [event.callId] : []));
    assert.equal((await handback.calls.reject(one, "too dear")).status, "rejected");
    assert.equal((await handback.answer(`${two}:approval`, { approved: false })).status, "resolved");
    assert.equal((await handback.dismiss(`${three}:approval`)).status, "cancelled");
    for await (const _ of handback.follow("a/b", { after: asked.at(-1)?.seq ?? 0, until: "turn" }));

    await handback.run("a/b", "hang");
    assert.equal((await handback.cancel("a/b", "enough")).status, "cancelling");
    await eventually(async () => (await handback.threads.get("a/b")).status === "idle");

    const grant = await handback.grants.add({ tool: "pay" });
    assert.deepEqual(await handback.grants.list(), [grant]);
    await handback.grants.remove(grant.id);
    assert.deepEqual(
      (await handback.meta()).agents.map(({ name }) => name),
      ["default"],
    );

    const file = await handback.threads.export("a/b");
    assert.equal((await handback.threads.import(file, { threadId: "copy" })).threadId, "copy");
    assert.equal((await handback.threads.import(await file.text(), { threadId: "copy2" })).threadId, "copy2");
    await handback.threads.remove("a/b");
    await rejects(handback.threads.get("a/b"), "not_found", 404);
    await rejects(Array.fromAsync(handback.follow("a/b")), "not_found", 404);
    await rejects(handback.run("t", { content: "x", id: "no spaces" }), "invalid", 400, "message.id");
    await handback.run("f", { content: [{ type: "file", mediaType: "text/plain", data: btoa("hi") }] });
    const [first] = await Array.fromAsync(handback.follow("f", { until: "run" }));
    const [part] = first?.type === "run.started" ? (first.messages[0]?.content ?? []) : [];
    assert.ok(typeof part === "object" && "blob" in part);
    assert.equal(await (await handback.threads.file("f", part.blob)).text(), "hi");
  });

  it("asks for headers every time, and names other people's threads as an operator", async () => {
    await using server = await real({ authenticate });
    let asked = 0;
    const alice = connect({ url: server.url, headers: async () => ({ authorization: `Bearer ${++asked > 0 ? "alice" : ""}` }) });
    await alice.run("t", "hi");
    await alice.threads.get("t");
    assert.equal(asked, 2);
    await rejects(connect({ url: server.url }).threads.list(), "unauthorized", 401);
    const operator = as(server.url, "op");
    const [row] = (await operator.threads.list()).threads;
    assert.ok(row);
    assert.equal((await operator.threads.get(row)).user, "alice");
    assert.equal((await Array.fromAsync(operator.follow(row, { until: "run" }))).at(-1)?.type, "run.ended");
    for await (const news of operator.watch({ threads: [{ threadId: "t", user: "alice" }] })) {
      if (news.type !== "event") continue;
      assert.equal(news.user, "alice");
      if (news.event.type === "run.ended") break;
    }
  });

  it("says what it cannot reach", async () => {
    const nowhere = connect({ url: "http://127.0.0.1:1" });
    await rejects(nowhere.cancel("t"), "network", 0);
    const html = connect({ fetch: async () => new Response("<html>", { status: 404 }) });
    await rejects(html.threads.list(), "invalid", 404);
    const stopped = AbortSignal.abort(new Error("stop"));
    assert.deepEqual(await Array.fromAsync(nowhere.follow("t", { signal: stopped })), []);
  });

  it("is heard once, however often it has to say it", async () => {
    await using server = await real();
    let failures = 3;
    const flaky: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      if (failures-- > 0) throw new TypeError("connection lost"); // it arrived, but the answer did not
      return response;
    };
    const handback = connect({ url: server.url, fetch: flaky });
    const { seq } = await handback.run("t", "hello");
    assert.equal(seq, 0);
    await eventually(async () => (await handback.threads.get("t")).status === "idle");
    assert.equal((await server.store.read(keyOf(), { after: 0 })).filter(({ type }) => type === "run.started").length, 1);
  });
});

describe("follow", () => {
  it("loses and repeats nothing over cut connections", async () => {
    await using server = await real();
    await using proxy = await cutter(server.url);
    const handback = connect({ url: proxy.url });
    let size = 30_000;
    proxy.cutAfter = () => (size += 77);
    await connect({ url: server.url }).run("t", "long 400 30");
    const seen: StoredEvent[] = [];
    for await (const event of handback.follow("t", { until: "run" })) seen.push(event);
    assert.ok(proxy.cuts >= 3, `${proxy.cuts} cuts`);
    assert.deepEqual(seen, await server.store.read(keyOf(), { after: 0 }));
  });

  it("survives a server that goes away and comes back", async () => {
    const store = memoryStore();
    const kept = { ...store, close: async () => {} };
    const first = await createHandback({ agents, store: kept, coalesce: 0 });
    const { url, port } = await first.listen({ port: 0 });
    const handback = connect({ url });
    await handback.run("t", "call get_menu");
    const types: string[] = [];
    const following = (async () => {
      for await (const event of handback.follow("t", { until: "turn" })) types.push(event.type);
    })();
    await eventually(() => types.includes("run.ended"));
    await first.close({ grace: 0 });
    const second = await createHandback({ agents, store: kept, coalesce: 0 });
    await second.listen({ port });
    const [call] = (await handback.calls.list({ status: "pending" })).calls;
    await handback.calls.result(call?.id ?? "", ["tea"]);
    await following;
    assert.equal(types.filter((type) => type === "run.started").length, 2);
    assert.equal(types.at(-1), "run.ended");
    await second.close({ grace: 0 });
    await store.close();
  });

  it("hangs up on a server that has fallen silent", async () => {
    await using server = await serve({ agents, coalesce: 0, heartbeat: "10m" });
    let opened = 0;
    const counting: typeof fetch = (...args) => {
      if (String(args[0]).includes("/events")) opened += 1;
      return fetch(...args);
    };
    const handback = connect({ url: server.url, clock: server.clock, fetch: counting });
    await handback.run("t", "hi");
    const abort = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const { seq } of handback.follow("t", { signal: abort.signal })) seen.push(seq);
    })();
    await eventually(() => seen.length === 8);
    for (let s = 0; s < 50 && opened < 2; s += 1) {
      await server.clock.advance(1000);
      await sleep(2);
    }
    assert.equal(opened, 2);
    abort.abort();
    await following;
    assert.equal(seen.length, 8);
  });

  it("ends at once when nothing can come any more", async () => {
    await using server = await real();
    const handback = connect({ url: server.url });
    await handback.run("t", "hi");
    await eventually(async () => (await handback.threads.get("t")).status === "idle");
    assert.deepEqual(await Array.fromAsync(handback.follow("t", { after: 8, until: "turn" })), []);
    for await (const _ of handback.follow("t")) break; // and lets go when it is left
  });
});

describe("watch", () => {
  it("loses and repeats no event over cut connections, and shows heads of the rest", async () => {
    await using server = await real();
    await using proxy = await cutter(server.url);
    const handback = connect({ url: proxy.url });
    let size = 30_000;
    const seen = new Map<string, StoredEvent[]>();
    const heads: string[] = [];
    proxy.cutAfter = () => (size += 77);
    for (const name of ["a", "b", "other"]) await connect({ url: server.url }).run(name, "long 400 30");
    for await (const news of handback.watch({ threads: [{ threadId: "a" }, { threadId: "b", after: 0 }] })) {
      if (news.type === "head") heads.push(news.head.threadId);
      if (news.type !== "event") continue;
      seen.set(news.threadId, [...(seen.get(news.threadId) ?? []), news.event]);
      if ([...seen.values()].filter((events) => events.at(-1)?.type === "run.ended").length === 2) break;
    }
    assert.ok(proxy.cuts >= 3, `${proxy.cuts} cuts`);
    for (const name of ["a", "b"]) assert.deepEqual(seen.get(name), await server.store.read(keyOf(name), { after: 0 }));
    assert.deepEqual([...new Set(heads)], ["other"]);
  });

  it("tells when a thread is deleted", async () => {
    await using server = await real();
    const handback = connect({ url: server.url });
    await handback.run("t", "hi");
    for await (const news of handback.watch()) {
      if (news.type === "head" && news.head.status === "idle") await handback.threads.remove(news.head);
      if (news.type === "gone") break;
    }
  });
});

describe("execute", () => {
  it("runs every call once, whoever races for it", async (t) => {
    await using server = await real({ authenticate });
    const alice = as(server.url, "alice");
    const abort = stopper(t);
    const runs: string[] = [];
    const busy = new Map<string, number>();
    const workers = ["one", "two"].map((by) =>
      as(server.url, "tools:brew,get_menu").execute({
        by,
        signal: abort.signal,
        onError: (error) => assert.fail(error as Error),
        tools: {
          async brew({ n }: { n: number }, { callId }) {
            runs.push(callId);
            busy.set(by, (busy.get(by) ?? 0) + 1);
            await sleep(Math.random() * 20);
            return { brewed: n };
          },
          get_menu: () => ["tea"],
        },
      }),
    );
    const threads = Array.from({ length: 5 }, (_, i) => `t${i}`);
    await Promise.all(threads.map((threadId) => alice.run(threadId, `call ${"brew ".repeat(10).trim()}`)));
    const ends = await Promise.all(threads.map((threadId) => Array.fromAsync(alice.follow(threadId, { until: "turn" }))));
    for (const events of ends) {
      const last = events.at(-1);
      assert.equal(last?.type === "run.ended" && last.outcome.type, "done");
      assert.equal(events.filter(({ type }) => type === "call.claimed").length, 10);
    }
    assert.equal(runs.length, 50);
    assert.equal(new Set(runs).size, 50);
    assert.equal(busy.size, 2, "both had something to do");
    abort.abort();
    await Promise.all(workers);
  });

  it("tells the model what a tool threw, and what it may not return", async (t) => {
    await using server = await real();
    const handback = connect({ url: server.url });
    const abort = stopper(t);
    const errors: string[] = [];
    const working = handback.execute({
      threadId: "t",
      signal: abort.signal,
      onError: (error) => errors.push((error as Error).message),
      tools: {
        brew() {
          throw new Error("no water");
        },
        get_menu: () => "not a list",
        show: () => 1n,
        delegate: () => undefined,
      },
    });
    await handback.run("t", "call brew get_menu show delegate");
    const events = await Array.fromAsync(handback.follow("t", { until: "turn" }));
    const returned = events.flatMap((event) =>
      event.type === "tool.returned" ? [[event.name, event.status, event.error ?? event.output]] : [],
    );
    const byName = Object.fromEntries(returned.map(([name, ...rest]) => [name, rest]));
    assert.deepEqual(byName["brew"], ["failed", "no water"]);
    assert.equal(byName["get_menu"]?.[0], "failed");
    assert.match(String(byName["get_menu"]?.[1]), /output schema of get_menu/);
    assert.match(String(byName["show"]?.[1]), /BigInt/);
    assert.deepEqual(byName["delegate"], ["completed", null]);
    assert.equal(errors.length, 3);
    abort.abort();
    await working;
  });

  it("keeps to its thread, its tools and its number of calls at once", async (t) => {
    await using server = await real();
    const handback = connect({ url: server.url });
    const abort = stopper(t);
    let [now, most] = [0, 0];
    const ran: string[] = [];
    const working = handback.execute({
      threadId: "mine",
      concurrency: 2,
      signal: abort.signal,
      tools: {
        async brew(_: unknown, { threadId }) {
          most = Math.max(most, ++now);
          await sleep(5);
          now -= 1;
          ran.push(threadId);
        },
      },
    });
    await handback.run("other", "call brew");
    await handback.run("mine", "call brew brew brew brew brew get_menu");
    await eventually(() => ran.length === 5);
    assert.deepEqual([most, [...new Set(ran)]], [2, ["mine"]]);
    const left = async () => (await handback.calls.list({ status: "pending" })).calls.map(({ name, threadId }) => `${threadId} ${name}`);
    await eventually(async () => (await left()).length === 2);
    assert.deepEqual((await left()).sort(), ["mine get_menu", "other brew"]);
    abort.abort();
    await working;
  });

  it("keeps its claim by heartbeats, and loses it when it cannot", async (t) => {
    await using server = await serve({ agents, coalesce: 0 });
    let deaf = false;
    const selective: typeof fetch = async (...args) => {
      if (deaf && String(args[0]).includes("/heartbeat")) throw new TypeError("connection lost");
      return fetch(...args);
    };
    const handback = connect({ url: server.url, clock: server.clock, fetch: selective });
    const abort = stopper(t);
    let runs = 0;
    let aborted = 0;
    const working = handback.execute({
      signal: abort.signal,
      tools: {
        get_menu: (_: unknown, { signal }) => {
          runs += 1;
          return new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => {
              aborted += 1;
              reject(new Error("stopped"));
            }),
          );
        },
      },
    });
    const pass = async (seconds: number) => {
      for (let s = 0; s < seconds; s += 1) {
        await server.clock.advance(1000);
        await sleep(3);
      }
    };
    await handback.run("t", "call get_menu");
    await eventually(() => runs === 1);
    await pass(120);
    const [call] = (await handback.calls.list({ status: "pending" })).calls;
    assert.ok(call?.claim && Date.parse(call.claim.until) > server.clock.now());
    await rejects(handback.calls.claim(call.id), "conflict", 409);
    assert.deepEqual([runs, aborted], [1, 0]);
    deaf = true;
    await pass(45);
    assert.equal(aborted, 1);
    deaf = false;
    await pass(70); // it lapsed without a word; the next look finds it
    assert.equal(runs, 2);
    assert.equal((await server.events()).filter(({ type }) => type === "call.claimed").length, 2);
    abort.abort();
    await working;
  });

  it("runs nothing twice at once, also where a tool does not heed that it was given up", async (t) => {
    await using server = await serve({ agents, coalesce: 0 });
    const deaf: typeof fetch = async (...args) => {
      if (String(args[0]).includes("/heartbeat")) throw new TypeError("connection lost");
      return fetch(...args);
    };
    const handback = connect({ url: server.url, clock: server.clock, fetch: deaf });
    const abort = stopper(t);
    const finish: ((menu: string[]) => void)[] = [];
    const working = handback.execute({ signal: abort.signal, tools: { get_menu: () => new Promise((resolve) => finish.push(resolve)) } });
    await handback.run("t", "call get_menu");
    await eventually(() => finish.length === 1);
    for (let s = 0; s < 100; s += 1) {
      await server.clock.advance(1000);
      await sleep(3);
    }
    assert.equal(finish.length, 1);
    finish[0]?.(["late"]); // its claim is gone, so this counts for nothing
    for (let s = 0; s < 31; s += 1) {
      await server.clock.advance(1000);
      await sleep(3);
    }
    await eventually(() => finish.length === 2);
    finish[1]?.(["tea"]);
    const events = await Array.fromAsync(handback.follow("t", { until: "turn" }));
    assert.ok(events.some((event) => event.type === "tool.returned" && JSON.stringify(event.output) === '["tea"]'));
    abort.abort();
    await working;
  });

  it("stops a tool whose call is settled by somebody else", async (t) => {
    await using server = await real();
    const handback = connect({ url: server.url });
    const abort = stopper(t);
    let state = "";
    const working = handback.execute({
      signal: abort.signal,
      tools: {
        get_menu: async (_: unknown, { signal }) => {
          state = "running";
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          state = "stopped";
          return ["late"];
        },
      },
    });
    await handback.run("t", "call get_menu");
    await eventually(() => state === "running");
    const [call] = (await handback.calls.list({ status: "pending" })).calls;
    await handback.calls.result(call?.id ?? "", ["tea"]);
    await eventually(() => state === "stopped");
    abort.abort();
    await working;
  });

  it("gives its calls back when it stops, and others take them at once", async (t) => {
    await using server = await real();
    const handback = connect({ url: server.url });
    const [first, second] = [stopper(t), stopper(t)];
    let started = false;
    const one = handback.execute({
      signal: first.signal,
      tools: {
        get_menu: () => {
          started = true;
          return new Promise(() => {}); // does not heed the signal
        },
      },
    });
    await handback.run("t", "call get_menu");
    await eventually(() => started);
    const two = handback.execute({ signal: second.signal, tools: { get_menu: () => ["tea"] } });
    first.abort();
    await one;
    const events = await Array.fromAsync(handback.follow("t", { until: "turn" }));
    assert.ok(events.some((event) => event.type === "call.released" && event.reason === "released"));
    assert.equal(events.filter(({ type }) => type === "tool.returned").length, 1);
    second.abort();
    await two;
  });

  it("goes on over cut connections", async (t) => {
    await using server = await real();
    await using proxy = await cutter(server.url);
    const handback = connect({ url: proxy.url });
    const abort = stopper(t);
    let runs = 0;
    const working = handback.execute({
      signal: abort.signal,
      tools: {
        get_menu: async () => {
          runs += 1;
          proxy.cut(); // its own stream, its heartbeats, the way back
          return ["tea"];
        },
      },
    });
    for (let i = 0; i < 3; i += 1) {
      await connect({ url: server.url }).run(`t${i}`, "call get_menu");
      const events = await Array.fromAsync(connect({ url: server.url }).follow(`t${i}`, { until: "turn" }));
      assert.equal(events.filter(({ type }) => type === "tool.returned").length, 1);
    }
    assert.equal(runs, 3);
    abort.abort();
    await working;
  });

  it("looks now and then where calls cannot be watched, and gives up where it is not wanted", async (t) => {
    await using server = await real({ authenticate });
    const noStream: typeof fetch = async (...args) =>
      String(args[0]).includes("/calls/events") ? new Response("", { status: 404 }) : fetch(...args);
    const worker = connect({ url: server.url, fetch: noStream, headers: { authorization: "Bearer tools:get_menu" } });
    const abort = stopper(t);
    const working = worker.execute({ signal: abort.signal, tools: { get_menu: () => ["tea"] } });
    const alice = as(server.url, "alice");
    await sleep(50);
    await alice.run("t", "call get_menu");
    const events = await Array.fromAsync(alice.follow("t", { until: "turn" }));
    assert.ok(events.some((event) => event.type === "tool.returned" && event.by === "executor:worker"));
    abort.abort();
    await working;
    await rejects(connect({ url: server.url }).execute({ tools: { get_menu: () => [] } }), "unauthorized", 401);
  });
});
