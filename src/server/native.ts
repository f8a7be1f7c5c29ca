import { Hono } from "hono";
import type { Door } from "./door.ts";
import { callRoutes, interruptRoutes } from "./native-calls.ts";
import { deliveryRoutes } from "./native-deliveries.ts";
import { eventRoutes } from "./native-events.ts";
import { grantRoutes } from "./native-grants.ts";
import { member } from "./native-member.ts";
import { threadRoutes } from "./native-threads.ts";
import { transferRoutes } from "./native-transfer.ts";
import { watchRoutes } from "./native-watch.ts";

export type NativeOptions = {
  /** The longest file that may be imported, in bytes. */
  importBytes?: number;
  /** Where this server's doors are, seen from its root; what `/v1/meta` says. */
  doors?: Record<string, string>;
};

/** Our own door, which hides nothing the log says: `/v1`. */
export function nativeRoutes(door: Door, { importBytes = 32 * 1024 * 1024, doors = DOORS }: NativeOptions = {}): Hono {
  const app = new Hono();
  app.route("/threads", transferRoutes(door, importBytes));
  app.route("/threads", eventRoutes(door));
  app.route("/threads", threadRoutes(door));
  app.route("/events", watchRoutes(door));
  app.route("/calls", callRoutes(door));
  app.route("/interrupts", interruptRoutes(door));
  app.route("/grants", grantRoutes(door));
  app.route("/deliveries", deliveryRoutes(door));

  app.get("/meta", async (c) => {
    await member(door, c);
    const agents = [...door.engine.agents].map(([name, { tools }]) => ({
      name,
      tools: [...tools.values()].map(({ spec, owner }) => ({ ...spec, owner })),
    }));
    return c.json({ name: "handback", version: door.version, agents, doors });
  });

  return app;
}

const DOORS = { agui: "/agui", aisdk: "/api/chat", rest: "/chat", native: "/v1" };
