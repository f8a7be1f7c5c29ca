import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { RequestKey } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import type { Ids } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { byLabel, type Principal } from "./principal.ts";

/** The name a client gave this request, and what it said under that name. */
export function requestKey(c: Context, body: Json): RequestKey | undefined {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new AppError("invalid", "Idempotency-Key: must be 1 to 255 visible ASCII characters", { field: "Idempotency-Key" });
  }
  return { key, hash: digest(c.req.path, JSON.stringify(body)) };
}

/** Names for what a keyed request left nameless: the same thread when it comes again. */
export function keyedIds(ids: Ids, request: RequestKey | undefined, principal: Principal): Ids {
  if (!request) return ids;
  const thread = `thread_${digest(principal.app, byLabel(principal), request.key, request.hash).slice(0, 32)}`;
  return (prefix) => (prefix === "thread" ? thread : ids(prefix));
}

function digest(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
