import type { Hono } from "hono";
import { AppError } from "../core/error.ts";

/** Adds a door's routes behind the others. Two that answer the same request fail now: in service the first would silently win. */
export function mount(app: Hono, door: Hono, agents: Iterable<string>, agentPath: string): void {
  const taken = app.routes.filter(({ method }) => method !== "ALL");
  for (const { method, path: pattern } of door.routes) {
    const path = pattern.replace(/\/:[^/]+\?$/, "") || "/"; // the shortest request it answers
    const other = path.includes(":") ? undefined : taken.find((route) => route.method === method && matches(route.path, path));
    if (other) throw new AppError("invalid", `Two doors answer ${method} ${path}; give one of them another path`, { field: "paths" });
    taken.push({ ...DUMMY, method, path });
  }
  for (const name of agents) {
    const path = `${agentPath}/${name}`.replace("//", "/");
    const other = taken.find((route) => !route.path.includes(":") && route.path === path);
    if (other) throw new AppError("invalid", `An agent cannot be called ${name}: ${path} is another route`, { field: "agents" });
  }
  app.route("/", door);
}

const DUMMY = { basePath: "/", handler: () => {} };

/** Whether a pattern such as `/v1/:id` answers this path. */
function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return wanted.length === given.length && wanted.every((part, i) => part === given[i] || part.startsWith(":"));
}
