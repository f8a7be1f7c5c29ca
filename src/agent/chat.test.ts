import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import type { Event } from "../core/event.ts";
import {
  asked,
  called,
  ended,
  given,
  offered,
  returned,
  runStarted,
  stepEnded,
  stepStarted,
  text,
  user,
  waitingFor,
} from "../core/given.ts";
import { scripted } from "../model/scripted.ts";
import { type ChatOptions, chatAgent } from "./chat.ts";
import { tool } from "./tool.ts";

const next = (events: Event[], options: Partial<ChatOptions> = {}) =>
  chatAgent({ model: scripted(), ...options }).next(given(...events).thread).type;
const called1 = [asked(), stepStarted(), ...called("x1"), stepEnded(), offered("x1", 1)];

describe("chatAgent: what next?", () => {
  it("a step, for a message nobody has answered", () => {
    assert.equal(next([asked()]), "step");
  });

  it("nothing more, when the model has called nothing", () => {
    assert.equal(next([asked(), stepStarted(), ...text("Hi."), stepEnded()]), "done");
    assert.equal(next([asked(), stepStarted(), stepEnded()]), "done"); // not even a word
  });

  it("to wait, while a call is outside", () => {
    assert.equal(next(called1), "wait");
    assert.equal(next(waitingFor("x1", "x2")), "wait");
  });

  it("a step, when the last call has its result", () => {
    assert.equal(next([...called1, returned("x1", "ok")]), "step");
  });

  it("a step, when the one before was cut off", () => {
    assert.equal(next([asked(), stepStarted(), ...text("Well"), stepEnded("s1", false)]), "step");
  });

  it("a step, for a new message behind an answered one", () => {
    const answered = [asked(), stepStarted(), ...text("Hi."), stepEnded(), ended("done")];
    assert.equal(next([...answered, runStarted("r2", { turnId: "t2", messages: [user("u2")] })]), "step");
  });

  it("the end, when the agent has heard enough or may not go on", () => {
    const settled = [...called1, returned("x1", "ok")];
    assert.equal(next(settled, { stopWhen: () => true }), "done");
    assert.equal(next(settled, { maxSteps: 1 }), "fail");
    assert.equal(next([asked({ options: { maxSteps: 1 } }), ...settled.slice(1)]), "fail");
  });

  it("the end, after three steps of nothing but wrong calls; a right one in between counts anew", () => {
    const wrong = (n: number) => [
      stepStarted(`s${n}`),
      ...called(`x${n}`, { stepId: `s${n}`, invalid: "no" }),
      stepEnded(`s${n}`),
      returned(`x${n}`, null, { status: "failed" }),
    ];
    const right = (n: number) => [
      stepStarted(`s${n}`),
      ...called(`x${n}`, { stepId: `s${n}` }),
      stepEnded(`s${n}`),
      offered(`x${n}`, 1),
      returned(`x${n}`, "ok"),
    ];
    assert.equal(next([asked(), ...wrong(1), ...wrong(2), ...wrong(3)]), "fail");
    assert.equal(next([asked(), ...wrong(1), ...wrong(2), ...right(3), ...wrong(4)]), "step");
  });
});

describe("chatAgent", () => {
  it("refuses two tools of one name", () => {
    const twin = tool({ name: "twin", description: "", input: z.object({}) });
    assert.throws(() => chatAgent({ model: scripted(), tools: [twin, twin] }), { code: "invalid", message: /twin/ });
  });

  it("takes its own model by name, and those it offers", () => {
    const { check } = chatAgent({ model: "small", models: { large: "large-2026" } });
    for (const model of ["small", "large"]) assert.doesNotThrow(() => check?.({ model }));
    for (const model of ["large-2026", "toString", ""]) assert.throws(() => check?.({ model }), { code: "invalid", field: "model" });
    assert.doesNotThrow(() => check?.({}));
  });
});
