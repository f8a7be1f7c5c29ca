import { AppError } from "../../core/error.ts";
import type { Json } from "../../core/json.ts";
import type { Next } from "../../core/step.ts";
import type { Thread, UserEntry } from "../../core/thread.ts";
import type { Agent } from "../agent.ts";
import { channel } from "./channel.ts";
import { checkGraph, define, unite } from "./check.ts";
import type { END, START } from "./command.ts";
import type { GraphDefinition } from "./definition.ts";
import type { Edge } from "./edge.ts";
import type { Fields, StateOf, UpdateOf } from "./field.ts";
import { type Node, type NodeFunction, toNode } from "./node.ts";
import { type Routes, toRoutes } from "./route.ts";
import { toWish } from "./run-function.ts";
import { OUTERMOST, type Stage, stateOf } from "./stage.ts";
import { enterGraph, standing, superstep } from "./superstep.ts";

/** A graph: an agent whose steps are supersteps of nodes. `S` and `U` are its state and what may be written to it. */
export interface Graph<S = unknown, U = unknown> extends Agent {
  definition: GraphDefinition;
  /** What its runtime goes by, also inside another graph. */
  readonly plan: Plan;
  /** Only types: nothing is there at run time. */
  readonly types?: { state: S; update: U };
}

export type GraphOptions<F extends Fields, N extends string> = {
  /** What a user's message writes to the state. Default: its text, to the field `input`, where there is one. */
  input?: (message: { text: string; id: string }) => UpdateOf<F>;
  nodes: { [K in N]: Node<StateOf<F>, UpdateOf<F>> | NodeFunction<StateOf<F>, UpdateOf<F>> };
  edges: readonly Edge<NoInfer<N> | typeof START | typeof END, StateOf<F>>[];
  /** Supersteps in one turn; reaching it fails the run. Default 100. */
  maxSteps?: number;
  /** Nodes that run at the same time. Default: all that can. */
  concurrency?: number;
  /** What the run's end tells clients, made from the state. Default: nothing, the state is there. */
  result?: (state: StateOf<F>) => Json;
  /** What a new message does to calls that wait: cancel them (default), or be refused. */
  whilePending?: "cancel" | "reject";
};

/** A graph as its runtime sees it. */
export type Plan = {
  fields: Fields;
  input: (message: { text: string; id: string }) => unknown;
  nodes: ReadonlyMap<string, Node>;
  edges: readonly Edge[];
  routes: Routes;
  maxSteps: number;
  concurrency: number;
  result: ((state: never) => Json) | undefined;
};

const MAX_STEPS = 100;

/**
 * An agent made of nodes and edges. `state` are the fields its nodes read and write; the outermost graph's state is the thread's,
 * so it survives turns and restarts.
 *
 * @example
 * graph({ dish: field(z.string()), ok: field(z.boolean()) }, {
 *   input: ({ text }) => ({ dish: text }),
 *   nodes: {
 *     confirm: async ({ state, interrupt }) => ({ ok: await interrupt("confirm", `Cook ${state.dish}?`, { schema: z.boolean() }) }),
 *     cook: ({ state, text }) => text(`Here is your ${state.dish}.`),
 *   },
 *   edges: [edge(START, "confirm"), when("confirm", (state) => (state.ok ? "cook" : END), ["cook", END])],
 * })
 */
export function graph<F extends Fields, N extends string>(state: F, options: GraphOptions<F, N>): Graph<StateOf<F>, UpdateOf<F>> {
  const plan = toPlan(state, options);
  const { whilePending } = options;
  checkGraph(plan);
  const agents = [...plan.nodes.values()].flatMap((node) =>
    node.kind === "node" ? [] : node.kind === "graph" ? [node.graph] : [node.agent],
  );
  return {
    plan,
    definition: define(plan),
    tools: unite(plan.nodes),
    ...(whilePending && { whilePending }),
    check(asked) {
      for (const agent of agents) agent.check?.(asked);
    },
    next(thread): Next {
      if (!hasBegun(thread)) return { type: "step" };
      const next = standing(limited(plan, thread), thread, "");
      return next.type === "done" && plan.result ? { type: "done", result: plan.result(stateOf(thread, "") as never) } : next;
    },
    async *step(context) {
      const out = channel(context.signal);
      const stage: Stage = { context, channel: out, used: new Set() };
      const work = perform(stage, limited(plan, context.thread));
      work.catch(() => {}).finally(out.end);
      yield* out.events();
      await work;
    },
  };
}

/** Goes from barrier to barrier until something is open. Each is on disk before the next begins; the driver need not be asked in between. */
async function perform(stage: Stage, plan: Plan): Promise<void> {
  const { thread } = stage.context;
  if (!hasBegun(thread)) {
    const message = lastMessage(thread);
    await enterGraph(stage, plan, OUTERMOST, (message && toWish(plan.input(message), "The input").update) ?? {});
  }
  while (standing(plan, thread, "").type === "step") if ((await superstep(stage, plan, OUTERMOST)) === "waits") return;
}

function hasBegun({ graph, turn }: Thread): boolean {
  const frame = graph.frames[""];
  return frame !== undefined && frame.turnId === turn?.turnId;
}

/** A request may allow more supersteps, or fewer. */
function limited(plan: Plan, { options }: Thread): Plan {
  return options.maxSteps === undefined ? plan : { ...plan, maxSteps: options.maxSteps };
}

/** The message that began the turn, or the last of them. */
function lastMessage({ history, turn }: Thread): { text: string; id: string } | undefined {
  const entry = history.findLast((entry): entry is UserEntry => entry.role === "user");
  if (!entry || entry.turnId !== turn?.turnId) return undefined;
  const { id, content } = entry;
  return { id, text: typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("") };
}

function toPlan<F extends Fields, N extends string>(fields: F, options: GraphOptions<F, N>): Plan {
  const { maxSteps = MAX_STEPS, concurrency = Number.POSITIVE_INFINITY, input, result } = options;
  for (const [field, value] of Object.entries({ maxSteps, concurrency })) {
    if (!(value >= 1)) throw new AppError("invalid", `Graph: ${field} must be 1 or more`, { field });
  }
  const nodes = new Map<string, Node>();
  for (const [name, made] of Object.entries(options.nodes)) nodes.set(name, toNode(made as Node));
  const edges = options.edges as unknown as readonly Edge[];
  return {
    fields,
    input: input ?? (({ text }) => (Object.hasOwn(fields, "input") ? { input: text } : {})),
    nodes,
    edges,
    routes: toRoutes(edges),
    maxSteps,
    concurrency,
    result: result as Plan["result"],
  };
}
