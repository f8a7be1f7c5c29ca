import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { MiddlewareHandler } from "hono";
import { AppError } from "../core/error.ts";

/** The origins whose pages may read our answers: exactly these, or `*` for all, then without cookies. */
export type CorsOptions = { origins: string[] | "*"; credentials?: boolean };

/** Answers preflights and marks every answer, errors and streams included. Without options no other origin may read anything. */
export function cors({ origins, credentials = false }: CorsOptions = { origins: [] }): MiddlewareHandler {
  if (origins === "*" && credentials) throw new AppError("invalid", "CORS with credentials needs a list of origins");
  const malformed = origins === "*" ? undefined : origins.find((origin) => !/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._:[\]-]+$/.test(origin));
  if (malformed !== undefined) throw new AppError("invalid", `CORS origin ${malformed} must look like https://example.com`);
  if (origins.length === 0) return (_, next) => next();

  return async (c, next) => {
    const origin = c.req.header("origin") ?? "";
    const headers = headersFor(origins === "*" ? "*" : origins.includes(origin) ? origin : undefined, credentials);
    // Before the route runs, so that a raw stream finds them on the context.
    for (const [name, value] of headers) c.header(name, value);
    if (c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined) {
      if (headers.has(ALLOW_ORIGIN)) allowRequest(c.header, c.req.header("access-control-request-headers"));
      return c.body(null, 204);
    }
    await next();
    if (c.res === RESPONSE_ALREADY_SENT) return;
    // A route that returns a Response of its own has not taken them from the context.
    for (const [name, value] of headers) if (!c.res.headers.has(name)) c.header(name, value);
  };
}

/**
 * Refuses what pages of other origins send without asking first. A preflight comes before JSON, but not before a form or an empty POST,
 * and a few routes need no body. Browsers say where a page is from in a header no page can set.
 */
export function ownPagesOnly({ origins }: CorsOptions = { origins: [] }): MiddlewareHandler {
  return async (c, next) => {
    const foreign = /^(cross|same)-site$/.test(c.req.header("sec-fetch-site") ?? "");
    const unasked = !READS.has(c.req.method) && SIMPLE.test(c.req.header("content-type") ?? "");
    const listed = origins === "*" || origins.includes(c.req.header("origin") ?? "");
    if (foreign && unasked && !listed)
      throw new AppError("forbidden", "Pages of other origins may not do this; list theirs under cors.origins");
    await next();
  };
}

const READS = new Set(["GET", "HEAD", "OPTIONS"]);
const SIMPLE = /^\s*(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain|$)/i;

/**
 * Refuses requests that name another host than this machine. For servers without authentication: a page that lets its own
 * name resolve to 127.0.0.1 is same-origin with us, so CORS does not stop it.
 */
export const localHostOnly: MiddlewareHandler = async (c, next) => {
  if (!isLocalHost(c.req.header("host") ?? new URL(c.req.url).host)) {
    throw new AppError("forbidden", "Without authentication this server answers to localhost only");
  }
  await next();
};

/** Whether a host, with or without its port, is this machine. */
export function isLocalHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}

const ALLOW_ORIGIN = "Access-Control-Allow-Origin";

function headersFor(allowed: string | undefined, credentials: boolean): Map<string, string> {
  const headers = new Map<string, string>();
  if (allowed !== "*") headers.set("Vary", "Origin");
  if (allowed !== undefined) headers.set(ALLOW_ORIGIN, allowed);
  if (allowed !== undefined && credentials) headers.set("Access-Control-Allow-Credentials", "true");
  return headers;
}

function allowRequest(header: (name: string, value: string, options?: { append?: boolean }) => void, requested: string | undefined): void {
  header("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
  if (requested !== undefined) header("Access-Control-Allow-Headers", requested);
  header("Access-Control-Max-Age", "600");
  header("Vary", "Access-Control-Request-Headers", { append: true });
}
