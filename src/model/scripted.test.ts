import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantEntry, CallPart, Entry } from "../core/thread.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import type { Model, ModelEvent, ModelRequest } from "./model.ts";
import { withRetry } from "./retry.ts";
import { calls, fails, finishes, hangs, paced, says, scripted, scriptedBy, thinks } from "./scripted.ts";

const USER: Entry = { role: "user", seq: 1, turnId: "t1", id: "m1", content: "hi" };
const CALL: CallPart = { type: "call", callId: "c1", name: "look", input: {}, owner: "external", messageId: "a1" };
const ANSWERED: CallPart = { ...CALL, settlement: { status: "completed", output: 1, messageId: "r1" } };

function step(...parts: AssistantEntry["parts"]): Entry {
  return { role: "assistant", seq: 2, turnId: "t1", stepId: "s1", messageId: "a1", state: "completed", parts };
}

function request(...history: Entry[]): ModelRequest {
  return { instructions: undefined, history, tools: [], options: {}, blob: async () => assert.fail() };
}

function ask(model: Model, asked = request(USER), signal = new AbortController().signal): Promise<ModelEvent[]> {
  return Array.fromAsync(model(asked, signal));
}

describe("scripted", () => {
  it("says one turn per request, and remembers what it was asked", async () => {
    const usage = { inputTokens: 1 };
    const model = scripted([...thinks("hm"), ...calls("look", { at: 1 }, { id: "c1", chunks: 2 })], () => [
      ...says("a", "b"),
      ...finishes(usage),
    ]);
    const history = [USER];
    const first = await ask(model, request(...history));
    assert.deepEqual(first.slice(-5), [
      { type: "tool.started", id: "c1", name: "look" },
      { type: "tool.delta", id: "c1", delta: '{"at' },
      { type: "tool.delta", id: "c1", delta: '":1}' },
      { type: "tool.called", id: "c1", name: "look", input: '{"at":1}' },
      { type: "finished", reason: "tool-calls" },
    ]);
    const second = await ask(model, request(USER, step(ANSWERED)));
    assert.deepEqual(
      second.map((event) => ("delta" in event ? event.delta : event.type)),
      ["text.started", "a", "b", "text.ended", "finished"],
    );
    assert.deepEqual(
      model.requests.map((asked) => asked.history.length),
      [1, 2],
    );
    await assert.rejects(ask(model), { code: "model", message: "The script has no more turns" });
  });

  it("decides by the request alone where a rule says how", async () => {
    const rule = ({ history }: ModelRequest) => (history.at(-1)?.role === "user" ? calls("look", {}) : says("done"));
    for (let start = 0; start < 2; start += 1) {
      const model = scriptedBy(rule, { keep: 1 });
      assert.equal((await ask(model)).at(-2)?.type, "tool.called");
      assert.equal((await ask(model, request(USER, step(ANSWERED)))).at(-2)?.type, "text.ended");
      assert.equal(model.requests.length, 1);
    }
  });

  it("refuses what a strict provider would", async () => {
    const model = scriptedBy(() => says("ok"));
    await assert.rejects(ask(model, request()), /no user message/);
    await assert.rejects(ask(model, request(USER, step(CALL))), /tool_call_ids did not have response messages: c1/);
    await assert.rejects(ask(model, request(USER, step(ANSWERED), step(ANSWERED))), /c1 is used twice/);
    await ask(model, request(USER, { ...step(CALL), state: "abandoned" } as Entry, step(ANSWERED)));
  });

  it("fails and hangs on demand", async () => {
    const clock = fakeClock();
    const model = withRetry(scripted(fails("busy", { trouble: "busy" }), says("ok"), fails("cut", { after: says("a"), trouble: "busy" })), {
      clock,
    });
    const answer = ask(model);
    await clock.advance(1000);
    assert.equal((await answer).at(-1)?.type, "finished");
    await assert.rejects(ask(model), { code: "model", message: "cut" });
    const stop = new AbortController();
    setImmediate(() => stop.abort(new Error("enough")));
    const hanging = scriptedBy(hangs(...says("a")));
    await assert.rejects(ask(hanging, request(USER), stop.signal), { message: "enough" });
    const late = new AbortController();
    const hear = async () => {
      for await (const event of hanging(request(USER), late.signal)) if (event.type === "text.ended") late.abort(new Error("late"));
    };
    await assert.rejects(hear(), { message: "late" });
  });

  it("speaks at a human pace", async () => {
    const clock = fakeClock();
    const heard: ModelEvent[] = [];
    const listen = async () => {
      for await (const event of paced(scripted(says("a", "b")), { clock, ms: 40 })(request(USER), new AbortController().signal))
        heard.push(event);
    };
    const over = listen();
    await clock.advance(39);
    assert.equal(heard.length, 1);
    await clock.advance(1);
    assert.equal(heard.length, 2);
    await clock.advance(40);
    await over;
    assert.equal(heard.at(-1)?.type, "finished");
  });
});
