/** A graph as plain data, for drawing: what `/v1/meta` serves and `handback graph print` writes. `START` and `END` are ends of edges only. */
export type GraphDefinition = { nodes: NodeDefinition[]; edges: EdgeDefinition[] };

export type NodeDefinition = {
  id: string;
  kind: "node" | "agent" | "tool" | "graph";
  description?: string;
  /** What is inside, where a graph is. */
  graph?: GraphDefinition;
};

/** `join`: goes on when all that lead there are done. `when`: one that code decides on. */
export type EdgeDefinition = { from: string; to: string; kind: "edge" | "join" | "when"; label?: string };
