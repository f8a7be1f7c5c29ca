import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recipe, searching } from "./support/graphs.ts";
import { asker, authenticate, obedient, Tail } from "./support/native.ts";
import { directory, eventually, type Served, serve } from "./support/serve.ts";

/** Alice's threads: a graph that asks, a chat with calls of several tools, and one call that waits for her approval. */
async function house(data: string) {
  const server = await serve({ agents: { default: obedient(), recipe: recipe(), search: searching() }, authenticate, data });
  const alice = asker(server.url, "alice");
  await alice("POST", "/threads/asks/runs", { message: "private omelette", agent: "recipe" });
  await alice("POST", "/threads/calls/runs", { message: "call get_menu brew show" });
  await alice("POST", "/threads/pays/runs", { message: "call pay" });
  await eventually(async () => (await alice("GET", "/threads?status=waiting")).json.threads.length === 3);
  const calls: { id: string; name: string; threadId: string }[] = (await alice("GET", "/calls")).json.calls;
  const named = (name: string) => calls.find((call) => call.name === name)?.id ?? assert.fail(`no ${name}`);
  const { json } = await alice("GET", "/threads/asks/checkpoints");
  const grant = await alice("POST", "/grants", { tool: "pay", threadId: "other" });
  return {
    server,
    alice,
    ids: {
      menu: named("get_menu"),
      brew: named("brew"),
      pay: calls.find(({ threadId }) => threadId === "pays")?.id ?? assert.fail("no approval"),
      question: named("question"),
      checkpoint: json.checkpoints[0].checkpointId as string,
      grant: grant.json.id as string,
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

type Ids = Awaited<ReturnType<typeof house>>["ids"];
type Request = [method: string, path: string, body?: unknown];

/** Everything that names something of somebody's. */
const requests = (ids: Ids): Request[] => {
  const threads = ["asks", "calls"].flatMap((id): Request[] => [
    ["GET", `/threads/${id}`],
    ["GET", `/threads/${id}/log`],
    ["GET", `/threads/${id}/events`],
    ["GET", `/threads/${id}/export`],
    ["GET", `/threads/${id}/checkpoints`],
    ["PATCH", `/threads/${id}`, { title: "mine" }],
    ["DELETE", `/threads/${id}`],
    ["POST", `/threads/${id}/cancel`, {}],
    ["POST", `/threads/${id}/fork`, {}],
    ["POST", `/threads/${id}/fork`, { checkpointId: ids.checkpoint, run: false }],
    ["POST", `/threads/${id}/runs`, { checkpointId: ids.checkpoint }],
    ["POST", `/threads/${id}/runs`, { resume: { confirm: true } }],
  ]);
  const calls = [ids.menu, ids.brew, ids.pay, ids.question, `${ids.pay}:approval`].map(encodeURIComponent).flatMap((id): Request[] => [
    ["GET", `/calls/${id}`],
    ["POST", `/calls/${id}/result`, { output: ["x"] }],
    ["POST", `/calls/${id}/approve`, {}],
    ["POST", `/calls/${id}/reject`, {}],
    ["POST", `/calls/${id}/respond`, { output: ["x"] }],
    ["POST", `/calls/${id}/claim`, {}],
    ["POST", `/calls/${id}/heartbeat`, { claim: 1 }],
    ["POST", `/calls/${id}/release`, { claim: 1 }],
    ["POST", `/interrupts/${id}/answer`, { value: true }],
    ["POST", `/deliveries/${id}/redeliver`],
  ]);
  return [...threads, ...calls, ["DELETE", `/grants/${ids.grant}`]];
};

/** An answer with every name taken out of it: what is left must say nothing. */
const shape = ({ status, text }: { status: number; text: string }, ids: Ids) =>
  [`${ids.pay}:approval`, ...Object.values(ids), /nothing-\w+(:approval)?/g].reduce<string>(
    (said, id) => said.replaceAll(id, "·"),
    `${status} ${decodeURIComponent(text)}`,
  );

const NOTHING: Ids = {
  menu: "nothing-menu",
  brew: "nothing-brew",
  pay: "nothing-pay",
  question: "nothing-question",
  checkpoint: "nothing-checkpoint",
  grant: "nothing-grant",
};

async function everything({ server, alice }: { server: Served; alice: ReturnType<typeof asker> }) {
  const logs = await Promise.all(["asks", "calls", "pays"].map(async (id) => (await alice("GET", `/threads/${id}/log`)).text));
  return { logs, grants: (await alice("GET", "/grants")).text, calls: (await alice("GET", "/calls")).text, server: server.url };
}

describe("red team: strangers", () => {
  for (const who of ["bob", "elsewhere", "tools:none", "tools:constructor,__proto__"]) {
    it(`${who} hears of alice's things what is heard of things that do not exist`, async () => {
      using dir = directory();
      await using alices = await house(dir.path);
      const { server, ids } = alices;
      const before = await everything(alices);
      const ask = asker(server.url, who);
      const made = requests(NOTHING);
      for (const [i, [method, path, body]] of requests(ids).entries()) {
        const [, other, more] = made[i] as Request;
        const got = await ask(method, path, body);
        const nothing = await ask(method, other, more);
        assert.equal(got.status, 404, `${who} ${method} ${path}: ${got.text}`);
        assert.equal(shape(got, ids), shape(nothing, ids), `${method} ${path}`);
      }
      assert.deepEqual(await everything(alices), before);
    });
  }

  it("finds, lists and follows nothing of alice's", async () => {
    using dir = directory();
    await using alices = await house(dir.path);
    const { server, alice } = alices;
    for (const who of ["bob", "elsewhere"]) {
      const ask = asker(server.url, who);
      for (const path of ["/threads?search=omelette", "/threads?search=asks&user=alice", "/threads?user=alice", "/threads?search=%25"])
        assert.deepEqual((await ask("GET", path)).json, { threads: [] }, `${who} ${path}`);
      for (const path of ["/calls", "/calls?user=alice", "/calls?threadId=calls&status=pending,called,completed&kind=call"])
        assert.deepEqual((await ask("GET", path)).json, { calls: [] }, `${who} ${path}`);
      assert.deepEqual((await ask("GET", "/grants?user=alice")).json, { grants: [] });
      assert.deepEqual((await ask("GET", "/deliveries?user=alice&threadId=calls")).json, { deliveries: [] });
    }
    await using tail = await Tail.open(server.url, "/events?watch=asks:0,alice~calls:0&heads=all&calls=true", { who: "bob" });
    await tail.until((frames) => frames.some(({ event }) => event === "calls"));
    await alice("POST", "/threads/calls/cancel", {});
    await asker(server.url, "bob")("POST", "/threads/mine/runs", { message: "call get_menu" });
    await tail.until((frames) => frames.some(({ event, data }) => event === "call" && data.includes("get_menu")));
    const said = tail.frames.filter(({ event }) => event !== "hello").map(({ data }) => data);
    assert.ok(!said.some((data) => /omelette|asks|brew|alice|"calls","seq"/.test(data)), said.join("\n"));
    assert.deepEqual(JSON.parse(said.find((data) => data.startsWith('{"calls"')) ?? ""), { calls: [] });
  });
});

describe("red team: an executor of one tool", () => {
  it("sees calls of its tool and nothing of their threads", async () => {
    using dir = directory();
    await using alices = await house(dir.path);
    const { server, ids, alice } = alices;
    const worker = asker(server.url, "tools:get_menu");
    const { json } = await worker("GET", `/calls/${ids.menu}`);
    assert.deepEqual(Object.keys(json).sort(), ["createdAt", "id", "input", "kind", "name", "owner", "status", "threadId", "tool"]);
    for (const path of ["/calls", "/calls?tool=get_menu,brew,pay", "/calls?status=pending,completed,called,cancelled&order=newest"])
      assert.deepEqual(
        (await worker("GET", path)).json.calls.map(({ id }: { id: string }) => id),
        [ids.menu],
      );
    assert.deepEqual((await worker("GET", "/calls?kind=interrupt")).json.calls, []);
    assert.deepEqual((await worker("GET", "/calls?tool=brew")).json.calls, []);
    for (const verb of ["approve", "reject", "respond"])
      assert.equal((await worker("POST", `/calls/${ids.menu}/${verb}`, { output: ["x"] })).status, 403);
    for (const path of ["/threads", "/threads/calls", "/threads/calls/log", "/events?calls=true", "/meta", "/grants", "/deliveries"])
      assert.equal((await worker("GET", path)).status, 404, path);
    await using tail = await Tail.open(server.url, "/calls/events?threadId=calls", { who: "tools:get_menu" });
    await tail.until((frames) => frames.length === 1);
    await alice("POST", `/calls/${ids.brew}/result`, { output: 1 });
    await alice("POST", `/calls/${ids.menu}/result`, { output: ["tea"] });
    await tail.until((frames) => frames.some(({ event }) => event === "closed"));
    assert.deepEqual(
      tail.frames.map(({ event, data }) => [event, JSON.parse(data).id]),
      [
        ["call", ids.menu],
        ["closed", ids.menu],
      ],
    );
  });

  it("is told of no agent and no tool by any door", async () => {
    await using server = await serve({ agents: { default: obedient() }, authenticate, copilotkit: { basePath: "/copilotkit" } });
    const headers = { authorization: "Bearer tools:get_menu", "content-type": "application/json" };
    const posts = [
      ["/agui", { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "hi" }] }],
      ["/agui/history", { threadId: "t" }],
      ["/agui/cancel", { threadId: "t" }],
      ["/copilotkit/agent/default/run", { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "hi" }] }],
      ["/copilotkit/agent/default/connect", { threadId: "t" }],
      ["/copilotkit/agent/default/stop/t", {}],
      ["/copilotkit", { method: "info" }],
      ["/api/chat", { messages: [{ role: "user", content: "hi" }] }],
      ["/api/chat", { id: "t", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }] }],
      ["/chat", { message: "hi" }],
    ] as const;
    for (const [path, body] of posts) {
      const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await response.text();
      assert.ok(response.status === 404 || response.status === 403, `${path}: ${response.status} ${text}`);
      assert.doesNotMatch(text, /get_menu|brew/);
    }
    for (const path of ["/agui/capabilities", "/copilotkit/info", "/api/chat/t/messages", "/api/chat/t/stream", "/chat/pending-tools/t"]) {
      const response = await fetch(server.url + path, { headers });
      const text = await response.text();
      assert.equal(response.status, 404, `${path}: ${response.status} ${text}`);
      assert.doesNotMatch(text, /brew/);
    }
    assert.deepEqual((await asker(server.url, "op")("GET", "/threads")).json.threads, []);
  });
});
