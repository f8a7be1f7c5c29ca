import { type Context, Hono } from "hono";
import { z } from "zod";
import { AppError } from "../core/error.ts";
import { using } from "../engine/live.ts";
import { submit } from "../engine/submit.ts";
import { peerOf } from "../protocol/agui/peer.ts";
import { parse } from "../protocol/parse.ts";
import { capabilitiesOf } from "./agui.ts";
import { joinStream } from "./agui-join.ts";
import { type AguiOptions, pathOf } from "./agui-options.ts";
import { type Asked, HookFailed, receive } from "./agui-receive.ts";
import { run } from "./agui-run.ts";
import { type AguiStream, bytesOf } from "./agui-stream.ts";
import { readText, toJson } from "./body.ts";
import { body, type Door, threadKey } from "./door.ts";
import { member } from "./native-member.ts";
import { byLabel, principalOf } from "./principal.ts";
import { sse } from "./sse.ts";

/** Where the routes are. */
export type CopilotkitOptions = { basePath: string };

/** What `@copilotkit/core` asks of its runtime: AG-UI under other paths, so no runtime is needed between a page and this server. */
export function copilotkitRoutes(door: Door, agui: AguiOptions, { basePath }: CopilotkitOptions): Hono {
  const app = new Hono();
  const asked = async (c: Context, read: typeof maybeBody = body): Promise<Asked> => ({
    principal: door.authenticate && (await principalOf(door.authenticate, c.req.raw)),
    body: await read(door, c),
  });
  const answer = (c: Context, stream: AguiStream | undefined) =>
    sse(c, (signal) => (stream ? bytesOf(stream, signal) : nothing()), door.streams);
  const does = {
    run: async (c: Context, agent: string, request: Asked) => answer(c, await run(door, agui, { ...request, agent })),
    connect: async (c: Context, agent: string, request: Asked) => {
      checkAgent(door, agent);
      return answer(c, await connect(door, agui, request));
    },
    stop: async (c: Context, agent: string, threadId: string, { principal, body: scope = {} }: Asked) => {
      checkAgent(door, agent);
      return c.json(await stop(door, agui, { principal, body: { threadId } }, parse(stopScope, scope)));
    },
  };

  app.get("/info", async (c) => {
    await member(door, c);
    return c.json(info(door, agui));
  });
  app.post("/agent/:agent/run", async (c) => does.run(c, c.req.param("agent"), await asked(c)));
  app.post("/agent/:agent/connect", async (c) => does.connect(c, c.req.param("agent"), await asked(c)));
  app.post("/agent/:agent/stop/:threadId", async (c) =>
    does.stop(c, c.req.param("agent"), c.req.param("threadId"), await asked(c, maybeBody)),
  );
  app.post("/", async (c) => {
    const { principal, body: told } = await asked(c);
    const { method, params, body: inner } = parse(envelope, told);
    const request = { principal, body: inner };
    switch (method) {
      case "info":
        await member(door, c);
        return c.json(info(door, agui));
      case "agent/run":
        return does.run(c, params.agentId, request);
      case "agent/connect":
        return does.connect(c, params.agentId, request);
      case "agent/stop":
        return does.stop(c, params.agentId, params.threadId, request);
      default:
        return method satisfies never;
    }
  });
  return new Hono().route(pathOf({ basePath }, "/"), app);
}

/** One path for everything: what `runtimeTransport: "single"` sends. */
const envelope = z.looseObject({
  method: z.enum(["info", "agent/run", "agent/connect", "agent/stop"]),
  params: z.looseObject({ agentId: z.string().default("default"), threadId: z.string().default("") }).prefault({}),
  body: z.unknown().optional(),
});

const stopScope = z.looseObject({ runId: z.string().optional() });

/** A stop names its run in a body, or has none. */
async function maybeBody({ limits }: Door, c: Context): Promise<unknown> {
  const text = await readText(c.req.raw, "application/json", limits.bytes);
  return text.trim() === "" ? undefined : toJson(text, limits);
}

function info(door: Door, agui: AguiOptions): object {
  const agents = [...door.engine.agents.keys()].map((name) => {
    const about = { name, description: "", className: "Handback", capabilities: capabilitiesOf(door, agui, name) };
    return [name, about] as const;
  });
  return {
    version: door.version,
    agents: Object.fromEntries(agents),
    audioFileTranscriptionEnabled: false,
    mode: "sse",
    suggestions: false,
    telemetryDisabled: true,
  };
}

function checkAgent({ engine }: Door, name: string): void {
  if (!engine.agents.has(name)) throw new AppError("not_found", `There is no agent ${name}`, { field: "agent" });
}

/** A thread for a page that was just loaded. Of one that nobody has begun there is nothing to tell: pages connect before they speak. */
async function connect(door: Door, agui: AguiOptions, asked: Asked): Promise<AguiStream | undefined> {
  const { input, sender } = await received(door, agui, asked);
  const key = threadKey(sender, input.threadId);
  if (!(await door.engine.store.thread(key))) return undefined;
  const runId = input.runId ?? door.engine.ids("run");
  return joinStream(door, agui, { key, peer: peerOf(input.protocolVersion), runId, follow: "run", followMs: agui.followMs });
}

/**
 * Stops a run by its name, which spares one that began since; without a name everything the thread does or waits for. The page's
 * own stream ends with the run.
 */
async function stop(door: Door, agui: AguiOptions, asked: Asked, { runId }: z.infer<typeof stopScope>): Promise<object> {
  const { engine } = door;
  const { input, sender } = await received(door, agui, asked);
  const key = threadKey(sender, input.threadId);
  const running = await using(engine, key, async ({ thread }) => thread.run?.runId);
  // A stream that is held outlives the run it was opened for, and the page knows no other name.
  if (runId !== undefined && runId !== running && !agui.hold) {
    return { stopped: false, message: `${runId} is not the run that goes on in thread ${key.threadId}` };
  }
  try {
    await submit(engine, key, {
      type: "cancel",
      runId: engine.ids("run"),
      by: byLabel(sender),
      via: "copilotkit",
      now: engine.clock.now(),
    });
    return { stopped: true };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    return { stopped: false, message: error.message };
  }
}

async function received(door: Door, agui: AguiOptions, asked: Asked): ReturnType<typeof receive> {
  try {
    return await receive(door, agui, asked);
  } catch (error) {
    throw error instanceof HookFailed ? error.failure : error;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
