import { z } from "zod";
import { ID_PATTERN } from "../../core/ids.ts";
import { parse } from "../parse.ts";

/** Which threads are asked for. Only an operator may name a user. */
export type ThreadQuery = { search?: string; status?: "idle" | "running" | "waiting"; limit: number; before?: string; user?: string };

/** Which calls and questions are asked for. */
export type CallQuery = {
  status?: string;
  tool?: string[];
  threadId?: string;
  kind?: "call" | "interrupt";
  limit: number;
  after?: string;
  user?: string;
};

const maybe = z.exactOptional;
const limit = z.coerce.number().pipe(z.int().min(1).max(200)).default(50);
const user = maybe(z.string().min(1).max(200));

/** The query of `GET /v1/threads`. */
const threadQuery = z.object({
  search: maybe(z.string().max(200)),
  status: maybe(z.enum(["idle", "running", "waiting"])),
  limit,
  before: maybe(z.string()),
  user,
});

/** Reads the query of `GET /v1/threads`. */
export function decodeThreadQuery(query: Record<string, string>): ThreadQuery {
  return parse(threadQuery, query);
}

/** The query of `GET /v1/calls`. */
const callQuery = z.object({
  status: maybe(z.string()),
  tool: maybe(z.string().transform((names) => names.split(",").filter((name) => name !== ""))),
  threadId: maybe(z.string().regex(ID_PATTERN, "is no thread id")),
  kind: maybe(z.enum(["call", "interrupt"])),
  limit,
  after: maybe(z.string()),
  user,
});

/** Reads the query of `GET /v1/calls`. */
export function decodeCallQuery(query: Record<string, string>): CallQuery {
  return parse(callQuery, query);
}

/** Which deliveries are asked for. */
export type DeliveryQuery = { threadId?: string; status?: string; limit: number; before?: string; user?: string };

/** The query of `GET /v1/deliveries`. */
const deliveryQuery = z.object({
  threadId: maybe(z.string().regex(ID_PATTERN, "is no thread id")),
  status: maybe(z.string()),
  limit,
  before: maybe(z.string()),
  user,
});

/** Reads the query of `GET /v1/deliveries`. */
export function decodeDeliveryQuery(query: Record<string, string>): DeliveryQuery {
  return parse(deliveryQuery, query);
}

/** The queries this door reads, for its description. */
export const QUERIES: Readonly<Record<"threads" | "calls" | "deliveries", z.ZodObject>> = {
  threads: threadQuery,
  calls: callQuery,
  deliveries: deliveryQuery,
};
