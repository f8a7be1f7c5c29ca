import type { RunnableConfig } from "@langchain/core/runnables";
import { isObject, type Json } from "../core/json.ts";
import type { Kept } from "./memory.ts";

/** A graph that may stop at nodes without being asked to. */
export type Breakable = { interruptBefore?: Stops; interruptAfter?: Stops; getState(config: RunnableConfig): Promise<{ next: string[] }> };
type Stops = "*" | readonly string[] | undefined;

/**
 * Whether the graph stands at a static breakpoint that nobody has opened. LangGraph passes it whenever it goes on without input, also
 * after a crash that came before anybody was asked.
 */
export async function atBreakpoint(graph: Breakable, { checkpoints }: Kept, config: RunnableConfig): Promise<boolean> {
  const { interruptBefore, interruptAfter } = graph;
  const saved = checkpoints[""];
  if (!saved || (isNone(interruptBefore) && isNone(interruptAfter)) || !isNews(saved.checkpoint)) return false;
  const { next } = await graph.getState(config);
  if (next.length === 0) return false;
  return names(interruptBefore, next) || names(interruptAfter, saved.ran ?? []);
}

/** The nodes whose run led from one checkpoint to the next. */
export function ranBetween(before: Json | undefined, after: Json): string[] {
  const [then, now] = [seenIn(before), seenIn(after)];
  return Object.keys(now).filter((node) => !node.startsWith("__") && JSON.stringify(now[node]) !== JSON.stringify(then[node]));
}

function seenIn(checkpoint: Json | undefined): Record<string, Json> {
  const seen = isObject(checkpoint) ? checkpoint["versions_seen"] : undefined;
  return isObject(seen) ? seen : {};
}

/** Whether something was written since the last time somebody let the graph go on. */
function isNews(checkpoint: Json): boolean {
  const versions = isObject(checkpoint) ? checkpoint["channel_versions"] : undefined;
  const seen = seenIn(checkpoint)["__interrupt__"];
  if (!isObject(versions)) return false;
  return Object.entries(versions).some(([channel, version]) => Number(version) > Number(isObject(seen) ? (seen[channel] ?? 0) : 0));
}

function isNone(nodes: Stops): boolean {
  return nodes === undefined || nodes.length === 0;
}

function names(nodes: Stops, ran: readonly string[]): boolean {
  return nodes === "*" ? ran.length > 0 : ran.some((node) => nodes?.includes(node));
}
