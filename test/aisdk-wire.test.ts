import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event, StoredEvent } from "../src/core/event.ts";
import { encode } from "../src/protocol/aisdk/encode.ts";
import { type Peer, peerOf } from "../src/protocol/aisdk/peer.ts";
import { load } from "./aisdk/setup.ts";

type Sdk = { DefaultChatTransport: new (options: object) => Transport };
type Transport = { sendMessages(options: object): Promise<ReadableStream<unknown>> };

/** A stream as a release's own transport reads it: the first ones refuse any chunk or field they do not know. */
async function read(release: string, chunks: readonly object[]): Promise<unknown[]> {
  const { DefaultChatTransport } = await load<Sdk>(release);
  const text = `: open\n\n${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
  const transport = new DefaultChatTransport({
    fetch: async () => new Response(text, { headers: { "content-type": "text/event-stream" } }),
  });
  const stream = await transport.sendMessages({ chatId: "t", messages: [], trigger: "submit-message", abortSignal: undefined });
  return Array.fromAsync(stream as AsyncIterable<unknown>);
}

const source = { by: "user:u", via: "test" };
const step = { stepId: "s1", messageId: "m1" };
const call = { callId: "c1", name: "paint", ...step } as const;
const returned = { type: "tool.returned", callId: "c1", name: "paint", messageId: "r", ...source } as const;

/** One of each, in each of its shapes. */
const EVENTS: Event[] = [
  {
    type: "run.started",
    runId: "r1",
    turnId: "t1",
    epoch: 1,
    cause: "message",
    agent: "a",
    messages: [{ id: "u", content: "hi" }],
    ...source,
  },
  { type: "run.recovered", runId: "r1", epoch: 2 },
  { type: "cancel.requested", runId: "r1", by: "u" },
  { type: "run.ended", runId: "r1", turnId: "t1", run: 1, outcome: { type: "done", result: 1 }, usage: [{ inputTokens: 1 }] },
  { type: "run.ended", runId: "r1", turnId: "t1", run: 1, outcome: { type: "waiting", for: [] } },
  { type: "run.ended", runId: "r1", turnId: "t1", run: 1, outcome: { type: "failed", error: { code: "model", message: "down" } } },
  { type: "run.ended", runId: "r1", turnId: "t1", run: 1, outcome: { type: "cancelled", reason: "no" } },
  { type: "step.started", ...step, name: "model", kind: "model" },
  { type: "step.started", ...step, name: "n", kind: "node" },
  { type: "step.ended", stepId: "s1", name: "model", completed: true, finishReason: "stop", usage: { inputTokens: 1 } },
  { type: "text.started", ...step },
  { type: "text.delta", messageId: "m1", delta: "hé\u2028\n" },
  { type: "text.ended", messageId: "m1", text: "hé", provider: { openai: { itemId: "x" } } },
  { type: "reasoning.started", ...step },
  { type: "reasoning.delta", messageId: "m1", delta: "hm" },
  { type: "reasoning.ended", messageId: "m1", text: "hm" },
  { type: "part.added", ...step, part: { type: "file", mediaType: "image/png", blob: "blob_1" } },
  { type: "part.added", ...step, part: { type: "source", url: "https://example.com", title: "E" } },
  { type: "part.added", ...step, part: { type: "source", title: "A book" } },
  { type: "part.added", ...step, part: { type: "data", name: "chart", value: { x: 1 } } },
  { type: "tool.started", ...call, owner: "client" },
  { type: "tool.delta", callId: "c1", delta: "{" },
  { type: "tool.called", ...call, owner: "client", input: {} },
  { type: "tool.called", ...call, owner: "server", input: {} },
  { type: "tool.called", ...call, owner: "server", input: {}, approval: {} },
  { type: "tool.called", ...call, owner: "client", input: null, invalid: "bad" },
  { type: "call.offered", callId: "c1", name: "paint", owner: "client", input: {}, ordinal: 1, expiresAt: 9 },
  { type: "call.offered", callId: "c1", name: "paint", owner: "external", input: {}, ordinal: 1 },
  { type: "call.claimed", callId: "c1", by: "w", claim: 1 },
  { type: "call.released", callId: "c1", claim: 1, reason: "x" },
  { type: "tool.progressed", callId: "c1", output: { done: 0.5 } },
  { ...returned, owner: "client", status: "completed", output: { a: 1 } },
  { ...returned, owner: "external", status: "failed", error: "no" },
  { ...returned, owner: "server", status: "rejected", error: "no" },
  { ...returned, owner: "external", status: "expired", output: 1 },
  { ...returned, owner: "external", status: "cancelled" },
  {
    type: "interrupt.raised",
    interruptId: "c1:approval",
    reason: "tool_call",
    prompt: { tool: "paint", input: {} },
    callId: "c1",
    schema: {},
  },
  { type: "interrupt.raised", interruptId: "q", reason: "ask", prompt: "sure?", schema: { type: "boolean" } },
  {
    type: "interrupt.answered",
    interruptId: "c1:approval",
    callId: "c1",
    status: "resolved",
    value: { approved: true },
    input: {},
    reason: "ok",
    ...source,
  },
  { type: "interrupt.answered", interruptId: "c1:approval", callId: "c1", status: "expired", ...source },
  { type: "interrupt.answered", interruptId: "q", status: "resolved", value: true, ...source },
  { type: "state.patched", ops: [{ op: "replace", path: "", value: {} }] },
  { type: "checkpoint.reached", checkpointId: "k", superstep: 1, tasks: [] },
  { type: "activity.changed", messageId: "a", activityType: "plan", ops: [] },
  { type: "custom.emitted", name: "note", value: 1, id: "n", transient: true },
  { type: "thread.rewound", to: 1, removed: [] },
  { type: "thread.forked", from: { threadId: "o", seq: 1 } },
  { type: "thread.changed", title: "T" },
];

const READERS: Record<Peer, string[]> = {
  "aisdk:5": ["ai500", "ai5", "ai600", "ai6", "ai700", "ai7"],
  "aisdk:6": ["ai600", "ai6"],
  "aisdk:7": ["ai700", "ai7"],
};

describe("AI SDK: the wire", () => {
  for (const [peer, releases] of Object.entries(READERS) as [Peer, string[]][]) {
    for (const release of releases) {
      it(`${release} knows every chunk and field that ${peer} may hold`, async () => {
        const chunks = EVENTS.flatMap((event, i) => encode("t", { ...event, seq: i + 1, at: 0, v: 1 } as StoredEvent, peer));
        assert.deepEqual(await read(release, chunks), chunks);
      });
    }
  }

  it("the judges do refuse what they do not know", async () => {
    await assert.rejects(read("ai500", [{ type: "tool-approval-request", approvalId: "a", toolCallId: "c" }]));
    await assert.rejects(read("ai700", [{ type: "start-step", surprise: true }]));
  });

  it("speaks the portable core to whoever names no version, and says which versions it knows", () => {
    assert.deepEqual([undefined, "core", "5", "v6", "7.0.169", "8"].map(peerOf), [
      "aisdk:5",
      "aisdk:5",
      "aisdk:5",
      "aisdk:6",
      "aisdk:7",
      "aisdk:7",
    ]);
    assert.throws(() => peerOf("4"), /name 5, 6 or 7/);
  });
});
