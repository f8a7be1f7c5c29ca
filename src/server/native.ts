import { Hono } from "hono";
import type { ToolSpec } from "../core/event.ts";
import type { Door } from "./door.ts";
import { callRoutes, interruptRoutes } from "./native-calls.ts";
import { checkpointRoutes } from "./native-checkpoints.ts";
import { deliveryRoutes } from "./native-deliveries.ts";
import { eventRoutes } from "./native-events.ts";
import { grantRoutes } from "./native-grants.ts";
import { member } from "./native-member.ts";
import { threadRoutes } from "./native-threads.ts";
import { toolJson } from "./native-tool.ts";
import { transferRoutes } from "./native-transfer.ts";
import { watchRoutes } from "./native-watch.ts";
import { SANDBOX_PATH } from "./sandbox.ts";

export type NativeOptions = {
  /** The longest file that may be imported, in bytes. */
  importBytes?: number;
  /** Where this server's doors are, seen from its root; what `/v1/meta` says. */
  doors?: Record<string, string>;
  /** The origin of the sandbox, if it is not this one. */
  sandboxOrigin?: string | undefined;
  about?: About;
};

/** What `/v1/meta` says besides what the doors know themselves. */
export type About = {
  /** A script answers, and no model is configured. */
  demo?: boolean;
  /** The names of the profiles a request may choose. */
  profiles?: readonly string[];
  scenarios?: readonly Scenario[];
};

/** Something to try, as the console offers it where there is nothing yet. `code` is what it takes on the server. */
export type Scenario = { id: string; title: Words; text: Words; prompt: Words; code: string; tools?: ToolSpec[] };
type Words = { en: string; zh: string };

/** Our own door, which hides nothing the log says: `/v1`. */
export function nativeRoutes(
  door: Door,
  { importBytes = 32 * 1024 * 1024, doors = DOORS, sandboxOrigin, about = {} }: NativeOptions = {},
): Hono {
  const app = new Hono();
  app.route("/threads", transferRoutes(door, importBytes));
  app.route("/threads", eventRoutes(door));
  app.route("/threads", checkpointRoutes(door));
  app.route("/threads", threadRoutes(door));
  app.route("/events", watchRoutes(door));
  app.route("/calls", callRoutes(door));
  app.route("/interrupts", interruptRoutes(door));
  app.route("/grants", grantRoutes(door));
  app.route("/deliveries", deliveryRoutes(door));

  app.get("/meta", async (c) => {
    await member(door, c);
    const agents = [...door.engine.agents].map(([name, agent]) => {
      const profile = agent.profile?.({})?.name;
      return {
        name,
        tools: [...agent.tools.values()].map(toolJson),
        models: agent.models ?? [],
        ...(profile !== undefined && { profile }),
        ...(agent.definition && { graph: agent.definition }),
      };
    });
    const { demo = false, profiles = [], scenarios = [] } = about;
    const sandbox = { path: SANDBOX_PATH, ...(sandboxOrigin !== undefined && { origin: sandboxOrigin }) };
    return c.json({ name: "handback", version: door.version, demo, agents, profiles, doors, sandbox, scenarios });
  });

  return app;
}

const DOORS = { agui: "/agui", aisdk: "/api/chat", rest: "/chat", native: "/v1" };
