import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventSchemas } from "@ag-ui/core/schemas";
import { EVENT_VERSION, type Event, type Outcome, type StoredEvent } from "../../core/event.ts";
import { encode, prelude } from "./encode.ts";

const by = { by: "user:user", via: "test" };
const step = { stepId: "s", messageId: "m" };
const call = { callId: "c", name: "ext", owner: "external" as const, ...step };
const ended = (outcome: Outcome): Event => ({
  type: "run.ended",
  runId: "r",
  turnId: "t",
  run: 1,
  outcome,
  usage: [{ model: "x", inputTokens: 1, cost: 2 }],
});
const waitingFor = (...types: ("call" | "interrupt")[]): Event =>
  ended({
    type: "waiting",
    for: types.map((type) =>
      type === "call"
        ? { type, callId: "c", name: "ext", owner: "client", run: 1, expiresAt: 9 }
        : {
            type,
            interruptId: "i",
            reason: "tool_call",
            prompt: { tool: "ext", input: {} },
            schema: { type: "object" },
            callId: "c",
            expiresAt: 9,
          },
    ),
  });

/** Every type of event the log knows, some in several forms. */
const EVENTS: Event[] = [
  {
    type: "run.started",
    runId: "r",
    turnId: "t",
    epoch: 1,
    cause: "message",
    agent: "a",
    messages: [{ id: "u", content: "hi" }],
    parentRunId: "p",
    ...by,
  },
  { type: "run.started", runId: "r", turnId: "t", epoch: 1, cause: "result", agent: "a", messages: [], ...by },
  { type: "run.recovered", runId: "r", epoch: 2 },
  { type: "cancel.requested", runId: "r", by: "user:user" },
  { type: "step.started", name: "model", kind: "model", ...step },
  { type: "reasoning.started", ...step },
  { type: "reasoning.delta", messageId: "m", delta: "" },
  { type: "reasoning.ended", messageId: "m", text: "", provider: { secret: "signature" } },
  { type: "text.started", ...step },
  { type: "text.delta", messageId: "m", delta: "x" },
  { type: "text.ended", messageId: "m", text: "x" },
  { type: "tool.started", ...call },
  { type: "tool.delta", callId: "c", delta: "{" },
  { type: "tool.called", ...call, input: {} },
  { type: "part.added", ...step, part: { type: "data", name: "chart", value: null } },
  { type: "step.ended", stepId: "s", name: "model", completed: true },
  { type: "interrupt.raised", interruptId: "i", reason: "confirmation", prompt: "Sure?" },
  { type: "interrupt.answered", interruptId: "i", status: "resolved", value: true, ...by },
  { type: "call.offered", callId: "c", name: "ext", owner: "external", input: {}, ordinal: 1 },
  { type: "call.claimed", callId: "c", by: "w", claim: 1 },
  { type: "call.released", callId: "c", claim: 1, reason: "released" },
  { type: "tool.progressed", callId: "c", output: 7 },
  { type: "tool.returned", callId: "c", name: "ext", owner: "external", messageId: "x", status: "completed", output: { a: [1] }, ...by },
  { type: "tool.returned", callId: "c", name: "ext", owner: "external", messageId: "x", status: "completed", output: null, ...by },
  { type: "tool.returned", callId: "c", name: "ext", owner: "external", messageId: "x", status: "expired", error: "外部执行超时", ...by },
  { type: "state.patched", ops: [{ op: "replace", path: "", value: { a: 1 } }] },
  { type: "state.patched", ops: [{ op: "add", path: "/a~1b", value: null }] },
  { type: "activity.changed", messageId: "act", activityType: "plan", ops: [{ op: "add", path: "/node", value: {} }] },
  { type: "custom.emitted", name: "think", value: null },
  { type: "custom.emitted", name: "raw", value: { a: 1 }, source: "langgraph" },
  { type: "checkpoint.reached", checkpointId: "k", superstep: 1, tasks: [] },
  { type: "thread.rewound", to: 1, removed: ["u"] },
  { type: "thread.forked", from: { threadId: "t", seq: 1 } },
  { type: "thread.changed", title: "x" },
  ended({ type: "done" }),
  ended({ type: "done", result: { answer: 42 } }),
  ended({ type: "failed", error: { code: "model", message: "down" } }),
  ended({ type: "cancelled", reason: "enough" }),
  waitingFor("call"),
  waitingFor("interrupt"),
  waitingFor("call", "interrupt"),
];

