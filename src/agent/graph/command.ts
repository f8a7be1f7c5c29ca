import type { Json } from "../../core/json.ts";

/** Where a graph begins: the `from` of its first edges. */
export const START = "__start__";
/** Where a branch of a graph ends: nothing follows. */
export const END = "__end__";

/** A task of its own for a node, with something it alone sees. */
export type Send = { node: string; input: Json };

export type Target = string | Send;

/** What a node wants besides changing the state: where to go, in place of its edges. */
export type Command<U = unknown> = { readonly [COMMAND]: true; update?: U; goto?: Target[] };

// Shared between copies of this package: a configuration may come with one of its own.
const COMMAND: unique symbol = Symbol.for("handback.command") as never;

/**
 * Changes the state and says where to go; without `goto` the node's edges do.
 *
 * @example
 * return command({ update: { tries: tries + 1 }, goto: "retry" });
 */
export function command<U>({ update, goto }: { update?: U; goto?: Target | readonly Target[] }): Command<U> {
  const targets = goto === undefined ? undefined : typeof goto === "object" && !("node" in goto) ? [...goto] : [goto];
  return { [COMMAND]: true, ...(update !== undefined && { update }), ...(targets && { goto: targets }) };
}

/**
 * Goes to these nodes in place of the node's edges.
 *
 * @example
 * return ok ? goto("cook") : goto(END, { log: ["stopped"] });
 */
export function goto<U>(to: Target | readonly Target[], update?: U): Command<U> {
  return command({ goto: to, ...(update !== undefined && { update }) });
}

/**
 * A task of its own for a node: as many as are sent run side by side, each with its input on top of the state.
 *
 * @example
 * return goto(state.topics.map((topic) => send("research", { topic })));
 */
export function send(node: string, input: Json): Send {
  return { node, input };
}

export function isCommand(value: unknown): value is Command {
  return typeof value === "object" && value !== null && COMMAND in value;
}
