import { graphlib, layout } from "@dagrejs/dagre";
import type { GraphInfo } from "handback/client";

export const NODE = { width: 176, height: 60 } as const;
const END_SIZE = { width: 64, height: 30 } as const;

export type Placed = { id: string; x: number; y: number; width: number; height: number; end: boolean };

/** Puts the nodes of a graph in layers, so that edges lead down. */
export function place({ nodes, edges }: GraphInfo): Placed[] {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 36, ranksep: 52, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const inner = new Set(nodes.map(({ id }) => id));
  const ends = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].filter((id) => !inner.has(id));
  for (const id of inner) graph.setNode(id, { ...NODE });
  for (const id of ends) graph.setNode(id, { ...END_SIZE });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  return [...inner, ...ends].map((id) => {
    const { x, y, width, height } = graph.node(id) as { x: number; y: number; width: number; height: number };
    return { id, x: x - width / 2, y: y - height / 2, width, height, end: !inner.has(id) };
  });
}
