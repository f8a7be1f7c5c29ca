import type { Context } from "hono";
import { AppError, toFailure } from "../core/error.ts";
import { type Door, STATUS } from "./door.ts";
import { CHALLENGE } from "./principal.ts";

/** An error in the seed's words: `success`, `error`, and a `code` for machines. */
export function refuseRest({ engine }: Door, c: Context, error: unknown): Response {
  if (!(error instanceof AppError))
    engine.log({ event: "error", path: c.req.path, name: error instanceof Error ? error.name : typeof error });
  const { code, message, field } = toFailure(error);
  if (code === "unauthorized") c.header("WWW-Authenticate", CHALLENGE);
  if (code === "unavailable") c.header("Retry-After", "1");
  return c.json({ success: false, error: message, code, ...(field !== undefined && { field }) }, STATUS[code]);
}
