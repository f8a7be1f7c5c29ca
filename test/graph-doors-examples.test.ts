import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { strict } from "./support/agui.ts";
import { textOf } from "./support/frames.ts";
import { type Reply, toReply } from "./support/serve.ts";
import { runCli, scratch, startServer } from "./support/server-process.ts";

strict();

/** An example as a user starts it. */
async function example(name: string): Promise<AsyncDisposable & { post(body: object): Promise<Reply> }> {
  const server = await startServer(argsFor(name));
  return { post: (body) => post(server.url, body), [Symbol.asyncDispose]: async () => void (await server.stop()) };
}
const argsFor = (name: string) => ["start", "--port", "0", "--data", scratch(), "--config", `examples/${name}/handback.config.ts`];
const post = async (url: string, body: object) =>
  toReply(await fetch(`${url}/agui`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }));
const say = (content: string, more: object = {}) => ({
  threadId: "t",
  runId: "r1",
  messages: [{ id: "u1", role: "user", content }],
  ...more,
});
const interrupts = (frames: readonly { [field: string]: unknown }[]) =>
  frames
    .flatMap(({ patch }) => (patch ?? []) as { path: string; value: { key: string; lineageId: string } | null }[])
    .flatMap(({ path, value }) => (path === "/interrupt" && value ? [value] : []));

describe("examples of graphs", () => {
  it("graph-approval pays what is small, asks about the rest, and lets a person change the amount", async () => {
    await using server = await example("graph-approval");
    assert.equal(textOf((await server.post(say("taxi, 40", { threadId: "small" }))).frames), "Paid 40.");
    const { frames } = await server.post(say("laptop, 1400"));
    assert.deepEqual(
      interrupts(frames).map(({ key }) => key),
      ["approve"],
    );
    const answer = (payload: object) => server.post({ threadId: "t", runId: "r2", forwardedProps: { resume_map: { approve: payload } } });
    assert.equal((await answer({ approved: "yes" })).status, 422);
    assert.equal(textOf((await answer({ approved: true, amount: 1200 })).frames), "Paid 1200.");
    await server.post(say("yacht, 99999", { threadId: "no" }));
    const no = await server.post({ threadId: "no", forwardedProps: { resume_map: { approve: { approved: false, reason: "too large" } } } });
    assert.equal(textOf(no.frames), "Not paid: too large.");
    assert.deepEqual(no.frames.at(-1)?.["result"], { log: ["asked for 99999", "rejected"] });
  });

  it("graph-recipe plans, waits to be confirmed, and cooks", async () => {
    await using server = await example("graph-recipe");
    const { frames } = await server.post(say("omelette"));
    assert.equal(textOf(frames), "Two eggs, a spoon of butter and some salt.");
    const [{ lineageId } = { lineageId: "" }] = interrupts(frames);
    const { frames: cooked } = await server.post({ threadId: "t", runId: "r2", forwardedProps: { lineage_id: lineageId, resume: true } });
    assert.equal(textOf(cooked), "Here is your omelette: Two eggs, a spoon of butter and some salt.");
    assert.ok(cooked.some(({ name }) => name === "node.progress"));
  });

  it("graph-research looks at all topics at once and sums up in their order", async () => {
    await using server = await example("graph-research");
    const { frames } = await server.post(say("tea, coffee, cocoa"));
    assert.equal(
      textOf(frames),
      "In short: tea grows in the mountains; tea was checked; coffee grows in the mountains; coffee was checked; cocoa grows in the mountains; cocoa was checked",
    );
    const starts = frames
      .flatMap(({ patch }) => (patch ?? []) as { value: { nodeId: string; phase: string } }[])
      .map(({ value }) => `${value.nodeId} ${value.phase}`);
    assert.deepEqual(starts.slice(2, 5), ["branch start", "branch start", "branch start"]);
  });

  it("graph-report opens the panel, writes and closes it, in the seed's order", async () => {
    await using server = await example("graph-report");
    const { frames } = await server.post(say("tea"));
    const order = frames.map(({ type }) => type).filter((type, i, all) => /^(TEXT|TOOL)/.test(type) && type !== all[i - 1]);
    const TEXT = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
    const CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"];
    assert.deepEqual(order, [...TEXT, ...CALL, ...TEXT, ...CALL, ...TEXT]);
    assert.deepEqual(
      frames.flatMap(({ toolCallName }) => toolCallName ?? []),
      ["open_report_document", "close_report_document"],
    );
  });
});

describe("handback graph print", () => {
  it("writes a configuration's graph as Mermaid", async () => {
    const { code, stdout } = await runCli(["graph", "print", "--config", "examples/graph-approval/handback.config.ts"]);
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `flowchart TD
  nstart(("start"))
  n0["review"]
  n1["approve"]
  n2["pay"]
  nend((("end")))
  nstart --> n0
  n0 -.->|"more than 100?"| n1
  n0 -.->|"more than 100?"| n2
  n2 --> nend
  n1 -.-> n2
  n1 -.-> nend
`,
    );
  });

  it("draws what is inside a node inside it, for the agent that is named", async () => {
    const { stdout } = await runCli(["graph", "print", "default", "--config", "examples/graph-research/handback.config.ts"]);
    assert.match(stdout, /subgraph n1\["branch"\]\n {4}n1_start\(\("start"\)\)\n {4}n1_0\["look"\]/);
    assert.match(stdout, /n2\(\["write"\]\)/);
  });

  it("says what it needs, and which graphs there are", async () => {
    const wrong: [string[], RegExp][] = [
      [["graph"], /handback graph print/],
      [["graph", "draw"], /handback graph print/],
      [["graph", "print", "a", "b"], /one word too many/],
      [["graph", "print", "nobody", "--config", "examples/graph-recipe/handback.config.ts"], /nobody.*default/],
      [["graph", "print", "--config", "examples/coffee-shop/handback.config.ts"], /No agent .* is a graph/],
    ];
    for (const [args, said] of wrong) {
      const { code, stderr } = await runCli(args);
      assert.equal(code, 1, args.join(" "));
      assert.match(stderr, said);
    }
    assert.match((await runCli(["--help"])).stdout, /handback graph print/);
  });
});

describe("a graph whose server is killed", () => {
  it("goes on from its question on the next one, once", async () => {
    const args = argsFor("graph-recipe");
    const first = await startServer(args);
    const [{ lineageId } = { lineageId: "" }] = interrupts((await post(first.url, say("omelette"))).frames);
    await first.stop("SIGKILL");
    const second = await startServer(args);
    const resume = { threadId: "t", runId: "r2", forwardedProps: { lineage_id: lineageId, resume_map: { confirm: true } } };
    const replies = await Promise.all([post(second.url, resume), post(second.url, resume)]);
    for (const { frames } of replies) assert.match(textOf(frames), /^Here is your omelette/);
    await second.stop("SIGKILL");
    const third = await startServer(args);
    assert.match(textOf((await post(third.url, resume)).frames), /^Here is your omelette/);
    const { events } = (await (await fetch(`${third.url}/v1/threads/t/log?deltas=false`)).json()) as { events: { type: string }[] };
    assert.equal(events.filter(({ type }) => type === "run.started").length, 2);
    await third.stop();
  });
});
