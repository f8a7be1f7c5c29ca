import { END, START } from "../agent/graph/command.ts";
import type { EdgeDefinition, GraphDefinition, NodeDefinition } from "../agent/graph/definition.ts";

/** Graphs as a Mermaid flowchart, by the names of their agents. What is inside a node stands inside it. */
export function toMermaid(graphs: ReadonlyMap<string, GraphDefinition>): string {
  const lines = ["flowchart TD"];
  if (graphs.size === 1) for (const graph of graphs.values()) lines.push(...drawn(graph, "n", 1));
  else for (const [i, [name, graph]] of [...graphs].entries()) lines.push(...boxed(name, graph, `g${i}`, 1));
  return `${lines.join("\n")}\n`;
}

/** A graph's nodes and edges. Names are written as labels only: what an id may hold is up to Mermaid, and a name is up to its author. */
function drawn({ nodes, edges }: GraphDefinition, prefix: string, depth: number): string[] {
  const ids = new Map(nodes.map(({ id }, i) => [id, `${prefix}${i}`]));
  ids.set(START, `${prefix}start`);
  ids.set(END, `${prefix}end`);
  const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const id = (name: string) => ids.get(name) ?? prefix;
  return [
    ...(used.has(START) ? [indent(depth, `${id(START)}(("start"))`)] : []),
    ...nodes.flatMap((node) => shape(node, id(node.id), depth)),
    ...(used.has(END) ? [indent(depth, `${id(END)}((("end")))`)] : []),
    ...edges.map((edge) => indent(depth, arrow(edge, id))),
  ];
}

function boxed(name: string, graph: GraphDefinition, id: string, depth: number): string[] {
  return [indent(depth, `subgraph ${id}[${text(name)}]`), ...drawn(graph, `${id}_`, depth + 1), indent(depth, "end")];
}

function shape({ id: name, kind, graph }: NodeDefinition, id: string, depth: number): string[] {
  if (graph) return boxed(name, graph, id, depth);
  switch (kind) {
    case "agent":
      return [indent(depth, `${id}([${text(name)}])`)];
    case "tool":
      return [indent(depth, `${id}[[${text(name)}]]`)];
    case "graph":
      return [indent(depth, `${id}{{${text(name)}}}`)];
    case "node":
      return [indent(depth, `${id}[${text(name)}]`)];
    default:
      return kind satisfies never;
  }
}

/** A thick line waits for the others that lead there; a dashed one is code's to decide. */
function arrow({ from, to, kind, label }: EdgeDefinition, id: (name: string) => string): string {
  const line = { edge: "-->", join: "==>", when: "-.->" }[kind];
  return `${id(from)} ${line}${label === undefined ? "" : `|${text(label)}|`} ${id(to)}`;
}

/** Text that can neither end its quotes nor be read as markup or an entity. */
function text(name: string): string {
  const safe = name.replaceAll(/["#<>&`\\]/g, (sign) => `#${sign.charCodeAt(0)};`).replaceAll(/\p{Cc}+/gu, " ");
  return `"${safe.trim() === "" ? " " : safe}"`;
}

function indent(depth: number, line: string): string {
  return "  ".repeat(depth) + line;
}
