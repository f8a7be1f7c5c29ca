import { z } from "zod";
import { ID_PATTERN } from "../../core/ids.ts";
import { parse } from "../parse.ts";

/** Which threads are asked for. Only an operator may name a user. */
export type ThreadQuery = { search?: string; status?: "idle" | "running" | "waiting"; limit: number; before?: string; user?: string };

/** Which calls and questions are asked for. */
export type CallQuery = {
  statuses?: string[];
  tool?: string[];
  threadId?: string;
  kind?: "call" | "interrupt";
  limit: number;
  after?: string;
  order: "oldest" | "newest";
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
const words = z.string().transform((names) => names.split(",").filter((name) => name !== ""));
const callQuery = z.object({
  status: maybe(words),
  tool: maybe(words),
  threadId: maybe(z.string().regex(ID_PATTERN, "is no thread id")),
  kind: maybe(z.enum(["call", "interrupt"])),
  limit,
  after: maybe(z.string()),
  order: z.enum(["oldest", "newest"]).default("oldest"),
  user,
});

/** Reads the query of `GET /v1/calls`. */
export function decodeCallQuery(query: Record<string, string>): CallQuery {
  const { status, ...rest } = parse(callQuery, query);
  return { ...rest, ...(status && { statuses: status }) };
}

/** What a stream of everything shows besides the events it watches. */
export type WatchQuery = { heads: "others" | "all"; calls: boolean };

/** The query of `GET /v1/events`, besides the vector. */
const watchQuery = z.object({
  heads: z.enum(["others", "all"]).default("others"),
  calls: z
    .enum(["true", "false"])
    .default("false")
    .transform((text) => text === "true"),
});

/** Reads the query of `GET /v1/events`. */
export function decodeWatchQuery(query: Record<string, string>): WatchQuery {
  return parse(watchQuery, query);
}

/** Which events are asked for. */
export type LogQuery = { after: number; limit: number; deltas: boolean };

/** The query of `GET /v1/threads/:id/log`. */
const logQuery = z.object({
  after: z.coerce.number().pipe(z.int().nonnegative()).default(0),
  limit: z.coerce.number().pipe(z.int().min(1).max(5000)).default(1000),
  deltas: z
    .enum(["true", "false"])
    .default("true")
    .transform((text) => text === "true"),
});

/** Reads the query of `GET /v1/threads/:id/log`. */
export function decodeLogQuery(query: Record<string, string>): LogQuery {
  return parse(logQuery, query);
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

/** The query of `GET /v1/threads/:id/checkpoints`. */
const checkpointQuery = z.object({ limit, before: maybe(z.string()), user });

/** Reads which checkpoints are asked for. */
export function decodeCheckpointQuery(query: Record<string, string>): { limit: number; before?: string } {
  const { user: _, ...asked } = parse(checkpointQuery, query);
  return asked;
}

/** The queries this door reads, for its description. */
export const QUERIES: Readonly<Record<"threads" | "checkpoints" | "calls" | "deliveries" | "watch" | "log", z.ZodObject>> = {
  threads: threadQuery,
  watch: watchQuery,
  log: logQuery,
  calls: callQuery,
  deliveries: deliveryQuery,
  checkpoints: checkpointQuery,
};
