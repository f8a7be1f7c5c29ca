import type { Target } from "./command.ts";

/** What leads from a node to the next ones. `S` is the state that code on it sees. */
export type Edge<N extends string = string, S = never> =
  | { kind: "edge"; from: N; to: N }
  | { kind: "join"; from: readonly N[]; to: N }
  | { kind: "when"; from: N; to: readonly N[]; label?: string; choose: Choose<S> };

/** Says where to go, on the state behind the barrier. */
export type Choose<S> = (state: S) => Target | readonly Target[];

/**
 * Goes on with `to` when `from` is done. Several into one node at the same barrier run it once.
 *
 * @example
 * edge(START, "plan")
 */
export function edge<const A extends string, const B extends string>(from: A, to: B): { kind: "edge"; from: A | B; to: A | B } {
  return { kind: "edge", from, to };
}

/**
 * Goes on with `to` when all of `from` are done, whichever barrier each comes to. Then it waits for all of them anew.
 *
 * @example
 * join(["weather", "news"], "summarize")
 */
export function join<const A extends string, const B extends string>(
  from: readonly A[],
  to: B,
): { kind: "join"; from: readonly (A | B)[]; to: A | B } {
  return { kind: "join", from, to };
}

/**
 * Lets code decide, on the state behind the barrier, among `to`. It may also `send` tasks with an input of their own.
 *
 * @example
 * when("review", (state: State) => (state.ok ? "publish" : "write"), ["publish", "write"])
 */
export function when<S, const A extends string, const B extends string>(
  from: A,
  choose: Choose<S>,
  to: readonly B[],
  label?: string,
): Edge<NoInfer<A | B>, S> {
  return { kind: "when", from, to, choose, ...(label !== undefined && { label }) };
}
