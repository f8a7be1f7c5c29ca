import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Answer, RunCommand } from "./command.ts";
import type { ErrorCode } from "./error.ts";
import { AppError } from "./error.ts";
import type { Event, ToolSpec } from "./event.ts";
import {
  ALICE,
  answer,
  asked,
  called,
  ended,
  given,
  HANDBACK,
  type Log,
  offered,
  offering,
  raised,
  result,
  returned,
  run,
  runStarted,
  say,
  stepEnded,
  stepStarted,
  submit,
  text,
  types,
  user,
  waitingFor,
  waitingForApproval,
  when,
} from "./given.ts";
import { TIMED_OUT } from "./settle.ts";
import { conclude } from "./step.ts";

const answered: Event[] = [asked(), stepStarted(), ...text("hello"), stepEnded(), ended("done")];
const failed: Event[] = [asked(), stepStarted(), stepEnded("s1", false), ended("failed")];

/** A second turn behind a finished first one, which used a tool. */
const twoTurns = (last: Event): Event[] => [
  ...waitingFor("pay1"),
  runStarted("r2", { epoch: 2, cause: "result" }),
  returned("pay1", "ok"),
  stepStarted("s2"),
  ...text("paid", "s2"),
  stepEnded("s2"),
  ended("done", { runId: "r2", run: 9 }),
  runStarted("r3", { epoch: 3, turnId: "t2", messages: [user("u2")] }),
  last,
];

describe("a new message", () => {
  it("begins a turn with the agent, tools, options and state of its request", () => {
    const { events, after } = when(
      given(),
      say("u1", { agent: "barista", tools: [spec("pay")], options: { model: "big" }, state: { cups: 1 }, parentRunId: "r0" }),
    );
    assert.deepEqual(events, [
      {
        type: "run.started",
        runId: "r9",
        turnId: "t9",
        epoch: 1,
        cause: "message",
        agent: "barista",
        messages: [user("u1")],
        tools: [spec("pay")],
        options: { model: "big" },
        parentRunId: "r0",
        ...ALICE,
      },
      { type: "state.patched", ops: [{ op: "replace", path: "", value: { cups: 1 } }] },
    ]);
    assert.equal(after, 0);
  });

  it("keeps the thread's agent and way of executing tools, but neither its tools nor its other options", () => {
    // 1.7: `toolExecutionConfig` is inherited by the thread; a request's tools live in that request's client.
    const log = given(
      asked({ agent: "barista", tools: [spec("pay")], options: { model: "big", toolExecution: { mode: "outside" } } }),
      ended("done"),
    );
    const [started] = when(log, say("u2")).events;
    assert.deepEqual(
      started,
      runStarted("r9", {
        turnId: "t9",
        epoch: 2,
        agent: "barista",
        messages: [user("u2")],
        tools: [],
        options: { toolExecution: { mode: "outside" } },
      }),
    );
  });

  it("does not repeat tools and options that have not changed", () => {
    // 1.7: assistant-ui sends all schemas with every request.
    const log = given(asked({ tools: [spec("pay")], options: { model: "big" } }), ended("done"));
    const [started] = when(log, say("u2", { tools: [spec("pay")], options: { model: "big" } })).events;
    assert.ok(started?.type === "run.started" && started.tools === undefined && started.options === undefined);
  });

  it("is refused while a run goes on, and writes nothing", () => {
    refuses(given(asked()), say("u2"), "conflict", /running/);
  });

  it("closes the turn that waits in a run of its own, and is followed from its own turn", () => {
    // 1.4: with the old turn's id, useChat overwrote the earlier answer; with its events in the new run, it broke.
    const log = given(...waitingFor("pay1", "ship2"));
    const { events, after } = when(log, say("u2"));
    assert.deepEqual(events, [
      runStarted("r9", { epoch: 2, cause: "cancel" }),
      cancelled("pay1", "A new message came first"),
      cancelled("ship2", "A new message came first"),
      ended({ type: "cancelled", reason: "A new message came first" }, { runId: "r9", run: log.thread.seq + 1 }),
      runStarted("r9", { turnId: "t9", epoch: 3, messages: [user("u2")] }),
    ]);
    assert.equal(after, log.thread.seq + 4);
  });

  it("lets the results it brings count before it cancels the rest", () => {
    const { events } = when(
      given(...waitingFor("pay1", "ship2")),
      say("u2", { results: [{ callId: "pay1", status: "completed", output: 1 }] }),
    );
    assert.deepEqual(types(events), ["run.started", "tool.returned", "tool.returned", "run.ended", "run.started"]);
    assert.deepEqual(events[1], returned("pay1", 1));
    assert.deepEqual(events[2], cancelled("ship2", "A new message came first"));
  });

  it("is refused while calls wait, where the agent wants it so", () => {
    const log = given(...waitingFor("pay1"));
    refuses(log, say("u2", { whilePending: "reject" }), "conflict", /waits for 1 call/);
    const both = say("u2", { whilePending: "reject", results: [{ callId: "pay1", status: "completed", output: 1 }] });
    assert.equal(when(log, both).events.length, 4);
  });

  it("is refused while a person is asked something, whatever the agent wants", () => {
    refuses(given(...waitingForApproval("pay1")), say("u2", { whilePending: "cancel" }), "conflict", /answer or cancel it first/);
  });

  it("may come with the answer to the last open question", () => {
    const { events } = when(
      given(...waitingForApproval("pay1")),
      say("u2", { answers: [{ callId: "pay1", status: "resolved", value: false }] }),
    );
    assert.deepEqual(types(events), ["run.started", "interrupt.answered", "tool.returned", "run.ended", "run.started"]);
  });

  it("closes a call it has just approved, because nobody will run it any more", () => {
    for (const owner of ["server", "external"] as const) {
      const log = given(...waitingForApproval("pay1", { owner }));
      submit(log, say("u2", { answers: [{ callId: "pay1", status: "resolved", value: true }] }));
      assert.equal(log.thread.calls.size, 0);
    }
  });

  it("is taken once, however often it stands in the request", () => {
    const [started] = when(given(), run({ messages: [user("u1"), user("u1", "again"), user("u2")] })).events;
    assert.deepEqual(started?.type === "run.started" && started.messages, [user("u1"), user("u2")]);
  });
});

