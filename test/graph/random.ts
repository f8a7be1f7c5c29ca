import fc from "fast-check";
import { z } from "zod";
import { END, START, send, type Target } from "../../src/agent/graph/command.ts";
import { type Edge, edge, join } from "../../src/agent/graph/edge.ts";
import { append, field, merge } from "../../src/agent/graph/field.ts";
import { type Graph, graph } from "../../src/agent/graph/graph.ts";
import { graphNode, type Node, type NodeContext, node } from "../../src/agent/graph/node.ts";
import type { Json } from "../../src/core/json.ts";

/** A graph as data: layers of nodes, and how one leads to the next. Plain JSON, so that a child process can build it too. */
export type Spec = { layers: Layer[]; rounds: number };
export type Layer = { nodes: NodeSpec[]; lead: "all" | "join" | "send" | "some" };
export type NodeSpec = { asks: number; together: boolean; waits: boolean; speaks: boolean; fails: number; inside?: Spec };

/** What a built graph tells about itself and asks. */
export type Hooks = {
  ran(context: NodeContext<never>, path: string): void | Promise<void>;
  /** Asks a question; what an uninterrupted run answers by itself. */
  ask(context: NodeContext<never>, key: string): Promise<Json>;
};

const nodeSpec = (deep: number): fc.Arbitrary<NodeSpec> =>
  fc.record({
    asks: fc.constantFrom(0, 0, 0, 1, 2),
    together: fc.boolean(),
    waits: fc.boolean(),
    speaks: fc.boolean(),
    fails: fc.constantFrom(0, 0, 0, 1),
    ...(deep > 0 && { inside: fc.option(spec(deep - 1), { nil: undefined, freq: 4 }) as fc.Arbitrary<Spec> }),
  }) as fc.Arbitrary<NodeSpec>;

export function spec(deep: number): fc.Arbitrary<Spec> {
  const layer = fc.record({
    nodes: fc.array(nodeSpec(deep), { minLength: 1, maxLength: deep > 0 ? 3 : 2, size: "max" }),
    lead: fc.constantFrom("all", "join", "send", "some") as fc.Arbitrary<Layer["lead"]>,
  });
  return fc.record({
    layers: fc.array(layer, { minLength: 1, maxLength: deep > 0 ? 3 : 2, size: "max" }),
    rounds: fc.constantFrom(1, 1, 2),
  });
}

type State = { log: string[]; bag: Record<string, number>; round: number };
type Update = { log?: string[]; bag?: Record<string, number>; round?: number };

export function build(spec: Spec, hooks: Hooks, path = ""): Graph<State, Update> {
  const nodes: Record<string, Node<State, Update>> = {};
  const edges: Edge<string, State>[] = [];
  const nameOf = (layer: number, i: number) => `n${layer}_${i}`;
  const { layers, rounds } = spec;
  for (const [at, { nodes: made, lead }] of layers.entries()) {
    for (const [i, one] of made.entries()) {
      const name = nameOf(at, i);
      nodes[name] = one.inside
        ? graphNode(build(one.inside, hooks, `${path}${name}/`), {
            input: (state: State) => ({ round: 0, log: [`in ${state.round}`] }),
            output: ({ log, bag }, state) => ({
              log: [`${path}${name} ${state.round} [${log.join(",")}]`],
              bag: { [`${path}${name}`]: Object.keys(bag).length },
            }),
          })
        : node<State, Update>(work(one, hooks, `${path}${name}`), { retry: { attempts: 2, delay: 1 } });
      if (at === 0) edges.push(edge(START, name));
    }
    const froms = made.map((_, i) => nameOf(at, i));
    const tos = layers[at + 1]?.nodes.map((_, i) => nameOf(at + 1, i));
    if (!tos) {
      edges.push({ kind: "join", from: froms, to: "end" });
      continue;
    }
    if (lead === "all") for (const from of froms) for (const to of tos) edges.push(edge(from, to));
    if (lead === "join") {
      // One of them takes a way round, so that the others have to be remembered over a barrier.
      const [first = "", ...rest] = froms;
      const detour = `d${at}`;
      nodes[detour] = node<State, Update>(() => ({ log: [detour] }));
      edges.push(edge(first, detour));
      for (const to of tos) edges.push(join([detour, ...rest], to));
    }
    if (lead === "some" || lead === "send") {
      const choose = (state: State): Target[] =>
        lead === "some"
          ? tos.filter((_, i) => (state.log.length + i) % 2 === 0 || i === 0)
          : tos.flatMap((to, i) => [send(to, { tag: "x" }), ...(i === 0 ? [send(to, { tag: "y" })] : [])]);
      // Every node of the next layer is reached, or the last join would wait for ever and end the graph early: that is a graph too.
      edges.push({ kind: "when", from: froms[0] as string, to: tos, choose });
    }
  }
  nodes["end"] = node<State, Update>(({ state }) => ({ log: [`${path}end`], round: state.round + 1 }));
  edges.push({ kind: "when", from: "end", to: [nameOf(0, 0), END], choose: (state) => (state.round < rounds ? nameOf(0, 0) : END) });
  const fields = {
    log: field(z.array(z.string()), { reduce: append, default: () => [] }),
    bag: field(z.record(z.string(), z.number()), { reduce: merge, default: () => ({}) }),
    round: field(z.number(), { default: () => 0 }),
    tag: field(z.string()),
  };
  return graph(fields, { nodes: nodes as never, edges: edges as never, maxSteps: 1_000 }) as unknown as Graph<State, Update>;
}

/** A node that tells, waits, says and asks what its spec wants, and writes down what it was told. */
function work({ asks, together, waits, speaks, fails }: NodeSpec, hooks: Hooks, path: string) {
  return async (context: NodeContext<State>): Promise<Update> => {
    const own = context as unknown as NodeContext<never>;
    await hooks.ran(own, path);
    if (speaks) context.text(`${path} `);
    if (waits) await new Promise((resolve) => setImmediate(resolve));
    if (context.attempt <= fails) throw new Error("once");
    const keys = Array.from({ length: asks }, (_, i) => `${path}.${i}`);
    const answers: Json[] = [];
    if (together) answers.push(...(await Promise.all(keys.map((key) => hooks.ask(own, key)))));
    else for (const key of keys) answers.push(await hooks.ask(own, key));
    const { state, input } = context;
    return { log: [`${path}#${state.log.length}${JSON.stringify(input ?? "")}(${answers.join()})`], bag: { [path]: state.round } };
  };
}

/** The answer everybody gives to a key. */
export function answerTo(key: string): Json {
  return `to ${key}`;
}
