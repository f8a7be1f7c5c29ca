import { Hono } from "hono";
import type { JsonObject } from "../core/json.ts";
import { PAGE, SCRIPT, STYLE } from "./reference-page.ts";

/** `/openapi.json`, and `/reference`: a page that shows it and sends requests. Nothing on it comes from anywhere else. */
export function referenceRoutes(version: string): Hono {
  const app = new Hono();
  let described: JsonObject | undefined;
  app.get("/openapi.json", async (c) => {
    described ??= (await import("./openapi.ts")).openApi(version); // loaded by the first who asks, not at start
    return c.json(described);
  });
  app.get("/reference", (c) => c.body(PAGE, 200, { ...HEADERS, "content-type": "text/html; charset=utf-8" }));
  app.get("/reference.js", (c) => c.body(SCRIPT, 200, { ...HEADERS, "content-type": "text/javascript; charset=utf-8" }));
  app.get("/reference.css", (c) => c.body(STYLE, 200, { ...HEADERS, "content-type": "text/css; charset=utf-8" }));
  return app;
}

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};
