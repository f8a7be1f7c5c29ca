import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event, Place } from "./event.ts";
import {
  ALICE,
  answer,
  asked,
  called,
  ended,
  given,
  HANDBACK,
  type Log,
  result,
  run,
  runStarted,
  say,
  stepEnded,
  text,
  types,
  user,
  when,
} from "./given.ts";
import type { Json } from "./json.ts";
import { preview, waits } from "./thread.ts";

const place: Place = { path: ["a"], lineageId: "t1", checkpointId: "k0" };
const reached = (checkpointId: string, superstep: number, tasks: string[], more: object = {}): Event => ({
  type: "checkpoint.reached",
  checkpointId,
  lineageId: "t1",
  superstep,
  tasks: tasks.map((taskId) => ({ taskId, node: taskId.replace(/\d+$/, "") })),
  ...more,
});
const began = (stepId: string, taskId: string, more: object = {}): Event => ({
  type: "step.started",
  stepId,
  name: taskId,
  kind: "node",
  messageId: `${stepId}:m`,
  taskId,
  place,
  ...more,
});
const over = (stepId: string, writes: Json): Event => ({ type: "step.ended", stepId, name: stepId, completed: true, writes });
const ask = (taskId: string, key = "k", path = ["a"]): Event => ({
  type: "interrupt.raised",
  interruptId: `${taskId}/${key}#1`,
  reason: "question",
  prompt: `${key}?`,
  taskId,
  place: { ...place, path, key },
});
const told = (taskId: string, value: Json, more: object = {}): Event => ({
  type: "interrupt.answered",
  interruptId: `${taskId}/k#1`,
  status: "resolved",
  value,
  ...ALICE,
  ...more,
});
const waiting = (...events: Event[]): Event[] => {
  const log = given(asked(), ...events);
  return [asked(), ...events, ended({ type: "waiting", for: waits(log.thread) })];
};
const frame = ({ thread }: Log, key = "") => thread.graph.frames[key];

describe("a graph in the log", () => {
  it("is at its last barrier, with what the finished tasks want and what the others were told", () => {
    const log = given(
      asked(),
      reached("k0", 0, ["a1", "b1"]),
      began("s1", "a1"),
      over("s1", { update: { n: 1 } }),
      ask("b1"),
      told("b1", 7),
    );
    assert.deepEqual(frame(log)?.done, { a1: { update: { n: 1 } } });
    assert.deepEqual(frame(log)?.answers, { "b1/k#1": { status: "resolved", value: 7 } });
    log.append({ seq: log.thread.seq }, [reached("k1", 1, ["c1"])]);
    assert.deepEqual([frame(log)?.done, frame(log)?.answers, frame(log)?.checkpointId, frame(log)?.seq], [{}, {}, "k1", 7]);
    assert.deepEqual(Object.keys(log.thread.graph.tasks), ["c1"]);
  });

  it("has a state for each graph inside, which goes with its task", () => {
    const log = given(
      asked(),
      reached("k0", 0, ["a1"]),
      reached("i0", 0, ["x1"], { parentTaskId: "a1", ops: [{ op: "add", path: "/n", value: 1 }] }),
      reached("ii0", 0, ["y1"], { parentTaskId: "x1", ops: [] }),
      reached("i1", 1, ["z1"], { parentTaskId: "a1", ops: [{ op: "replace", path: "/n", value: 2 }] }),
    );
    assert.deepEqual(frame(log, "a1")?.state, { n: 2 });
    assert.deepEqual(Object.keys(log.thread.graph.frames).sort(), ["", "a1"], "what ran in the task that is over is gone");
    assert.deepEqual(log.thread.state, {});
    log.append({ seq: log.thread.seq }, [reached("k1", 1, [])]);
    assert.deepEqual([Object.keys(log.thread.graph.frames), log.thread.graph.tasks], [[""], {}]);
  });

  it("forgets what only its failed run dropped, and keeps what a person called off", () => {
    const cancelled = { status: "cancelled", value: undefined };
    const kept = given(asked(), reached("k0", 0, ["b1"]), ask("b1"), told("b1", null, cancelled));
    assert.deepEqual(frame(kept)?.answers["b1/k#1"]?.status, "cancelled");
    const dropped = given(asked(), reached("k0", 0, ["b1"]), ask("b1"), told("b1", null, { ...cancelled, ...HANDBACK }));
    assert.deepEqual(frame(dropped)?.answers, {});
  });

  it("begins anew with each turn", () => {
    const log = given(
      asked(),
      reached("k0", 0, ["a1"]),
      ended("done"),
      runStarted("r2", { turnId: "t2", epoch: 2, messages: [user("u2")] }),
    );
    assert.deepEqual(log.thread.graph, { frames: {}, tasks: {} });
  });

  it("gives a node that speaks an entry, and one that does not none", () => {
    const log = given(
      asked(),
      reached("k0", 0, ["a1", "b1"]),
      began("s1", "a1"),
      began("s2", "b1"),
      ...text("Hi.", "s2"),
      over("s1", {}),
      over("s2", {}),
    );
    assert.deepEqual(
      log.thread.history.map((entry) => (entry.role === "user" ? entry.id : [entry.taskId, entry.state, entry.parts.length])),
      ["u1", ["b1", "completed", 1]],
    );
    assert.deepEqual(log.thread.graph.tasks["b1"]?.entries, [1]);
  });

  it("says where its calls, their approvals and its questions wait", () => {
    const [started, delta, call] = called("pay1", { stepId: "m1", approval: {}, taskId: "a1", place });
    const model = began("m1", "a1", { kind: "model", place: undefined });
    const log = given(
      asked(),
      reached("k0", 0, ["a1"]),
      began("s1", "a1", { kind: "agent" }),
      model,
      started as Event,
      delta as Event,
      call as Event,
      stepEnded("m1"),
    );
    assert.equal(log.thread.calls.get("pay1")?.taskId, "a1");
    assert.deepEqual(log.thread.calls.get("pay1")?.place, place);
    log.append({ seq: log.thread.seq }, [ask("a1")]);
    assert.deepEqual(
      waits(log.thread).map((wait) => wait.place),
      [{ ...place, key: "k" }],
    );
  });

  it("is copied where events are only tried", () => {
    const log = given(asked(), reached("k0", 0, ["a1"]), ask("a1"));
    const copy = preview(log.thread);
    Object.assign(copy.graph.frames[""]?.answers ?? {}, { x: { status: "expired" } });
    assert.deepEqual(frame(log)?.answers, {});
  });
});

