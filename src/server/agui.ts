import { type Context, Hono } from "hono";
import { AppError } from "../core/error.ts";
import { capabilities } from "../protocol/agui/capabilities.ts";
import { type AguiOptions, pathOf } from "./agui-options.ts";
import { cancel, history, run } from "./agui-run.ts";
import { type AguiStream, bytesOf } from "./agui-stream.ts";
import { body, type Door } from "./door.ts";
import { member } from "./native-member.ts";
import { principalOf } from "./principal.ts";
import { sse } from "./sse.ts";

/** AG-UI over SSE: run (also by the agent's name), cancel, history and capabilities. */
export function aguiRoutes(door: Door, options: AguiOptions): Hono {
  const { routes } = options;
  const app = new Hono();
  const asked = async (c: Context) => ({
    principal: door.authenticate && (await principalOf(door.authenticate, c.req.raw)),
    body: await body(door, c),
    after: lastEventId(c),
  });
  const answer = (c: Context, stream: AguiStream) => sse(c, (signal) => bytesOf(stream, signal), door.streams);

  if (routes.cancel !== false) app.post(pathOf(routes, routes.cancel), async (c) => c.json(await cancel(door, options, await asked(c))));
  if (routes.history !== false) {
    app.post(pathOf(routes, routes.history), async (c) =>
      answer(c, await history(door, options, { ...(await asked(c)), follow: wish(c.req.query("follow")) })),
    );
  }
  if (routes.capabilities !== false) {
    app.get(pathOf(routes, routes.capabilities), async (c) => {
      await member(door, c);
      return c.json(capabilitiesOf(door, options, c.req.query("agent") ?? "default"));
    });
  }
  if (routes.ws !== false) {
    app.get(pathOf(routes, routes.ws), (c) => {
      c.header("Upgrade", "websocket");
      return c.json({ error: { code: "invalid", message: "This is a WebSocket" } }, 426);
    });
  }
  const agentPath = `${pathOf(routes, routes.run)}/:agent?`.replace("//", "/");
  app.post(agentPath, async (c) => {
    const hold = c.req.query("hold");
    const wanted = { ...(await asked(c)), agent: c.req.param("agent"), ...(hold !== undefined && { hold: hold === "true" }) };
    return answer(c, await run(door, options, wanted));
  });
  return app;
}

/** What an agent can do, as AG-UI 1.0 writes it down. */
export function capabilitiesOf({ engine, version }: Door, { routes }: AguiOptions, name: string): object {
  const agent = engine.agents.get(name);
  if (!agent) throw new AppError("not_found", `There is no agent ${name}`, { field: "agent" });
  const tools = [...agent.tools.values()].map(({ spec }) => spec);
  return capabilities({ name, version, tools, websocket: routes.ws !== false, runTimeout: engine.runTimeout });
}

/** Readers that keep offsets (not the official client) go on where they were cut off. */
function lastEventId(c: Context): number | undefined {
  const id = c.req.header("last-event-id");
  if (id === undefined || id === "") return undefined;
  if (!/^\d{1,15}$/.test(id))
    throw new AppError("invalid", "Last-Event-ID: must be an offset this server gave", { field: "Last-Event-ID" });
  return Number(id);
}

function wish(follow: string | undefined): "run" | "forever" | false | undefined {
  if (follow === undefined) return undefined;
  if (follow === "false" || follow === "forever") return follow === "forever" ? follow : false;
  if (follow === "true" || follow === "run") return "run";
  throw new AppError("invalid", "follow: must be true, false or forever", { field: "follow" });
}
