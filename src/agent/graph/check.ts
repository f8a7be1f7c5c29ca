import { AppError } from "../../core/error.ts";
import type { Tool } from "../tool.ts";
import { END, START } from "./command.ts";
import type { EdgeDefinition, GraphDefinition } from "./definition.ts";
import type { Edge } from "./edge.ts";
import type { Plan } from "./graph.ts";
import type { Node } from "./node.ts";

const NAME = /^[^/#\s][^/#]{0,99}$/;

/** Refuses a graph that could not run, naming the node. */
export function checkGraph({ nodes, edges }: Pick<Plan, "nodes" | "edges">): void {
  for (const name of nodes.keys()) {
    if (name === START || name === END || !NAME.test(name))
      throw wrong(`${name} is no name for a node: it has 1 to 100 characters without / and #, and is neither START nor END`, "nodes");
  }
  const known = (name: string, where: string) => {
    if (!nodes.has(name)) throw wrong(`${where} names the node ${name}, which does not exist`, "edges");
  };
  for (const edge of edges) {
    const where = `The ${edge.kind} from ${froms(edge).join(", ")} to ${tos(edge).join(", ")}`;
    if (froms(edge).length === 0 || tos(edge).length === 0) throw wrong(`${where} lacks an end`, "edges");
    for (const from of froms(edge)) {
      if (from === END) throw wrong(`${where} begins at END`, "edges");
      if (from === START && edge.kind === "join") throw wrong(`${where} waits for START, which is never done`, "edges");
      if (from !== START) known(from, where);
    }
    for (const to of tos(edge)) {
      if (to === START) throw wrong(`${where} ends at START`, "edges");
      if (to !== END) known(to, where);
    }
  }
  for (const [name, { to }] of nodes) for (const target of to ?? []) if (target !== END) known(target, `${name}.to`);
  if (!edges.some((edge) => froms(edge).includes(START))) throw wrong("No edge leads from START to a node", "edges");
  const reached = reachable({ nodes, edges });
  const lost = [...nodes.keys()].find((name) => !reached.has(name));
  if (lost !== undefined)
    throw wrong(`Nothing leads to the node ${lost}: add an edge, or name it in the \`to\` of the node whose command goes there`, "edges");
}

/** The tools of all agents inside, under one roof. */
export function unite(nodes: Plan["nodes"]): Map<string, Tool> {
  const tools = new Map<string, Tool>();
  const owners = new Map<string, string>();
  for (const [node, made] of nodes) {
    const own = made.kind === "node" ? [] : made.kind === "graph" ? made.graph.tools : made.agent.tools;
    for (const [name, tool] of own) {
      const other = tools.get(name);
      if (other && other !== tool)
        throw wrong(`The nodes ${owners.get(name)} and ${node} have different tools called ${name}; rename one`, "nodes");
      tools.set(name, tool);
      owners.set(name, node);
    }
  }
  return tools;
}

/** The graph as data, for drawing. */
export function define({ nodes, edges }: Pick<Plan, "nodes" | "edges">): GraphDefinition {
  const drawn: EdgeDefinition[] = [];
  const places = new Set<string>();
  const draw = (edge: EdgeDefinition) => {
    drawn.push(edge);
    places.add(edge.from);
    places.add(JSON.stringify([edge.from, edge.to]));
  };
  for (const edge of edges) {
    const label = edge.kind === "when" && edge.label !== undefined ? { label: edge.label } : {};
    for (const from of froms(edge)) for (const to of tos(edge)) draw({ from, to, kind: edge.kind, ...label });
  }
  for (const [from, { to = [] }] of nodes) {
    for (const target of to) {
      if (!places.has(JSON.stringify([from, target]))) draw({ from, to: target, kind: "when" });
    }
  }
  for (const name of nodes.keys()) {
    if (!places.has(name)) draw({ from: name, to: END, kind: "edge" });
  }
  return { nodes: [...nodes].map(([id, node]) => describe(id, node)), edges: drawn };
}

function describe(id: string, node: Node): GraphDefinition["nodes"][number] {
  const { kind, description } = node;
  return {
    id,
    kind,
    ...(description !== undefined && { description }),
    ...(node.kind === "graph" && { graph: node.graph.definition }),
  };
}

function reachable({ nodes, edges }: Pick<Plan, "nodes" | "edges">): Set<string> {
  const next = new Map<string, string[]>();
  const lead = (from: string, to: readonly string[]) => {
    const known = next.get(from);
    if (known) known.push(...to);
    else next.set(from, [...to]);
  };
  for (const edge of edges) for (const from of froms(edge)) lead(from, tos(edge));
  for (const [name, { to }] of nodes) if (to) lead(name, to);
  const reached = new Set<string>([START]);
  for (const name of reached) for (const to of next.get(name) ?? []) reached.add(to);
  return reached;
}

function froms(edge: Edge): readonly string[] {
  return edge.kind === "join" ? edge.from : [edge.from];
}

function tos(edge: Edge): readonly string[] {
  return edge.kind === "when" ? edge.to : [edge.to];
}

function wrong(message: string, field: string): AppError {
  return new AppError("invalid", `Graph: ${message}`, { field });
}
