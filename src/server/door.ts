import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError, type ErrorCode, toFailure } from "../core/error.ts";
import { ID_PATTERN, type ThreadKey } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { Engine } from "../engine/engine.ts";
import type { Webhooks } from "../engine/webhooks.ts";
import { type BodyLimits, readJson } from "./body.ts";
import { type Authenticate, CHALLENGE, DEFAULT_APP, mayReach, type Principal, principalOf } from "./principal.ts";
import type { Streams } from "./sse.ts";

/** What every door needs: the engine behind it, and who and how much may come through. */
export type Door = {
  engine: Engine;
  version: string;
  /** Without it everyone is the user `"user"`: only sound on loopback. */
  authenticate: Authenticate | undefined;
  limits: BodyLimits;
  streams: Streams;
  /** Without it no thread may have a callback. */
  webhooks: Webhooks | undefined;
};

/** The HTTP status of each code. */
export const STATUS: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported: 415,
  unprocessable: 422,
  limit: 429,
  model: 502,
  unavailable: 503,
  timeout: 504,
  internal: 500,
};

/** Who is asking. */
export async function asker({ authenticate }: Door, c: Context): Promise<Principal> {
  return authenticate ? principalOf(authenticate, c.req.raw) : { kind: "user", app: DEFAULT_APP, user: "user" };
}

/** The body of a request as JSON, within the door's limits. */
export function body({ limits }: Door, c: Context): Promise<Json> {
  return readJson(c.req.raw, limits);
}

/** The thread a principal means. Users have their own; an operator names the user; an executor reaches none. */
export function threadKey(principal: Principal, threadId: string, user?: string): ThreadKey {
  if (!ID_PATTERN.test(threadId)) {
    throw new AppError("invalid", "threadId: an id has 1 to 200 letters, digits or . _ : @ | / + = -", { field: "threadId" });
  }
  const owner = principal.kind === "user" ? principal.user : (user ?? "user");
  const key = { app: principal.app, user: owner, threadId };
  if (!mayReach(principal, key)) throw new AppError("not_found", `There is no thread ${threadId}`);
  return key;
}

/** An error before a stream has begun: an HTTP status, and what went wrong in words. */
export function refuse(c: Context, error: unknown): Response {
  const failure = toFailure(error);
  if (failure.code === "unauthorized") c.header("WWW-Authenticate", CHALLENGE);
  if (failure.code === "unavailable") c.header("Retry-After", "1");
  // The rest of the body is not read, so nothing more can come over this connection.
  if (failure.code === "too_large") c.header("Connection", "close");
  return c.json({ error: failure }, STATUS[failure.code]);
}
