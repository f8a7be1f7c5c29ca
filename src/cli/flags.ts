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
  /** Secrets that sign webhooks; several while they are changed over. */
  webhookSecrets: string[];
  webhookAllow: string[];
  publicUrl: string | undefined;
  /** Secrets that sign the calls of stateless requests. */
  secrets: string[];
  /** Where pages run code they have not read. */
  sandboxOrigin: string | undefined;
  /** Milliseconds for each word of the demo agent. */
  demoPace: number | undefined;
  worker: WorkerSettings;
  profile: ProfileSettings;
  graph: GraphSettings;
};

/** What `handback worker` is told. */
export type WorkerSettings = {
  file: string;
  url: string;
  key: string | undefined;
  concurrency: number;
  lease: number;
  name: string | undefined;
};

/** What `handback profile try` is told. */
export type ProfileSettings = { verb: string; name: string; file: string; cut: boolean };

/** What `handback graph print` is told: an agent's name, or nothing for all. */
export type GraphSettings = { verb: string; agent: string };

const COMMANDS = ["dev", "start", "worker", "profile", "graph", "help", "version"] as const;
export type Command = (typeof COMMANDS)[number];

export const HELP = `Handback: an agent server for tools that run somewhere else.

  handback dev      start with readable logs, and again whenever the configuration changes
  handback start    start for production
  handback worker ./tools.ts    run calls of these tools for a server elsewhere
  handback profile try <profile> <file>    what a model is told by this profile, and what of its answer in the file is a call
  handback graph print [agent]    the configuration's graphs as Mermaid, for drawing

Options (and the environment variables behind them)
  --host <address>    where to listen                 HANDBACK_HOST       127.0.0.1
  --port <number>     0 takes a free one              HANDBACK_PORT       4242
  --data <directory>  where threads are kept          HANDBACK_DATA       .handback
  --config <file>     agents and tools                HANDBACK_CONFIG     handback.config.ts
  --model <name>      a model, without a config file  HANDBACK_MODEL
  --base-url <url>    OpenAI-compatible server        OPENAI_BASE_URL
                      its key                         OPENAI_API_KEY
                      signs webhooks                  HANDBACK_WEBHOOK_SECRET (several with spaces between)
                      origins they may go to          HANDBACK_WEBHOOK_ALLOW  any public https
                      this server, seen from outside  HANDBACK_PUBLIC_URL
                      signs calls of /api/chat        HANDBACK_SECRET     one kept with the threads
  --sandbox-origin <url>  another site, served by this server, for code in the browser  HANDBACK_SANDBOX_ORIGIN
                      ms for a word of the demo agent HANDBACK_DEMO_PACE  30
  --help, --version

Options of handback worker
  --url <url>         the server                      HANDBACK_URL        http://127.0.0.1:4242
                      its API key                     HANDBACK_WORKER_KEY
  --concurrency <n>   calls at once                   HANDBACK_CONCURRENCY  10
  --lease <seconds>   a claim without a heartbeat     HANDBACK_LEASE      30
  --name <name>       under which it claims calls     HANDBACK_WORKER_NAME

Options of handback profile try
  --cut               the answer was cut off by the length limit

Without a config file and a model, a demo agent answers: no key, no account.
`;

const OPTIONS = {
  host: { type: "string" },
  port: { type: "string" },
  data: { type: "string" },
  config: { type: "string" },
  model: { type: "string" },
  "base-url": { type: "string" },
  "sandbox-origin": { type: "string" },
  url: { type: "string" },
  concurrency: { type: "string" },
  lease: { type: "string" },
  name: { type: "string" },
  cut: { type: "boolean", default: false },
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
    webhookSecrets: words(env["HANDBACK_WEBHOOK_SECRET"]),
    webhookAllow: words(env["HANDBACK_WEBHOOK_ALLOW"]),
    publicUrl: env["HANDBACK_PUBLIC_URL"] || undefined,
    secrets: words(env["HANDBACK_SECRET"]),
    sandboxOrigin: pick(values["sandbox-origin"], "HANDBACK_SANDBOX_ORIGIN"),
    demoPace: toPace(env["HANDBACK_DEMO_PACE"]),
    worker: {
      file: positionals[1] ?? "",
      url: toUrl(pick(values.url, "HANDBACK_URL"), "--url") ?? "http://127.0.0.1:4242",
      key: pick(undefined, "HANDBACK_WORKER_KEY"),
      concurrency: toCount(pick(values.concurrency, "HANDBACK_CONCURRENCY") ?? "10", "--concurrency"),
      lease: toCount(pick(values.lease, "HANDBACK_LEASE") ?? "30", "--lease"),
      name: pick(values.name, "HANDBACK_WORKER_NAME"),
    },
    profile: { verb: positionals[1] ?? "", name: positionals[2] ?? "", file: positionals[3] ?? "", cut: values.cut },
    graph: { verb: positionals[1] ?? "", agent: positionals[2] ?? "" },
  };
  const [command = "help", ...others] = positionals;
  const rest = others.slice({ worker: 1, profile: 3, graph: 2 }[command] ?? 0);
  if (values.help) return { command: "help", settings };
  if (values.version) return { command: "version", settings };
  if (!isCommand(command)) {
    throw new AppError("invalid", `There is no command ${command}; try \`handback dev\` or \`handback --help\``);
  }
  if (rest.length > 0) throw new AppError("invalid", `${rest[0]} is one word too many; try \`handback --help\``);
  if (command === "worker" && settings.worker.file === "") {
    throw new AppError("invalid", "handback worker needs a file of tools: `handback worker ./tools.ts`");
  }
  if (command === "profile" && (settings.profile.verb !== "try" || settings.profile.file === "")) {
    throw new AppError("invalid", "handback profile needs a profile and a model's answer: `handback profile try JSON_Strict ./answer.txt`");
  }
  if (command === "graph" && settings.graph.verb !== "print") {
    throw new AppError("invalid", "handback graph needs to know what to do: `handback graph print` or `handback graph print my_agent`");
  }
  return { command, settings };
}

function isCommand(word: string): word is Command {
  return (COMMANDS as readonly string[]).includes(word);
}

function words(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,]+/).filter((word) => word !== "");
}

function toCount(text: string, flag: string): number {
  const count = Number(text);
  if (!/^\d{1,4}$/.test(text) || count === 0 || count > 3600)
    throw new AppError("invalid", `${flag} ${text}: give a number from 1 to 3600`);
  return count;
}

function toPace(text: string | undefined): number | undefined {
  if (!text) return undefined;
  if (!/^\d{1,4}$/.test(text)) throw new AppError("invalid", `HANDBACK_DEMO_PACE ${text}: give milliseconds from 0 to 9999`);
  return Number(text);
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

function toUrl(text: string | undefined, flag = "--base-url"): string | undefined {
  if (text !== undefined && !/^https?:/.test(URL.canParse(text) ? new URL(text).protocol : "")) {
    throw new AppError("invalid", `${flag} ${text} is no http url: it should look like https://api.example.com/v1`);
  }
  return text;
}
