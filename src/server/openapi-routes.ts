import { z } from "zod";
import type { ErrorCode } from "../core/error.ts";
import * as body from "../protocol/native/decode.ts";
import { callQuery, deliveryQuery, threadQuery } from "../protocol/native/query.ts";
import * as native from "../protocol/native/schemas.ts";
import { chatBody, heartbeatBody, sessionResultBody, toolResultBody, toolResultsBody } from "../protocol/rest/decode.ts";
import * as rest from "../protocol/rest/schemas.ts";

/** One route, as it is described. The schemas are those that validate. */
export type Described = {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  summary: string;
  door: "rest" | "native";
  body?: z.ZodType;
  /** What the body is where it is no JSON. */
  bodyType?: string;
  query?: z.ZodObject;
  headers?: Record<string, string>;
  answers: Record<number, z.ZodType | { type: string } | undefined>;
  /** What it may refuse with, besides what every route may. */
  errors: ErrorCode[];
};

const STREAM = { type: "text/event-stream" };
const KEY = { "Idempotency-Key": "Your own name for this request: sent again within 24 hours it has the same effect and the same answer" };
const LAST = { "Last-Event-ID": "The last event this client has" };
const toolResult = z.union([toolResultBody, toolResultsBody, sessionResultBody]);
const offset = z.object({ after: z.exactOptional(z.int()), until: z.exactOptional(z.enum(["run", "turn", "forever"])) });
const settling: ErrorCode[] = ["not_found", "conflict", "gone", "unprocessable"];
const running: ErrorCode[] = ["model", "limit", "timeout"];

const restRoute = (route: Omit<Described, "door">): Described => ({ door: "rest", ...route });
const nativeRoute = (route: Omit<Described, "door">): Described => ({ door: "native", ...route });

const results = {
  summary: "Hand results back: one, several, or in seed 001's words",
  body: toolResult,
  headers: KEY,
  answers: { 200: rest.toolResultAnswer },
  errors: [...settling, ...running],
} as const;

