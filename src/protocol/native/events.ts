import { z } from "zod";
import { AppError } from "../../core/error.ts";
import { EVENT_VERSION, type Event, type StoredEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { upcast } from "../../core/upcast.ts";
import { parse } from "../parse.ts";

/** An event from a file: known by its type, complete, and lifted to this release's version. */
export function decodeEvent(value: unknown): StoredEvent {
  const { type, v, seq, at } = parse(envelope, value);
  if (v > EVENT_VERSION) throw new AppError("invalid", `v: version ${v} comes from a newer release of Handback`, { field: "v" });
  if (!Object.hasOwn(EVENTS, type)) throw new AppError("invalid", `type: ${type.slice(0, 50)} is no event`, { field: "type" });
  const event = parse<Event>(EVENTS[type as Event["type"]], upcast(value as { type: string }, v));
  return { ...event, seq, at, v: EVENT_VERSION };
}

const text = z.string();
const count = z.int().nonnegative();
/** JSON needs no look inside: it has been parsed. It only must be there. */
const json = z.custom<Json>((value) => value !== undefined, "is missing");
const object = z.custom<JsonObject>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "must be an object");
const maybe = z.exactOptional;

const envelope = z.object({ type: text, seq: z.int().positive(), at: z.number(), v: z.int().positive() });

const owner = z.enum(["server", "client", "external"]);
const onTimeout = z.union([z.object({ type: z.enum(["fail", "deny", "cancel"]) }), z.object({ type: z.literal("default"), output: json })]);
const failure = z.object({
  code: z.enum([
    "invalid",
    "unauthorized",
    "forbidden",
    "not_found",
    "conflict",
    "gone",
    "too_large",
    "unsupported",
    "unprocessable",
    "limit",
    "model",
    "unavailable",
    "timeout",
    "internal",
  ]),
  message: text,
  field: maybe(text),
});
const usage = z.object({
  model: maybe(text),
  inputTokens: maybe(z.number()),
  outputTokens: maybe(z.number()),
  totalTokens: maybe(z.number()),
  reasoningTokens: maybe(z.number()),
  cachedInputTokens: maybe(z.number()),
  cost: maybe(z.number()),
});

const fileHead = { type: z.literal("file"), mediaType: text, name: maybe(text) };
const file = z.union([z.object({ ...fileHead, url: text }), z.object({ ...fileHead, blob: text })]);
const content = z.union([text, z.array(z.union([z.object({ type: z.literal("text"), text }), file]))]);
const message = z.object({ id: text, content, name: maybe(text) });
const tool = z.object({ name: text, description: text, input: object });

const toolExecution = z.object({
  mode: z.enum(["internal", "outside"]),
  outsideConfig: maybe(z.object({ waitForResult: maybe(z.boolean()), timeout: maybe(z.number()), callbackUrl: maybe(text) })),
  internalConfig: maybe(z.object({ enableCache: maybe(z.boolean()), cacheTtl: maybe(z.number()), maxRetries: maybe(z.number()) })),
});
const options = z.object({
  model: maybe(text),
  instructions: maybe(text),
  maxSteps: maybe(z.number()),
  timeout: maybe(z.number()),
  context: maybe(z.array(z.object({ description: text, value: text }))),
  toolExecution: maybe(toolExecution),
  profile: maybe(text),
  toolCalls: maybe(z.literal("raw")),
  settings: maybe(z.record(z.string(), z.number())),
  metadata: maybe(object),
});

const place = z.object({ path: z.array(text), key: maybe(text), lineageId: text, checkpointId: text });
const task = z.object({ taskId: text, node: text, input: maybe(json) });
const arrived = z.record(z.string(), z.array(text));
const wait = z.union([
  z.object({ type: z.literal("call"), callId: text, name: text, owner, run: count, expiresAt: maybe(z.number()), place: maybe(place) }),
  z.object({
    type: z.literal("interrupt"),
    interruptId: text,
    reason: text,
    prompt: json,
    schema: maybe(object),
    callId: maybe(text),
    expiresAt: maybe(z.number()),
    place: maybe(place),
  }),
]);
const outcome = z.union([
  z.object({ type: z.literal("done"), result: maybe(json) }),
  z.object({ type: z.literal("waiting"), for: z.array(wait) }),
  z.object({ type: z.literal("failed"), error: failure }),
  z.object({ type: z.literal("cancelled"), reason: maybe(text) }),
]);

const source = { by: text, via: text };
const speechStarted = { messageId: text, stepId: text };
const speechDelta = { messageId: text, delta: text };
const speechEnded = { messageId: text, text, provider: maybe(object) };
const call = { callId: text, name: text, messageId: text, stepId: text, owner };

/** An event's schema: it gives that event, and knows all its fields. */
type SchemaOf<E extends Event> = z.ZodType<E> & { shape: Record<keyof E, z.ZodType> };

