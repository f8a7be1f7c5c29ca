import type { RequestListener } from "node:http";
import type { Agent } from "./agent/agent.ts";
import { type Duration, toMs } from "./agent/duration.ts";
import { toolCache } from "./agent/run-tool.ts";
import { type AguiConfig, toAguiOptions } from "./agui-config.ts";
import { type Clock, systemClock } from "./core/clock.ts";
import { AppError } from "./core/error.ts";
import { type Ids, randomIds } from "./core/ids.ts";
import { joinDeltas } from "./engine/aggregate.ts";
import { beat } from "./engine/beat.ts";
import { keptSignature } from "./engine/call-signature.ts";
import type { Aggregator, Engine, Log } from "./engine/engine.ts";
import { outbox } from "./engine/outbox.ts";
import { sweep } from "./engine/sweep.ts";
import { type WebhookOptions, webhooks } from "./engine/webhooks.ts";
import type { Model } from "./model/model.ts";
import { openAiCompatible } from "./model/openai-compatible.ts";
import { PROFILES } from "./model/profile/profiles.ts";
import { withRetry } from "./model/retry.ts";
import { type AguiSeam, aguiSeam } from "./server/agui-seam.ts";
import { aguiSockets } from "./server/agui-ws.ts";
import { createApp } from "./server/app.ts";
import { BODY_LIMITS, type BodyLimits } from "./server/body.ts";
import type { CorsOptions } from "./server/cors.ts";
import { silentLog } from "./server/log.ts";
import type { Scenario } from "./server/native.ts";
import { type Listening, listen, toListener, type Upgrade } from "./server/node.ts";
import type { Authenticate } from "./server/principal.ts";
import type { SandboxOptions } from "./server/sandbox.ts";
import { openStreams } from "./server/sse.ts";
import { readReply } from "./server/webhook-reply.ts";
import { type Bus, localBus } from "./store/bus.ts";
import { memoryStore } from "./store/memory.ts";
import { sqliteStore } from "./store/sqlite.ts";
import type { Store } from "./store/store.ts";
import { VERSION } from "./version.ts";

export type { Agent, StepContext } from "./agent/agent.ts";
export { browserJsEval } from "./agent/browser-js-eval.ts";
export { type ChatOptions, chatAgent, type ModelLike } from "./agent/chat.ts";
export { type Command, command, END, goto, type Send, START, send, type Target } from "./agent/graph/command.ts";
export type { EdgeDefinition, GraphDefinition, NodeDefinition } from "./agent/graph/definition.ts";
export { type Edge, edge, join, when } from "./agent/graph/edge.ts";
export { append, type Field, field, merge, type StateOf, type UpdateOf } from "./agent/graph/field.ts";
export { type Graph, type GraphOptions, graph } from "./agent/graph/graph.ts";
export {
  agentNode,
  graphNode,
  type Node,
  type NodeContext,
  type NodeFunction,
  type NodeOptions,
  type NodeResult,
  node,
  toolNode,
} from "./agent/graph/node.ts";
export { handBack, type Tool, type ToolContext, type ToolDefinition, tool } from "./agent/tool.ts";
export type { AguiConfig } from "./agui-config.ts";
export { AppError } from "./core/error.ts";
export type { Event, StoredEvent } from "./core/event.ts";
export type { Thread } from "./core/thread.ts";
export { joinDeltas } from "./engine/aggregate.ts";
export type { Aggregator } from "./engine/engine.ts";
export { aiSdkModel } from "./model/ai-sdk.ts";
export type { Model, ModelEvent, ModelRequest } from "./model/model.ts";
export { openAiCompatible } from "./model/openai-compatible.ts";
export { withProfile } from "./model/profile/with-profile.ts";
export * from "./profiles.ts";
export type { AguiEvent, AguiInput, RunOption } from "./server/agui-options.ts";
export type { AguiSeam } from "./server/agui-seam.ts";
export type { Translate, Translator } from "./server/agui-translate.ts";
export type { Scenario } from "./server/native.ts";
export { anyOf, apiKeys, hashApiKey, jwt, newApiKey, type Principal } from "./server/principal.ts";

