import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { scripted } from "../../model/scripted.ts";
import { chatAgent } from "../chat.ts";
import { END, goto, START } from "./command.ts";
import { edge, join, when } from "./edge.ts";
import { append, field, initial, merge, reduce } from "./field.ts";
import { graph } from "./graph.ts";
import { agentNode, graphNode, node } from "./node.ts";

const log = field(z.array(z.string()), { reduce: append, default: () => [] });
const make = (nodes: object, edges: object[], more: object = {}) =>
  graph({ log }, { nodes: nodes as never, edges: edges as never, ...more });
const nothing = () => {};

describe("a wrong graph is refused when it is made, and names the node", () => {
  for (const [what, build, message] of [
    [
      "an edge to a node that is not there",
      () => make({ a: nothing }, [edge(START, "a"), edge("a", "b")]),
      "Graph: The edge from a to b names the node b, which does not exist",
    ],
    ["an edge from a node that is not there", () => make({ a: nothing }, [edge(START, "a"), edge("b", "a")]), /names the node b, which/],
    [
      "a choice that is not there",
      () => make({ a: nothing }, [edge(START, "a"), when("a", () => "b", ["b"])]),
      /The when from a to b names the node b/,
    ],
    ["a command's target that is not there", () => make({ a: node(nothing, { to: ["b"] }) }, [edge(START, "a")]), /a\.to names the node b/],
    ["no way in", () => make({ a: nothing }, []), "Graph: No edge leads from START to a node"],
    [
      "a node nothing leads to",
      () => make({ a: nothing, b: nothing }, [edge(START, "a")]),
      /Nothing leads to the node b: add an edge, or name it in the `to`/,
    ],
    ["an edge into START", () => make({ a: nothing }, [edge(START, "a"), edge("a", START)]), /ends at START/],
    ["an edge out of END", () => make({ a: nothing }, [edge(START, "a"), edge(END, "a")]), /begins at END/],
    ["a join with START", () => make({ a: nothing }, [edge(START, "a"), join([START, "a"], "a")]), /waits for START/],
    ["a join of nothing", () => make({ a: nothing }, [edge(START, "a"), join([], "a")]), /lacks an end/],
    ["a name with a slash", () => make({ "a/b": nothing }, [edge(START, "a/b")]), /^Graph: a\/b is no name for a node/],
    ["no supersteps", () => make({ a: nothing }, [edge(START, "a")], { maxSteps: 0 }), "Graph: maxSteps must be 1 or more"],
    ["no try", () => node(nothing, { retry: { attempts: 0 } }), /retry.attempts/],
    ["a graph as an agent", () => agentNode(make({ a: nothing }, [edge(START, "a")])), "agentNode: this agent is a graph; use graphNode"],
  ] as const) {
    it(what, () => assert.throws(build, { code: "invalid", message }));
  }
});

describe("a graph as data", () => {
  it("shows its nodes, where they lead, and what is inside", () => {
    const inner = make({ x: nothing }, [edge(START, "x")]);
    const outer = make(
      {
        a: node(() => goto(END), { to: ["b", END], description: "Decides" }),
        b: agentNode(chatAgent({ model: scripted() })),
        c: graphNode(inner),
      },
      [edge(START, "a"), when("a", () => "b", ["b"], "ready?"), join(["b", "a"], "c")],
    );
    assert.deepEqual(outer.definition, {
      nodes: [
        { id: "a", kind: "node", description: "Decides" },
        { id: "b", kind: "agent" },
        {
          id: "c",
          kind: "graph",
          graph: {
            nodes: [{ id: "x", kind: "node" }],
            edges: [
              { from: START, to: "x", kind: "edge" },
              { from: "x", to: END, kind: "edge" },
            ],
          },
        },
      ],
      edges: [
        { from: START, to: "a", kind: "edge" },
        { from: "a", to: "b", kind: "when", label: "ready?" },
        { from: "b", to: "c", kind: "join" },
        { from: "a", to: "c", kind: "join" },
        { from: "a", to: END, kind: "when" },
        { from: "c", to: END, kind: "edge" },
      ],
    });
    assert.deepEqual(JSON.parse(JSON.stringify(outer.definition)), outer.definition);
  });

  it("refuses options its agents refuse", () => {
    const made = make({ a: agentNode(chatAgent({ model: scripted() })) }, [edge(START, "a")]);
    assert.throws(() => made.check?.({ model: "big" }), { code: "invalid" });
  });
});

describe("fields", () => {
  const fields = {
    n: field(z.number()),
    log,
    bag: field(z.record(z.string(), z.number()), { reduce: merge }),
    sum: field(z.number(), { reduce: (old: number | undefined, add: number) => (old ?? 0) + add }),
    raw: field<unknown>({ type: "number" }),
  };
  const write = (state: object, ...updates: object[]) =>
    reduce(
      fields as never,
      state as never,
      updates.map((update, i) => ({ node: `n${i}`, update: update as never })),
    );

  it("change by the smallest patch there is", async () => {
    const { state, ops } = await write(
      { n: 1, log: ["a"], bag: { x: 1 }, other: true },
      { n: 2, log: ["b", "c"], bag: { "y/z": 2 }, sum: 2 },
      { log: ["d"], sum: 3 },
    );
    assert.deepEqual(state, { n: 2, log: ["a", "b", "c", "d"], bag: { x: 1, "y/z": 2 }, other: true, sum: 5 });
    assert.deepEqual(ops, [
      { op: "replace", path: "/n", value: 2 },
      { op: "add", path: "/log/-", value: "b" },
      { op: "add", path: "/log/-", value: "c" },
      { op: "add", path: "/bag/y~1z", value: 2 },
      { op: "add", path: "/sum", value: 2 },
      { op: "add", path: "/log/-", value: "d" },
      { op: "replace", path: "/sum", value: 5 },
    ]);
  });

  it("leave the state as it was", async () => {
    const before = Object.freeze({ log: Object.freeze(["a"]) });
    await write(before, { log: ["b"] }, { log: ["c"] });
    assert.deepEqual(before, { log: ["a"] });
  });

  it("are checked, whoever writes", async () => {
    await assert.rejects(write({}, { n: 1 }, { n: "1" }), { message: /^n1 writes n: / });
    await assert.rejects(write({ log: [] }, { log: [1] }), { message: /^n0 writes log: / });
    await assert.rejects(write({ log: [] }, { log: "x" }), { message: /^n0 writes log: / });
    await assert.rejects(write({}, { raw: {} }), { message: /^n0 writes raw: / });
    await assert.rejects(write({}, { toString: 1 }), { message: /has no such field/ });
  });

  it("begin with their defaults, and refuse a state that is none", async () => {
    assert.deepEqual(await initial(fields as never, { n: 1 }), { state: { n: 1, log: [] }, ops: [{ op: "add", path: "/log", value: [] }] });
    assert.deepEqual((await initial(fields as never, null)).ops[0], { op: "replace", path: "", value: {} });
    await assert.rejects(initial(fields as never, { n: "x" }), { message: /^The state's field n: / });
  });
});
