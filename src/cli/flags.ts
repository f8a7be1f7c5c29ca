import { parseArgs } from "node:util";
import { AppError } from "../core/error.ts";

/** What the command line and the environment say. This is the only place that reads the environment. */
export type Settings = {
  host: string;
  port: number;
  data: string | undefined;
  config: string | undefined;
  model: string | undefined;
  baseUrl: string | undefined;
  apiKey: string | undefined;
};

export type Command = "dev" | "start" | "help" | "version";

export const HELP = `Handback: an agent server for tools that run somewhere else.

  handback dev      start with readable logs, and again whenever the configuration changes
  handback start    start for production

Options (and the environment variables behind them)
  --host <address>    where to listen                 HANDBACK_HOST       127.0.0.1
  --port <number>     0 takes a free one              HANDBACK_PORT       4242
  --data <directory>  where threads are kept          HANDBACK_DATA       .handback
  --config <file>     agents and tools                HANDBACK_CONFIG     handback.config.ts
  --model <name>      a model, without a config file  HANDBACK_MODEL
  --base-url <url>    OpenAI-compatible server        OPENAI_BASE_URL
                      its key                         OPENAI_API_KEY
  --help, --version

Without a config file and a model, a demo agent answers: no key, no account.
`;

const OPTIONS = {
  host: { type: "string" },
  port: { type: "string" },
  data: { type: "string" },
  config: { type: "string" },
  model: { type: "string" },
  "base-url": { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

export function readFlags(args: string[], env: NodeJS.ProcessEnv): { command: Command; settings: Settings } {
  const { values, positionals } = parsed(args);
  const pick = (flag: string | undefined, ...names: string[]) => flag ?? names.map((name) => env[name]).find((value) => value);
  const settings: Settings = {
    host: pick(values.host, "HANDBACK_HOST") ?? "127.0.0.1",
    port: toPort(pick(values.port, "HANDBACK_PORT") ?? "4242"),
    data: pick(values.data, "HANDBACK_DATA"),
    config: pick(values.config, "HANDBACK_CONFIG"),
    model: pick(values.model, "HANDBACK_MODEL"),
    baseUrl: toUrl(pick(values["base-url"], "HANDBACK_BASE_URL", "OPENAI_BASE_URL")),
    apiKey: pick(undefined, "HANDBACK_API_KEY", "OPENAI_API_KEY"),
  };
  const [command = "help", ...rest] = positionals;
  if (values.help) return { command: "help", settings };
  if (values.version) return { command: "version", settings };
  if (command !== "dev" && command !== "start" && command !== "help" && command !== "version") {
    throw new AppError("invalid", `There is no command ${command}; try \`handback dev\` or \`handback --help\``);
  }
  if (rest.length > 0) throw new AppError("invalid", `${rest[0]} is one word too many; try \`handback --help\``);
  return { command, settings };
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    const [sentence] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/);
    throw new AppError("invalid", `${sentence}; try \`handback --help\``, { cause: error });
  }
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new AppError("invalid", `--port ${text} is no port: give a number from 0 to 65535`);
  return port;
}

function toUrl(text: string | undefined): string | undefined {
  if (text !== undefined && !/^https?:/.test(URL.canParse(text) ? new URL(text).protocol : "")) {
    throw new AppError("invalid", `--base-url ${text} is no http url: it should look like https://api.example.com/v1`);
  }
  return text;
}