/** What a Handback server is made of. Everything but the agents has a default. */
export type Config = {
  /** By name. `default` answers requests that name none. */
  agents: Record<string, Agent>;
  /** The OpenAI-compatible server behind models that are given by name. */
  provider?: { baseUrl: string; apiKey?: string; headers?: Record<string, string> };
  /** Directory of the embedded database, or `":memory:"` to keep nothing. Default `.handback`. */
  data?: string;
  /** A store of your own in place of the embedded one. */
  store?: Store;
  bus?: Bus;
  /** Says who sent a request. Without it everyone is the user `"user"`, and only localhost is answered. */
  authenticate?: Authenticate;
  /** Pages of other origins that may call this server. Default: none. */
  cors?: CorsOptions;
  limits?: Partial<BodyLimits>;
  /** Longest a run may take; 0 is for ever. Default `"1h"`. */
  runTimeout?: Duration;
  /** How long tokens are gathered before they are written and sent; the first goes at once. Default 25 ms. */
  coalesce?: Duration;
  /** Replaces the joining of tokens: one is made for each run. */
  aggregate?: () => Aggregator;
  /** Threads that nobody has touched for this long are deleted. Default: kept for ever. */
  retention?: Duration;
  /** A comment goes into quiet streams this often. Default `"15s"`. */
  heartbeat?: Duration;
  /** Lets threads announce their calls to a `callbackUrl`. Without a secret none may. */
  webhooks?: Partial<WebhookOptions>;
  /** The AG-UI door: its routes, and your own code on its way in and out. */
  agui?: AguiConfig;
  /** What `@copilotkit/core` asks of its runtime. Default below `"/copilotkit"`; `false` turns it off. It takes the AG-UI door's other options. */
  copilotkit?: { basePath: string } | false;
  /** Where pages run code they have not read; see `handback/client/sandbox`. Off this machine it needs an origin of another site. */
  sandbox?: SandboxOptions;
  /** The web console. Default at `"/"`; `false` turns it off. */
  console?: { basePath: string } | false;
  /** What the console offers to try where there is nothing yet, each with the code it takes. */
  scenarios?: readonly Scenario[];
  /** A script answers in place of a model; the console says so. */
  demo?: boolean;
  /**
   * For `useChat` and assistant-ui: the major to speak where a client names none, how long a quiet stream stays open (default `"5m"`), and
   * what signs the calls of stateless requests (24 bytes or more; all verify, the first signs; default: one kept with the threads).
   */
  aisdk?: { version?: 5 | 6 | 7; hold?: Duration; secrets?: string[] };
  log?: Log;
  /** Time and chance, for tests. */
  clock?: Clock;
  ids?: Ids;
};

/** A running Handback: a Web-standard handler, and the work behind it. */
export type Handback = {
  /** Answers a request; mounts in any framework that speaks `Request` and `Response`. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** The same for node:http: `http.createServer(handback.handle)`. */
  handle: RequestListener;
  /** WebSockets for a node:http server of your own: `server.on("upgrade", handback.upgrade)`. */
  upgrade: Upgrade;
  /** AG-UI without a transport: what SSE and WebSocket are built on, for one of your own. */
  agui: AguiSeam;
  /** Serves it on a port of its own; 0 takes a free one. */
  listen: (options?: { host?: string; port?: number }) => Promise<Listening>;
  /** Stops taking requests, lets runs end for a while, writes what is in flight, and closes the store. */
  close: (options?: { grace?: Duration }) => Promise<void>;
};

/**
 * Types a configuration file.
 *
 * @example
 * export default defineConfig({ agents: { default: chatAgent({ model: "gpt-4o-mini" }) } });
 */
export function defineConfig(config: Config): Config {
  return config;
}

/**
 * Starts a Handback inside your own process.
 *
 * @example
 * const handback = await createHandback({ agents: { default: chatAgent({ model }) } });
 * app.all("/handback/*", (c) => handback.fetch(c.req.raw));
 */
