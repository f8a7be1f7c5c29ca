import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import type { Event } from "../src/core/event.ts";
import type { ModelRequest } from "../src/model/model.ts";
import { openAiCompatible } from "../src/model/openai-compatible.ts";
import { toModelError } from "../src/model/provider-failure.ts";
import { toIndex, toMatch } from "../src/store/sqlite/search.ts";
import { recipe } from "./support/graphs.ts";
import { asker, authenticate, obedient, Tail } from "./support/native.ts";
import { directory, eventually, serve } from "./support/serve.ts";

const begun = (i: number, content: string): Event[] => [
  {
    type: "run.started",
    runId: `r${i}`,
    turnId: `x${i}`,
    epoch: i + 1,
    cause: "message",
    agent: "default",
    messages: [{ id: `m${i}`, content }],
    by: "b",
    via: "n",
  },
  { type: "run.ended", runId: `r${i}`, turnId: `x${i}`, run: 2 * i + 1, outcome: { type: "done" } },
];
const key = (user: string, threadId = "t") => ({ app: "default", user, threadId });

describe("red team: searching", () => {
  it("takes anything for words, and never the index's own language, names of columns or wildcards", async () => {
    using dir = directory();
    await using server = await serve({ agents: { default: obedient() }, authenticate, data: dir.path });
    await server.store.append(key("alice"), { seq: 0 }, begun(0, "a secret plan"), 1);
    await server.store.append(key("bob"), { seq: 0 }, begun(0, "100% sure_thing"), 1);
    const find = async (search: string) => (await asker(server.url, "bob")("GET", `/threads?search=${encodeURIComponent(search)}`)).json;
    for (const search of [
      '"',
      '" OR secret OR "',
      'plan" OR "secret',
      "text : secret",
      "{text} : secret",
      "-text : sure",
      "NEAR(sure secret, 999999999)",
      "secret*",
      "^secret",
      "NOT secret",
      ") OR (1=1",
      "'; DROP TABLE said; --",
      "\u0000secret",
      "%e",
      "_00%",
      "\\",
    ])
      assert.deepEqual(await find(search), { threads: [] }, search);
    for (const search of ["100%", "sure_thing", "SURE", "OR", "100 sure thing"])
      assert.equal((await find(search)).threads?.length, search === "OR" ? 0 : 1, search);
    assert.equal((await find("x".repeat(201))).error.field, "search");
  });

  it("looks for a few words, each once: every one costs what the whole index is long", () => {
    for (const search of ["p ".repeat(100), "a b c d e f g h i j k l m n o p q r s t u v w x y z", "a中b国c人d民e共f和g国h"])
      assert.ok((toMatch(search, "a", "u") ?? "").split(" AND ").length <= 9, search);
    assert.equal(toMatch("tea TEA tea", "a", "u")?.split(" AND ").length, 2);
  });

  it("is not drowned by others who write under one's name", async () => {
    await using server = await serve({ agents: { default: obedient() }, authenticate });
    await server.store.append(key("alice"), { seq: 0 }, [...begun(0, "hello"), ...begun(1, "my invoice")], 1);
    const [app, alice] = toIndex("", "default", "alice").trim().split(" ");
    const forged = [app, alice, alice?.toUpperCase(), `\u0301${alice}`, alice?.replace("s", "s\u0301")].join(" ");
    const events = Array.from({ length: 2_100 }, (_, i) => begun(i, `${forged} invoice`)).flat();
    await server.store.append(key("bob"), { seq: 0 }, events, 2);
    const { json } = await asker(server.url, "alice")("GET", "/threads?search=invoice");
    assert.deepEqual(
      json.threads.map(({ threadId }: { threadId: string }) => threadId),
      ["t"],
    );
  });
});

