import type { ErrorCode } from "../core/error.ts";
import { BODIES } from "../protocol/rest/decode.ts";
import { ANSWERS } from "../protocol/rest/schemas.ts";
import { type Described, KEY, SETTLING } from "./openapi-route.ts";

const RUNNING: ErrorCode[] = ["model", "limit", "timeout"];

/** Every route of the REST door. */
export const REST: readonly Described[] = [
  {
    door: "rest",
    method: "post",
    path: "/chat",
    summary: "Say something, or hand a result back; with `Accept: text/event-stream` the turn as events",
    body: BODIES.chat,
    headers: KEY,
    example: {
      message: "帮我查询咖啡菜单",
      threadId: "your_thread_id",
      messageType: "user",
      toolExecutionConfig: { mode: "outside", outsideConfig: { waitForResult: false, timeout: 30000 } },
    },
    answers: { 200: ANSWERS.chat },
    errors: [...SETTLING, ...RUNNING],
  },
  {
    door: "rest",
    method: "get",
    path: "/chat/pending-tools/{id}",
    summary: "Calls that wait to be executed",
    answers: { 200: ANSWERS.pending },
    errors: ["not_found"],
  },
  ...["/chat", "/api/chat"].flatMap((base): Described[] => [
    {
      door: "rest",
      method: "post",
      path: `${base}/tool-result`,
      summary: "Hand results back: one, several, or in seed 001's words",
      body: BODIES.toolResult,
      headers: KEY,
      example: { threadId: "your_thread_id", toolResult: { success: true, data: { menu: [] } }, success: true },
      answers: { 200: ANSWERS.toolResult },
      errors: [...SETTLING, ...RUNNING],
    },
    {
      door: "rest",
      method: "post",
      path: `${base}/tool-heartbeat`,
      summary: "A webhook's receiver is still at work on a call it answered with 202",
      body: BODIES.heartbeat,
      answers: { 200: ANSWERS.heartbeat },
      errors: ["not_found", "gone"],
    },
  ]),
];