/** Every event there is; the type checker sees to it that none is missing, and no field of one. */
const EVENTS: { [T in Event["type"]]: SchemaOf<Event & { type: T }> } = {
  "run.started": z.object({
    type: z.literal("run.started"),
    runId: text,
    turnId: text,
    epoch: count,
    cause: z.enum(["message", "result", "answer", "expiry", "cancel", "retry"]),
    agent: text,
    messages: z.array(message),
    tools: maybe(z.array(tool)),
    options: maybe(options),
    parentRunId: maybe(text),
    resume: maybe(z.object({ lineageId: text, checkpointId: text, answers: object })),
    ...source,
  }),
  "run.recovered": z.object({ type: z.literal("run.recovered"), runId: text, epoch: count }),
  "cancel.requested": z.object({ type: z.literal("cancel.requested"), runId: text, by: text, reason: maybe(text) }),
  "run.ended": z.object({ type: z.literal("run.ended"), runId: text, turnId: text, run: count, outcome, usage: maybe(z.array(usage)) }),
  "step.started": z.object({
    type: z.literal("step.started"),
    stepId: text,
    name: text,
    kind: z.enum(["model", "node", "agent"]),
    messageId: text,
    parentStepId: maybe(text),
    taskId: maybe(text),
    attempt: maybe(count),
    place: maybe(place),
  }),
  "step.ended": z.object({
    type: z.literal("step.ended"),
    stepId: text,
    name: text,
    completed: z.boolean(),
    error: maybe(failure),
    retrying: maybe(z.literal(true)),
    finishReason: maybe(text),
    usage: maybe(usage),
    writes: maybe(json),
    parentStepId: maybe(text),
    place: maybe(place),
  }),
  "text.started": z.object({ type: z.literal("text.started"), ...speechStarted }),
  "text.delta": z.object({ type: z.literal("text.delta"), ...speechDelta }),
  "text.ended": z.object({ type: z.literal("text.ended"), ...speechEnded }),
  "reasoning.started": z.object({ type: z.literal("reasoning.started"), ...speechStarted }),
  "reasoning.delta": z.object({ type: z.literal("reasoning.delta"), ...speechDelta }),
  "reasoning.ended": z.object({ type: z.literal("reasoning.ended"), ...speechEnded }),
  "part.added": z.object({
    type: z.literal("part.added"),
    messageId: text,
    stepId: text,
    part: z.union([
      file,
      z.object({ type: z.literal("source"), url: maybe(text), title: maybe(text), id: maybe(text) }),
      z.object({ type: z.literal("data"), name: text, value: json }),
    ]),
  }),
  "tool.started": z.object({ type: z.literal("tool.started"), ...call }),
  "tool.delta": z.object({ type: z.literal("tool.delta"), callId: text, delta: text }),
  "tool.called": z.object({
    type: z.literal("tool.called"),
    ...call,
    input: json,
    approval: maybe(z.object({ timeout: maybe(z.number()) })),
    invalid: maybe(text),
    timeout: maybe(z.number()),
    onTimeout: maybe(onTimeout),
    idempotent: maybe(z.boolean()),
    inside: maybe(z.literal(true)),
    provider: maybe(object),
    source: maybe(text),
    taskId: maybe(text),
    place: maybe(place),
  }),
  "call.offered": z.object({
    type: z.literal("call.offered"),
    callId: text,
    name: text,
    owner,
    input: json,
    ordinal: count,
    expiresAt: maybe(z.number()),
    onTimeout: maybe(onTimeout),
  }),
  "call.claimed": z.object({ type: z.literal("call.claimed"), callId: text, by: text, claim: count }),
  "call.released": z.object({ type: z.literal("call.released"), callId: text, claim: count, reason: text }),
  "tool.progressed": z.object({ type: z.literal("tool.progressed"), callId: text, output: json }),
  "tool.returned": z.object({
    type: z.literal("tool.returned"),
    callId: text,
    name: text,
    owner,
    messageId: text,
    status: z.enum(["completed", "failed", "rejected", "expired", "cancelled"]),
    output: maybe(json),
    error: maybe(text),
    metadata: maybe(object),
    ...source,
  }),
  "interrupt.raised": z.object({
    type: z.literal("interrupt.raised"),
    interruptId: text,
    reason: text,
    prompt: json,
    schema: maybe(object),
    callId: maybe(text),
    taskId: maybe(text),
    place: maybe(place),
    expiresAt: maybe(z.number()),
  }),
  "interrupt.answered": z.object({
    type: z.literal("interrupt.answered"),
    interruptId: text,
    callId: maybe(text),
    status: z.enum(["resolved", "cancelled", "expired"]),
    value: maybe(json),
    input: maybe(json),
    reason: maybe(text),
    ...source,
  }),
  "state.patched": z.object({ type: z.literal("state.patched"), ops: z.array(json) }),
  "memory.patched": z.object({ type: z.literal("memory.patched"), ops: z.array(json) }),
  "checkpoint.reached": z.object({
    type: z.literal("checkpoint.reached"),
    checkpointId: text,
    lineageId: maybe(text),
    superstep: count,
    tasks: z.array(task),
    parentTaskId: maybe(text),
    ops: maybe(z.array(json)),
    arrived: maybe(arrived),
  }),
  "activity.changed": z.object({ type: z.literal("activity.changed"), messageId: text, activityType: text, ops: z.array(json) }),
  "custom.emitted": z.object({
    type: z.literal("custom.emitted"),
    name: text,
    value: json,
    id: maybe(text),
    source: maybe(text),
    transient: maybe(z.boolean()),
  }),
  "thread.rewound": z.object({
    type: z.literal("thread.rewound"),
    to: count,
    removed: z.array(text),
    state: maybe(json),
    memory: maybe(json),
    checkpoint: maybe(z.object({ checkpointId: text, lineageId: text, superstep: count, tasks: z.array(task), arrived: maybe(arrived) })),
    answers: maybe(object),
  }),
  "thread.forked": z.object({ type: z.literal("thread.forked"), from: z.object({ threadId: text, seq: count }) }),
  "thread.changed": z.object({ type: z.literal("thread.changed"), title: maybe(text), metadata: maybe(object) }),
};
