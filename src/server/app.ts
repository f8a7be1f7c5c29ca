import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import { aguiRoutes } from "./agui.ts";
import { type AguiOptions, pathOf } from "./agui-options.ts";
import { type AisdkOptions, aisdkRoutes } from "./aisdk.ts";
import { type CopilotkitOptions, copilotkitRoutes } from "./copilotkit.ts";
import { type CorsOptions, cors, localHostOnly } from "./cors.ts";
import { type Door, refuse } from "./door.ts";
import type { Log } from "./log.ts";
import { mount } from "./mount.ts";
import { nativeRoutes } from "./native.ts";
import { referenceRoutes } from "./reference.ts";
import { restRoutes, sessionRoutes } from "./rest.ts";

export type AppOptions = {
  door: Door;
  agui: AguiOptions;
  aisdk: AisdkOptions;
  copilotkit: CopilotkitOptions | undefined;
  cors: CorsOptions | undefined;
  log: Log;
  ready: () => boolean;
};

/** All doors on one Web-standard handler. */
export function createApp({ door, agui, aisdk, copilotkit, cors: origins, log, ready }: AppOptions): Hono {
  const { clock } = door.engine;
  const app = new Hono();
  app.use(async (c, next) => {
    const start = clock.now();
    await next();
    const { method, path } = c.req;
    log({
      event: "request",
      method,
      path,
      status: c.res.status,
      ms: clock.now() - start,
      bytes: Number(c.req.header("content-length") ?? 0),
    });
  });
  if (!door.authenticate) app.use(localHostOnly);
  if (origins) app.use(cors(origins));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => (ready() ? c.json({ status: "ready" }) : c.json({ status: "not ready" }, 503)));
  app.route("/api/chat", aisdkRoutes(door, aisdk));
  app.route("/v1", nativeRoutes(door));
  app.route("/", referenceRoutes(door.version));
  app.route("/chat", restRoutes(door));
  app.route("/api/chat", sessionRoutes(door)); // where seed 001's clients look for it
  if (copilotkit) mount(app, copilotkitRoutes(door, agui, copilotkit), [], "");
  mount(app, aguiRoutes(door, agui), door.engine.agents.keys(), pathOf(agui.routes, agui.routes.run));
  app.notFound((c) => refuse(c, new AppError("not_found", `There is no ${c.req.method} ${c.req.path} here`)));
  app.onError((error, c) => {
    if (!(error instanceof AppError))
      log({ event: "error", path: c.req.path, name: error.name, where: error.stack?.split("\n")[1]?.trim() });
    return refuse(c, error);
  });
  return app;
}