describe("a result", () => {
  it("continues the turn once every call has one", () => {
    const log = given(...waitingFor("pay1"));
    const { events, after } = when(log, result("pay1", 42, { runId: "r2" }));
    assert.deepEqual(events, [runStarted("r2", { epoch: 2, cause: "result" }), returned("pay1", 42)]);
    assert.equal(after, log.thread.seq);
  });

  it("that leaves others open is a run of three events, which says what is still missing", () => {
    const log = given(...waitingFor("pay1", "ship2"));
    const { events } = when(log, result("ship2", 42));
    assert.deepEqual(events, [
      runStarted("r9", { epoch: 2, cause: "result" }),
      returned("ship2", 42),
      ended(
        { type: "waiting", for: [{ type: "call", callId: "pay1", name: "pay", owner: "external", run: 1 }] },
        { runId: "r9", run: log.thread.seq + 1 },
      ),
    ]);
  });

  it("restates the open questions where it ends, or clients would forget them", () => {
    // 1.10: `pendingInterrupts` is cleared by a run that ends without them.
    const log = given(
      asked(),
      stepStarted(),
      ...called("pay1", { approval: {} }),
      ...called("ship2"),
      stepEnded(),
      raised("pay1"),
      offered("ship2", 1),
      ended({ type: "waiting", for: [] }),
    );
    const last = when(log, result("ship2", 1)).events.at(-1);
    assert.ok(last?.type === "run.ended" && last.outcome.type === "waiting");
    assert.deepEqual(last.outcome.for, [
      { type: "interrupt", interruptId: "pay1:approval", reason: "tool_call", prompt: {}, callId: "pay1" },
    ]);
  });

  it("may come in any order and several at once", () => {
    const log = given(...waitingFor("a1", "b2", "c3"));
    submit(log, result("c3", 3));
    const { events } = submit(
      log,
      run({
        results: [
          { callId: "b2", status: "failed", error: "no" },
          { callId: "a1", status: "completed", output: 1 },
        ],
      }),
    );
    assert.deepEqual(types(events), ["run.started", "tool.returned", "tool.returned"]);
    const step = log.thread.history.at(-1);
    assert.ok(step?.role === "assistant");
    assert.deepEqual(
      step.parts.map(
        (part) => part.type === "call" && [part.callId, part.settlement?.status, part.settlement?.output ?? part.settlement?.error],
      ),
      [
        ["a1", "completed", 1],
        ["b2", "failed", "no"],
        ["c3", "completed", 3],
      ],
    );
  });

  it("is taken while the run still goes on, and is not waited for when it ends", () => {
    // 1.1: the run would have ended waiting for something already settled, and nobody would ever have woken it.
    const log = given(...offering("pay1"));
    const { events, after } = submit(log, result("pay1", 42));
    assert.deepEqual(events, [returned("pay1", 42)]);
    assert.equal(after, 0, "its sender follows the run that goes on");
    const terminal = conclude(log.thread, { type: "wait" }).at(-1);
    assert.ok(terminal?.type === "run.ended" && terminal.outcome.type !== "waiting");
  });

  it("takes agent, tools and options from the turn when it comes by a door that has none", () => {
    // 1.7: the second model call got another agent and no tools.
    const [first, ...rest] = waitingFor("pay1");
    const log = given(
      { ...(first as Extract<Event, { type: "run.started" }>), agent: "barista", tools: [spec("pay")], options: { model: "big" } },
      ...rest,
    );
    for (const tools of [undefined, []]) {
      const [started] = when(log, result("pay1", 1, { agent: "other", ...(tools && { tools }) })).events;
      assert.deepEqual(started, runStarted("r9", { epoch: 2, cause: "result", agent: "barista" }));
    }
    submit(log, result("pay1", 1));
    assert.deepEqual(log.thread.tools, [spec("pay")]);
    assert.deepEqual(log.thread.options, { model: "big" });
  });

  it("may change tools and single options of the turn", () => {
    const [first, ...rest] = waitingFor("pay1");
    const log = given(
      { ...(first as Extract<Event, { type: "run.started" }>), tools: [spec("pay")], options: { model: "big", maxSteps: 3 } },
      ...rest,
    );
    const [started] = when(log, result("pay1", 1, { tools: [spec("ship")], options: { model: "small" } })).events;
    assert.deepEqual(
      started,
      runStarted("r9", { epoch: 2, cause: "result", tools: [spec("ship")], options: { model: "small", maxSteps: 3 } }),
    );
  });

  it("handed in a hundred times over is one continuation and a hundred answers from the same place", () => {
    // 1.5: one was taken, 99 were refused, and a later one called the model again.
    const log = given(...waitingFor("pay1"));
    const places = new Set<number>();
    for (let i = 0; i < 100; i += 1) places.add(submit(log, result("pay1", { b: 1, a: [2] }, { runId: `r${i}` })).after);
    assert.equal(log.events.filter(({ type }) => type === "tool.returned").length, 1);
    assert.equal(log.events.filter(({ type }) => type === "run.started").length, 2);
    assert.deepEqual([...places], [8]);
  });

  it("that loses a race is decided again and taken all the same", () => {
    // 1.5: two results of one step; a conflict is never a verdict.
    const log = given(...waitingFor("a1", "b2"));
    const [first, second] = [result("a1", 1, { runId: "r2" }), result("b2", 2, { runId: "r3" })];
    const decided = [when(log, first), when(log, second)] as const;
    const { seq } = log.thread;
    log.append({ seq }, decided[0].events);
    assert.throws(() => log.append({ seq }, decided[1].events), { code: "conflict" });
    assert.deepEqual(types(submit(log, second).events), ["run.started", "tool.returned"]);
  });

  it("given again leads to the run it began, while that run goes on and long after", () => {
    const log = given(...twoTurns(ended("done", { runId: "r3", turnId: "t2", run: 17 })));
    const { events, after } = when(log, result("pay1", "ok"));
    assert.deepEqual(events, []);
    assert.equal(log.events[after]?.type, "run.started");
    assert.equal(after, 8);
  });

  it("that differs from the one the call has is refused", () => {
    const log = given(...waitingFor("pay1"), runStarted("r2", { epoch: 2, cause: "result" }), returned("pay1", 42));
    refuses(log, result("pay1", 43), "conflict", /another result/);
    refuses(log, run({ results: [{ callId: "pay1", status: "failed", error: "x" }] }), "conflict", /another result/);
  });

  it("for a call nobody made here is not found", () => {
    // 1.13: a call of another thread is unknown in this one.
    refuses(given(...waitingFor("pay1")), result("other", 1), "not_found", /no call other/);
    refuses(given(), result("other", 1), "not_found", /no call other/);
  });

  it("is too late after expiry or cancel", () => {
    for (const status of ["expired", "cancelled"] as const) {
      const log = given(...waitingFor("pay1"), runStarted("r2", { epoch: 2 }), returned("pay1", 1, { status }));
      refuses(log, result("pay1", 1), "gone", new RegExp(status));
    }
  });

  it("is refused for a call of the server, whether it runs, waits for approval or is not yet complete", () => {
    // 1.8: the proof took a forged result for a server tool.
    const ready = given(asked(), stepStarted(), ...called("pay1", { owner: "server" }), stepEnded());
    refuses(ready, result("pay1", 0), "conflict", /not handed out/);
    const open = given(asked(), stepStarted(), ...called("pay1", { owner: "server" }));
    refuses(open, result("pay1", 0), "conflict", /not handed out/);
    refuses(given(...waitingForApproval("pay1", { owner: "server" })), result("pay1", 0), "conflict", /waits for approval/);
  });

  it("is refused until the step that made the call is complete", () => {
    // 1.8: the step may still die, and the accepted result with it.
    const log = given(asked(), stepStarted(), ...called("pay1"));
    refuses(log, result("pay1", 0), "conflict", /not handed out/);
    log.append({ epoch: 1 }, [stepEnded(), offered("pay1", 1)]);
    assert.deepEqual(types(when(log, result("pay1", 0)).events), ["tool.returned"]);
  });

  it("is refused when it names another tool than the call's", () => {
    const log = given(...waitingFor("pay1"));
    const wrong = run({ results: [{ callId: "pay1", status: "completed", output: 1, name: "ship" }] });
    refuses(log, wrong, "conflict", /is for pay, not for ship/);
    submit(log, run({ results: [{ callId: "pay1", status: "completed", output: 1, name: "pay" }] }));
    refuses(log, wrong, "conflict", /pay.*ship/);
  });

  it("keeps the id and the notes of the message that brought it", () => {
    const log = given(...waitingFor("pay1"));
    const [, settled] = when(
      log,
      run({ results: [{ callId: "pay1", status: "completed", output: 1, messageId: "m7", metadata: { ms: 3 } }] }),
    ).events;
    assert.deepEqual(settled, { ...returned("pay1", 1, { messageId: "m7" }), metadata: { ms: 3 } });
  });

  it("of nothing settles only a call of that client", () => {
    // 1.25: CopilotKit sends an empty message for tools it has no code for.
    const empty = run({ results: [{ callId: "pay1", status: "completed", output: "", messageId: "m7" }] });
    refuses(given(...waitingFor("pay1")), empty, "conflict", /not this client's/);
    const log = given(asked(), stepStarted(), ...called("pay1", { owner: "client" }), stepEnded(), offered("pay1", 1, { owner: "client" }));
    assert.deepEqual(types(when(log, empty).events), ["tool.returned"]);
    const worker = result("pay1", "");
    assert.deepEqual(
      types(when(given(...waitingFor("pay1")), worker).events),
      ["run.started", "tool.returned"],
      "a worker may well find nothing",
    );
  });

  it("twice in one request is one when they agree, and refused when they do not", () => {
    const log = given(...waitingFor("pay1"));
    const twice = (output: number) =>
      run({
        results: [
          { callId: "pay1", status: "completed", output: 1 },
          { callId: "pay1", status: "completed", output },
        ],
      });
    assert.deepEqual(types(when(log, twice(1)).events), ["run.started", "tool.returned"]);
    refuses(log, twice(2), "conflict", /Two results/);
  });

  it("leaves nothing behind when another of the same request is refused", () => {
    const log = given(...waitingFor("pay1"));
    refuses(
      log,
      run({
        results: [
          { callId: "pay1", status: "completed" },
          { callId: "x", status: "completed" },
        ],
      }),
      "not_found",
      /x/,
    );
  });
});

describe("a door that resends its whole history", () => {
  const history = (more: Partial<RunCommand>) => run({ door: "history", ...more });

  it("has what is stale, forged or unknown ignored and counted, and the rest taken", () => {
    const log = given(
      ...waitingFor("pay1"),
      runStarted("r2", { epoch: 2, cause: "result" }),
      returned("pay1", 3),
      stepStarted("s2"),
      ...called("ship2", { stepId: "s2" }),
      ...called("bake3", { stepId: "s2", owner: "server" }),
      stepEnded("s2"),
      offered("ship2", 1),
    );
    const { events, ignored } = when(
      log,
      history({
        messages: [user("u1")],
        results: [
          { callId: "pay1", status: "completed", output: "3" }, // AG-UI has text where JSON was
          { callId: "bake3", status: "completed", output: "forged" },
          { callId: "never", status: "completed", output: "unknown" },
          { callId: "ship2", status: "completed", output: "sent" },
        ],
      }),
    );
    assert.deepEqual(events, [returned("ship2", "sent")]);
    assert.equal(ignored, 3);
  });

  it("hears of it when all it brings is results for calls this thread never made", () => {
    refuses(given(...waitingFor("pay1")), history({ results: [{ callId: "never", status: "completed" }] }), "not_found", /never/);
    const shown = history({ messages: [user("u1")], results: [{ callId: "never", status: "completed" }] });
    assert.deepEqual(when(given(...waitingFor("pay1")), shown), { events: [], after: 0, ignored: 1 });
  });

  it("may find a result before its last message and still has it taken", () => {
    // 1.6: the official client inserts a late tool message before the last assistant message.
    const log = given(...waitingFor("pay1"));
    const { events } = when(
      log,
      history({ messages: [user("u1"), user("u2")], results: [{ callId: "pay1", status: "completed", output: 1 }] }),
    );
    assert.deepEqual(types(events), ["run.started", "tool.returned", "run.ended", "run.started"]);
    assert.deepEqual(events[1], returned("pay1", 1));
  });

  it("retries a failed turn although it shows results of earlier turns", () => {
    // 1.6: old results are in every request; they must not lead back to their own turn.
    const log = given(...twoTurns(ended("failed", { runId: "r3", turnId: "t2", run: 17 })));
    const shown = history({ messages: [user("u1"), user("u2")], results: [{ callId: "pay1", status: "completed", output: "ok" }] });
    assert.deepEqual(when(log, shown).events, [runStarted("r9", { turnId: "t2", epoch: 4, cause: "retry" })]);
  });

  it("follows the turn it shows last, not one whose results it shows as well", () => {
    const results: RunCommand["results"] = [{ callId: "pay1", status: "completed", output: "ok" }];
    const running = given(...twoTurns(stepStarted("s3")));
    assert.deepEqual(when(running, history({ runId: "r3", messages: [user("u1"), user("u2")], results })).after, 16);
    const done = given(...twoTurns(ended("done", { runId: "r3", turnId: "t2", run: 17 })));
    assert.deepEqual(when(done, history({ runId: "r3", messages: [user("u1"), user("u2")], results })), {
      events: [],
      after: 16,
      ignored: 0,
    });
    assert.equal(when(done, history({ messages: [user("u1")], results })).after, 8, "a tab that has not seen the second turn");
    const both = given(...waitingFor("a1", "b2"));
    submit(both, result("a1", 1));
    const { after } = submit(both, result("b2", 2));
    const shown: RunCommand["results"] = [
      { callId: "b2", status: "completed", output: 2 },
      { callId: "a1", status: "completed", output: 1 },
    ];
    assert.equal(when(both, history({ messages: [user("u1")], results: shown })).after, after, "the order they are shown in means nothing");
  });

  it("that comes too late with a result follows its turn and has nothing answered again", () => {
    // A browser tool that outlived its deadline posts with a new runId, when the turn is long over.
    const log = given(
      ...waitingFor("pay1"),
      runStarted("r2", { epoch: 2, cause: "expiry" }),
      returned("pay1", 0, { status: "expired" }),
      ended("done", { runId: "r2", run: 9 }),
    );
    const late: RunCommand["results"] = [{ callId: "pay1", status: "completed", output: "late" }];
    assert.deepEqual(when(log, history({ messages: [user("u1")], results: late })), { events: [], after: 8, ignored: 1 });
    assert.deepEqual(when(log, history({ results: late })), { events: [], after: 8, ignored: 1 });
  });

  it("still answers again where the only results it shows are the server's own", () => {
    const log = given(
      asked(),
      stepStarted(),
      ...called("bake1", { owner: "server" }),
      stepEnded(),
      returned("bake1", 1, { owner: "server", by: "server" }),
      ended("done"),
    );
    const { events } = when(log, history({ messages: [user("u1")], results: [{ callId: "bake1", status: "completed", output: "1" }] }));
    assert.deepEqual(types(events), ["thread.rewound", "run.started"]);
  });

  it("may resend malformed answers no more than any other door", () => {
    refuses(
      given(...waitingForApproval("pay1")),
      history({ answers: [{ callId: "pay1", status: "resolved", value: "maybe" }] }),
      "invalid",
      /approved/,
    );
  });
});

describe("a request without news", () => {
  it("needs a thread that has something to answer", () => {
    refuses(given(), run(), "invalid", /send a message/);
  });

  it("follows the run that goes on", () => {
    // 1.6: POST u1 twice gave two messages and two answers.
    const log = given(asked(), stepStarted());
    assert.deepEqual(when(log, say("u1")), { events: [], after: 0, ignored: 0 });
    assert.deepEqual(when(log, run()), { events: [], after: 0, ignored: 0 });
  });

  it("follows its run while the turn waits", () => {
    const log = given(...waitingFor("a1", "b2"));
    submit(log, result("a1", 1, { runId: "r2" }));
    const second = log.events.findLast(({ type }) => type === "run.started")?.seq ?? 0;
    assert.deepEqual(when(log, say("u1", { runId: "r1" })), { events: [], after: 0, ignored: 0 });
    assert.deepEqual(when(log, say("u1", { runId: "r2" })), { events: [], after: second - 1, ignored: 0 });
    assert.deepEqual(when(log, say("u1", { runId: "new" })), { events: [], after: second - 1, ignored: 0 });
  });

  it("goes on with a turn that failed, without saying the message again", () => {
    const log = given(...failed);
    assert.deepEqual(when(log, say("u1")).events, [runStarted("r9", { epoch: 2, cause: "retry" })]);
    assert.deepEqual(when(log, run({ runId: "r1" })).events, [runStarted("r1", { epoch: 2, cause: "retry" })]);
    // The client has no assistant message between the two: only the second is new.
    const [started] = when(log, run({ messages: [user("u1"), user("u2")] })).events;
    assert.deepEqual(started?.type === "run.started" && started.messages, [user("u2")]);
  });

  it("goes on with a failed turn when it repeats a result or an answer of that turn", () => {
    // 1.6: a result whose continuation hit a provider's 500 could never be retried.
    const log = given(
      ...waitingFor("pay1"),
      runStarted("r2", { epoch: 2, cause: "result" }),
      returned("pay1", 42),
      ended("failed", { runId: "r2", run: 9 }),
    );
    assert.deepEqual(when(log, result("pay1", 42)).events, [runStarted("r9", { epoch: 3, cause: "retry" })]);
    const approved = given(...waitingForApproval("pay1", { owner: "server" }));
    submit(approved, answer("pay1", true));
    approved.append({ epoch: 2 }, conclude(approved.thread, { type: "fail", error: { code: "model", message: "500" } }));
    assert.deepEqual(when(approved, answer("pay1", true)).events, [runStarted("r9", { epoch: 3, cause: "retry" })]);
  });

  it("starts nothing on a finished turn, where the door names what it wants", () => {
    assert.deepEqual(when(given(...answered), say("u1")), { events: [], after: 0, ignored: 0 });
    assert.deepEqual(when(given(...answered), run()), { events: [], after: 0, ignored: 0 });
  });

  it("follows the turn of the message it repeats, whatever became of later ones", () => {
    for (const last of [
      stepStarted("s3"),
      ended("failed", { runId: "r3", turnId: "t2", run: 17 }),
      ended("done", { runId: "r3", turnId: "t2", run: 17 }),
    ]) {
      const log = given(...twoTurns(last));
      assert.deepEqual(when(log, say("u1")), { events: [], after: 0, ignored: 0 });
    }
    const waiting = given(...answered);
    submit(waiting, say("u2", { runId: "r2" }));
    waiting.append({ epoch: 2 }, [stepStarted("s2"), ...called("pay1", { stepId: "s2" }), stepEnded("s2"), offered("pay1", 1)]);
    waiting.append({ epoch: 2 }, conclude(waiting.thread, { type: "wait" }));
    assert.deepEqual(when(waiting, say("u1")), { events: [], after: 0, ignored: 0 });
  });

  it("replays a finished turn under a known runId and answers it again under a new one, where the door resends its history", () => {
    // 1.6: AG-UI's runAgent() with a new runId is a real request: state or context have changed.
    const log = given(...answered);
    assert.deepEqual(when(log, say("u1", { door: "history", runId: "r1" })), { events: [], after: 0, ignored: 0 });
    const { events, after } = when(log, say("u1", { door: "history" }));
    assert.deepEqual(events, [
      { type: "thread.rewound", to: 1, removed: ["u1", "s1:m"] },
      runStarted("r9", { turnId: "t9", epoch: 2, cause: "retry", messages: [user("u1")] }),
    ]);
    assert.equal(after, log.thread.seq + 1);
    assert.deepEqual(
      types(when(log, run({ door: "history" })).events),
      ["thread.rewound", "run.started"],
      "also when it shows nothing at all",
    );
  });

  it("knows a run by its last use of a label that clients use again and again", () => {
    const log = given(
      ...answered,
      runStarted("r1", { epoch: 2, turnId: "t2", messages: [user("u2")] }),
      ended("done", { turnId: "t2", run: 8 }),
    );
    assert.equal(when(log, run({ door: "history", runId: "r1", messages: [user("u2")] })).after, 7);
  });
});

describe("an approval", () => {
  it("hands an external call out with its deadline counted from now", () => {
    // 1.16: approve at 29 s of 30 s gave the worker one second.
    const log = given(...waitingForApproval("pay1", { timeout: 30_000, input: { cents: 5 }, onTimeout: { type: "deny" } }));
    const { events } = when(log, answer("pay1", { approved: true }, { now: 900_000 }));
    assert.deepEqual(events.slice(0, 3), [
      runStarted("r9", { epoch: 2, cause: "answer" }),
      { type: "interrupt.answered", interruptId: "pay1:approval", callId: "pay1", status: "resolved", value: { approved: true }, ...ALICE },
      offered("pay1", 1, { input: { cents: 5 }, expiresAt: 930_000, onTimeout: { type: "deny" } }),
    ]);
    const last = events[3];
    assert.ok(last?.type === "run.ended" && last.outcome.type === "waiting");
    assert.deepEqual(last.outcome.for, [{ type: "call", callId: "pay1", name: "pay", owner: "external", run: 1, expiresAt: 930_000 }]);
  });

  it("lets the server run its own call", () => {
    const log = given(...waitingForApproval("pay1", { owner: "server" }));
    const { events } = submit(log, answer("pay1", true));
    assert.deepEqual(types(events), ["run.started", "interrupt.answered"]);
    assert.equal(log.thread.calls.get("pay1")?.phase, "ready");
  });

  it("of a server call lets the run go on at once, although another call still waits", () => {
    const log = given(
      asked(),
      stepStarted(),
      ...called("pay1"),
      ...called("bake2", { owner: "server", approval: {} }),
      stepEnded(),
      offered("pay1", 1),
      raised("bake2"),
      ended({ type: "waiting", for: [] }),
    );
    assert.deepEqual(types(submit(log, answer("bake2", true)).events), ["run.started", "interrupt.answered"]);
  });

  it("with an edit hands out the edited input and remembers what the model wanted", () => {
    for (const edit of [{ input: { cents: 1 } }, { editedArgs: { cents: 1 } }]) {
      const log = given(...waitingForApproval("pay1", { input: { cents: 5 } }));
      submit(log, answer("pay1", { approved: true, ...edit }));
      const step = log.thread.history.at(-1);
      const part = step?.role === "assistant" && step.parts[0];
      assert.deepEqual(log.thread.calls.get("pay1")?.input, { cents: 1 });
      assert.ok(part && part.type === "call");
      assert.deepEqual([part.input, part.edited], [{ cents: 5 }, { cents: 1 }]);
    }
  });

  it("can be refused with a reason, which the model is told", () => {
    const { events } = when(
      given(...waitingForApproval("pay1")),
      answer("pay1", { approved: false, reason: "too dear", input: { cents: 1 } }),
    );
    assert.deepEqual(events[1], {
      type: "interrupt.answered",
      interruptId: "pay1:approval",
      callId: "pay1",
      status: "resolved",
      value: { approved: false, reason: "too dear", input: { cents: 1 } },
      reason: "too dear",
      ...ALICE,
    });
    const { output, ...rejected } = returned("pay1", 0, { status: "rejected", error: "too dear" }) as Extract<
      Event,
      { type: "tool.returned" }
    >;
    assert.deepEqual(events[2], rejected);
    assert.equal(events.length, 3);
  });

  it("can be called off, which cancels its call", () => {
    const log = given(...waitingForApproval("pay1"));
    submit(log, run({ answers: [{ callId: "pay1", status: "cancelled", value: "whatever" }] }));
    assert.equal(log.thread.calls.size, 0);
    assert.deepEqual(when(log, run({ answers: [{ callId: "pay1", status: "cancelled", value: "whatever" }] })).events, [], "given again");
    refuses(log, answer("pay1", true), "gone", /cancelled/);
  });

  it("needs a clear yes or no, and changes nothing without", () => {
    for (const value of [null, "yes", {}, { approved: "true" }, []])
      refuses(given(...waitingForApproval("pay1")), answer("pay1", value), "invalid", /approved/);
  });

  it("can be named by its call or by its question", () => {
    const byQuestion: Answer = { interruptId: "pay1:approval", status: "resolved", value: true };
    assert.equal(when(given(...waitingForApproval("pay1")), run({ answers: [byQuestion] })).events.length, 4);
  });

  it("given again leads to the run it began; another one is refused", () => {
    const log = given(...waitingForApproval("pay1"));
    const first = submit(log, answer("pay1", { approved: true }));
    const again = submit(log, answer("pay1", { approved: true }));
    assert.deepEqual([again.events, again.after], [[], first.after]);
    refuses(log, answer("pay1", { approved: false }), "conflict", /another answer/);
    refuses(log, answer("ship2", true), "not_found", /about call ship2/);
    refuses(log, run({ answers: [{ interruptId: "q", status: "resolved", value: 1 }] }), "not_found", /q/);
  });

  it("twice in one request is one when they agree, and refused when they do not", () => {
    const log = given(...waitingForApproval("pay1"));
    const twice = (value: boolean) =>
      run({
        answers: [
          { callId: "pay1", status: "resolved", value: true },
          { interruptId: "pay1:approval", status: "resolved", value },
        ],
      });
    assert.deepEqual(types(when(log, twice(true)).events), ["run.started", "interrupt.answered", "call.offered", "run.ended"]);
    refuses(log, twice(false), "conflict", /Two answers/);
  });

  it("settles nothing with a result made up for the same call, in one request", () => {
    // 1.8: CopilotKit sends the decision as a tool message along with the answer.
    const both = answer("pay1", true, { results: [{ callId: "pay1", status: "completed", output: '{"approved":true}' }] });
    for (const door of ["explicit", "history"] as const) {
      const log = given(...waitingForApproval("pay1"));
      assert.deepEqual(types(submit(log, { ...both, door }).events), ["run.started", "interrupt.answered", "call.offered", "run.ended"]);
      assert.deepEqual(submit(log, { ...both, door }).events, [], "nor when the same request is sent again");
      assert.deepEqual([...log.thread.calls.keys()], ["pay1"]);
    }
    const log = given(...waitingForApproval("pay1"));
    submit(log, answer("pay1", true));
    const other = run({
      door: "history",
      answers: [{ interruptId: "pay1:approval", status: "resolved", value: { approved: false } }],
      results: both.results,
    });
    assert.deepEqual(when(log, other).events, [], "nor when the answer comes too late");
  });

  it("numbers the calls it hands out in the order they are granted", () => {
    // 1.22
    const log = given(
      asked(),
      stepStarted(),
      ...called("a1", { approval: {} }),
      ...called("b2", { approval: {} }),
      ...called("c3"),
      stepEnded(),
      raised("a1"),
      raised("b2"),
      offered("c3", 1),
      ended({ type: "waiting", for: [] }),
    );
    const { events } = when(
      log,
      run({
        answers: [
          { callId: "b2", status: "resolved", value: true },
          { callId: "a1", status: "resolved", value: true },
        ],
      }),
    );
    const offers = events.flatMap((event) => (event.type === "call.offered" ? [[event.callId, event.ordinal]] : []));
    assert.deepEqual(offers, [
      ["b2", 2],
      ["a1", 3],
    ]);
  });

  it("given while the run goes on frees the call at once", () => {
    const log = given(asked(), stepStarted(), ...called("pay1", { owner: "server", approval: {} }), stepEnded(), raised("pay1"));
    const { events, after } = when(log, answer("pay1", true));
    assert.deepEqual([types(events), after], [["interrupt.answered"], 0]);
  });
});

describe("an agent's own question", () => {
  const question: Event = { type: "interrupt.raised", interruptId: "task/ok#1", reason: "ask", prompt: "ok?" };
  const waiting: Event[] = [asked(), question, { ...question, interruptId: "task/ok#2" }, ended({ type: "waiting", for: [] })];

  it("asks the agent what is next after every answer, even when another is missing", () => {
    const { events } = when(given(...waiting), run({ answers: [{ interruptId: "task/ok#1", status: "resolved", value: { n: 1 } }] }));
    assert.deepEqual(events, [
      runStarted("r9", { epoch: 2, cause: "answer" }),
      { type: "interrupt.answered", interruptId: "task/ok#1", status: "resolved", value: { n: 1 }, ...ALICE },
    ]);
  });

  it("may be answered with nothing, and that again", () => {
    const log = given(...waiting);
    submit(log, run({ answers: [{ interruptId: "task/ok#1", status: "resolved" }] }));
    assert.deepEqual(when(log, run({ answers: [{ interruptId: "task/ok#1", status: "resolved" }] })).events, []);
  });

  it("expires into the same question to the agent", () => {
    const log = given(asked(), { ...question, expiresAt: 50 }, ended({ type: "waiting", for: [] }));
    const { events } = submit(log, { type: "expire", runId: "r2", id: "task/ok#1", ...HANDBACK, now: 50 });
    assert.deepEqual(types(events), ["run.started", "interrupt.answered"]);
    refuses(log, run({ answers: [{ interruptId: "task/ok#1", status: "resolved", value: 1 }] }), "gone", /expired/);
  });
});

describe("a cancel", () => {
  const cancel = { type: "cancel", runId: "r9", ...ALICE, now: 1000 } as const;

  it("of a run is asked for once and followed from the start of the run", () => {
    const log = given(asked(), stepStarted());
    assert.deepEqual(submit(log, { ...cancel, reason: "enough" }), {
      events: [{ type: "cancel.requested", runId: "r1", by: "user:alice", reason: "enough" }],
      after: 0,
      ignored: 0,
    });
    assert.deepEqual(submit(log, cancel).events, []);
  });

  it("that was acknowledged ends the run cancelled, whatever the agent thinks and whoever drives it", () => {
    // 1.2: the run ended done or waiting, with the call still out.
    for (const next of [{ type: "done" }, { type: "wait" }, { type: "fail", error: { code: "model", message: "x" } }] as const) {
      const log = given(...offering("pay1"));
      submit(log, cancel);
      submit(log, { type: "recover", ...HANDBACK, now: 0 });
      log.append({ seq: log.thread.seq }, conclude(log.thread, next));
      assert.deepEqual(log.thread.ended?.outcome, { type: "cancelled" });
      assert.equal(log.thread.calls.size, 0);
    }
  });

  it("of a turn that waits settles everything open in a run of its own", () => {
    const [first, ...rest] = waitingForApproval("pay1");
    const log = given(
      first as Event,
      stepStarted("s0"),
      ...called("ship2", { stepId: "s0" }),
      stepEnded("s0"),
      offered("ship2", 1),
      ...rest,
    );
    const { events, after } = when(log, { ...cancel, reason: "enough" });
    assert.deepEqual(events, [
      runStarted("r9", { epoch: 2, cause: "cancel" }),
      { type: "interrupt.answered", interruptId: "pay1:approval", callId: "pay1", status: "cancelled", ...ALICE },
      cancelled("ship2", "enough"),
      cancelled("pay1", "enough"),
      ended({ type: "cancelled", reason: "enough" }, { runId: "r9", run: log.thread.seq + 1 }),
    ]);
    assert.equal(after, log.thread.seq);
  });

  it("of nothing is not found", () => {
    refuses(given(), cancel, "not_found", /no run/);
    refuses(given(...answered), cancel, "not_found", /no run/);
    refuses(given(...failed), cancel, "not_found", /no run/);
  });
});

describe("a deadline", () => {
  const expire = (id: string, now: number) => ({ type: "expire", runId: "r9", id, ...HANDBACK, now }) as const;
  const due = (onTimeout?: Extract<Event, { type: "tool.called" }>["onTimeout"]) =>
    given(
      asked(),
      stepStarted(),
      ...called("pay1", { timeout: 50, ...(onTimeout && { onTimeout }) }),
      ...called("ship2"),
      stepEnded(),
      offered("pay1", 1, { expiresAt: 50, ...(onTimeout && { onTimeout }) }),
      offered("ship2", 2),
      ended({ type: "waiting", for: [] }),
    );

  it("does nothing before its time, and nothing to what is settled or was never offered", () => {
    assert.deepEqual(when(due(), expire("pay1", 49)).events, []);
    const log = due();
    submit(log, result("pay1", 1));
    assert.deepEqual(when(log, expire("pay1", 50)).events, []);
    assert.deepEqual(when(log, expire("never", 50)).events, []);
    assert.deepEqual(when(due(), expire("ship2", 1e9)).events, [], "a call without one waits for ever");
    assert.deepEqual(when(given(asked(), stepStarted(), ...called("pay1", { timeout: 1 })), expire("pay1", 1e9)).events, []);
  });

  it("fails the call and tells what is still missing", () => {
    const log = due();
    const { events } = when(log, expire("pay1", 50));
    assert.deepEqual(types(events), ["run.started", "tool.returned", "run.ended"]);
    assert.deepEqual(events[0], runStarted("r9", { epoch: 2, cause: "expiry", ...HANDBACK }));
    assert.ok(events[1]?.type === "tool.returned");
    assert.deepEqual([events[1].status, events[1].error, events[1].output], ["expired", TIMED_OUT, undefined]);
  });

  it("lets the turn go on when nothing else is open", () => {
    const log = due();
    submit(log, result("ship2", 1));
    assert.deepEqual(types(when(log, expire("pay1", 50)).events), ["run.started", "tool.returned"]);
  });

  it("denies, gives a default or cancels the turn, as the tool wants it", () => {
    const denied = when(due({ type: "deny" }), expire("pay1", 50)).events[1];
    assert.ok(denied?.type === "tool.returned" && denied.status === "expired" && denied.error?.startsWith(`${TIMED_OUT}: denied`));
    const defaulted = when(due({ type: "default", output: { ok: false } }), expire("pay1", 50)).events[1];
    assert.ok(defaulted?.type === "tool.returned" && defaulted.status === "expired" && defaulted.error === undefined);
    assert.deepEqual(defaulted.output, { ok: false });
    const log = due({ type: "cancel" });
    const { events } = submit(log, expire("pay1", 50));
    assert.deepEqual(types(events), ["run.started", "tool.returned", "tool.returned", "run.ended"]);
    assert.deepEqual(log.thread.ended?.outcome, { type: "cancelled", reason: TIMED_OUT });
    assert.equal(log.thread.calls.size, 0);
  });

  it("that passes during a run settles the call in it, or cancels the run", () => {
    const running = (type: "fail" | "cancel") =>
      given(
        asked(),
        stepStarted(),
        ...called("pay1", { timeout: 50, onTimeout: { type } }),
        stepEnded(),
        offered("pay1", 1, { expiresAt: 50, onTimeout: { type } }),
      );
    assert.deepEqual(types(when(running("fail"), expire("pay1", 50)).events), ["tool.returned"]);
    assert.deepEqual(types(when(running("cancel"), expire("pay1", 50)).events), ["tool.returned", "cancel.requested"]);
    const log = running("cancel");
    submit(log, { type: "cancel", runId: "r9", reason: "enough", ...ALICE, now: 0 });
    assert.deepEqual(types(submit(log, expire("pay1", 50)).events), ["tool.returned"]);
    assert.equal(log.thread.run?.cancel?.reason, "enough", "the first cancel is the one that counts");
  });

  it("for a decision passes without the call being run", () => {
    const log = given(
      asked(),
      stepStarted(),
      ...called("pay1", { approval: { timeout: 50 } }),
      stepEnded(),
      raised("pay1", { expiresAt: 50 }),
      ended({ type: "waiting", for: [] }),
    );
    assert.deepEqual(when(log, expire("pay1:approval", 49)).events, []);
    const { events } = submit(log, expire("pay1:approval", 50));
    assert.deepEqual(types(events), ["run.started", "interrupt.answered", "tool.returned"]);
    assert.ok(events[2]?.type === "tool.returned" && events[2].status === "expired");
    refuses(log, answer("pay1", true), "gone", /expired/);
    refuses(log, result("pay1", 1), "gone", /expired/);
  });
});

describe("a claim", () => {
  const claim = (held: boolean, by = "w1") => ({ type: "claim", callId: "pay1", held, by, via: "native", now: 0 }) as const;
  const release = (n: number) =>
    ({ type: "release", callId: "pay1", claim: n, reason: "gave up", by: "w1", via: "native", now: 0 }) as const;
  const done = (n?: number) => run({ results: [{ callId: "pay1", status: "completed", output: 1, ...(n !== undefined && { claim: n }) }] });

  it("gives one of many workers the call, and the next one its turn when the lease has run out", () => {
    // 1.15: the number in the log is the fence; the lease is a row.
    const log = given(...waitingFor("pay1"));
    assert.deepEqual(submit(log, claim(false)).events, [{ type: "call.claimed", callId: "pay1", by: "w1", claim: 1 }]);
    refuses(log, claim(true, "w2"), "conflict", /claimed by w1/);
    assert.deepEqual(submit(log, claim(false, "w2")).events, [
      { type: "call.released", callId: "pay1", claim: 1, reason: "lapsed" },
      { type: "call.claimed", callId: "pay1", by: "w2", claim: 2 },
    ]);
  });

  it("fences results: the one who lost it is refused, the one who has it and one who claims nothing are not", () => {
    const log = given(...waitingFor("pay1"));
    refuses(log, done(1), "conflict", /Claim 1/);
    submit(log, claim(false));
    submit(log, claim(false, "w2"));
    refuses(log, done(1), "conflict", /Claim 1.*no longer valid/);
    assert.deepEqual(types(when(log, done(2)).events), ["run.started", "tool.returned"]);
    assert.deepEqual(types(when(log, done()).events), ["run.started", "tool.returned"]);
  });

  it("can be given back once, and is worth nothing from then on", () => {
    const log = given(...waitingFor("pay1"));
    refuses(log, release(1), "conflict", /Claim 1/);
    submit(log, claim(false));
    assert.deepEqual(submit(log, release(1)).events, [{ type: "call.released", callId: "pay1", claim: 1, reason: "gave up" }]);
    refuses(log, release(1), "conflict", /Claim 1/);
    refuses(log, done(1), "conflict", /Claim 1/);
    assert.deepEqual(submit(log, claim(false, "w2")).events, [{ type: "call.claimed", callId: "pay1", by: "w2", claim: 2 }]);
  });

  it("is for calls that are handed out and nothing else", () => {
    refuses(given(...waitingForApproval("pay1")), claim(false), "conflict", /not handed out/);
    refuses(given(), claim(false), "not_found", /no call/);
    const log = given(...waitingFor("pay1"));
    submit(log, done());
    refuses(log, claim(false), "gone", /already has a result/);
  });

  it("of the server itself cannot be given back by somebody outside", () => {
    const begun: Event = { type: "call.claimed", callId: "pay1", by: "server", claim: 1 };
    refuses(given(asked(), stepStarted(), ...called("pay1", { owner: "server" }), stepEnded(), begun), release(1), "conflict", /Claim 1/);
  });

  it("does not make a result follow another run when it is repeated under an old claim", () => {
    const log = given(...waitingFor("pay1"));
    submit(log, claim(false));
    submit(log, done(1));
    assert.deepEqual(when(log, done(1)).events, []);
  });
});

describe("a takeover", () => {
  const recover = { type: "recover", by: "handback", via: "recovery", now: 0 } as const;

  it("raises the epoch first, so that a driver that was only asleep writes nothing more", () => {
    // 1.9
    const log = given(asked(), stepStarted());
    const { events } = submit(log, recover);
    assert.deepEqual(events[0], { type: "run.recovered", runId: "r1", epoch: 2 });
    assert.throws(() => log.append({ epoch: 1 }, text("zombie")), { code: "conflict" });
    log.append({ epoch: 2 }, [stepStarted("s2")]);
    submit(log, recover);
    assert.throws(() => log.append({ epoch: 2 }, text("zombie")), { code: "conflict" });
  });

  it("closes what the dead driver was saying, which stays visible and is never shown to the model", () => {
    // 1.20
    const log = given(
      asked(),
      stepStarted(),
      { type: "text.started", messageId: "m", stepId: "s1" },
      { type: "text.delta", messageId: "m", delta: "half " },
      { type: "text.delta", messageId: "m", delta: "a" },
      ...called("pay1"),
      ...called("ship2").slice(0, 2),
    );
    const { events } = submit(log, recover);
    assert.deepEqual(types(events), ["run.recovered", "text.ended", "tool.returned", "tool.called", "tool.returned", "step.ended"]);
    assert.deepEqual(events[1], { type: "text.ended", messageId: "m", text: "half a" });
    const entry = log.thread.history.at(-1);
    assert.ok(entry?.role === "assistant");
    assert.equal(entry.state, "abandoned");
    assert.equal(entry.parts.length, 3);
    assert.equal(log.thread.calls.size, 0);
  });

  it("runs a server call that was not begun, or may safely run twice, and reports any other as unknown", () => {
    // 1.9: B cannot know whether a server tool had begun, unless its claim says so.
    const begun = (callId: string): Event => ({ type: "call.claimed", callId, by: "server", claim: 1 });
    const log = given(
      asked(),
      stepStarted(),
      ...called("fresh1", { owner: "server" }),
      ...called("safe2", { owner: "server", idempotent: true }),
      ...called("charge3", { owner: "server" }),
      ...called("out4"),
      stepEnded(),
      offered("out4", 1),
      begun("safe2"),
      begun("charge3"),
    );
    const { events } = submit(log, recover);
    assert.deepEqual(types(events), ["run.recovered", "tool.returned"]);
    assert.ok(events[1]?.type === "tool.returned" && events[1].callId === "charge3" && events[1].error?.startsWith("Outcome unknown"));
    assert.deepEqual(
      [...log.thread.calls.values()].map(({ callId, phase }) => [callId, phase]),
      [
        ["fresh1", "ready"],
        ["safe2", "ready"],
        ["out4", "offered"],
      ],
    );
  });

  it("leaves a call alone that a worker outside has claimed", () => {
    const log = given(...offering("pay1"), { type: "call.claimed", callId: "pay1", by: "w1", claim: 1 });
    assert.deepEqual(types(submit(log, recover).events), ["run.recovered"]);
    assert.equal(log.thread.calls.get("pay1")?.claim?.claim, 1);
  });

  it("of a thread that does not run is nothing", () => {
    assert.deepEqual(when(given(...waitingFor("pay1")), recover).events, []);
    assert.deepEqual(when(given(), recover).events, []);
  });
});

describe("an edit or a regeneration", () => {
  const two = [
    ...answered,
    runStarted("r2", { epoch: 2, turnId: "t2", messages: [user("u2")] }),
    ended("done", { runId: "r2", turnId: "t2", run: 8 }),
  ];

  it("takes everything from that message on out of the context, in the append that begins the new turn", () => {
    // 1.11: the log only grows, and the model would have been given both branches.
    const log = given(...two);
    const edited = say("u1", { rewindTo: "u1", messages: [user("u1", "better")] });
    const { events, after } = submit(log, edited);
    assert.deepEqual(events, [
      { type: "thread.rewound", to: 1, removed: ["u1", "s1:m", "u2"] },
      runStarted("r9", { turnId: "t9", epoch: 3, cause: "retry", messages: [user("u1", "better")] }),
    ]);
    assert.equal(after, log.thread.seq - 1);
    assert.deepEqual(
      log.thread.history.map((entry) => entry.role === "user" && entry.content),
      ["better"],
    );
    assert.equal(log.events.length, 11, "the log keeps them");
  });

  it("answers the same message again when none is given in its place", () => {
    const log = given(...two);
    submit(log, run({ rewindTo: "u2" }));
    assert.deepEqual(
      log.thread.history.map((entry) => (entry.role === "user" ? entry.id : entry.stepId)),
      ["u1", "s1", "u2"],
    );
  });

  it("keeps the messages that came together with the edited one and before it", () => {
    const both = [asked({ messages: [user("u0"), user("u1")] }), ended("done")];
    const log = given(...both);
    submit(log, run({ rewindTo: "u1", messages: [user("u1", "better")] }));
    assert.deepEqual(
      log.thread.history.map((entry) => entry.role === "user" && [entry.id, entry.content]),
      [
        ["u0", "u0?"],
        ["u1", "better"],
      ],
    );
    const again = given(...both);
    submit(again, run({ rewindTo: "u0" }));
    assert.deepEqual(
      again.thread.history.map((entry) => entry.role === "user" && entry.id),
      ["u0", "u1"],
    );
  });

  it("closes a waiting turn first, and is refused where a person is asked or a run goes on", () => {
    const log = given(...waitingFor("pay1"));
    assert.deepEqual(types(submit(log, run({ rewindTo: "u1" })).events), [
      "run.started",
      "tool.returned",
      "run.ended",
      "thread.rewound",
      "run.started",
    ]);
    assert.deepEqual(log.thread.history.length, 1);
    refuses(given(...waitingForApproval("pay1")), run({ rewindTo: "u1" }), "conflict", /answer/);
    refuses(given(asked()), run({ rewindTo: "u1" }), "conflict", /running/);
  });

  it("of a message that is not there, or no longer there, is not found", () => {
    refuses(given(...two), run({ rewindTo: "u7" }), "not_found", /u7/);
    const log = given(...two);
    submit(log, run({ rewindTo: "u1" }));
    log.append({ seq: log.thread.seq }, conclude(log.thread, { type: "done" }));
    // u2 left with the old branch; going back to its place would take u1 along.
    refuses(log, run({ rewindTo: "u2", messages: [user("u2", "better")] }), "not_found", /u2/);
  });

  it("by another tab does not make a stale one lose the message it has in common", () => {
    const log = given(...two);
    submit(log, run({ rewindTo: "u1", runId: "r3" }));
    log.append({ seq: log.thread.seq }, conclude(log.thread, { type: "done" }));
    const stale = run({ door: "history", messages: [user("u1"), user("u2")] });
    submit(log, stale);
    assert.deepEqual(
      log.thread.history.map((entry) => entry.role === "user" && entry.id),
      ["u1"],
    );
  });
});

describe("a thread", () => {
  it("can be renamed at any time", () => {
    const change = { type: "change", title: "Coffee", metadata: { a: 1 }, ...ALICE, now: 0 } as const;
    assert.deepEqual(when(given(asked()), change).events, [{ type: "thread.changed", title: "Coffee", metadata: { a: 1 } }]);
  });

  it("written by a newer release is not decided on by anybody", () => {
    // 1.19
    const log = given(...waitingFor("pay1"));
    log.thread.newest = 2;
    refuses(log, result("pay1", 1), "unavailable", /newer release/);
    refuses(log, { type: "recover", ...HANDBACK, now: 0 }, "unavailable", /newer release/);
  });
});

/** The command throws this code, and the thread it was tried on is as it was. */
function refuses(log: Log, command: Parameters<typeof when>[1], code: ErrorCode, message: RegExp): void {
  const before = structuredClone(log.thread);
  assert.throws(
    () => when(log, command),
    (error) => {
      assert.ok(error instanceof AppError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    },
  );
  assert.deepEqual(log.thread, before);
}

function cancelled(callId: string, error: string): Event {
  const { output, ...event } = returned(callId, 0, { status: "cancelled", error }) as Extract<Event, { type: "tool.returned" }>;
  return event;
}

function spec(name: string): ToolSpec {
  return { name, description: name, input: { type: "object" } };
}
