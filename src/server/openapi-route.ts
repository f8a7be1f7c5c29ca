import type { z } from "zod";
import type { ErrorCode } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";

/** One route, as it is described. The schemas are those that validate. */
export type Described = {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  summary: string;
  door: "rest" | "native" | "aisdk";
  body?: z.ZodType;
  /** What the body is where it is no JSON. */
  bodyType?: string;
  query?: z.ZodObject;
  headers?: Record<string, string>;
  /** A body to begin with. */
  example?: JsonObject;
  answers: Record<number, z.ZodType | { type: string | string[] } | undefined>;
  /** What it may refuse with, besides what every route may. */
  errors: ErrorCode[];
};

/** A client's own name for a request. */
export const KEY: Record<string, string> = {
  "Idempotency-Key": "Your own name for this request: sent again within 24 hours it has the same effect and the same answer",
};

/** What settling a call may be refused with. */
export const SETTLING: ErrorCode[] = ["not_found", "conflict", "gone", "unprocessable"];
