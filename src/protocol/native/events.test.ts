import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AppError } from "../../core/error.ts";
import type { StoredEvent } from "../../core/event.ts";
import { decodeEvent } from "./events.ts";

const place = { seq: 3, at: 7, v: 1 };
const source = { by: "user:a", via: "native" };

/** One of each kind, as full as it can be. */
const ALL: StoredEvent[] = [
  {
    ...place,
    ...source,
    type: "run.started",
    runId: "r",
    turnId: "t",
    epoch: 1,
    cause: "message",
    agent: "a",
    messages: [
      { id: "m1", content: "hi", name: "Ann" },
      {
        id: "m2",
        content: [
          { type: "text", text: "x" },
          { type: "file", mediaType: "a/b", url: "https://x" },
          { type: "file", mediaType: "a/b", blob: "blob_1", name: "f" },
        ],
      },
    ],
    tools: [{ name: "n", description: "d", input: {} }],
    options: {
      model: "m",
      instructions: "i",
      maxSteps: 1,
      timeout: 0,
      context: [{ description: "d", value: "v" }],
      toolExecution: { mode: "outside", outsideConfig: { timeout: 1 } },
      metadata: { a: 1 },
    },
    parentRunId: "p",
  },
  { ...place, type: "run.recovered", runId: "r", epoch: 2 },
  { ...place, type: "cancel.requested", runId: "r", by: "b", reason: "w" },
  {
    ...place,
    type: "run.ended",
    runId: "r",
    turnId: "t",
    run: 1,
    outcome: {
      type: "waiting",
      for: [
        { type: "call", callId: "c", name: "n", owner: "client", run: 1, expiresAt: 5 },
        { type: "interrupt", interruptId: "i", reason: "r", prompt: null, schema: {}, callId: "c", expiresAt: 5 },
      ],
    },
    usage: [{ model: "m", inputTokens: 1, cost: 0.1 }],
  },
  { ...place, type: "run.ended", runId: "r", turnId: "t", run: 1, outcome: { type: "done", result: [1] } },
  {
    ...place,
    type: "run.ended",
    runId: "r",
    turnId: "t",
    run: 1,
    outcome: { type: "failed", error: { code: "model", message: "m", field: "f" } },
  },
  { ...place, type: "run.ended", runId: "r", turnId: "t", run: 1, outcome: { type: "cancelled", reason: "w" } },
  { ...place, type: "step.started", stepId: "s", name: "n", kind: "node", messageId: "m", parentStepId: "p", taskId: "k" },
  {
    ...place,
    type: "step.ended",
    stepId: "s",
    name: "n",
    completed: false,
    error: { code: "internal", message: "m" },
    finishReason: "stop",
    usage: {},
    writes: null,
  },
  { ...place, type: "text.started", messageId: "m", stepId: "s" },
  { ...place, type: "text.delta", messageId: "m", delta: "" },
  { ...place, type: "text.ended", messageId: "m", text: "", provider: {} },
  { ...place, type: "reasoning.started", messageId: "m", stepId: "s" },
  { ...place, type: "reasoning.delta", messageId: "m", delta: "x" },
  { ...place, type: "reasoning.ended", messageId: "m", text: "x" },
  { ...place, type: "part.added", messageId: "m", stepId: "s", part: { type: "source", url: "u", title: "t", id: "i" } },
  { ...place, type: "part.added", messageId: "m", stepId: "s", part: { type: "data", name: "n", value: false } },
  { ...place, type: "tool.started", callId: "c", name: "n", messageId: "m", stepId: "s", owner: "server" },
  { ...place, type: "tool.delta", callId: "c", delta: "{" },
  {
    ...place,
    type: "tool.called",
    callId: "c",
    name: "n",
    messageId: "m",
    stepId: "s",
    owner: "external",
    input: null,
    approval: { timeout: 1 },
    invalid: "w",
    timeout: 1,
    onTimeout: { type: "default", output: 1 },
    idempotent: true,
    provider: {},
    source: "x",
  },
  {
    ...place,
    type: "call.offered",
    callId: "c",
    name: "n",
    owner: "external",
    input: {},
    ordinal: 1,
    expiresAt: 2,
    onTimeout: { type: "deny" },
  },
  { ...place, type: "call.claimed", callId: "c", by: "b", claim: 1 },
  { ...place, type: "call.released", callId: "c", claim: 1, reason: "w" },
  { ...place, type: "tool.progressed", callId: "c", output: 1 },
  {
    ...place,
    ...source,
    type: "tool.returned",
    callId: "c",
    name: "n",
    owner: "client",
    messageId: "m",
    status: "failed",
    output: 0,
    error: "e",
    metadata: {},
  },
  { ...place, type: "interrupt.raised", interruptId: "i", reason: "r", prompt: {}, schema: {}, callId: "c", taskId: "k", expiresAt: 1 },
  {
    ...place,
    ...source,
    type: "interrupt.answered",
    interruptId: "i",
    callId: "c",
    status: "resolved",
    value: null,
    input: {},
    reason: "w",
  },
  { ...place, type: "state.patched", ops: [{ op: "add", path: "/a", value: 1 }] },
  { ...place, type: "memory.patched", ops: [{ op: "add", path: "/a", value: 1 }] },
  { ...place, type: "checkpoint.reached", checkpointId: "k", superstep: 0, tasks: [] },
  { ...place, type: "activity.changed", messageId: "m", activityType: "a", ops: [] },
  { ...place, type: "custom.emitted", name: "n", value: null, id: "i", source: "s", transient: true },
  { ...place, type: "thread.rewound", to: 1, removed: ["m"] },
  { ...place, type: "thread.forked", from: { threadId: "t", seq: 1 } },
  { ...place, type: "thread.changed", title: "t", metadata: {} },
];

describe("decodeEvent", () => {
  it("reads back every kind of event as it was written", () => {
    for (const event of ALL) assert.deepEqual(decodeEvent(JSON.parse(JSON.stringify(event))), event);
  });

  it("misses no required field of any of them", () => {
    for (const event of ALL) {
      for (const field of Object.keys(event)) {
        const { [field]: _, ...rest } = event as unknown as Record<string, unknown>;
        try {
          decodeEvent(rest);
        } catch (error) {
          assert.ok(error instanceof AppError);
          assert.equal(error.field?.split(".")[0], field, error.message);
        }
      }
    }
  });

  it("refuses strangers, the future and wrong types, and drops what it does not know", () => {
    const refused = (value: unknown, field: string | undefined) =>
      assert.throws(
        () => decodeEvent(value),
        (error) => error instanceof AppError && error.field === field,
      );
    refused({ ...place, type: "toString" }, "type");
    refused({ ...place, type: "text.delta", messageId: "m", delta: 1 }, "delta");
    refused({ ...place, v: 2, type: "text.delta", messageId: "m", delta: "" }, "v");
    refused({ ...place, seq: 0, type: "text.delta", messageId: "m", delta: "" }, "seq");
    refused(null, undefined);
    refused([], undefined);
    assert.deepEqual(decodeEvent({ ...place, type: "tool.delta", callId: "c", delta: "x", more: 1 }), {
      ...place,
      type: "tool.delta",
      callId: "c",
      delta: "x",
    });
  });
});
