import { type Context, Hono } from "hono";
import { AppError } from "../core/error.ts";
import { type ConsoleFiles, consoleFiles, type Packed } from "./console-files.ts";
import { CONSOLE_HEADERS, NOT_BUILT, policy, shell } from "./console-page.ts";
import { asker, type Door } from "./door.ts";
import { CHALLENGE } from "./principal.ts";

/** Where the console is: all its pages are below this path; and where the sandbox is that it may frame. */
export type ConsoleOptions = { basePath: string; sandboxOrigin?: string | undefined };

/** Every view of the console is a URL; all of them answer with the same page, which holds no data. */
const VIEWS = ["/", "/t/:id", "/inbox", "/inbox/:call", "/threads", "/runs", "/runs/:id", "/graph", "/playground", "/settings"];

/** The console: a page, and the files it is built of. Data comes from `/v1` and nowhere else. */
export function consoleRoutes(door: Door, { basePath, sandboxOrigin }: ConsoleOptions, files: ConsoleFiles = consoleFiles()): Hono {
  if (!/^(\/[\w.~-]+)*\/?$/.test(basePath) || basePath === "") {
    throw new AppError("invalid", `console.basePath: ${basePath} must be a path such as /console`, { field: "console.basePath" });
  }
  const base = basePath.replace(/\/$/, "");
  const app = new Hono();

  const view = async (c: Context) => {
    const page = files.page();
    const headers = { ...CONSOLE_HEADERS, "content-security-policy": policy(c.req.header("host") ?? "", sandboxOrigin) };
    if (page === undefined) return c.html(NOT_BUILT, 503, headers);
    const known = await asker(door, c).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === "unauthorized") return false;
        throw error;
      },
    );
    const { html, etag } = shell(page, { base, path: c.req.path });
    Object.assign(headers, { "cache-control": "no-cache", etag });
    // A browser cannot put a token into the address bar's request. So strangers get the page too, as a 401, and it asks for their key.
    if (!known) return c.html(html, 401, { ...headers, "www-authenticate": CHALLENGE });
    if (c.req.header("if-none-match") === etag) return c.body(null, 304, headers);
    return c.html(html, 200, headers);
  };
  for (const path of VIEWS) app.get(path === "/" && base !== "" ? base : `${base}${path}`, view);
  if (base !== "") app.get(`${base}/`, view);

  const file = (c: Context, name: string) => {
    const found = files.file(name, c.req.header("accept-encoding") ?? "");
    return found ? send(c, found) : c.notFound();
  };
  app.get(`${base}/assets/:name`, (c) => file(c, `assets/${c.req.param("name")}`));
  for (const name of ["theme.js", "icon.svg", "licenses.md"]) app.get(`${base}/${name}`, (c) => file(c, name));
  return app;
}

function send(c: Context, { bytes, type, encoding, etag, immutable }: Packed): Response {
  const headers = {
    ...CONSOLE_HEADERS,
    "content-type": type,
    "cache-control": immutable ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "Accept-Encoding",
    etag,
    ...(encoding && { "content-encoding": encoding }),
  };
  if (c.req.header("if-none-match") === etag) return c.body(null, 304, headers);
  return c.body(bytes, 200, headers);
}
