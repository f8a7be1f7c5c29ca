import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  activeOf,
  EMPTY_VIEW,
  foldAll,
  foldView,
  groupOf,
  latencyOf,
  linesOf,
  nodesOf,
  pendingOf,
  replayOf,
  type StoredEvent,
  spansOf,
  type ThreadView,
  timeMapOf,
  usageOf,
  viewAt,
} from "../src/client/client.ts";
import { longLog } from "./view/long-log.ts";
import { plain } from "./view/plain.ts";

const LOGS = new Map(
  globSync("test/view/*.jsonl").map((file) => [
    basename(file, ".jsonl"),
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as StoredEvent),
  ]),
);
assert.ok(LOGS.size >= 7, "found no golden logs");

const view = (name: string, upTo = Number.POSITIVE_INFINITY): ThreadView => viewAt(LOGS.get(name) ?? [], upTo);

/** The thread where `type` comes up for the nth time. */
function when(name: string, type: StoredEvent["type"], nth = 1): ThreadView {
  const found = (LOGS.get(name) ?? []).filter((event) => event.type === type)[nth - 1];
  assert.ok(found, `${name} has no ${type}`);
  return view(name, found.seq);
}

describe("the view of a thread", () => {
  for (const [name, log] of LOGS) {
    it(`is what it was for ${name}`, () => {
      assert.deepEqual(plain(foldAll(EMPTY_VIEW, log)), JSON.parse(readFileSync(`test/view/${name}.json`, "utf8")));
    });
  }

  it("counts what waits, and never what the server does itself", () => {
    for (const [name, log] of LOGS) {
      for (const { seq } of log) {
        const { pending, calls, interrupts } = view(name, seq);
        const owed = calls.filter(({ waitingFor }) => waitingFor !== undefined).length;
        const asked = interrupts.filter(({ status, callId }) => status === "open" && callId === undefined).length;
        assert.equal(pending, owed + asked, `${name} at ${seq}`);
      }
    }
  });

  it("follows a call in one vocabulary", () => {
    const phases = (LOGS.get("primes") ?? []).map(({ seq }) => view("primes", seq).calls.at(0));
    const seen = phases.flatMap((call, i) =>
      call && call.phase !== phases[i - 1]?.phase ? [`${call.phase} ${call.waitingFor ?? ""}`] : [],
    );
    assert.deepEqual(seen, ["streaming ", "dispatched ", "waiting browser", "claimed browser", "done "]);
    const begun = when("primes", "tool.delta", 3).calls.at(0);
    assert.ok(begun?.argsText.startsWith('{"code":"(fun') && begun.input === undefined, begun?.argsText);
    const done = view("primes").calls.at(0);
    assert.deepEqual([done?.output, done?.by, done?.via, done && latencyOf(done)], [76127, "user:user", "native", 1800]);
  });

  it("says what a person changed, refused and answered", () => {
    const asked = when("approval", "interrupt.raised").calls.at(0);
    assert.deepEqual([asked?.phase, asked?.waitingFor, asked?.needsApproval], ["waiting", "human", true]);
    const [edited, refused, own] = view("approval").calls;
    assert.deepEqual(
      [edited?.input, edited?.edited],
      [
        { status: "draft", limit: 120 },
        { status: "draft", limit: 10 },
      ],
    );
    assert.deepEqual([edited?.phase, edited?.verdict?.approved, edited?.verdict?.reason], ["done", true, "careful"]);
    assert.deepEqual([refused?.phase, refused?.error, refused?.verdict?.approved], ["rejected", "too risky", false]);
    assert.deepEqual([own?.phase, own?.output], ["done", "it was paid by hand"]);
  });

  it("counts what is answered of what was asked together", () => {
    const now = view("parallel");
    const stepId = now.calls.at(0)?.stepId ?? "";
    const { total, answered } = groupOf(now, stepId);
    assert.deepEqual([total, answered, now.pending, now.status], [2, 1, 1, "waiting"]);
    assert.deepEqual(
      pendingOf(now).map(({ id }) => id),
      [now.calls.at(0)?.id],
    );
    assert.equal(pendingOf(now), pendingOf(now), "made once for each view");
  });

  it("keeps a document beside the conversation, from its first word on", () => {
    const half = when("report", "text.delta", 30);
    const document = half.documents.at(0);
    assert.deepEqual([document?.state, document?.title, half.writing], ["streaming", "State of the shop", document?.id]);
    assert.match(document?.text ?? "", /^# State of the shop\n/);
    assert.deepEqual([view("report").documents.at(0)?.state, view("report").title], ["done", "A week"]);
  });

  it("marks what a crash cut off, and what a rewind took away", () => {
    const [, cut] = view("cut").messages;
    assert.ok(cut?.role === "assistant" && cut.state === "cut");
    assert.deepEqual([view("cut").status, view("cut").runs.at(0)?.recovered], ["cancelled", 1]);
    const now = view("failed");
    const before = when("failed", "run.ended", 2);
    assert.deepEqual([before.messages.length, now.messages.length], [4, 2]);
    assert.equal(when("failed", "run.ended").status, "failed");
    assert.equal(now.events.length, LOGS.get("failed")?.length, "the log keeps it all");
  });

  it("shows events it does not know, and survives those that make no sense", () => {
    const base = { at: 1, v: 9 };
    const strange = [
      { type: "tea.brewed", seq: 1, ...base, cups: 2 },
      { type: "text.delta", seq: 2, ...base, messageId: "nobody", delta: "x" },
      {
        type: "tool.returned",
        seq: 3,
        ...base,
        callId: "nobody",
        name: "x",
        owner: "server",
        messageId: "m",
        status: "completed",
        by: "",
        via: "",
      },
      { type: "state.patched", seq: 4, ...base, ops: [{ op: "remove", path: "/nothing" }] },
      { type: "run.ended", seq: 5, ...base, runId: "r", turnId: "t", run: 1, outcome: { type: "done" } },
      { type: "thread.rewound", seq: 6, ...base, to: 1, removed: [] },
    ] as unknown as StoredEvent[];
    const now = foldAll(EMPTY_VIEW, strange);
    assert.deepEqual([now.seq, now.customs.at(0)?.name, now.customs.at(0)?.unknown, now.events.length], [6, "tea.brewed", true, 6]);
  });

  it("follows nodes of a graph, their retries, their questions and their checkpoints", () => {
    const step = { messageId: "m", kind: "node" as const };
    const events = [
      { type: "run.started", runId: "r", turnId: "t", epoch: 1, cause: "message", agent: "g", messages: [], by: "u", via: "native" },
      { type: "checkpoint.reached", checkpointId: "c1", superstep: 0, tasks: [{ taskId: "t1", node: "plan" }] },
      { type: "step.started", stepId: "s1", name: "plan", taskId: "t1", ...step },
      { type: "step.ended", stepId: "s1", name: "plan", completed: false, error: { code: "internal", message: "oh" }, retrying: true },
      { type: "step.started", stepId: "s2", name: "plan", taskId: "t1", attempt: 2, ...step },
      { type: "step.started", stepId: "s3", name: "ask", taskId: "t2", ...step },
      { type: "step.ended", stepId: "s2", name: "plan", completed: true, writes: { a: 1 } },
      { type: "interrupt.raised", interruptId: "t2/ok#1", reason: "ok", prompt: "ok?", taskId: "t2" },
      { type: "step.ended", stepId: "s3", name: "ask", completed: false },
      { type: "state.patched", ops: [{ op: "add", path: "/a", value: 1 }] },
    ].map((event, i) => ({ ...event, seq: i + 1, at: i * 100, v: 1 })) as unknown as StoredEvent[];
    const now = foldAll(EMPTY_VIEW, events);
    assert.deepEqual(
      nodesOf(now).map(({ name, state, attempt, visits, ms, interruptId }) => [name, state, attempt, visits, ms, interruptId]),
      [
        ["plan", "done", 2, 1, 200, undefined],
        ["ask", "waiting", 1, 1, 300, "t2/ok#1"],
      ],
    );
    assert.deepEqual([now.state, now.checkpoints.at(0)?.id, now.steps.at(0)?.state], [{ a: 1 }, "c1", "retrying"]);
    assert.equal(activeOf(viewAt(events, 6))?.step?.name, "ask");
    assert.deepEqual(
      pendingOf(now).map(({ id }) => id),
      ["t2/ok#1"],
    );
  });
});

describe("folding", () => {
  const logs = fc.constantFrom(...LOGS.values());

  it("takes an event once, however often it comes", () => {
    fc.assert(
      fc.property(logs, fc.array(fc.nat(200), { maxLength: 30 }), (log, doubled) => {
        const twice = log.flatMap((event, i) => (doubled.includes(i) ? [event, event, ...log.slice(Math.max(0, i - 5), i)] : [event]));
        assert.deepEqual(plain(foldAll(EMPTY_VIEW, twice)), plain(foldAll(EMPTY_VIEW, log)));
      }),
      { numRuns: 60 },
    );
  });

  it("goes on from any moment, whatever else was added to it", () => {
    fc.assert(
      fc.property(logs, logs, fc.nat(200), (log, other, at) => {
        const cut = at % (log.length + 1);
        const moment = foldAll(EMPTY_VIEW, log.slice(0, cut));
        const before = JSON.stringify(plain(moment));
        // Another future of the same moment must not be seen from it.
        foldAll(
          moment,
          other.map((event, i) => ({ ...event, seq: cut + i + 1 })),
        );
        assert.equal(JSON.stringify(plain(moment)), before);
        assert.equal(moment.events.length, cut);
        assert.deepEqual(plain(foldAll(moment, log.slice(cut))), plain(foldAll(EMPTY_VIEW, log)));
      }),
      { numRuns: 60 },
    );
  });

  it("replays any moment, in any order", () => {
    const long = longLog(2_000);
    const replay = replayOf(long);
    fc.assert(
      fc.property(fc.nat(2_100), (seq) => {
        assert.deepEqual(plain(replay.at(seq)), plain(viewAt(long, seq)));
      }),
      { numRuns: 25 },
    );
  });

  it("leaves alone what an event does not touch", () => {
    const before = view("approval", 40);
    const after = foldView(before, { type: "custom.emitted", name: "x", value: 1, seq: 41, at: 1, v: 1 });
    for (const part of ["messages", "calls", "runs", "steps", "turns", "interrupts", "state", "documents"] as const)
      assert.equal(after[part], before[part], part);
    const speaking = when("report", "text.delta", 1);
    const spoken = foldView(speaking, {
      type: "text.delta",
      messageId: speaking.speaking[0]?.messageId ?? "",
      delta: "x",
      seq: speaking.seq + 1,
      at: 1,
      v: 1,
    });
    assert.equal(spoken.messages.at(0), speaking.messages.at(0));
    assert.notEqual(spoken.messages.at(1), speaking.messages.at(1));
  });

  it("takes time in proportion to the events", () => {
    // The best of many, in turns: other work on the machine can only add to it.
    const time = (log: StoredEvent[]) => {
      const start = performance.now();
      foldAll(EMPTY_VIEW, log);
      return performance.now() - start;
    };
    for (const make of [longLog, oneLongAnswer, manyCallsInOneStep]) {
      const [short, long] = [make(10_000), make(20_000)];
      let [one, two] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let i = 0; i < 100 && !(i >= 10 && one < 150 && two / one < 3); i += 1)
        [one, two] = [Math.min(one, time(short)), Math.min(two, time(long))];
      assert.ok(one < 150, `${make.name}: 10,000 events took ${one} ms`);
      assert.ok(two / one < 3, `${make.name}: ${one} ms, then ${two} ms`);
    }
  });
});

