import { z } from "zod";
import type { ErrorCode } from "../core/error.ts";
import { STATELESS_BODY } from "../protocol/aisdk/stateless.ts";
import type { Described } from "./openapi-route.ts";

const maybe = z.exactOptional;
const RUNNING: ErrorCode[] = ["conflict", "unprocessable", "model", "limit", "timeout"];
const version = maybe(z.enum(["5", "6", "7"]).describe("The major of the AI SDK to speak; without it, what all read"));
const following = { v: version, hold: maybe(z.boolean()), client: maybe(z.string()) };

/** What `useChat` sends: the thread's name, and messages in parts. It is read with more patience than is written here. */
const chatBody = z.looseObject({
  id: z.string().describe("The thread"),
  messages: maybe(z.array(z.looseObject({ id: z.string(), role: z.enum(["user", "assistant", "system"]), parts: z.array(z.unknown()) }))),
});

const aisdkRoute = (route: Omit<Described, "door">): Described => ({ door: "aisdk", ...route });

/** Every route of the AI SDK's door. */
export const AISDK: readonly Described[] = [
  aisdkRoute({
    method: "post",
    path: "/api/chat",
    summary: "Talk as `useChat` does; or without a thread, by sending it whole (seed 004), with `Accept: text/plain` for bare text",
    body: z.union([STATELESS_BODY, chatBody]),
    query: z.object({ agent: maybe(z.string()), ...following }),
    example: {
      messages: [{ role: "user", content: "计算 1000 以内的所有素数之和。" }],
      config: { mode: "chat", profile: "JSON_Strict", toolCalls: "raw" },
    },
    answers: { 200: { type: ["text/event-stream", "text/plain"] } },
    errors: RUNNING,
  }),
  aisdkRoute({
    method: "get",
    path: "/api/chat/{id}/stream",
    summary: "The unfinished message from its beginning, then live; 204 when nothing runs or waits",
    query: z.object(following),
    answers: { 200: { type: "text/event-stream" }, 204: undefined },
    errors: [],
  }),
  aisdkRoute({
    method: "get",
    path: "/api/chat/{id}/messages",
    summary: "The thread as UI messages",
    query: z.object({ v: version, include: maybe(z.literal("active")) }),
    answers: { 200: z.object({ id: z.string(), messages: z.array(z.looseObject({ id: z.string() })), active: z.boolean() }) },
    errors: [],
  }),
  aisdkRoute({
    method: "post",
    path: "/api/chat/{id}/stop",
    summary: "Cancel what runs or waits",
    answers: { 200: z.object({ id: z.string(), status: z.enum(["cancelled", "idle"]) }) },
    errors: [],
  }),
];
