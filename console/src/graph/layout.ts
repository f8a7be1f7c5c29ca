import { graphlib, layout } from "@dagrejs/dagre";
import type { GraphInfo } from "handback/client";

const NODE = { width: 176, height: 60 } as const;
const END_SIZE = { width: 64, height: 30 } as const;

export type Placed = { id: string; x: number; y: number; width: number; height: number; end: boolean };
export type Point = { x: number; y: number };

/** Puts the nodes of a graph in layers, so that edges lead down and around nodes. `lines[i]` is the way of edge `i`. */
export function place({ nodes, edges }: GraphInfo): { placed: Placed[]; lines: Point[][] } {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 36, edgesep: 28, ranksep: 52, marginx: 12, marginy: 12 });
  const inner = new Set(nodes.map(({ id }) => id));
  const ends = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].filter((id) => !inner.has(id));
  for (const id of inner) graph.setNode(id, { ...NODE });
  for (const id of ends) graph.setNode(id, { ...END_SIZE });
  for (const [i, { from, to, label }] of edges.entries()) {
    graph.setEdge(from, to, label === undefined ? {} : { width: label.length * 7, height: 16, labelpos: "c" }, String(i));
  }
  layout(graph);
  const placed = [...inner, ...ends].map((id) => {
    const { x, y, width, height } = graph.node(id) as { x: number; y: number; width: number; height: number };
    return { id, x: x - width / 2, y: y - height / 2, width, height, end: !inner.has(id) };
  });
  const lines = edges.map(({ from, to }, i) => (graph.edge(from, to, String(i)) as { points: Point[] }).points);
  return { placed, lines };
}

/** `__end__` is the end to everyone who reads it. */
export function endName(id: string): string {
  return /^(__\w+__|START|END)$/.test(id) ? id.replaceAll("_", "").toLowerCase() : id;
}

const ROUND = 14;

/** A line through points, with its corners rounded. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const parts = [`M ${first.x} ${first.y}`];
  for (const [i, point] of rest.entries()) {
    const next = rest[i + 1];
    if (!next) parts.push(`L ${point.x} ${point.y}`);
    else {
      const [a, b] = [toward(point, points[i] as Point), toward(point, next)];
      parts.push(`L ${a.x} ${a.y} Q ${point.x} ${point.y} ${b.x} ${b.y}`);
    }
  }
  return parts.join(" ");
}

/** A point near `from`, on the way to `to`. */
function toward(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.min(ROUND, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
