import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Event, isDelta, type StoredEvent } from "./event.ts";
import {
  asked,
  called,
  ended,
  given,
  offered,
  offering,
  raised,
  returned,
  runStarted,
  stepEnded,
  stepStarted,
  text,
  user,
  waitingFor,
} from "./given.ts";
import type { JsonObject } from "./json.ts";
import { type AssistantEntry, emptyThread, fold, preview, readyCalls, type Thread, waits } from "./thread.ts";

describe("what a log adds up to", () => {
  it("is nothing at first", () => {
    const { thread } = given();
    assert.deepEqual([thread.seq, thread.epoch, thread.turn, thread.run, thread.ended], [0, 0, undefined, undefined, undefined]);
    assert.deepEqual(waits(thread), []);
  });

  it("is a turn with its agent, tools and options, over all its runs", () => {
    const tools = [{ name: "pay", description: "", input: {} }];
    const { thread } = given(
      asked({ agent: "barista", tools, options: { model: "big" } }),
      ended("failed"),
      runStarted("r2", { epoch: 2, cause: "retry", agent: "other" }),
    );
    assert.deepEqual(thread.turn, { turnId: "t1", agent: "barista", seq: 1, steps: 0, misses: 0, usage: [] });
    assert.deepEqual([thread.tools, thread.options, thread.epoch], [tools, { model: "big" }, 2]);
    assert.deepEqual([thread.run?.seq, thread.ended?.seq], [3, 2]);
  });

  it("is one assistant entry per step, with calls and results interleaved as they may be", () => {
    // 1.19: folding by adjacency made two assistant messages of: call a, result a, call b.
    const { thread } = given(
      asked(),
      stepStarted(),
      ...text("let me"),
      ...called("a1"),
      returned("a1", 1),
      ...called("b2"),
      { type: "reasoning.started", messageId: "think", stepId: "s1" },
      returned("b2", 2),
      { type: "reasoning.ended", messageId: "think", text: "hm", provider: { signature: "x" } },
      stepEnded(),
    );
    const [question, step, ...rest] = thread.history;
    assert.equal(question?.role, "user");
    assert.deepEqual(rest, []);
    assert.ok(step?.role === "assistant" && step.state === "completed");
    assert.deepEqual(
      step.parts.map((part) =>
        part.type === "call" ? [part.callId, part.settlement?.output] : part.type === "added" ? "" : [part.type, part.text],
      ),
      [
        ["text", "let me"],
        ["a1", 1],
        ["b2", 2],
        ["reasoning", "hm"],
      ],
    );
    assert.deepEqual(step.parts[3], { type: "reasoning", messageId: "think", text: "hm", provider: { signature: "x" } });
  });

  it("keeps the steps that run side by side apart", () => {
    const log = given(
      asked(),
      stepStarted("s1"),
      stepStarted("s2"),
      ...text("one", "s1"),
      ...text("two", "s2"),
      stepEnded("s1"),
      stepEnded("s2", false),
    );
    const steps = log.thread.history.slice(1) as AssistantEntry[];
    assert.deepEqual(
      steps.map(({ stepId, state, parts }) => [stepId, state, parts.map((part) => part.type === "text" && part.text)]),
      [
        ["s1", "completed", ["one"]],
        ["s2", "abandoned", ["two"]],
      ],
    );
  });

  it("keeps a text that was cut off, marked as such", () => {
    // 1.20: abandoned text stays visible in every view and never enters the model's context.
    const { thread } = given(
      asked(),
      stepStarted(),
      ...text("half a"),
      stepEnded("s1", false),
      stepStarted("s2"),
      ...text("whole", "s2"),
      stepEnded("s2"),
    );
    const states = thread.history.slice(1).map((entry) => entry.role === "assistant" && [entry.state, entry.parts.length]);
    assert.deepEqual(states, [
      ["abandoned", 1],
      ["completed", 1],
    ]);
  });

  it("is the same whether deltas are there, missing, or come late", () => {
    // 1.19: deltas are the only thing compaction may drop.
    const open: Event[] = [
      ...offering("pay1", "ship2"),
      stepStarted("s2"),
      { type: "text.started", messageId: "m2", stepId: "s2" },
      { type: "text.delta", messageId: "m2", delta: "half " },
      { type: "text.delta", messageId: "m2", delta: "a" },
      ...called("bake3", { stepId: "s2" }).slice(0, 2),
    ];
    const { events, thread } = given(...open);
    const late = emptyThread();
    for (const event of events) if (!isDelta(event)) fold(late, event);
    for (const event of events) if (isDelta(event)) fold(late, event);
    assert.deepEqual(late, thread, "as a process that takes the thread up reads it");
    const { events: whole } = given(
      ...waitingFor("pay1"),
      runStarted("r2", { epoch: 2 }),
      returned("pay1", 1),
      ended("done", { runId: "r2", run: 9 }),
    );
    assert.deepEqual(folded(whole.filter((event) => !isDelta(event))), folded(whole));
  });

  it("says what is still being spoken, and how much of it", () => {
    const { thread } = given(
      asked(),
      stepStarted(),
      { type: "text.started", messageId: "m", stepId: "s1" },
      { type: "text.delta", messageId: "m", delta: "half " },
      { type: "text.delta", messageId: "m", delta: "a" },
      ...called("pay1").slice(0, 2),
    );
    assert.deepEqual(thread.run?.speaking.get("m")?.said, ["half ", "a"]);
    assert.deepEqual(thread.calls.get("pay1")?.said, ["{}"]);
    assert.deepEqual([...(thread.run?.steps.keys() ?? [])], ["s1"]);
  });

  it("keeps files, sources and data of a step in their place", () => {
    const part = { type: "source", url: "https://example.com" } as const;
    const { thread } = given(asked(), stepStarted(), { type: "part.added", messageId: "s1:m", stepId: "s1", part });
    assert.deepEqual((thread.history[1] as AssistantEntry).parts, [{ type: "added", part }]);
  });

  it("counts what a run and a turn have used", () => {
    const usage = { model: "big", totalTokens: 3 };
    const { thread } = given(
      asked(),
      stepStarted(),
      { ...stepEnded(), usage },
      ended("failed"),
      runStarted("r2", { epoch: 2 }),
      stepStarted("s2"),
      { ...stepEnded("s2"), usage },
    );
    assert.deepEqual([thread.run?.usage, thread.turn?.usage, thread.turn?.steps], [[usage], [usage, usage], 2]);
  });

  it("counts steps in which the model called nothing rightly, until it does", () => {
    const wrong = (stepId: string) => [
      stepStarted(stepId),
      ...called(`${stepId}c`, { stepId, invalid: "no such tool" }),
      stepEnded(stepId),
      returned(`${stepId}c`, 0),
    ];
    const log = given(asked(), ...wrong("s1"), ...wrong("s2"));
    assert.equal(log.thread.turn?.misses, 2);
    log.append({ epoch: 1 }, [
      stepStarted("s3"),
      ...called("x", { stepId: "s3", invalid: "no" }),
      ...called("y", { stepId: "s3" }),
      stepEnded("s3"),
    ]);
    assert.equal(log.thread.turn?.misses, 0);
  });

  it("takes over title and metadata", () => {
    const { thread } = given(
      { type: "thread.changed", title: "Coffee", metadata: { a: 1 } },
      { type: "thread.changed", metadata: { b: 2 } },
    );
    assert.deepEqual([thread.title, thread.metadata], ["Coffee", { b: 2 }]);
  });

  it("patches the state, and survives a patch that does not fit", () => {
    const { thread } = given(
      asked(),
      { type: "state.patched", ops: [{ op: "replace", path: "", value: { cups: 1 } }] },
      {
        type: "state.patched",
        ops: [
          { op: "add", path: "/milk", value: true },
          { op: "remove", path: "/sugar" },
        ],
      },
      { type: "state.patched", ops: [{ op: "replace", path: "/cups", value: 2 }] },
    );
    assert.deepEqual([thread.state, thread.seq], [{ cups: 2 }, 4], "a log that cannot be read would be a thread that is lost");
  });

  it("drops what was rewound, from that place on", () => {
    // 1.11
    const log = given(
      asked(),
      stepStarted(),
      ...text("one"),
      stepEnded(),
      ended("done"),
      runStarted("r2", { turnId: "t2", epoch: 2, messages: [user("u2")] }),
      ended("done", { runId: "r2", turnId: "t2", run: 8 }),
    );
    const before = structuredClone(log.thread.history);
    for (const [to, left] of [
      [9, 3],
      [8, 2],
      [2, 1],
      [1, 0],
    ] as const) {
      log.append({ seq: log.thread.seq }, [{ type: "thread.rewound", to, removed: [] }]);
      assert.deepEqual(log.thread.history, before.slice(0, left));
    }
  });

  it("ignores what a newer release wrote, and remembers that it did", () => {
    // 1.19: readers skip unknown types; `decide` refuses.
    const thread = fold(emptyThread(), { type: "tea.brewed", seq: 4, at: 0, v: 7 } as unknown as StoredEvent);
    assert.deepEqual(thread, { ...emptyThread(), seq: 4, newest: 7 });
  });

  it("leaves the events as they are", () => {
    const frozen = (event: Event): Event => JSON.parse(JSON.stringify(event), (_, value) => Object.freeze(value));
    given(
      ...[...waitingFor("pay1"), runStarted("r2", { epoch: 2, messages: [user("u2")] }), returned("pay1", { a: [1] })].map(frozen),
      frozen({ type: "state.patched", ops: [{ op: "add", path: "/a", value: { b: [1] } }] }),
      frozen({ type: "state.patched", ops: [{ op: "add", path: "/a/b/-", value: 2 }] }),
    );
  });
});

