import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../core/error.ts";
import { type Config, chatAgent } from "../handback.ts";
import { demoAgent } from "./demo/agent.ts";
import { SCENARIOS } from "./demo/scenarios.ts";
import type { Settings } from "./flags.ts";

const NAMES = ["handback.config.ts", "handback.config.mts", "handback.config.js", "handback.config.mjs"];

/** The file that configures this server, if there is one. A file that was named must exist. */
export function configPath({ config }: Settings): string | undefined {
  if (config === undefined) return NAMES.map((name) => resolve(name)).find((path) => existsSync(path));
  const path = resolve(config);
  if (!existsSync(path)) throw new AppError("invalid", `There is no configuration file ${path}`);
  return path;
}

/** The configuration: the file's, a plain chat with `--model`, or the demo. Flags win over the file. */
export async function loadConfig(settings: Settings): Promise<{ config: Config; demo: boolean }> {
  const path = configPath(settings);
  const { data, baseUrl, apiKey, sandboxOrigin } = settings;
  const provider =
    baseUrl !== undefined || apiKey !== undefined
      ? { baseUrl: baseUrl ?? "https://api.openai.com/v1", ...(apiKey !== undefined && { apiKey }) }
      : undefined;
  const sandbox = sandboxOrigin === undefined ? {} : { origin: sandboxOrigin };
  const extra = { ...(data !== undefined && { data }), ...(provider && { provider }), sandbox };
  const signing = settings.secrets.length > 0 ? { secrets: settings.secrets } : {};
  if (path !== undefined) {
    const config = await importConfig(path);
    const sandbox = { ...config.sandbox, ...extra.sandbox };
    const aisdk = { ...config.aisdk, ...signing };
    return { config: { ...config, ...extra, sandbox, aisdk, webhooks: webhooksOf(settings, config.webhooks) }, demo: false };
  }
  Object.assign(extra, { aisdk: signing, webhooks: webhooksOf(settings) });
  if (settings.model !== undefined) return { config: { agents: { default: chatAgent({ model: settings.model }) }, ...extra }, demo: false };
  const demo = { agents: { default: demoAgent({ pace: settings.demoPace }) }, scenarios: SCENARIOS, demo: true };
  return { config: { ...demo, ...extra }, demo: true };
}

/** Secrets come from the environment, so that they need not lie in a file. */
function webhooksOf(
  { webhookSecrets, webhookAllow, publicUrl }: Settings,
  given: Config["webhooks"] = {},
): NonNullable<Config["webhooks"]> {
  return {
    ...given,
    ...(webhookSecrets.length > 0 && { secrets: webhookSecrets }),
    ...(webhookAllow.length > 0 && { allow: webhookAllow }),
    ...(publicUrl !== undefined && { publicUrl }),
  };
}

async function importConfig(path: string): Promise<Config> {
  let module: { default?: Config };
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError("invalid", `The configuration ${path} cannot be loaded: ${why}`, { cause: error });
  }
  const config = module.default;
  if (typeof config !== "object" || config === null || typeof config.agents !== "object" || config.agents === null) {
    throw new AppError("invalid", `The configuration ${path} must \`export default defineConfig({ agents: { … } })\``);
  }
  for (const [name, agent] of Object.entries(config.agents)) {
    if (typeof agent?.next !== "function")
      throw new AppError("invalid", `The configuration ${path}: agents.${name} is no agent; make it with chatAgent({ … })`);
  }
  return config;
}