/** Every route of the REST and the native door. */
export const DESCRIBED: readonly Described[] = [
  restRoute({
    method: "post",
    path: "/chat",
    summary: "Say something, or hand a result back; with `Accept: text/event-stream` the turn as events",
    body: chatBody,
    headers: KEY,
    answers: { 200: rest.chatAnswer },
    errors: [...settling, ...running],
  }),
  restRoute({
    method: "get",
    path: "/chat/pending-tools/{id}",
    summary: "Calls that wait to be executed",
    answers: { 200: rest.pendingAnswer },
    errors: ["not_found"],
  }),
  restRoute({ method: "post", path: "/chat/tool-result", ...results, errors: [...results.errors] }),
  restRoute({ method: "post", path: "/api/chat/tool-result", ...results, errors: [...results.errors] }),
  ...["/chat", "/api/chat"].map((base) =>
    restRoute({
      method: "post",
      path: `${base}/tool-heartbeat`,
      summary: "A webhook's receiver is still at work on a call it answered with 202",
      body: heartbeatBody,
      answers: { 200: rest.heartbeatAnswer },
      errors: ["not_found", "gone"],
    }),
  ),
  nativeRoute({
    method: "get",
    path: "/v1/threads",
    summary: "Threads, the latest first",
    query: threadQuery,
    answers: { 200: native.threadsAnswer },
    errors: [],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/threads/{id}",
    summary: "A thread and what it waits for",
    answers: { 200: native.openThreadAnswer },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "patch",
    path: "/v1/threads/{id}",
    summary: "Rename or describe a thread",
    body: body.changeBody,
    answers: { 200: native.threadAnswer },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "delete",
    path: "/v1/threads/{id}",
    summary: "Delete a thread",
    answers: { 204: undefined },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "post",
    path: "/v1/threads/{id}/runs",
    summary: "Say something; follow `/events` from `seq`",
    body: body.runBody,
    headers: KEY,
    answers: { 202: native.startedAnswer },
    errors: ["not_found", "conflict", "unprocessable"],
  }),
  nativeRoute({
    method: "post",
    path: "/v1/threads/{id}/cancel",
    summary: "Stop a run, or drop what a turn waits for",
    body: body.cancelBody,
    answers: { 200: native.cancelledAnswer },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/threads/{id}/events",
    summary: "The log of a thread, past and future",
    query: offset,
    headers: LAST,
    answers: { 200: STREAM },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/threads/{id}/export",
    summary: "A thread as a file",
    query: z.object({ deltas: z.exactOptional(z.enum(["true", "false"])) }),
    answers: { 200: { type: "application/x-ndjson" } },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "post",
    path: "/v1/threads/import",
    summary: "A thread out of such a file",
    bodyType: "application/x-ndjson",
    query: z.object({ threadId: z.exactOptional(z.string()) }),
    answers: { 201: native.importedAnswer },
    errors: ["forbidden", "conflict"],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/threads/{id}/blobs/{blob}",
    summary: "The bytes of a file in a thread",
    answers: { 200: { type: "application/octet-stream" } },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/events",
    summary: "All threads in one stream: events of the watched ones, heads of the others",
    query: z.object({ watch: z.exactOptional(z.string().describe("thread:12,other:40")) }),
    headers: LAST,
    answers: { 200: STREAM },
    errors: [],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/calls",
    summary: "Calls and questions, the oldest first",
    query: callQuery,
    answers: { 200: native.callsAnswer },
    errors: [],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/calls/events",
    summary: "Open calls as they come and go",
    query: callQuery,
    answers: { 200: STREAM },
    errors: [],
  }),
  nativeRoute({ method: "get", path: "/v1/calls/{id}", summary: "One call", answers: { 200: native.callAnswer }, errors: ["not_found"] }),
  nativeRoute({
    method: "post",
    path: "/v1/calls/{id}/result",
    summary: "Hand a result back",
    body: body.resultBody,
    answers: { 200: native.settledAnswer },
    errors: settling,
  }),
  nativeRoute({
    method: "post",
    path: "/v1/calls/{id}/approve",
    summary: "Let a call be made, perhaps with another input",
    body: body.approvalBody,
    answers: { 200: native.settledAnswer },
    errors: ["forbidden", ...settling],
  }),
  nativeRoute({
    method: "post",
    path: "/v1/calls/{id}/reject",
    summary: "Do not let a call be made",
    body: body.rejectionBody,
    answers: { 200: native.settledAnswer },
    errors: ["forbidden", ...settling],
  }),
  nativeRoute({
    method: "post",
    path: "/v1/calls/{id}/claim",
    summary: "Take a call for oneself",
    body: body.claimBody,
    answers: { 200: native.leaseAnswer },
    errors: settling,
  }),
  nativeRoute({
    method: "post",
    path: "/v1/calls/{id}/heartbeat",
    summary: "Keep a claim",
    body: body.heartbeatBody,
    answers: { 200: native.leaseAnswer },
    errors: settling,
  }),
  nativeRoute({
    method: "post",
    path: "/v1/calls/{id}/release",
    summary: "Give a claim back",
    body: body.releaseBody,
    answers: { 200: native.releasedAnswer },
    errors: settling,
  }),
  nativeRoute({
    method: "post",
    path: "/v1/interrupts/{id}/answer",
    summary: "Answer a question",
    body: body.answerBody,
    answers: { 200: native.settledAnswer },
    errors: settling,
  }),
  nativeRoute({ method: "get", path: "/v1/grants", summary: "Standing permissions", answers: { 200: native.grantsAnswer }, errors: [] }),
  nativeRoute({
    method: "post",
    path: "/v1/grants",
    summary: "Allow a tool for good",
    body: body.grantBody,
    answers: { 201: native.grantAnswer },
    errors: [],
  }),
  nativeRoute({
    method: "delete",
    path: "/v1/grants/{id}",
    summary: "Take a permission back",
    answers: { 204: undefined },
    errors: ["not_found"],
  }),
  nativeRoute({
    method: "get",
    path: "/v1/deliveries",
    summary: "Webhooks and what came of them, the latest first",
    query: deliveryQuery,
    answers: { 200: native.deliveriesAnswer },
    errors: [],
  }),
  nativeRoute({
    method: "post",
    path: "/v1/deliveries/{id}/redeliver",
    summary: "Send a webhook again",
    answers: { 202: native.deliveryAnswer },
    errors: ["not_found", "gone"],
  }),
  nativeRoute({ method: "get", path: "/v1/meta", summary: "What this server is", answers: { 200: native.metaAnswer }, errors: [] }),
];
