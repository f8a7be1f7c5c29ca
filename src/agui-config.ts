import { type Duration, toMs } from "./agent/duration.ts";
import { AGUI_ROUTES, type AguiOptions, type AguiRoutes } from "./server/agui-options.ts";

/** The AG-UI door as a configuration file writes it. */
export type AguiConfig = Omit<AguiOptions, "routes" | "timeout" | "follow" | "followMs" | "graphs"> & {
  /** In front of every route. Default `"/agui"`; `"/"` gives seed 003's URLs. */
  basePath?: string;
  /** Each route below it; `false` turns one off. Default `/`, `/cancel`, `/history`, `/capabilities`, `/ws`. */
  paths?: Partial<Omit<AguiRoutes, "basePath">>;
  /** Longest a run of this door may take; 0 is for ever. Default: the server's `runTimeout`. */
  timeout?: Duration;
  /** Whether `history` goes on with the run that is under way. Default true; a request may decline. */
  follow?: boolean;
  /** Longest it does so; 0 is for ever. Default: as long as a run may take. */
  followMaxDuration?: Duration;
  /** Whether nodes of graphs are shown as they start, complete and fail (`graph.node.lifecycle`). Default true. */
  graphLifecycle?: boolean;
  /** Whether what a graph waits for, and what it goes on with, is shown (`graph.node.interrupt`). Default true. */
  graphInterrupts?: boolean;
  /** Of what a graph inside a graph waits for, only the outermost node is shown. Default false: also those inside. */
  topLevelInterruptsOnly?: boolean;
};

/** Options with every default filled in and every duration in milliseconds. */
export function toAguiOptions(config: AguiConfig, runTimeout: number): AguiOptions {
  const { basePath, paths, timeout, follow = true, followMaxDuration, ...more } = config;
  const { graphLifecycle = true, graphInterrupts = true, topLevelInterruptsOnly = false, ...rest } = more;
  const limit = timeout === undefined ? runTimeout : toMs(timeout, "agui.timeout");
  return {
    ...rest,
    routes: { ...AGUI_ROUTES, ...paths, ...(basePath !== undefined && { basePath }) },
    ...(timeout !== undefined && { timeout: limit }),
    graphs: { lifecycle: graphLifecycle, interrupts: graphInterrupts, topLevelOnly: topLevelInterruptsOnly },
    follow,
    followMs: followMaxDuration === undefined ? limit : toMs(followMaxDuration, "agui.followMaxDuration"),
  };
}