export async function createHandback(config: Config): Promise<Handback> {
  const { clock = systemClock, ids = randomIds, log = silentLog, bus = localBus() } = config;
  const agents = new Map(Object.entries(config.agents));
  if (agents.size === 0) throw new AppError("invalid", "agents: configure at least one agent", { field: "agents" });
  const models = new Map<string, Model>();
  const coalesceMs = toMs(config.coalesce ?? 25, "coalesce");
  const engine: Engine = {
    store: config.store ?? (await openStore(config.data ?? ".handback")),
    bus,
    clock,
    ids,
    agents,
    model: (name) => {
      if (!config.provider) {
        throw new AppError(
          "model",
          `No provider for the model ${name}: set OPENAI_BASE_URL (or --base-url), or give the agent a provider's model`,
        );
      }
      // Made once: a provider's schemas cost more to set up than a short answer costs to read.
      const model = models.get(name) ?? withRetry(openAiCompatible({ model: name, ...config.provider }), { clock });
      models.set(name, model);
      return model;
    },
    cache: toolCache(),
    log,
    coalesceMs,
    beat: beat(clock, coalesceMs),
    runTimeout: toMs(config.runTimeout ?? "1h", "runTimeout"),
    aggregate: config.aggregate ?? joinDeltas,
    live: new Map(),
    idle: new Map(),
    reserved: new Set(),
    stopping: false,
  };
  const heartbeatMs = toMs(config.heartbeat ?? "15s", "heartbeat");
  const streams = openStreams({ clock, log, heartbeatMs });
  const hooks = config.webhooks?.secrets?.length ? webhooks({ ...config.webhooks, secrets: config.webhooks.secrets }) : undefined;
  const door = {
    engine,
    version: VERSION,
    authenticate: config.authenticate,
    limits: { ...BODY_LIMITS, ...config.limits },
    streams,
    webhooks: hooks,
  };
  const { version, hold = "5m", secrets } = config.aisdk ?? {};
  const aisdk = { ...(version && { version }), holdMs: toMs(hold, "aisdk.hold"), signature: keptSignature(engine.store, secrets) };
  const agui = toAguiOptions(config.agui ?? {}, engine.runTimeout);
  const sockets = aguiSockets(door, agui, config.cors, heartbeatMs);
  const copilotkit = config.copilotkit === false ? undefined : (config.copilotkit ?? { basePath: "/copilotkit" });
  const page = config.console === false ? undefined : (config.console ?? { basePath: "/" });
  const app = createApp({
    door,
    agui,
    aisdk,
    copilotkit,
    console: page,
    sandbox: config.sandbox ?? {},
    about: { demo: config.demo ?? false, profiles: [...PROFILES.keys()], scenarios: config.scenarios ?? [] },
    cors: config.cors,
    log,
    ready: () => !engine.stopping,
  });
  const sweeping = sweep(engine, { retention: config.retention === undefined ? undefined : toMs(config.retention, "retention") });
  const sending = hooks && outbox(engine, hooks, readReply);
  const servers = new Set<Listening>();
  let closed: Promise<void> | undefined;
  return {
    fetch: (request) => app.fetch(request),
    handle: toListener(app, "localhost", log),
    upgrade: sockets.upgrade,
    agui: aguiSeam(door, agui),
    async listen({ host = "127.0.0.1", port = 4242 } = {}) {
      const server = await listen(app, { host, port, log, upgrade: sockets.upgrade });
      servers.add(server);
      return server;
    },
    close: ({ grace = "5s" } = {}) => {
      closed ??= close(toMs(grace, "grace"));
      return closed;
    },
  };

  async function close(graceMs: number): Promise<void> {
    engine.stopping = true;
    const closing = [...servers].map((server) => server.close(graceMs + LAST_BYTES_MS));
    await drivers(engine, graceMs);
    streams.endAll();
    sockets.closeAll();
    await Promise.allSettled([...closing, sweeping.stop(), sending?.stop()]);
    await engine.store.close();
  }
}

/** What a stream that has just been ended gets to reach its reader. */
const LAST_BYTES_MS = 1_000;

/** Waits for runs to end by themselves, then stops the rest: what they have said is written, and the next start takes them over. */
async function drivers(engine: Engine, graceMs: number): Promise<void> {
  const running = () => [...engine.live.values()].filter((live) => live.driver);
  for (let waited = 0; running().length > 0; waited += 10) {
    if (waited >= graceMs) for (const live of running()) live.driver?.stop("shutdown");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function openStore(data: string): Promise<Store> {
  return data === ":memory:" ? memoryStore() : sqliteStore({ path: data });
}
