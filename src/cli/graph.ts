import type { GraphDefinition } from "../agent/graph/definition.ts";
import { AppError } from "../core/error.ts";
import { loadConfig } from "./config.ts";
import type { Settings } from "./flags.ts";
import { toMermaid } from "./mermaid.ts";

/** The graphs of a configuration, or one of them, as Mermaid. */
export async function printGraph(settings: Settings): Promise<string> {
  const { config } = await loadConfig(settings);
  const graphs = new Map(Object.entries(config.agents).flatMap(([name, { definition }]) => (definition ? [[name, definition]] : [])));
  const names = [...graphs.keys()].join(", ");
  if (graphs.size === 0) throw new AppError("invalid", "No agent of this configuration is a graph; make one with graph({ … })");
  const { agent } = settings.graph;
  if (agent === "") return toMermaid(graphs);
  const graph: GraphDefinition | undefined = graphs.get(agent);
  if (!graph) throw new AppError("invalid", `The agent ${agent} is no graph of this configuration; its graphs are ${names}`);
  return toMermaid(new Map([[agent, graph]]));
}
