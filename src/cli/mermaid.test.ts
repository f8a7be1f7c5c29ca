import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GraphDefinition } from "../agent/graph/definition.ts";
import { toMermaid } from "./mermaid.ts";

const small: GraphDefinition = {
  nodes: [{ id: "ask", kind: "node" }],
  edges: [
    { from: "__start__", to: "ask", kind: "edge" },
    { from: "ask", to: "__end__", kind: "edge" },
  ],
};

const recipe: GraphDefinition = {
  nodes: [
    { id: "plan", kind: "agent", description: "Plans" },
    { id: "search", kind: "tool" },
    { id: "confirm", kind: "graph", graph: small },
    { id: "cook", kind: "node" },
  ],
  edges: [
    { from: "__start__", to: "plan", kind: "edge" },
    { from: "__start__", to: "search", kind: "edge" },
    { from: "plan", to: "confirm", kind: "join" },
    { from: "search", to: "confirm", kind: "join" },
    { from: "confirm", to: "cook", kind: "when", label: "yes" },
    { from: "confirm", to: "__end__", kind: "when" },
  ],
};

describe("toMermaid", () => {
  it("draws nodes by their kind, what code decides dashed, and a graph inside its node", () => {
    assert.equal(
      toMermaid(new Map([["default", recipe]])),
      `flowchart TD
  nstart(("start"))
  n0(["plan"])
  n1[["search"]]
  subgraph n2["confirm"]
    n2_start(("start"))
    n2_0["ask"]
    n2_end((("end")))
    n2_start --> n2_0
    n2_0 --> n2_end
  end
  n3["cook"]
  nend((("end")))
  nstart --> n0
  nstart --> n1
  n0 ==> n2
  n1 ==> n2
  n2 -.->|"yes"| n3
  n2 -.-> nend
`,
    );
  });

  it("puts several graphs side by side, each under its agent's name", () => {
    const text = toMermaid(new Map(Object.entries({ one: small, two: small })));
    assert.match(text, /^flowchart TD\n {2}subgraph g0\["one"\]\n {4}g0_start/);
    assert.match(text, /\n {2}subgraph g1\["two"\]\n/);
  });

  it("lets no name leave its quotes or be read as markup", () => {
    const names = [
      'a"]; click x "javascript:alert(1)',
      "<img src=x onerror=alert(1)>",
      "`**bold**`",
      "end",
      "a\nb",
      "#quot;",
      "结账 🍵",
      "",
    ];
    const nodes = names.map((id) => ({ id, kind: "node" as const }));
    const edges = names.map((to) => ({ from: "__start__", to, kind: "when" as const, label: to }));
    const lines = toMermaid(new Map([["default", { nodes, edges }]]))
      .trimEnd()
      .split("\n");
    assert.equal(lines.length, 2 + 2 * names.length);
    for (const line of lines.slice(2)) assert.match(line, /^ {2}(n\d+\["[^"<>`]+"\]|nstart -\.->\|"[^"<>`]+"\| n\d+)$/);
  });
});
