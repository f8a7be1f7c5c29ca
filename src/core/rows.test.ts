import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event, StoredEvent } from "./event.ts";
import { asked, called, ended, offered, raised, returned, runStarted, stepEnded, stepStarted, text, user } from "./given.ts";
import { type Row, rows } from "./rows.ts";

describe("the index rows of an event", () => {
  it("tell who is running, under which epoch, and which messages are known", () => {
    assert.deepEqual(of(runStarted("r1", { epoch: 4, agent: "barista", messages: [user("u1", " a  cup\nof tea "), user("u2")] })), [
      { type: "run.began", runId: "r1", turnId: "t1", agent: "barista", epoch: 4 },
      { type: "message", id: "u1" },
      { type: "message", id: "u2" },
      { type: "named", title: "a cup of tea", ifUnnamed: true },
      { type: "said", text: " a  cup\nof tea \nu2?" },
    ]);
    assert.deepEqual(of(runStarted("r2")), [{ type: "run.began", runId: "r2", turnId: "t1", agent: "chat", epoch: 1 }]);
    assert.deepEqual(of({ type: "run.recovered", runId: "r1", epoch: 5 }), [{ type: "epoch", epoch: 5 }]);
  });

  it("tell where calls are announced, whenever that changes", () => {
    const options = (callbackUrl?: string) => ({
      toolExecution: { mode: "outside" as const, outsideConfig: { ...(callbackUrl !== undefined && { callbackUrl }) } },
    });
    const of2 = (event: Event) => of(event).filter((row) => row.type === "callback");
    assert.deepEqual(of2(runStarted("r1", { options: options("https://a.example") })), [{ type: "callback", url: "https://a.example" }]);
    assert.deepEqual(of2(runStarted("r1", { options: options() })), [{ type: "callback", url: null }]);
    assert.deepEqual(of2(runStarted("r1")), []);
  });

  it("tell whether a thread waits or is idle, and how its run came out", () => {
    assert.deepEqual(of(ended({ type: "waiting", for: [] })), [{ type: "run.over", status: "waiting", outcome: "waiting" }]);
    for (const outcome of ["done", "failed", "cancelled"] as const) {
      assert.deepEqual(of(ended(outcome)), [{ type: "run.over", status: "idle", outcome }]);
    }
  });

  it("take a call's id from its first word on, for the whole app", () => {
    // 1.13: the outside names a call without its thread.
    const taken = { type: "taken", id: "pay1", name: "pay", owner: "external" };
    assert.deepEqual(called("pay1").map(of), [[taken, { type: "said", text: "pay" }], [], []]);
  });

  it("open what is handed out or asked, and close it when it is settled", () => {
    assert.deepEqual(of(offered("pay1", 2, { input: { cents: 5 } })), [
      { type: "opened", id: "pay1", wait: { kind: "call", name: "pay", owner: "external", input: { cents: 5 }, ordinal: 2 } },
    ]);
    assert.deepEqual(of(offered("pay1", 2, { expiresAt: 9, onTimeout: { type: "deny" } })), [
      { type: "opened", id: "pay1", wait: { kind: "call", name: "pay", owner: "external", input: {}, ordinal: 2, expiresAt: 9 } },
    ]);
    assert.deepEqual(of(raised("pay1", { prompt: "ok?", schema: {}, expiresAt: 0 })), [
      {
        type: "opened",
        id: "pay1:approval",
        wait: { kind: "interrupt", name: "tool_call", input: "ok?", callId: "pay1", schema: {}, expiresAt: 0 },
      },
    ]);
    assert.deepEqual(of(returned("pay1", 1, { status: "expired" })), [{ type: "closed", id: "pay1", status: "expired" }]);
    assert.deepEqual(of({ type: "interrupt.answered", interruptId: "q", status: "resolved", by: "", via: "" }), [
      { type: "closed", id: "q", status: "resolved" },
    ]);
  });

  it("keep claims and names", () => {
    assert.deepEqual(of({ type: "call.claimed", callId: "pay1", by: "w1", claim: 3 }), [
      { type: "claimed", id: "pay1", claim: 3, by: "w1" },
    ]);
    assert.deepEqual(of({ type: "call.released", callId: "pay1", claim: 3, reason: "" }), [{ type: "released", id: "pay1" }]);
    assert.deepEqual(of({ type: "thread.changed", title: "", metadata: { a: 1 } }), [{ type: "named", title: "", metadata: { a: 1 } }]);
    assert.deepEqual(of({ type: "thread.changed" }), [{ type: "named" }]);
  });

  it("name a thread after the first words somebody said in it", () => {
    const title = (content: Parameters<typeof user>[1] | { type: "text"; text: string }[]) =>
      of(asked({ messages: [{ id: "u1", content: content ?? "" }] })).flatMap((row) => (row.type === "named" ? [row.title] : []));
    assert.deepEqual(title(`${"x".repeat(100)}`), [`${"x".repeat(79)}…`]);
    assert.deepEqual(title([{ type: "text", text: "hi" }]), ["hi"]);
    assert.deepEqual(title("  "), []);
    assert.deepEqual(title([]), []);
  });

  it("tell what was said once it is said, so that it can be found", () => {
    assert.deepEqual(text("hi").map(of), [[], [], [{ type: "said", text: "hi" }]]);
  });

  it("are none for speech, which is most of a log", () => {
    for (const event of [
      ...text("hi").slice(0, -1),
      ...text(" "),
      stepStarted(),
      stepEnded(),
      { type: "cancel.requested", runId: "r1", by: "" } as const,
    ]) {
      assert.deepEqual(of(event), []);
    }
    assert.deepEqual(of({ type: "tea.brewed" } as unknown as Event), [], "and for what a newer release writes");
  });
});

function of(event: Event): Row[] {
  return rows({ ...event, seq: 1, at: 0, v: 1 } as StoredEvent);
}