describe("what a graph goes on with", () => {
  const two = () =>
    given(...waiting(reached("k0", 0, ["b1", "a1"]), ask("b1", "k", ["b"]), ask("a1", "k", ["a"]), ask("a1", "other", ["a"])));
  const answers = (log: Log, resume: object) =>
    when(log, run({ resume })).events.flatMap((event) => (event.type === "interrupt.answered" ? event.interruptId : []));

  it("is found by key: of two the first by its place, unless the question itself is named", () => {
    assert.deepEqual(answers(two(), { answers: { k: 1 } }), ["a1/k#1"]);
    assert.deepEqual(answers(two(), { answers: { "b1/k#1": 1, other: 2 } }), ["b1/k#1", "a1/other#1"]);
  });

  it("is told to the run, by key", () => {
    const [start] = when(
      two(),
      run({
        answers: [
          { interruptId: "a1/k#1", status: "resolved", value: 1 },
          { interruptId: "b1/k#1", status: "resolved", value: 2 },
        ],
      }),
    ).events;
    assert.ok(start?.type === "run.started");
    assert.deepEqual(start.resume, { lineageId: "t1", checkpointId: "k0", answers: { k: 1, "b1/k#1": 2 } });
  });

  it("is a single value where one question is open", () => {
    const one = given(...waiting(reached("k0", 0, ["a1"]), ask("a1")));
    assert.deepEqual(answers(one, { lineageId: "t1", checkpointId: "k0", value: 5 }), ["a1/k#1"]);
    assert.throws(() => when(two(), run({ resume: { value: 5 } })), {
      code: "invalid",
      message: "Several questions are open (k, other, k): answer them by key",
    });
  });

  it("is refused for what is not there, by name", () => {
    const refused = (resume: object, message: RegExp) => assert.throws(() => when(two(), run({ resume })), { code: "not_found", message });
    refused({ answers: { nope: 1 } }, /asks nope; open are k, other, k$/);
    refused({ lineageId: "t9", answers: { k: 1 } }, /lineage t9/);
    refused({ checkpointId: "k9", answers: { k: 1 } }, /checkpoint k9/);
  });

  it("makes nothing of a message that only carries it, and leaves a lineage in a new message alone", () => {
    const one = () => given(...waiting(reached("k0", 0, ["a1"]), ask("a1")));
    const { events } = when(one(), say("u2", { resume: { lineageId: "t1", answers: { k: true } } }));
    assert.deepEqual(types(events), ["run.started", "interrupt.answered"]);
    const done = given(asked(), reached("k0", 0, []), ended("done"));
    assert.deepEqual(types(when(done, say("u2", { resume: { lineageId: "t0" } })).events), ["run.started"]);
  });

  it("follows its run when it comes twice", () => {
    const log = given(...waiting(reached("k0", 0, ["a1"]), ask("a1")));
    const command = run({ runId: "r2", resume: { answers: { k: 1 } } });
    log.append({ seq: log.thread.seq }, when(log, command).events);
    const again = when(log, command);
    assert.deepEqual([again.events, again.after], [[], 4]);
  });

  it("lets a task go on while others still wait", () => {
    const [started, delta, call] = called("ext1", { stepId: "m1", taskId: "b1", place });
    const model = began("m1", "b1", { kind: "model", place: undefined });
    const offer: Event = { type: "call.offered", callId: "ext1", name: "ext", owner: "external", input: {}, ordinal: 1 };
    const log = given(
      ...waiting(reached("k0", 0, ["a1", "b1"]), ask("a1"), model, started as Event, delta as Event, call as Event, stepEnded("m1"), offer),
    );
    assert.deepEqual(types(when(log, result("ext1", 1)).events), ["run.started", "tool.returned"], "no end: the agent is asked");
    assert.deepEqual(
      types(when(log, answer("nothing", 1, { answers: [{ interruptId: "a1/k#1", status: "resolved", value: 1 }] })).events),
      ["run.started", "interrupt.answered"],
    );
  });
});