describe("red team: lists and streams", () => {
  it("page through thousands of checkpoints, and refuse what is no page of theirs", async () => {
    await using server = await serve({ agents: { default: recipe() }, authenticate });
    const events: Event[] = begun(0, "hi").toSpliced(
      1,
      0,
      ...Array.from(
        { length: 3_000 },
        (_, k): Event => ({ type: "checkpoint.reached", checkpointId: `c${k}`, lineageId: "x0", superstep: k, tasks: [] }),
      ),
    );
    await server.store.append(key("bob"), { seq: 0 }, events, 1);
    const bob = asker(server.url, "bob");
    const seen = new Set<string>();
    for (let next: string | undefined = ""; next !== undefined; ) {
      const { json } = await bob("GET", `/threads/t/checkpoints?limit=200${next && `&before=${next}`}`);
      for (const { checkpointId } of json.checkpoints) seen.add(checkpointId);
      ({ next } = json);
    }
    assert.equal(seen.size, 3_000);
    for (const query of ["limit=201", "limit=0", "limit=x", "before=x", "before=1.5", "before=1e99", "before=NaN"])
      assert.equal((await bob("GET", `/threads/t/checkpoints?${query}`)).status, 400, query);
    for (const query of ["limit=5001", "limit=-1", "after=-1", "after=1e99", "deltas=maybe"])
      assert.equal((await bob("GET", `/threads/t/log?${query}`)).status, 400, query);
  });

  it("watch a hundred threads that are not there without a word about them, and no more than a hundred", async () => {
    await using server = await serve({ agents: { default: obedient() }, authenticate });
    const many = (n: number) => Array.from({ length: n }, (_, i) => `nothing${i}:0`).join(",");
    assert.equal((await asker(server.url, "bob")("GET", `/events?watch=${many(101)}`)).status, 400);
    await using tail = await Tail.open(server.url, `/events?watch=${many(100)}&heads=all`, { who: "bob" });
    await asker(server.url, "bob")("POST", "/threads/real/runs", { message: "hi" });
    await tail.until((frames) => frames.some(({ data }) => data.includes('"real"')));
    assert.ok(!tail.frames.some(({ data }) => data.includes("nothing")));
  });

  it("say what is wrong with a request and nothing about this machine", async () => {
    using dir = directory();
    await using server = await serve({ agents: { default: recipe() }, authenticate, data: dir.path });
    const op = asker(server.url, "op");
    const bob = asker(server.url, "bob");
    await bob("POST", "/threads/t/runs", { message: "hi" });
    await eventually(async () => (await bob("GET", "/threads/t")).json.status === "waiting");
    const [{ checkpointId }] = (await bob("GET", "/threads/t/checkpoints")).json.checkpoints;
    for (const [ask, path, body] of [
      [bob, "/threads/t/fork", { threadId: "../../etc/passwd\u0000" }],
      [bob, "/threads/t/fork", { checkpointId: "'; DROP TABLE event; --" }],
      [bob, "/threads/t/runs", { resume: { ["k".repeat(100_000)]: 1 } }],
      [bob, "/threads/t/runs", { checkpointId, resume: "x" }],
      [op, "/threads/t/fork?user=bob", { checkpointId, state: [] }],
      [op, "/threads/t/fork?user=bob", { checkpointId, state: { "a/b~c": { "~1": 1 } }, threadId: "ok" }],
      [op, "/threads/t/runs?user=bob", { checkpointId, state: { dish: 5 } }],
      [bob, "/calls/x/respond", { output: 1 }],
    ] as const) {
      const { status, text } = await ask("POST", path, body);
      assert.ok(status < 500, `${path} ${status} ${text}`);
      assert.ok(text.length < 2_000, `${path}: ${text.length} characters`);
      assert.doesNotMatch(text, /SQLITE|\bSQL\b|at \w+ \(|node_modules|\/work\/|\/tmp\/|\.ts:\d/i, path);
    }
    assert.ok(
      !server.logged.some(({ event }) => event === "error"),
      JSON.stringify(server.logged.filter(({ event }) => event === "error")),
    );
  });
});

describe("red team: a provider that means harm", () => {
  const request = {
    history: [{ role: "user", id: "m", turnId: "t", seq: 1, content: "hi" }],
    tools: [],
    options: {},
    blob: () => assert.fail("no files"),
  } as unknown as ModelRequest;
  async function told(
    answer: (respond: { head(status: number, headers?: object): void; write(text: string): void; end(): void }, path: string) => void,
  ) {
    const paths: string[] = [];
    const server = createServer((incoming, response) => {
      paths.push(`${incoming.headers.host} ${incoming.url} ${incoming.headers.authorization ?? ""}`);
      incoming.resume();
      answer(
        {
          head: (status, headers = {}) => void response.writeHead(status, { "content-type": "text/event-stream", ...headers }),
          write: (text) => void response.write(text),
          end: () => void response.end(),
        },
        incoming.url ?? "",
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const model = openAiCompatible({ model: "m", baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: "sk-very-secret-key" });
    let error: unknown;
    const said: unknown[] = [];
    try {
      for await (const event of model(request, new AbortController().signal)) said.push(event);
    } catch (thrown) {
      error = thrown;
    } finally {
      server.closeAllConnections();
      server.close();
    }
    return { error, said, paths, message: error instanceof Error ? error.message : "" };
  }

  it("cannot send us elsewhere with our key", async () => {
    let heard = 0;
    const other = createServer((_, response) => {
      heard += 1;
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    for (const location of [
      `http://127.0.0.1:${port}/steal`,
      `//127.0.0.1:${port}/steal`,
      "http://169.254.169.254/latest/meta-data",
      "file:///etc/passwd",
      "gopher://127.0.0.1/x",
    ]) {
      const { error, paths } = await told(({ head, end }) => {
        head(307, { location });
        end();
      });
      assert.ok(error, location);
      assert.equal(paths.length, 1, location);
    }
    const { paths } = await told(({ head, end }) => {
      head(308, { location: "/v1/again" });
      end();
    });
    assert.ok(paths.length <= 4, `${paths.length} hops`);
    assert.equal(heard, 0);
    other.close();
  });

  it("is not quoted with our key, nor at any length or cost", async () => {
    const { message } = await told(({ head, write, end }) => {
      head(500);
      write(JSON.stringify({ error: { message: `Bad key sk-very-secret-key ${"http://".repeat(9_000)}` } }));
      end();
    });
    assert.doesNotMatch(message, /very-secret/);
    assert.ok(message.length < 700);
    // Inside a stream an error may be as long as a line; what it costs must not grow with its square.
    for (const unit of ["http://", "https://a@", "Bearer ", "sk-"]) {
      const before = performance.now();
      const error = toModelError({ message: unit.repeat(1_000_000 / unit.length) });
      assert.ok(performance.now() - before < 1_000, unit);
      assert.ok(error.message.length < 700);
    }
    const cut = toModelError({ message: `${"a ".repeat(1_995)}sk-very-secret-key and more`.padEnd(9_000, " x") }, ["sk-very-secret-key"]);
    assert.doesNotMatch(cut.message, /sk-/);
  });

  it("cannot call so many tools that nobody else is served", async () => {
    const before = performance.now();
    const { error } = await told(({ head, write, end }) => {
      head(200);
      for (let from = 0; from < 40_000; from += 500) {
        const pieces = Array.from({ length: 500 }, (_, i) => ({
          index: from + i,
          id: `c${from + i}`,
          function: { name: "a", arguments: "{}" },
        }));
        write(`data: ${JSON.stringify({ choices: [{ delta: { tool_calls: pieces } }] })}\n\n`);
      }
      end();
    });
    assert.match(String(error), /calls/);
    assert.ok(performance.now() - before < 5_000);
  });
});
