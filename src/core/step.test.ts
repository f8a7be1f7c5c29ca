import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event } from "./event.ts";
import { asked, called, given, type Log, offered, offering, raised, stepEnded, stepStarted, text, types } from "./given.ts";
import { APPROVAL_SCHEMA } from "./settle.ts";
import { closing, completeStep, conclude, type Next } from "./step.ts";
import { waits } from "./thread.ts";

const NO_GRANTS = new Map<string, string>();

describe("the append that ends a step", () => {
  it("hands its outside calls out, numbered in call order and with the deadline counted from now", () => {
    // 1.8, 1.16, 1.22: server calls are not counted.
    const log = given(
      asked(),
      stepStarted(),
      ...called("bake1", { owner: "server" }),
      ...called("pay2", { input: { cents: 5 }, timeout: 30, onTimeout: { type: "deny" } }),
      ...called("map3", { owner: "client", timeout: 0 }),
    );
    assert.deepEqual(completeStep(log.thread, stepEnded(), 1000, NO_GRANTS), [
      stepEnded(),
      offered("pay2", 1, { input: { cents: 5 }, expiresAt: 1030, onTimeout: { type: "deny" } }),
      offered("map3", 2, { owner: "client" }),
    ]);
  });

  it("tells the model what it called wrongly, and hands that to nobody", () => {
    const log = given(asked(), stepStarted(), ...called("pay1", { invalid: "cents: expected number", approval: {} }));
    const [, refused, ...rest] = completeStep(log.thread, stepEnded(), 0, NO_GRANTS);
    assert.ok(refused?.type === "tool.returned" && refused.status === "failed" && refused.error === "cents: expected number");
    assert.deepEqual(rest, []);
  });

  it("asks a person first where the tool wants it, with the deadline of the decision", () => {
    const log = given(
      asked(),
      stepStarted(),
      ...called("pay1", { approval: { timeout: 50 }, timeout: 30, input: { cents: 5 } }),
      ...called("bake2", { approval: { timeout: 0 }, owner: "server" }),
    );
    assert.deepEqual(completeStep(log.thread, stepEnded(), 1000, NO_GRANTS), [
      stepEnded(),
      raised("pay1", { prompt: { tool: "pay", input: { cents: 5 } }, schema: APPROVAL_SCHEMA, expiresAt: 1050 }),
      raised("bake2", { prompt: { tool: "bake", input: {} }, schema: APPROVAL_SCHEMA }),
    ]);
  });

  it("does not wait for a person who has allowed the tool beforehand, and says which grant it was", () => {
    const log = given(asked(), stepStarted(), ...called("pay1", { approval: {} }), ...called("bake2", { approval: {}, owner: "server" }));
    const grants = new Map([
      ["pay", "g1"],
      ["bake", "g2"],
    ]);
    const events = completeStep(log.thread, stepEnded(), 0, grants);
    assert.deepEqual(types(events), [
      "step.ended",
      "interrupt.raised",
      "interrupt.answered",
      "call.offered",
      "interrupt.raised",
      "interrupt.answered",
    ]);
    assert.ok(events[2]?.type === "interrupt.answered" && events[2].by === "grant:g1");
    log.append({ epoch: 1 }, events);
    assert.deepEqual(phases(log), [
      ["pay1", "offered"],
      ["bake2", "ready"],
    ]);
    assert.equal(log.thread.interrupts.size, 0);
  });

  it("leaves the calls of other steps alone", () => {
    const log = given(asked(), stepStarted(), stepStarted("s2"), ...called("pay1"), ...called("ship2", { stepId: "s2" }));
    assert.deepEqual(types(completeStep(log.thread, stepEnded(), 0, NO_GRANTS)), ["step.ended", "call.offered"]);
  });

  it("ends what the model began and never finished, so that no call stays unanswered", () => {
    const log = given(
      asked(),
      stepStarted(),
      stepStarted("s2"),
      { type: "text.started", messageId: "m", stepId: "s1" },
      { type: "text.delta", messageId: "m", delta: "half" },
      { type: "text.started", messageId: "m2", stepId: "s2" },
      ...called("pay1").slice(0, 2),
      ...called("ship2"),
    );
    const events = completeStep(log.thread, stepEnded(), 0, NO_GRANTS);
    assert.deepEqual(types(events), ["text.ended", "tool.called", "step.ended", "tool.returned", "call.offered"]);
    log.append({ epoch: 1 }, events);
    assert.deepEqual(phases(log), [["ship2", "offered"]]);
    assert.deepEqual([...(log.thread.run?.speaking.keys() ?? [])], ["m2"], "another step goes on talking");
    const entry = log.thread.history[1];
    const settled =
      entry?.role === "assistant" &&
      entry.parts.flatMap((part) => (part.type === "call" && part.settlement ? [part.settlement.status] : []));
    assert.deepEqual(settled, ["failed"]);
  });
});

