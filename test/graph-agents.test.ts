import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { START } from "../src/agent/graph/command.ts";
import { edge, join } from "../src/agent/graph/edge.ts";
import { append, field } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { agentNode, graphNode, toolNode } from "../src/agent/graph/node.ts";
import { tool } from "../src/agent/tool.ts";
import type { ModelRequest } from "../src/model/model.ts";
import { calls, fails, hangs, says, scripted, scriptedBy } from "../src/model/scripted.ts";
import { begun, failureOf, folded, only, outcomes } from "./graph/support.ts";
import { message, startEngine } from "./support/engine.ts";
import { eventually } from "./support/eventually.ts";

const log = field(z.array(z.string()), { reduce: append, default: () => [] });
const ext = tool({ name: "ext", description: "Outside", input: z.object({ q: z.string() }), output: z.object({ hits: z.number() }) });
const pay = tool({ name: "pay", description: "With approval", input: z.object({}), approval: true, execute: () => "paid" });
const look = tool({ name: "look", description: "Here", input: z.object({}), execute: () => ({ seen: true }) });
const said = (request: ModelRequest | undefined) =>
  (request?.history ?? []).map((entry) =>
    entry.role === "user" ? `user: ${entry.content}` : `${entry.parts.map((part) => part.type).join(" ")}`,
  );

