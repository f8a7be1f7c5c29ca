import type { JsonObject } from "handback/client";
import { useMeta, useThreadPart } from "../data/hooks.ts";

/** What is known of a tool: the agent's own, or what the requesting client declared. */
export function useToolSpec(threadId: string, name: string): { description: string; input: JsonObject } | undefined {
  const agent = useThreadPart(threadId, (view) => view.agent);
  const declared = useThreadPart(threadId, (view) => view.tools).find((tool) => tool.name === name);
  const agents = useMeta()?.agents ?? [];
  const own = (agents.find((each) => each.name === agent)?.tools ?? []).find((tool) => tool.name === name);
  return own ?? declared;
}
