import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import { aguiRoutes } from "./agui.ts";
import { type AguiOptions, pathOf } from "./agui-options.ts";
import { type AisdkOptions, aisdkRoutes } from "./aisdk.ts";
import { type ConsoleOptions, consoleRoutes } from "./console.ts";
import { type CopilotkitOptions, copilotkitRoutes } from "./copilotkit.ts";
import { type CorsOptions, cors, localHostOnly, ownPagesOnly } from "./cors.ts";
import { type Door, refuse } from "./door.ts";
import type { Log } from "./log.ts";
import { mount } from "./mount.ts";
import { type About, nativeRoutes } from "./native.ts";
import { referenceRoutes } from "./reference.ts";
import { restRoutes, sessionRoutes } from "./rest.ts";
import { SANDBOX_PATH, type SandboxOptions, sandboxRoutes } from "./sandbox.ts";

export type AppOptions = {
  door: Door;
  agui: AguiOptions;
  aisdk: AisdkOptions;
  copilotkit: CopilotkitOptions | undefined;
  console: Omit<ConsoleOptions, "sandboxOrigin"> | undefined;
  sandbox: SandboxOptions;
  about: About;
  cors: CorsOptions | undefined;
  log: Log;
  ready: () => boolean;
};

/** All doors on one Web-standard handler. */
export function createApp({ door, agui, aisdk, copilotkit, console: page, sandbox, about, cors: origins, log, ready }: AppOptions): Hono {
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
  app.route(SANDBOX_PATH, sandboxRoutes(sandbox)); // under any name: there is nothing to read
  if (!door.authenticate) app.use(localHostOnly);
  if (origins) app.use(cors(origins));
  app.use(ownPagesOnly(origins));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => (ready() ? c.json({ status: "ready" }) : c.json({ status: "not ready" }, 503)));
  app.route("/api/chat", aisdkRoutes(door, aisdk));
  const doors = {
    agui: pathOf(agui.routes, agui.routes.run),
    aisdk: "/api/chat",
    rest: "/chat",
    native: "/v1",
    ...(copilotkit && { copilotkit: copilotkit.basePath }),
    ...(page && { console: page.basePath }),
  };
  app.route("/v1", nativeRoutes(door, { sandboxOrigin: sandbox.origin, doors, about }));
  app.route("/", referenceRoutes(door.version));
  app.route("/chat", restRoutes(door));
  app.route("/api/chat", sessionRoutes(door)); // where seed 001's clients look for it
  if (copilotkit) mount(app, copilotkitRoutes(door, agui, copilotkit), [], "");
  mount(app, aguiRoutes(door, agui), door.engine.agents.keys(), pathOf(agui.routes, agui.routes.run));
  if (page) mount(app, consoleRoutes(door, { ...page, sandboxOrigin: sandbox.origin }), [], "");
  app.notFound((c) => refuse(c, new AppError("not_found", `There is no ${c.req.method} ${c.req.path} here`)));
  app.onError((error, c) => {
    if (!(error instanceof AppError))
      log({ event: "error", path: c.req.path, name: error.name, where: error.stack?.split("\n")[1]?.trim() });
    return refuse(c, error);
  });
  return app;
}