describe("going back", () => {
  const done = () =>
    given(
      asked(),
      { type: "state.patched", ops: [{ op: "add", path: "/n", value: 1 }] },
      reached("k0", 0, ["a1"], { arrived: { "x+y>z": ["x"] } }),
      began("s1", "a1"),
      ...text("Said.", "s1"),
      over("s1", {}),
      { type: "state.patched", ops: [{ op: "replace", path: "/n", value: 2 }] },
      reached("k1", 1, []),
      ended("done"),
    );

  it("restores the barrier with tasks of its own, the state, and what is given", () => {
    const log = done();
    const command = run({ runId: "r2", resume: { checkpointId: "k0", answers: { k: 1 }, state: { m: 3 } } });
    const { events } = when(log, command);
    assert.deepEqual(types(events), ["thread.rewound", "run.started"]);
    log.append({ seq: log.thread.seq }, events);
    assert.deepEqual(log.thread.state, { n: 1, m: 3 });
    const now = frame(log);
    assert.deepEqual(
      [now?.checkpointId, now?.superstep, now?.tasks, now?.given, now?.arrived],
      ["k0", 0, [{ taskId: "a1~11", node: "a" }], { k: 1 }, { "x+y>z": ["x"] }],
    );
    assert.deepEqual(
      log.thread.history.map(({ role }) => role),
      ["user"],
    );
    assert.equal(log.thread.turn?.turnId, "t1");
  });

  it("uses a given answer once", () => {
    const log = done();
    log.append({ seq: log.thread.seq }, when(log, run({ resume: { checkpointId: "k0", answers: { k: 1, l: 2 } } })).events);
    log.append({ seq: log.thread.seq }, [ask("a1~11"), told("a1~11", 1, { via: "given" })]);
    assert.deepEqual([frame(log)?.given, frame(log)?.answers], [{ l: 2 }, { "a1~11/k#1": { status: "resolved", value: 1 } }]);
  });

  it("closes what waits first, and is refused while a run goes on", () => {
    const log = given(...waiting(reached("k0", 0, ["a1"]), began("s1", "a1"), over("s1", {}), reached("k1", 1, ["b1"]), ask("b1")));
    assert.deepEqual(types(when(log, run({ resume: { checkpointId: "k0" } })).events), [
      "run.started",
      "interrupt.answered",
      "run.ended",
      "thread.rewound",
      "run.started",
    ]);
    const running = given(asked(), reached("k0", 0, ["a1"]), reached("k1", 1, ["b1"]));
    assert.throws(() => when(running, run({ resume: { checkpointId: "k0" } })), { code: "conflict" });
  });

  it("to where a failed run stands is a retry", () => {
    const log = given(asked(), reached("k0", 0, ["a1", "b1"]), began("s1", "a1"), over("s1", {}), ended("failed"));
    const { events } = when(log, run({ resume: { checkpointId: "k0" } }));
    assert.deepEqual(types(events), ["run.started"]);
  });
});
