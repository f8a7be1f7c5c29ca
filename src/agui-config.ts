import { type Duration, toMs } from "./agent/duration.ts";
import { AGUI_ROUTES, type AguiOptions, type AguiRoutes } from "./server/agui-options.ts";

/** The AG-UI door as a configuration file writes it. */
export type AguiConfig = Omit<AguiOptions, "routes" | "timeout" | "follow" | "followMs"> & {
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
};

/** Options with every default filled in and every duration in milliseconds. */
export function toAguiOptions(
  { basePath, paths, timeout, follow = true, followMaxDuration, ...rest }: AguiConfig,
  runTimeout: number,
): AguiOptions {
  const limit = timeout === undefined ? runTimeout : toMs(timeout, "agui.timeout");
  return {
    ...rest,
    routes: { ...AGUI_ROUTES, ...paths, ...(basePath !== undefined && { basePath }) },
    ...(timeout !== undefined && { timeout: limit }),
    follow,
    followMs: followMaxDuration === undefined ? limit : toMs(followMaxDuration, "agui.followMaxDuration"),
  };
}