describe("a call", () => {
  it("is the outside's only when it is offered, with the effective input and deadline", () => {
    // 1.8
    const log = given(asked(), stepStarted(), ...called("pay1", { input: { cents: 5 } }));
    assert.deepEqual([waits(log.thread), readyCalls(log.thread)], [[], []]);
    log.append({ epoch: 1 }, [stepEnded()]);
    assert.deepEqual([waits(log.thread), readyCalls(log.thread)], [[], []]);
    log.append({ epoch: 1 }, [offered("pay1", 1, { input: { cents: 4 }, expiresAt: 70 })]);
    assert.deepEqual(waits(log.thread), [{ type: "call", callId: "pay1", name: "pay", owner: "external", run: 1, expiresAt: 70 }]);
    assert.deepEqual(log.thread.calls.get("pay1")?.input, { cents: 4 });
  });

  it("is the server's as soon as its step is complete, unless a person must be asked or it is invalid", () => {
    const log = given(
      asked(),
      stepStarted(),
      ...called("bake1", { owner: "server" }),
      ...called("pay2", { owner: "server", approval: {} }),
      ...called("none3", { owner: "server", invalid: "no such tool" }),
      ...called("ship4"),
    );
    assert.deepEqual(readyCalls(log.thread), []);
    log.append({ epoch: 1 }, [stepEnded()]);
    assert.deepEqual(
      readyCalls(log.thread).map(({ callId }) => callId),
      ["bake1"],
    );
  });

  it("that is asked about waits for the person, not for its result", () => {
    const log = given(
      asked(),
      stepStarted(),
      ...called("pay1", { approval: {} }),
      stepEnded(),
      raised("pay1", { expiresAt: 9, schema: {} }),
    );
    assert.deepEqual(waits(log.thread), [
      { type: "interrupt", interruptId: "pay1:approval", reason: "tool_call", prompt: {}, callId: "pay1", expiresAt: 9, schema: {} },
    ]);
    assert.equal(log.thread.calls.get("pay1")?.phase, "asked");
  });

  it("handed back by the server becomes the outside's", () => {
    const log = given(
      asked(),
      stepStarted(),
      ...called("pay1", { owner: "server" }),
      stepEnded(),
      { type: "call.claimed", callId: "pay1", by: "server", claim: 1 },
      offered("pay1", 1),
    );
    const [part] = (log.thread.history[1] as AssistantEntry).parts;
    const call = log.thread.calls.get("pay1");
    assert.deepEqual([call?.owner, call?.phase, call?.claim], ["external", "offered", undefined]);
    assert.equal(part?.type === "call" && part.owner, "external");
  });

  it("keeps the provider's metadata and the model's own words", () => {
    // 1.24: thinking signatures must go back with the next step.
    const { thread } = given(asked(), stepStarted(), ...called("pay1", { provider: { g: 1 }, source: "<pay/>", invalid: "no" }));
    const [part] = (thread.history[1] as AssistantEntry).parts;
    assert.deepEqual(part, {
      type: "call",
      callId: "pay1",
      name: "pay",
      input: {},
      owner: "external",
      messageId: "s1:m",
      invalid: "no",
      provider: { g: 1 },
      source: "<pay/>",
    });
  });

  it("has its result shown under the id its sender gave it", () => {
    const { thread } = given(
      ...waitingFor("pay1"),
      runStarted("r2", { epoch: 2 }),
      returned("pay1", null, { messageId: "m7", status: "failed", error: "no" }),
    );
    const [part] = (thread.history[1] as AssistantEntry).parts;
    assert.deepEqual(part?.type === "call" && part.settlement, { status: "failed", messageId: "m7", output: null, error: "no" });
  });

  it("is numbered anew in every step that hands calls out", () => {
    // 1.22
    const log = given(...waitingFor("a1", "b2"));
    assert.equal(log.thread.ordinal, 2);
    log.append({ seq: log.thread.seq }, [runStarted("r2", { epoch: 2 }), returned("a1", 1), returned("b2", 1), stepStarted("s2")]);
    assert.equal(log.thread.ordinal, 0);
  });

  it("counts its claims on, whoever gave one back", () => {
    const log = given(
      ...waitingFor("a1"),
      { type: "call.claimed", callId: "a1", by: "w1", claim: 1 },
      { type: "call.released", callId: "a1", claim: 1, reason: "" },
    );
    assert.deepEqual(log.thread.calls.get("a1")?.claim, { by: "w1", claim: 1, released: true });
    log.append({ seq: log.thread.seq }, [
      { type: "call.claimed", callId: "a1", by: "w2", claim: 2 },
      { type: "call.released", callId: "a1", claim: 1, reason: "late" },
    ]);
    assert.deepEqual(log.thread.calls.get("a1")?.claim, { by: "w2", claim: 2 });
  });
});

