import { AppError } from "../../core/error.ts";
import type { Arrived, Task } from "../../core/event.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { END, START, type Target } from "./command.ts";
import type { Edge } from "./edge.ts";
import { toJson } from "./field.ts";
import type { Plan } from "./graph.ts";

/** What a finished task wants: `goto` replaces its node's edges. */
export type Wish = { update?: JsonObject; goto?: Target[] };

/** A graph's edges by where they begin, so that a barrier looks at those it needs. */
export type Routes = { from: ReadonlyMap<string, readonly Edge[]> };

export function toRoutes(edges: readonly Edge[]): Routes {
  const from = new Map<string, Edge[]>();
  for (const edge of edges) {
    for (const node of edge.kind === "join" ? edge.from : [edge.from]) from.set(node, [...(from.get(node) ?? []), edge]);
  }
  return { from };
}

/** Where the graph goes when these tasks are done, in their order, and who has come to joins that still wait. */
export function route(
  { nodes }: Pick<Plan, "nodes">,
  { from }: Routes,
  finished: readonly { node: string; wish: Wish }[],
  state: () => JsonObject,
  before: Arrived,
): { next: Omit<Task, "taskId">[]; arrived: Arrived } {
  const next: Omit<Task, "taskId">[] = [];
  const plain = new Set<string>(); // a node that several lead to runs once
  let arrived = before;
  const go = (target: Target, by: string, allowed: readonly string[] | undefined) => {
    const node = typeof target === "string" ? target : target.node;
    if (node !== END && !nodes.has(node)) throw new AppError("invalid", `${by} goes to ${node}, which is no node of this graph`);
    if (allowed && !allowed.includes(node))
      throw new AppError("invalid", `${by} goes to ${node}, but may only go to ${allowed.join(", ")}`);
    if (node === END) return;
    if (typeof target !== "string") next.push({ node, input: toJson(target.input) });
    else if (!plain.has(node)) {
      plain.add(node);
      next.push({ node });
    }
  };
  const joined: Extract<Edge, { kind: "join" }>[] = [];
  for (const { node, wish } of finished) {
    if (wish.goto) {
      for (const target of wish.goto) go(target, node, nodes.get(node)?.to);
      continue;
    }
    for (const edge of from.get(node) ?? []) {
      if (edge.kind === "edge") go(edge.to, node, undefined);
      else if (edge.kind === "when") for (const target of chosen(edge, state())) go(target, `What follows ${node}`, edge.to);
      else {
        const name = joinName(edge);
        const come = arrived[name] ?? [];
        if (!come.includes(node)) arrived = { ...arrived, [name]: [...come, node] };
        if (!joined.includes(edge)) joined.push(edge);
      }
    }
  }
  for (const edge of joined) {
    const name = joinName(edge);
    if (!edge.from.every((node) => arrived[name]?.includes(node))) continue;
    const { [name]: _, ...rest } = arrived;
    arrived = rest;
    go(edge.to, edge.from.join(" and "), undefined);
  }
  return { next, arrived };
}

/** Where a graph begins. */
export function entry(plan: Pick<Plan, "nodes">, routes: Routes, state: () => JsonObject): Omit<Task, "taskId">[] {
  return route(plan, routes, [{ node: START, wish: {} }], state, {}).next;
}

function joinName({ from, to }: Extract<Edge, { kind: "join" }>): string {
  return `${from.join("+")}>${to}`;
}

function chosen(edge: Extract<Edge, { kind: "when" }>, state: JsonObject): readonly Target[] {
  let said: Target | readonly Target[];
  try {
    said = edge.choose(state as never);
  } catch (error) {
    throw new AppError("internal", `What follows ${edge.from} could not be decided`, { cause: error });
  }
  return isMany(said) ? said : [said];
}

function isMany(said: Target | readonly Target[]): said is readonly Target[] {
  return Array.isArray(said);
}

/** What a task of a node sees: the state, and on top of it what it alone was sent. */
export function seen(state: JsonObject, input: Json | undefined): JsonObject {
  return isObject(input) ? Object.freeze({ ...state, ...input }) : state;
}
