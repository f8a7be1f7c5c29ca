import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ALICE,
  called,
  given,
  asked as message,
  offered as offer,
  raised,
  stepEnded,
  stepStarted,
  types,
  waitingFor,
  waitingForApproval,
} from "./given.ts";
import { answered, asked, cancelOpen, offered, returned, toVerdict } from "./settle.ts";
import type { Call, Interrupt, Thread } from "./thread.ts";

describe("a settlement", () => {
  it("names the call, its tool and its owner, and says nothing it was not told", () => {
    const call = open(given(...waitingFor("pay1")).thread, "pay1");
    assert.deepEqual(returned(call, "completed", ALICE), {
      type: "tool.returned",
      callId: "pay1",
      name: "pay",
      owner: "external",
      messageId: "pay1:result",
      status: "completed",
      ...ALICE,
    });
    const empty = returned(call, "failed", ALICE, { output: null, error: "", messageId: "m7", metadata: {} });
    assert.deepEqual(empty.type === "tool.returned" && [empty.output, empty.error, empty.messageId, empty.metadata], [null, "", "m7", {}]);
  });
});

describe("an offer", () => {
  it("has a deadline only where the tool has one", () => {
    // 1.16
    for (const [timeout, expiresAt] of [
      [undefined, undefined],
      [0, undefined],
      [30, 1030],
    ] as const) {
      const log = given(message(), stepStarted(), ...called("pay1", timeout === undefined ? {} : { timeout }));
      const event = offered(open(log.thread, "pay1"), 1, 1000);
      assert.equal(event.type === "call.offered" && event.expiresAt, expiresAt);
    }
  });

  it("of a server's call makes it the outside's", () => {
    const log = given(message(), stepStarted(), ...called("pay1", { owner: "server" }), stepEnded());
    assert.deepEqual(offered(open(log.thread, "pay1"), 3, 0), offer("pay1", 3));
  });
});

describe("a question about a call", () => {
  it("shows the tool and the input, and how to answer", () => {
    const log = given(message(), stepStarted(), ...called("pay1", { approval: {}, input: { cents: 5 } }));
    const question = asked(open(log.thread, "pay1"), 0);
    assert.ok(question.type === "interrupt.raised");
    assert.deepEqual([question.prompt, question.callId, question.expiresAt], [{ tool: "pay", input: { cents: 5 } }, "pay1", undefined]);
    assert.ok(question.schema);
  });
});

describe("an answer", () => {
  it("to an agent's own question is just itself", () => {
    const interrupt: Interrupt = { type: "interrupt", interruptId: "q", reason: "ask", prompt: null };
    assert.deepEqual(answered(given().thread, interrupt, { status: "resolved", value: 0 }, { ...ALICE, now: 0 }, 1), [
      { type: "interrupt.answered", interruptId: "q", status: "resolved", value: 0, ...ALICE },
    ]);
  });

  it("to an approval decides what becomes of the call", () => {
    const { thread } = given(...waitingForApproval("pay1"));
    const [interrupt] = thread.interrupts.values();
    const say = (value: boolean) => types(answered(thread, interrupt as Interrupt, { status: "resolved", value }, { ...ALICE, now: 0 }, 1));
    assert.deepEqual(say(true), ["interrupt.answered", "call.offered"]);
    assert.deepEqual(say(false), ["interrupt.answered", "tool.returned"]);
  });
});

describe("a verdict", () => {
  it("is read as every door writes it", () => {
    assert.deepEqual(toVerdict(true), { approved: true });
    assert.deepEqual(toVerdict(false), { approved: false });
    assert.deepEqual(toVerdict({ approved: true, editedArgs: { a: 1 } }), { approved: true, input: { a: 1 } });
    assert.deepEqual(toVerdict({ approved: true, input: { a: 2 }, editedArgs: { a: 1 }, reason: "ok" }), {
      approved: true,
      input: { a: 2 },
      reason: "ok",
    });
    assert.deepEqual(toVerdict({ approved: false, input: { a: 2 }, reason: 7 }), { approved: false }, "a no edits nothing");
    for (const value of [undefined, null, 1, "true", [], {}, { approved: 1 }])
      assert.throws(() => toVerdict(value), { code: "invalid", field: "approved" });
  });
});

describe("cancelling what is open", () => {
  it("answers every question and settles every call once", () => {
    const log = given(
      message(),
      stepStarted(),
      ...called("pay1", { approval: {} }),
      ...called("ship2"),
      stepEnded(),
      raised("pay1"),
      offer("ship2", 1),
    );
    log.append({ epoch: 1 }, cancelOpen(log.thread, ALICE, "enough"));
    assert.deepEqual(types(log.events.slice(-3)), ["interrupt.answered", "tool.returned", "tool.returned"]);
    assert.deepEqual([log.thread.calls.size, log.thread.interrupts.size], [0, 0]);
    assert.deepEqual(cancelOpen(log.thread, ALICE, "enough"), []);
  });
});

function open({ calls }: Thread, callId: string): Call {
  const call = calls.get(callId);
  assert.ok(call);
  return call;
}
