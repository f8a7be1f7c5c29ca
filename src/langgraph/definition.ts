import type { EdgeDefinition, GraphDefinition, NodeDefinition } from "../agent/graph/definition.ts";

/** What of LangGraph's own drawing is drawn here. */
type Drawing = {
  nodes: Record<string, { id: string; data?: unknown }>;
  edges: { source: string; target: string; data?: string; conditional?: boolean }[];
};

/** A graph that can draw itself. */
export type Drawn = { getGraph(): Drawing };

/** A compiled graph as data. What is inside nodes is shown where the node itself is a graph, not where its code calls one. */
export function toDefinition(compiled: Drawn): GraphDefinition {
  const { nodes, edges } = compiled.getGraph();
  return {
    nodes: Object.values(nodes)
      .filter(({ id }) => id !== "__start__" && id !== "__end__")
      .map(toNode),
    edges: edges.map(
      ({ source, target, data, conditional }): EdgeDefinition => ({
        from: source,
        to: target,
        kind: conditional ? "when" : "edge",
        ...(data !== undefined && data !== target && { label: data }),
      }),
    ),
  };
}

function toNode({ id, data }: { id: string; data?: unknown }): NodeDefinition {
  return isGraph(data) ? { id, kind: "graph", graph: toDefinition(data) } : { id, kind: "node" };
}

function isGraph(data: unknown): data is Drawn {
  return typeof data === "object" && data !== null && "lg_is_pregel" in data && data.lg_is_pregel === true;
}