describe("an agent in a node", () => {
  it("pauses the graph for an external tool and goes on with its result", async () => {
    const model = scripted(calls("ext", { q: "pie" }, { id: "c1" }), says("Found it."));
    const agent = graph(
      { dish: field(z.string()), log },
      {
        input: ({ text }) => ({ dish: text }),
        nodes: {
          plan: agentNode(chatAgent({ model, tools: [ext] }), {
            input: (state) => `Plan ${state.dish}`,
            output: ({ text }) => ({ log: [text] }),
          }),
          end: ({ state }) => ({ log: [`${state.log.length}`] }),
        },
        edges: [edge(START, "plan"), edge("plan", "end")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("pie"));
    const first = await started.idle();
    const waiting = only(first, "run.ended")[0]?.outcome;
    assert.ok(waiting?.type === "waiting");
    const turnId = only(first, "run.started")[0]?.turnId ?? "";
    const checkpointId = only(first, "checkpoint.reached")[0]?.checkpointId ?? "";
    assert.deepEqual(waiting.for, [
      { type: "call", callId: "c1", name: "ext", owner: "external", run: 1, place: { path: ["plan"], lineageId: turnId, checkpointId } },
    ]);
    await started.submit({ results: [{ callId: "c1", status: "completed", output: { hits: 2 } }], resume: { lineageId: turnId } });
    const events = await started.idle();
    assert.deepEqual(outcomes(events), ["waiting", "done"]);
    assert.deepEqual((await folded(started)).state, { dish: "pie", log: ["Found it.", "1"] });
    assert.deepEqual(model.requests.map(said), [["user: Plan pie"], ["user: Plan pie", "call"]]);
    const steps = only(events, "step.started");
    assert.deepEqual(
      steps.map(({ name, kind, parentStepId }) => [name, kind, steps.find(({ stepId }) => stepId === parentStepId)?.name]),
      [
        ["plan", "agent", undefined],
        ["plan/model", "model", "plan"],
        ["plan", "agent", undefined],
        ["plan/model", "model", "plan"],
        ["end", "node", undefined],
      ],
    );
  });

  it("beside others, each with tools and approvals of its own, and none waits for the other's tools", async () => {
    const slow = Promise.withResolvers<string>();
    const waits = tool({ name: "waits", description: "Slow", input: z.object({}), execute: () => slow.promise });
    const one = scripted(calls("waits", {}, { id: "w1" }), says("one"));
    const two = scripted(calls("look", {}, { id: "l1" }), calls("pay", {}, { id: "p1" }), says("two"));
    const three = scripted(calls("ext", { q: "x" }, { id: "e1" }), says("three"));
    const agent = graph(
      { log },
      {
        nodes: {
          one: agentNode(chatAgent({ model: one, tools: [waits] }), { input: () => "1", output: ({ text }) => ({ log: [text] }) }),
          two: agentNode(chatAgent({ model: two, tools: [look, pay] }), { input: () => "2", output: ({ text }) => ({ log: [text] }) }),
          three: agentNode(chatAgent({ model: three, tools: [ext] }), { input: () => "3", output: ({ text }) => ({ log: [text] }) }),
          end: () => ({ log: ["end"] }),
        },
        edges: [edge(START, "one"), edge(START, "two"), edge(START, "three"), join(["one", "two", "three"], "end")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await eventually(async () => only(await started.events(), "interrupt.raised").length === 1);
    assert.equal(two.requests.length, 2, "it went on while the slow tool ran");
    slow.resolve("done");
    const paused = await started.idle();
    const waiting = only(paused, "run.ended")[0]?.outcome;
    assert.ok(waiting?.type === "waiting");
    assert.deepEqual(waiting.for.map(({ place, type }) => [type, place?.path.join()]).sort(), [
      ["call", "three"],
      ["interrupt", "two"],
    ]);
    await started.submit({ results: [{ callId: "e1", status: "completed", output: { hits: 1 } }] });
    const partly = await started.idle();
    assert.equal(three.requests.length, 2, "an agent whose call is settled goes on, whatever the others wait for");
    assert.deepEqual(outcomes(partly), ["waiting", "waiting"]);
    await started.submit({ answers: [{ callId: "p1", status: "resolved", value: { approved: true } }] });
    const events = await started.idle();
    assert.deepEqual(outcomes(events), ["waiting", "waiting", "done"]);
    assert.deepEqual((await folded(started)).state, { log: ["one", "two", "three", "end"] });
    const names = new Set<string>();
    for (const event of events) {
      if (event.type === "step.started") {
        assert.ok(!names.has(event.name), `two open steps are called ${event.name}`);
        names.add(event.name);
      } else if (event.type === "step.ended") names.delete(event.name);
    }
  });

  it("sees the conversation, what other nodes said, or only its input", async () => {
    const agents = {
      plain: scripted(says("p1"), says("p2")),
      all: scripted(says("a1"), says("a2")),
      input: scripted(says("i1"), says("i2")),
    };
    const agent = graph(
      { log },
      {
        nodes: {
          plain: agentNode(chatAgent({ model: agents.plain })),
          all: agentNode(chatAgent({ model: agents.all }), { sees: "all" }),
          input: agentNode(chatAgent({ model: agents.input }), { input: () => "only this" }),
        },
        edges: [edge(START, "plain"), edge("plain", "all"), edge("all", "input")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("hi"));
    await started.idle();
    await started.submit(message("more"));
    await started.idle();
    assert.deepEqual(agents.plain.requests.map(said), [["user: hi"], ["user: hi", "text", "text", "text", "user: more"]]);
    assert.deepEqual(agents.all.requests.map(said), [
      ["user: hi", "text"],
      ["user: hi", "text", "text", "text", "user: more", "text"],
    ]);
    assert.deepEqual(agents.input.requests.map(said), [["user: only this"], ["user: only this"]]);
  });

  it("begins anew each time its node is visited", async () => {
    const model = scripted(says("one"), says("two"));
    const agent = graph(
      { log },
      {
        nodes: {
          write: agentNode(chatAgent({ model }), {
            input: (state) => `draft ${state.log.length}`,
            output: ({ text }) => ({ log: [text] }),
          }),
          check: () => {},
        },
        edges: [
          edge(START, "write"),
          edge("write", "check"),
          { kind: "when", from: "check", to: ["write"], choose: (state) => (state.log.length < 2 ? "write" : []) },
        ],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.deepEqual(outcomes(await started.idle()), ["done"]);
    assert.deepEqual(model.requests.map(said), [["user: draft 0"], ["user: draft 1"]]);
  });

  it("is tried again when its model fails in mid-sentence; what it said then stays visible and unheard", async () => {
    const model = scripted(fails("overloaded", { after: says("Half a").slice(0, 2) }), says("Whole."));
    const agent = graph(
      { log },
      {
        nodes: {
          a: agentNode(chatAgent({ model }), {
            input: () => "go",
            output: ({ text }) => ({ log: [text] }),
            retry: { attempts: 2, delay: "1s" },
          }),
        },
        edges: [edge(START, "a")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await eventually(async () => only(await started.events(), "step.ended").some(({ retrying }) => retrying));
    await started.clock.advance(1_001);
    const events = await started.idle();
    assert.deepEqual(outcomes(events), ["done"]);
    const { history, state } = await folded(started);
    assert.deepEqual(state, { log: ["Whole."] });
    assert.deepEqual(
      history.flatMap((entry) => (entry.role === "assistant" ? entry.state : [])),
      ["abandoned", "completed"],
    );
    assert.deepEqual(model.requests.map(said), [["user: go"], ["user: go"]]);
    assert.equal(only(events, "text.ended").length, 2);
  });

  it("that keeps calling wrongly, or takes too many steps, fails its node", async () => {
    const model = scriptedBy(() => calls("nope", {}));
    const agent = graph({ log }, { nodes: { a: agentNode(chatAgent({ model }), { input: () => "go" }) }, edges: [edge(START, "a")] });
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.match(failureOf(await started.idle()) ?? "", /^Node a failed: The model called tools wrongly 3 times/);
  });

  it("has its time, which stops its model", async () => {
    const model = scripted(hangs(...says("Let me think").slice(0, 2)));
    const agent = graph(
      { log },
      { nodes: { a: agentNode(chatAgent({ model }), { input: () => "go", timeout: "5s" }) }, edges: [edge(START, "a")] },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await eventually(async () => only(await started.events(), "text.delta").length > 0);
    await started.clock.advance(5_001);
    const events = await started.idle();
    assert.match(failureOf(events) ?? "", /took longer than 5000 ms/);
    assert.equal(only(events, "text.ended")[0]?.text, "Let me think");
  });

  it("pauses the graph around the graph it is in", async () => {
    const model = scripted(calls("ext", { q: "x" }, { id: "c1" }), says("deep"));
    const inner = graph(
      { log },
      {
        nodes: { ask: agentNode(chatAgent({ model, tools: [ext] }), { input: () => "go", output: ({ text }) => ({ log: [text] }) }) },
        edges: [edge(START, "ask")],
      },
    );
    const outer = graph(
      { log },
      { nodes: { sub: graphNode(inner, { output: ({ log }) => ({ log: [...log] }) }) }, edges: [edge(START, "sub")] },
    );
    await using started = startEngine({ agents: { default: outer } });
    await started.submit(message("go"));
    const paused = await started.idle();
    assert.deepEqual(only(paused, "tool.called")[0]?.place?.path, ["sub", "ask"]);
    await started.submit({ results: [{ callId: "c1", status: "completed", output: { hits: 1 } }] });
    await started.idle();
    assert.deepEqual((await folded(started)).state, { log: ["deep"] });
    assert.deepEqual(begun(await started.events()), ["sub", "sub/ask", "sub", "sub/ask"]);
  });
});

describe("a tool in a node", () => {
  const make = (used: typeof ext, more: object = {}) =>
    graph(
      { dish: field(z.string()), log },
      {
        input: ({ text }) => ({ dish: text }),
        nodes: {
          search: toolNode(used, { input: (state) => ({ q: state.dish }), output: (found) => ({ log: [`${found.hits} hits`] }), ...more }),
        },
        edges: [edge(START, "search")],
      },
    );

  it("runs here, and its output is the node's", async () => {
    const here = tool({
      name: "ext",
      description: "",
      input: z.object({ q: z.string() }),
      output: z.object({ hits: z.number() }),
      execute: ({ q }) => ({ hits: q.length }),
    });
    await using started = startEngine({ agents: { default: make(here) } });
    await started.submit(message("pie"));
    await started.idle();
    assert.deepEqual((await folded(started)).state, { dish: "pie", log: ["3 hits"] });
  });

  it("runs outside, and the graph waits for it", async () => {
    await using started = startEngine({ agents: { default: make(ext) } });
    await started.submit(message("pie"));
    const [offer] = only(await started.idle(), "call.offered");
    assert.deepEqual([offer?.name, offer?.input], ["ext", { q: "pie" }]);
    await assert.rejects(started.submit({ results: [{ callId: offer?.callId ?? "", status: "completed", output: "?" }] }), {
      code: "unprocessable",
    });
    await started.submit({ results: [{ callId: offer?.callId ?? "", status: "completed", output: { hits: 7 } }] });
    await started.idle();
    assert.deepEqual((await folded(started)).state, { dish: "pie", log: ["7 hits"] });
  });

  it("that fails, fails its node, and is called again by the run's retry", async () => {
    await using started = startEngine({ agents: { default: make(ext) } });
    await started.submit(message("pie"));
    const [offer] = only(await started.idle(), "call.offered");
    await started.submit({ results: [{ callId: offer?.callId ?? "", status: "failed", error: "no net" }] });
    assert.equal(failureOf(await started.idle()), "Node search failed: ext: no net");
    await started.submit({});
    const again = only(await started.idle(), "call.offered")[1];
    assert.ok(again);
    await started.submit({ results: [{ callId: again.callId, status: "completed", output: { hits: 1 } }] });
    await started.idle();
    assert.deepEqual((await folded(started)).state, { dish: "pie", log: ["1 hits"] });
  });

  it("that fails may lead elsewhere", async () => {
    const failed = ({ status, error }: { status: string; error: string }) => ({ log: [`${status}: ${error}`] });
    await using started = startEngine({ agents: { default: make(ext, { failed }) } });
    await started.submit(message("pie"));
    const [offer] = only(await started.idle(), "call.offered");
    await started.submit({ results: [{ callId: offer?.callId ?? "", status: "failed", error: "no net" }] });
    await started.idle();
    assert.deepEqual((await folded(started)).state, { dish: "pie", log: ["failed: no net"] });
  });
});

describe("tools of all the agents inside", () => {
  it("are the graph's, and must not clash", () => {
    const other = tool({ name: "ext", description: "Another", input: z.object({}) });
    const with_ = (...tools: (typeof ext | typeof other)[]) =>
      graph(
        { log },
        {
          nodes: Object.fromEntries(tools.map((made, i) => [`n${i}`, agentNode(chatAgent({ model: scripted(), tools: [made] }))])),
          edges: tools.map((_, i) => edge(START, `n${i}`)),
        },
      );
    assert.deepEqual([...with_(ext, ext).tools.keys()], ["ext"]);
    assert.throws(() => with_(ext, other), { message: "Graph: The nodes n0 and n1 have different tools called ext; rename one" });
  });
});