describe("a preview", () => {
  it("can be folded on without touching the thread", () => {
    const log = given(...waitingFor("a1", "b2"), { type: "call.claimed", callId: "a1", by: "w1", claim: 1 });
    const before = structuredClone(log.thread);
    const copy = preview(log.thread);
    let seq = log.thread.seq;
    const more: Event[] = [
      runStarted("r2", { epoch: 2, turnId: "t2", messages: [user("u2")], tools: [], options: {} }),
      { type: "call.released", callId: "a1", claim: 1, reason: "" },
      raised("a1"),
      { type: "interrupt.answered", interruptId: "a1:approval", callId: "a1", status: "resolved", input: { x: 1 }, by: "", via: "" },
      offered("a1", 3, { input: { x: 1 } }),
      returned("b2", 1),
      { type: "cancel.requested", runId: "r2", by: "" },
      stepStarted("s2"),
      ...called("c3", { stepId: "s2" }),
      { ...stepEnded("s2"), usage: {} } as Event,
      ended("cancelled", { runId: "r2", run: 20 }),
    ];
    for (const event of more) fold(copy, { ...event, seq: ++seq, at: 0, v: 1 } as StoredEvent);
    assert.deepEqual(log.thread, before);
  });
});

describe("folding", () => {
  it("costs in proportion to the number of deltas, steps or messages", () => {
    // Copying a history or a text for every event would be quadratic: 64 times as much for 8 times the events. The bar lies far
    // from both, and best times are compared, so that a busy machine does not matter.
    const talk = (n: number): Event[] => [
      asked(),
      stepStarted(),
      ...text("").slice(0, 1),
      ...Array<Event>(n).fill({ type: "text.delta", messageId: "s1:m", delta: "x" }),
    ];
    const chat = (n: number): Event[] =>
      Array.from({ length: n }, (_, i): Event[] => [
        runStarted(`r${i}`, { turnId: `t${i}`, messages: [user(`u${i}`)] }),
        stepStarted(`s${i}`),
        ...called(`c${i}`, { stepId: `s${i}` }),
        stepEnded(`s${i}`),
        returned(`c${i}`, i),
        ended("done", { runId: `r${i}`, turnId: `t${i}` }),
      ]).flat();
    for (const [make, size] of [
      [talk, 150_000],
      [chat, 15_000],
    ] as const) {
      const [few, many] = [stored(make(size / 4)), stored(make(2 * size))];
      let best = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < 5 && best >= 24; attempt += 1) best = Math.min(best, time(many) / time(few));
      assert.ok(best < 24, `8 times the events took ${best.toFixed(1)} times as long`);
    }
  });
});

function folded(events: readonly StoredEvent[]): Thread {
  return events.reduce(fold, emptyThread());
}

function stored(events: readonly Event[]): StoredEvent[] {
  return events.map((event, i) => ({ ...event, seq: i + 1, at: 0, v: 1 }) as StoredEvent & JsonObject);
}

/** The fastest of several folds, in milliseconds. */
function time(events: readonly StoredEvent[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; i += 1) {
    const start = performance.now();
    folded(events);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