const stored = (event: Event, seq = 7) => ({ ...event, seq, at: 1_700_000_000_000, v: EVENT_VERSION }) as StoredEvent;

describe("encode", () => {
  for (const event of EVENTS) {
    it(`makes frames the protocol knows of ${event.type}: ${JSON.stringify(event).slice(0, 80)}`, () => {
      for (const peer of ["agui:0", "agui:1"] as const) {
        for (const frame of encode("thread", stored(event), peer)) {
          const verdict = EventSchemas.safeParse(frame);
          assert.ok(verdict.success, `${frame.type}: ${verdict.error?.message}`);
          assert.ok(Number.isSafeInteger(frame["timestamp"]));
        }
      }
    });
  }

  it("tells older peers nothing that would be fatal to them", () => {
    const told = EVENTS.flatMap((event) => encode("thread", stored(event), "agui:0"));
    const text = JSON.stringify(told);
    for (const novelty of ["pendingToolCallIds", '"cancelled"', "expiresAt"]) assert.ok(!text.includes(novelty), novelty);
    const modern = JSON.stringify(EVENTS.flatMap((event) => encode("thread", stored(event), "agui:1")));
    for (const novelty of ["pendingToolCallIds", '"cancelled"', "expiresAt"]) assert.ok(modern.includes(novelty), novelty);
  });

  it("tells nobody what is only for the model's provider, nor who claimed a call", () => {
    const text = JSON.stringify(EVENTS.flatMap((event) => encode("thread", stored(event), "agui:1")));
    for (const secret of ["signature", "epoch", "claim", "user:user"]) assert.ok(!text.includes(secret), secret);
  });

  it("leaves a text as it is and writes anything else as JSON", () => {
    const shown = (output: string | null | number) =>
      encode(
        "t",
        stored({ type: "tool.returned", callId: "c", name: "x", owner: "server", messageId: "m", status: "completed", output, ...by }),
        "agui:1",
      )[0]?.["content"];
    assert.deepEqual([shown("sunny"), shown('"'), shown(3), shown(null)], ["sunny", '"', "3", "null"]);
  });
});

describe("prelude", () => {
  const result = stored({
    type: "tool.returned",
    callId: "c",
    name: "x",
    owner: "client",
    messageId: "m",
    status: "completed",
    output: "1",
    ...by,
  });
  const shows = (calls: string[], results: string[]) => ({
    shown: { messages: new Set<string>(), calls: new Set(calls), results: new Set(results), texts: new Map<string, string>(), list: false },
    missed: [],
  });

  it("says a result again only to those who do not show its call", () => {
    assert.equal(prelude("t", result, shows([], ["c"]), "agui:1").length, 1);
    assert.equal(prelude("t", result, shows(["c"], ["c"]), "agui:1").length, 0);
    assert.equal(prelude("t", result, shows(["c"], []), "agui:1").length, 1);
  });

  it("does as the option says where there is one", () => {
    assert.equal(prelude("t", result, { ...shows(["c"], ["c"]), echo: true }, "agui:1").length, 1);
    assert.equal(prelude("t", result, { ...shows([], ["c"]), echo: false }, "agui:1").length, 0);
  });

  it("puts what the client has missed right behind the start of the run", () => {
    const missed = [{ type: "MESSAGES_SNAPSHOT", messages: [] }];
    const frames = prelude("t", stored(EVENTS[0] as Event), { ...shows([], []), missed }, "agui:1");
    assert.deepEqual(
      frames.map(({ type }) => type),
      ["RUN_STARTED", "MESSAGES_SNAPSHOT"],
    );
  });
});