describe("a run's end", () => {
  const endings: Exclude<Next, { type: "step" }>[] = [
    { type: "done", result: { ok: true } },
    { type: "fail", error: { code: "model", message: "500" } },
    { type: "wait" },
  ];

  it("says exactly what the turn waits for", () => {
    // 1.1
    const log = given(...offering("pay1"));
    const events = conclude(log.thread, { type: "wait" });
    assert.deepEqual(events, [
      { type: "run.ended", runId: "r1", turnId: "t1", run: 1, outcome: { type: "waiting", for: waits(log.thread) } },
    ]);
  });

  it("is a failure when an agent waits for nothing", () => {
    const [last] = conclude(given(asked()).thread, { type: "wait" });
    assert.ok(last?.type === "run.ended" && last.outcome.type === "failed");
  });

  it("carries the agent's result, or its error, and what was used", () => {
    const log = given(asked(), stepStarted(), { ...stepEnded(), usage: { totalTokens: 3 } });
    assert.deepEqual(conclude(log.thread, { type: "done", result: 7 }), [
      { type: "run.ended", runId: "r1", turnId: "t1", run: 1, outcome: { type: "done", result: 7 }, usage: [{ totalTokens: 3 }] },
    ]);
    const [last] = conclude(log.thread, { type: "fail", error: { code: "limit", message: "enough" } });
    assert.deepEqual(last?.type === "run.ended" && last.outcome, { type: "failed", error: { code: "limit", message: "enough" } });
  });

  it("leaves nothing open, unless it waits", () => {
    // 1.25: open calls and questions of a failed or cancelled turn are settled in the same append.
    for (const cancel of [false, true]) {
      for (const next of endings) {
        if (next.type === "wait" && !cancel) continue;
        const log = everythingOpen();
        if (cancel) log.append({ epoch: 1 }, [{ type: "cancel.requested", runId: "r1", by: "user:alice", reason: "enough" }]);
        log.append({ seq: log.thread.seq }, conclude(log.thread, next));
        assert.deepEqual([log.thread.run, log.thread.calls.size, log.thread.interrupts.size], [undefined, 0, 0]);
        const settled = log.events.flatMap((event) => (event.type === "tool.returned" ? [event.callId] : []));
        assert.deepEqual(settled.sort(), [...new Set(settled)], "each call once");
        assert.equal(settled.length, 5);
        if (cancel) assert.deepEqual(log.thread.ended?.outcome, { type: "cancelled", reason: "enough" });
      }
    }
  });

  it("closes texts, arguments and steps first, even when it waits", () => {
    const log = everythingOpen();
    const events = conclude(log.thread, { type: "wait" });
    assert.deepEqual(types(events), ["text.ended", "tool.returned", "tool.called", "tool.returned", "step.ended", "run.ended"]);
    const last = events.at(-1);
    assert.ok(last?.type === "run.ended" && last.outcome.type === "waiting");
    assert.deepEqual(
      last.outcome.for.map((wait) => (wait.type === "call" ? wait.callId : wait.interruptId)),
      ["pay1", "ask3:approval"],
    );
  });

  it("of a run that is over is nothing", () => {
    const log = given(asked());
    log.append({ seq: 1 }, conclude(log.thread, { type: "done" }));
    for (const next of endings) assert.deepEqual(conclude(log.thread, next), []);
    assert.deepEqual(closing(log.thread), []);
  });
});

describe("closing", () => {
  it("gives what was said so far as the whole, and ends inner steps before outer ones", () => {
    const log = given(
      asked(),
      stepStarted("outer"),
      stepStarted("inner"),
      ...text("said and done", "outer"),
      { type: "reasoning.started", messageId: "m", stepId: "inner" },
      { type: "reasoning.delta", messageId: "m", delta: "hm" },
    );
    assert.deepEqual(closing(log.thread), [
      { type: "reasoning.ended", messageId: "m", text: "hm" },
      stepEnded("inner", false),
      stepEnded("outer", false),
    ]);
  });

  it("leaves calls alone that were handed out", () => {
    assert.deepEqual(closing(given(...offering("pay1")).thread), []);
  });
});

/** An offered call, a server call, one that is asked about; and a step with a text, a call and half a call. */
function everythingOpen(): Log {
  const half: Event[] = [
    { type: "text.started", messageId: "m2", stepId: "s2" },
    { type: "text.delta", messageId: "m2", delta: "half" },
    ...called("ship4", { stepId: "s2" }),
    ...called("send5", { stepId: "s2" }).slice(0, 2),
  ];
  return given(
    asked(),
    stepStarted(),
    ...called("pay1"),
    ...called("bake2", { owner: "server" }),
    ...called("ask3", { approval: {} }),
    stepEnded(),
    offered("pay1", 1),
    raised("ask3"),
    stepStarted("s2"),
    ...half,
  );
}

function phases({ thread }: Log): [string, string][] {
  return [...thread.calls.values()].map(({ callId, phase }) => [callId, phase]);
}