describe("spans", () => {
  it("draw waiting apart from work, and collapse what is idle", () => {
    const now = view("parallel");
    const spans = spansOf(now);
    const call = spans.find(({ callId }) => callId === now.calls.at(1)?.id);
    assert.deepEqual(
      call?.segments.map(({ kind }) => kind),
      ["wait"],
    );
    assert.equal(spans.find(({ callId }) => callId === now.calls.at(0)?.id)?.end, undefined, "it still waits");
    const later = now.at + 600_000;
    const map = timeMapOf(spans, later);
    assert.equal(map.gaps.length, 1);
    assert.ok(map.at(later) <= 1 && map.at(map.start) === 0);
    const times = [map.start, map.start + 10, now.at, now.at + 1000, now.at + 300_000, later].map((ms) => map.at(ms));
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
  });

  it("are those of a turn, each below what it belongs to", () => {
    const now = view("approval");
    const spans = spansOf(now, now.runs.at(0)?.seq);
    assert.ok(spans.every(({ turnId }) => turnId === now.turns.at(0)?.id));
    const ids = new Set(spans.map(({ id }) => id));
    for (const { parent, kind } of spans) assert.ok(kind === "run" ? parent === undefined : ids.has(parent ?? ""), parent);
    const [call] = spans.filter(({ kind }) => kind === "tool");
    assert.ok(call?.segments.some(({ kind, start, end = 0 }) => kind === "wait" && end - start === 1500));
  });

  it("come with what was said before a call, and what was used", () => {
    const now = view("approval");
    assert.equal(linesOf(now, now.calls.at(0)?.id ?? "", 2)[0]?.text, "清理旧的草稿订单");
    const used = foldAll(EMPTY_VIEW, [
      {
        type: "run.started",
        runId: "r",
        turnId: "t",
        epoch: 1,
        cause: "message",
        agent: "a",
        messages: [],
        by: "",
        via: "",
        seq: 1,
        at: 0,
        v: 1,
      },
      {
        type: "run.ended",
        runId: "r",
        turnId: "t",
        run: 1,
        outcome: { type: "done" },
        usage: [{ inputTokens: 3 }, { inputTokens: 4, model: "m" }],
        seq: 2,
        at: 1,
        v: 1,
      },
    ]);
    assert.deepEqual(usageOf(used), { inputTokens: 7 });
  });
});

function oneLongAnswer(count: number): StoredEvent[] {
  const [started, step, text] = longLog(3);
  const deltas = Array.from(
    { length: count - 3 },
    (_, i) => ({ type: "text.delta", messageId: "a0", delta: "word ", seq: i + 4, at: i, v: 1 }) as const,
  );
  return [started, step, text, ...deltas] as StoredEvent[];
}

function manyCallsInOneStep(count: number): StoredEvent[] {
  const [started, step] = longLog(2);
  const call = (i: number) => ({ callId: `c${i >> 1}`, name: "x", messageId: "a0", stepId: "s0", owner: "external" }) as const;
  const calls = Array.from({ length: count - 2 }, (_, i) => ({
    ...(i % 2 === 0 ? { type: "tool.started", ...call(i) } : { type: "tool.called", ...call(i), input: {} }),
    seq: i + 3,
    at: i,
    v: 1,
  }));
  return [started, step, ...calls] as StoredEvent[];
}
