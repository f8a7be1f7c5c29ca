import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Answer, Command, Result, RunCommand } from "../src/core/command.ts";
import { type Decision, decide } from "../src/core/decide.ts";
import { AppError, type ErrorCode, type Failure } from "../src/core/error.ts";
import { type Event, isDelta, type OnTimeout, type Owner, type StoredEvent } from "../src/core/event.ts";
import { emptyLog, HANDBACK, run } from "../src/core/given.ts";
import { isObject, type Json, sameJson } from "../src/core/json.ts";
import { offered, returned } from "../src/core/settle.ts";
import { completeStep, conclude, type Next } from "../src/core/step.ts";
import { type AssistantEntry, emptyThread, fold, readyCalls, type Thread, waits } from "../src/core/thread.ts";

/*
 * One thread under random schedules: users, workers, deadlines and drivers that crash, all at once.
 * `world` plays them on a log in memory, `watch` holds every event against rules it keeps itself, from events alone.
 */

const FIXED_SEED = 20_251_115;
const FIXED_RUNS = 10_000;
const RANDOM_RUNS = 2_000;

/** What happens next, and a number from which it takes its chances. */
type Happening = readonly [kind: Kind, chance: number];

const KINDS = [
  ...Array<"drive">(12).fill("drive"),
  ...Array<"settle">(5).fill("settle"),
  ...Array<"answer">(4).fill("answer"),
  ...Array<"expire">(3).fill("expire"),
  ...Array<"claim">(2).fill("claim"),
  ...Array<"oddResult">(2).fill("oddResult"),
  ...Array<"late">(2).fill("late"),
  ...Array<"say">(2).fill("say"),
  "repeat",
  "retry",
  "history",
  "answerAll",
  "oddAnswer",
  "fabricate",
  "cancel",
  "takeOver",
  "wakeZombie",
  "fail",
  "rewind",
] as const;
type Kind = (typeof KINDS)[number];

const schedule = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(2 ** 30)), { minLength: 20, maxLength: 60, size: "max" });

describe("one thread under any schedule", () => {
  let runs = 0;
  const play = (happenings: readonly Happening[]) => {
    runs += 1;
    const here = world();
    for (const happening of happenings) here.happen(happening);
    here.compareFolds();
    here.drain();
    here.compareFolds();
  };

  it("keeps every promise to clients, workers and the provider", () => {
    runs = 0;
    fc.assert(fc.property(schedule, play), { seed: FIXED_SEED, numRuns: FIXED_RUNS });
    assert.equal(runs, FIXED_RUNS);
  });

  it("keeps them under schedules nobody has tried yet", () => {
    runs = 0;
    fc.assert(fc.property(schedule, play), { numRuns: RANDOM_RUNS });
    assert.equal(runs, RANDOM_RUNS);
  });
});

/** A driver: the epoch it was given, and how far it has come. */
type Driver = {
  epoch: number;
  speech: Iterator<Event> | undefined;
  failure: Failure | undefined;
  begun: Set<string>;
  /** An ending it has decided on and not yet written. */
  ending: { seq: number; events: Event[] } | undefined;
};

function world() {
  const log = emptyLog();
  const { thread, events } = log;
  const watcher = watch();
  const zombies: Driver[] = [];
  let driver: Driver | undefined;
  /** A command decided on by another process, which has not appended yet. */
  let late: { command: Command; seq: number; decision: Decision }[] = [];
  const messages: string[] = [];
  let now = 1_000;
  let minted = 0;
  let talkative = true;
  const mint = (prefix: string) => `${prefix}${++minted}`;

  const append = (expect: { seq: number } | { epoch: number }, added: readonly Event[]) => {
    const first = events.length;
    log.append(expect, added, now);
    for (let i = first; i < events.length; i += 1) watcher.see(events[i] as StoredEvent, first);
  };
  const refused = (expect: { seq: number } | { epoch: number }, added: readonly Event[]) => {
    const before = events.length;
    assert.throws(() => append(expect, added), { code: "conflict" });
    assert.equal(events.length, before);
  };

  /** What `submit` does in the engine. */
  const submit = (command: Command): Decision => {
    const decision = decide(thread, command, log.known(command));
    append({ seq: thread.seq }, decision.events);
    if (command.type === "run" || command.type === "cancel") {
      assert.equal(events[decision.after]?.type, "run.started", "its sender follows from the start of a run");
    }
    if (thread.run && !driver) driver = { epoch: thread.epoch, speech: undefined, failure: undefined, begun: new Set(), ending: undefined };
    return decision;
  };
  const attempt = (command: Command): Decision | ErrorCode => {
    const before = events.length;
    try {
      return submit(command);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      assert.equal(events.length, before, "a refusal writes nothing");
      return error.code;
    }
  };
  /** Sends a command and holds what comes of it against what the events say should. */
  const send = (command: Command, expected: Expected) => {
    const outcome = attempt(command);
    if (typeof outcome === "string") assert.equal(outcome, expected, `${command.type} was refused`);
    else if (expected === "nothing") assert.deepEqual(outcome.events, [], "a repetition starts nothing");
    else if (expected === "retry")
      assert.deepEqual(
        outcome.events.map(({ type }) => type),
        ["run.started"],
        "a failed turn goes on",
      );
    else {
      assert.equal(expected, "news", `${command.type} was taken`);
      assert.ok(outcome.events.length > 0, `${command.type} led to nothing`);
    }
  };
  const request = (more: Partial<RunCommand>): RunCommand => run({ runId: mint("r"), turnId: mint("t"), now, ...more });

  // --- the driver ---

  const advance = (it: Driver, dice: Dice) => {
    if (!thread.run || thread.epoch !== it.epoch) return drop(it);
    if (it.ending) {
      const { seq, events } = it.ending;
      it.ending = undefined;
      if (seq !== thread.seq) return refused({ seq }, events); // somebody was faster: it asks again
      append({ seq }, events);
      return drop(it);
    }
    if (thread.run.cancel && dice(2) === 0) it.speech = undefined;
    if (it.speech) return talk(it, it.speech, dice);
    if (!thread.run.cancel && !it.failure) {
      const ready = readyCalls(thread);
      const fresh = ready.filter(({ callId }) => !it.begun.has(callId));
      if (fresh.length > 0) {
        for (const { callId } of fresh) it.begun.add(callId);
        return append(
          { epoch: it.epoch },
          fresh.map(({ callId, claim }) => ({ type: "call.claimed", callId, by: "server", claim: (claim?.claim ?? 0) + 1 })),
        );
      }
      const call = ready[dice(ready.length)];
      if (call) {
        it.begun.delete(call.callId);
        const source = { by: "server", via: "engine" };
        if (call.name === "handBack")
          return append({ epoch: it.epoch }, [offered({ ...call, timeout: 1 + dice(30) }, thread.ordinal + 1, now)]);
        return append({ epoch: it.epoch }, [returned(call, dice(4) === 0 ? "failed" : "completed", source, { output: "server" })]);
      }
    }
    const next: Next = thread.run.cancel ? { type: "done" } : it.failure ? { type: "fail", error: it.failure } : nextOf(thread);
    if (next.type === "step") {
      watcher.beforeModel(thread);
      it.speech = speak(mint, talkative ? dice : () => 0);
    } else it.ending = { seq: thread.seq, events: conclude(thread, next) };
  };
  const talk = (it: Driver, speech: Iterator<Event>, dice: Dice) => {
    const said: Event[] = [];
    for (let i = dice(3); i >= 0; i -= 1) {
      const { value, done } = speech.next();
      if (done) {
        it.speech = undefined;
        break;
      }
      if (value.type !== "step.ended") said.push(value);
      else {
        append({ epoch: it.epoch }, said.splice(0));
        const granted = dice(8) === 0 ? new Map([["ask", "g1"]]) : new Map<string, string>();
        return append({ epoch: it.epoch }, completeStep(thread, value, now, granted));
      }
    }
    append({ epoch: it.epoch }, said);
  };
  const drop = (it: Driver) => {
    if (driver === it) driver = undefined;
  };
  const takeOver = () => {
    if (!thread.run) return send({ type: "recover", ...HANDBACK, now }, "nothing");
    if (driver) zombies.push(driver);
    driver = undefined;
    send({ type: "recover", ...HANDBACK, now }, "news");
  };

  // --- what may happen ---

  const happenings: Record<Kind, (dice: Dice) => void> = {
    drive(dice) {
      if (!driver)
        return happenings[watcher.before.outcome === "failed" ? ((["retry", "oddResult", "say"] as const)[dice(3)] ?? "say") : "say"](dice);
      for (let i = 2 + dice(14); i >= 0 && driver; i -= 1) advance(driver, dice);
    },
    /** A new message, alone or with all that went before. */
    say(dice) {
      const id = mint("u");
      const whilePending = dice(4) === 0 ? "reject" : "cancel";
      const shown = dice(3) === 0 ? messages.map((old) => ({ id: old, content: "" })) : [];
      const outcome = attempt(
        request({ messages: [...shown, { id, content: id }], whilePending, door: dice(2) === 0 ? "history" : "explicit" }),
      );
      if (typeof outcome !== "string") messages.push(id);
      const { run: running, openCalls, questions } = watcher.before;
      const hindered = running || questions > 0 || (openCalls > 0 && whilePending === "reject");
      assert.equal(outcome === "conflict", hindered, "a new message is refused by a run, a question or a strict agent alone");
    },
    /** A message the thread has, under a new label or the old one. */
    repeat(dice) {
      const id = pick(messages, dice);
      if (id === undefined) return;
      const known = events.findLast((event) => event.type === "run.started" && event.messages.some((message) => message.id === id));
      const label = dice(2) === 0 && known?.type === "run.started" ? { runId: known.runId } : {};
      const door = dice(3) === 0 ? "history" : "explicit";
      const again = request({ messages: [{ id, content: "again" }], door, ...label });
      const outcome = attempt(again);
      if (typeof outcome === "string")
        return assert.equal(door, "history", "only a history can go back, and find a question in its way or the place gone");
      const added = outcome.events.flatMap((event) => (event.type === "run.started" ? event.messages : []));
      assert.ok(
        added.every(({ content }) => content !== "again"),
        "a known message is not said again",
      );
      if (outcome.events.length > 0 && !outcome.events.some(({ type }) => type === "thread.rewound")) {
        assert.deepEqual(
          outcome.events.map(({ type }) => type),
          ["run.started"],
        );
        assert.equal(watcher.before.outcome, "failed", "only a failed turn goes on by itself");
      }
    },
    /** A request with nothing in it. */
    retry(dice) {
      const door = dice(2) === 0 ? "history" : "explicit";
      const { run: running, outcome } = watcher.before;
      const again = outcome === "failed" ? "retry" : outcome !== "waiting" && door === "history" ? "news" : "nothing";
      send(request({ door }), running ? "nothing" : outcome === undefined ? "invalid" : again);
    },
    settle(dice) {
      const callId = pick(watcher.calls("offered"), dice);
      if (callId === undefined) return happenings.drive(dice);
      const result = { callId, ...resultOf(callId, dice) };
      const times = 1 + dice(3);
      for (let i = 0; i < times; i += 1) {
        const command = request({ results: [result] });
        send(command, watcher.expectResult(result));
      }
    },
    /** Results nobody should believe: repeated, different, forged, foreign, under another name or claim. */
    oddResult(dice) {
      const callId = dice(6) === 0 ? "foreign" : (pick(recent(dice), dice) ?? "foreign");
      const result: Result = [
        () => watcher.resultOf(callId) ?? { callId, status: "completed" as const, output: "odd" },
        () => ({ callId, status: "completed" as const, output: "odd" }),
        () => ({ callId, status: "failed" as const, error: "odd" }),
        () => ({ callId, status: "completed" as const, output: "odd", name: "odd" }),
        () => ({ callId, status: "completed" as const, output: "odd", claim: dice(4) }),
        () => ({ callId, status: "completed" as const, output: "", messageId: "m" }),
      ][dice(6)]?.() as Result;
      send(request({ results: [result] }), watcher.expectResult(result));
    },
    answer(dice) {
      const callId = pick(watcher.calls("asked"), dice);
      if (callId === undefined) return happenings.settle(dice);
      const answer = { ...(dice(2) === 0 ? { callId } : { interruptId: `${callId}:approval` }), ...answerOf(dice) };
      for (let i = dice(2); i >= 0; i -= 1) send(request({ answers: [answer] }), watcher.expectAnswer(callId, answer));
    },
    /** All open questions in one request. */
    answerAll(dice) {
      const asks = watcher.calls("asked");
      if (asks.length < 2) return happenings.answer(dice);
      send(request({ answers: asks.map((callId) => ({ callId, ...answerOf(dice) })) }), "news");
    },
    oddAnswer(dice) {
      const callId = dice(5) === 0 ? "foreign" : (pick(recent(dice), dice) ?? "foreign");
      const answer: Answer =
        dice(2) === 0 ? (watcher.answerOf(callId) ?? { callId, status: "resolved", value: false }) : { callId, ...answerOf(dice) };
      send(request({ answers: [answer] }), watcher.expectAnswer(callId, answer));
    },
    /** CopilotKit's request: the answer, and a made-up result for the same call. The watcher knows its output. */
    fabricate(dice) {
      const callId = pick(watcher.calls(dice(2) === 0 ? "asked" : "any"), dice);
      if (callId === undefined) return;
      const door = dice(2) === 0 ? "history" : "explicit";
      const answer: Answer = { ...(dice(2) === 0 ? { callId } : { interruptId: `${callId}:approval` }), ...answerOf(dice) };
      // By its question alone, a call that was never asked about cannot be told from any other: there the result counts for itself.
      if (answer.callId === undefined && watcher.expectAnswer(callId, answer) === "not_found") return;
      const results: Result[] = [{ callId, status: "completed", output: FABRICATED }];
      for (let i = dice(3); i >= 0; i -= 1) attempt(request({ answers: [answer], results, door }));
    },
    /** Everything a client shows, and perhaps one new result, as AG-UI sends it. */
    history(dice) {
      const fresh = dice(2) === 0 ? pick(watcher.calls("offered"), dice) : undefined;
      const results = watcher.calls("any").flatMap((callId): Result[] => {
        if (callId === fresh) return [{ callId, status: "completed", output: "new" }];
        const old = watcher.resultOf(callId);
        return old ? [dice(4) === 0 ? { callId, status: "completed", output: String(old.output) } : old] : [];
      });
      const outcome = attempt(request({ door: "history", messages: messages.map((id) => ({ id, content: "" })), results }));
      if (typeof outcome === "string") assert.ok(fresh === undefined, `a new result was refused: ${outcome}`);
      else if (fresh !== undefined) assert.ok(outcome.events.some((event) => event.type === "tool.returned" && event.callId === fresh));
    },
    cancel() {
      const { run: running, outcome, cancelled } = watcher.before;
      send(
        { type: "cancel", runId: mint("r"), by: "user:alice", via: "rest", now },
        cancelled ? "nothing" : running || outcome === "waiting" ? "news" : "not_found",
      );
      if (thread.run) assert.ok(thread.run.cancel);
      else assert.ok(outcome !== "waiting" || thread.ended?.outcome.type === "cancelled");
    },
    expire(dice) {
      const callId = pick(watcher.calls(dice(3) === 0 ? "any" : "open"), dice);
      if (callId === undefined) return happenings.drive(dice);
      now += dice(30);
      const id = dice(2) === 0 ? callId : `${callId}:approval`;
      send({ type: "expire", runId: mint("r"), id, ...HANDBACK, now }, watcher.isDue(id, now) ? "news" : "nothing");
    },
    claim(dice) {
      const callId = dice(6) === 0 ? "foreign" : pick(watcher.calls(dice(4) === 0 ? "any" : "offered"), dice);
      if (callId === undefined) return;
      const { claim } = watcher;
      const by = `w${dice(3)}`;
      if (dice(3) === 0) {
        const number = claim(callId) ?? dice(3);
        const holds = watcher.isOpen(callId) && claim(callId) === number;
        return send({ type: "release", callId, claim: number, reason: "gave up", by, via: "native", now }, holds ? "news" : "conflict");
      }
      const held = dice(2) === 0;
      send({ type: "claim", callId, held, by, via: "native", now }, watcher.expectClaim(callId, held));
    },
    takeOver,
    /** A driver that lost its run wakes up and goes on as if nothing had happened. */
    wakeZombie(dice) {
      const zombie = pick(zombies, dice);
      if (!zombie) return takeOver();
      refused({ epoch: zombie.epoch }, [zombie.speech?.next().value ?? { type: "custom.emitted", name: "zombie", value: null }]);
      const call = readyCalls(thread)[0];
      if (call) refused({ epoch: zombie.epoch }, [returned(call, "completed", { by: "server", via: "engine" }, { output: "zombie" })]);
      if (zombie.ending) refused({ seq: zombie.ending.seq }, zombie.ending.events);
    },
    /** The provider breaks off in the middle of whatever was said. */
    fail(dice) {
      if (!driver || driver.ending) return happenings.drive(dice);
      driver.speech = undefined;
      driver.failure = { code: "model", message: "500" };
    },
    rewind(dice) {
      const id = pick(messages, dice);
      if (id === undefined) return;
      const edit = dice(2) === 0 ? [{ id, content: mint("edit") }] : [];
      const { run: running, questions } = watcher.before;
      const there = watcher.shows(id);
      send(request({ rewindTo: id, messages: edit }), running || questions > 0 ? "conflict" : there ? "news" : "not_found");
    },
    /** Another process decides now and appends later: a conflict is no verdict, it decides again. */
    late(dice) {
      const callId = pick(watcher.calls("offered"), dice);
      const command = [
        () => (callId === undefined ? undefined : request({ results: [{ callId, status: "completed", output: "late" }] })),
        (): Command => ({ type: "cancel", runId: mint("r"), by: "user:alice", via: "rest", now }),
        () => request({ messages: [{ id: mint("u"), content: "late" }] }),
        (): Command | undefined => (callId === undefined ? undefined : { type: "expire", runId: mint("r"), id: callId, ...HANDBACK, now }),
      ][dice(4)]?.();
      settleLate();
      if (!command) return;
      try {
        late.push({ command, seq: thread.seq, decision: decide(thread, command, log.known(command)) });
      } catch (error) {
        assert.ok(error instanceof AppError);
      }
    },
  };
  const settleLate = () => {
    for (const { command, seq, decision } of late.splice(0)) {
      if (decision.events.length > 0 && seq !== thread.seq) refused({ seq }, decision.events);
      const outcome = attempt(command);
      if (command.type === "run" && typeof outcome !== "string") for (const { id } of command.messages) messages.push(id);
    }
    late = [];
  };
  const recent = (dice: Dice): string[] => watcher.calls("any").slice(dice(3) === 0 ? 0 : -4);
  const resultOf = (callId: string, dice: Dice): Omit<Result, "callId"> => {
    const claim = watcher.claim(callId);
    const held = claim !== undefined && dice(2) === 0 ? { claim } : {};
    return dice(4) === 0 ? { status: "failed", error: "no", ...held } : { status: "completed", output: { from: callId }, ...held };
  };

  return {
    happen([kind, chance]: Happening) {
      watcher.remember();
      now += chance % 7;
      happenings[kind](dice(chance));
    },
    /** However the log is read, it adds up to the same thread. */
    compareFolds() {
      const read = JSON.parse(JSON.stringify(events)) as StoredEvent[];
      assertSame(read.reduce(fold, emptyThread()), thread, "read back from the store");
      const taken = emptyThread();
      for (const event of read) if (!isDelta(event)) fold(taken, event);
      if (!taken.run) {
        taken.seq = thread.seq; // a log may end with a delta nobody needs
        assertSame(taken, thread, "without deltas");
      }
      for (const event of read) if (isDelta(event) && event.seq > (taken.run?.seq ?? 0)) fold(taken, event);
      assertSame(taken, thread, "taken up in the middle of a run");
      const { run, calls, interrupts, ...rest } = thread;
      if (run || calls.size > 0 || interrupts.size > 0) return;
      assertSame(Object.assign(emptyThread(), JSON.parse(JSON.stringify(rest))), thread, "from a snapshot");
    },
    /** With everybody doing their part, every turn comes to an end. */
    drain() {
      settleLate();
      talkative = false;
      for (let i = 0; i < 300; i += 1) {
        watcher.remember();
        if (thread.run) {
          if (driver) advance(driver, dice(i));
          else takeOver();
          continue;
        }
        const [callId] = watcher.calls("offered");
        const [asks] = watcher.calls("asked");
        if (callId !== undefined) send(request({ results: [{ callId, status: "completed", output: null }] }), "news");
        else if (asks !== undefined) send(request({ answers: [{ callId: asks, status: "resolved", value: i % 2 === 0 }] }), "news");
        else break;
      }
      assert.equal(thread.run, undefined, "the run comes to an end");
      assert.deepEqual([thread.calls.size, thread.interrupts.size, waits(thread)], [0, 0, []], "nothing is left open");
      assert.notEqual(thread.ended?.outcome.type, "waiting");
    },
  };
}

// --- chance ---

/** A number below `sides`. */
type Dice = (sides: number) => number;

function dice(chance: number): Dice {
  let state = (chance + 0x9e3779b9) | 0;
  return (sides) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
    state ^= state >>> 12;
    return sides === 0 ? 0 : (state >>> 0) % sides;
  };
}

function pick<T>(list: readonly T[], dice: Dice): T | undefined {
  return list[dice(list.length)];
}

function answerOf(dice: Dice): Pick<Answer, "status" | "value"> {
  const said: Pick<Answer, "status" | "value">[] = [
    { status: "resolved", value: true },
    { status: "resolved", value: { approved: true, input: { edited: true } } },
    { status: "resolved", value: { approved: false, reason: "no" } },
    { status: "resolved", value: false },
    { status: "cancelled" },
  ];
  return said[dice(said.length)] as Pick<Answer, "status" | "value">;
}

// --- the model and its agent ---

const MAX_STEPS = 6;

/** The chat agent's answer to "what next?". */
function nextOf(thread: Thread): Next {
  if (waits(thread).length > 0) return { type: "wait" };
  const last = thread.history.findLast(
    (entry) => entry.turnId === thread.turn?.turnId && (entry.role === "user" || entry.state === "completed"),
  );
  if (last?.role === "assistant" && last.parts.every((part) => part.type !== "call")) return { type: "done" };
  const { steps = 0, misses = 0 } = thread.turn ?? {};
  if (steps >= MAX_STEPS || misses >= 3) return { type: "fail", error: { code: "limit", message: "enough" } };
  return { type: "step" };
}

type CallKind = { name: string; owner: Owner; more?: (dice: Dice) => Partial<Extract<Event, { type: "tool.called" }>> };

const POLICIES: OnTimeout[] = [{ type: "fail" }, { type: "deny" }, { type: "default", output: "default" }, { type: "cancel" }];

const CALLS: CallKind[] = [
  { name: "bake", owner: "server" },
  { name: "safe", owner: "server", more: () => ({ idempotent: true }) },
  { name: "handBack", owner: "server" },
  { name: "ask", owner: "server", more: () => ({ approval: {} }) },
  { name: "map", owner: "client" },
  { name: "pay", owner: "external" },
  { name: "ship", owner: "external", more: (dice) => ({ timeout: 1 + dice(30), onTimeout: pick(POLICIES, dice) as OnTimeout }) },
  { name: "ask", owner: "external", more: (dice) => ({ approval: { timeout: dice(40) }, timeout: dice(40) }) },
  { name: "wrong", owner: "server", more: () => ({ invalid: "no such tool" }) },
];

/** One step of a model: words, and up to four calls. Now and then it forgets to finish what it began. */
function* speak(mint: (prefix: string) => string, dice: Dice): Generator<Event> {
  const stepId = mint("s");
  const messageId = mint("m");
  yield { type: "step.started", stepId, messageId, name: "model", kind: "model" };
  yield { type: "text.started", messageId, stepId };
  yield { type: "text.delta", messageId, delta: "hm" };
  if (dice(20) !== 19) yield { type: "text.ended", messageId, text: "hm" };
  for (let i = dice(5); i > 0; i -= 1) {
    const { name, owner, more } = CALLS[dice(CALLS.length)] as CallKind;
    const callId = mint("c");
    const call = { callId, name, messageId, stepId, owner };
    yield { type: "tool.started", ...call };
    yield { type: "tool.delta", callId, delta: "{}" };
    if (dice(30) !== 29) yield { type: "tool.called", ...call, input: {}, ...more?.(dice) };
  }
  yield { type: "step.ended", stepId, name: "model", completed: true };
}

// --- the rules, from the events alone ---

const FABRICATED = "fabricated";

type Expected = ErrorCode | "nothing" | "news" | "retry";

type Seen = {
  callId: string;
  name: string;
  owner: Owner;
  turn: string;
  stepId: string;
  called: Extract<Event, { type: "tool.called" }> | undefined;
  question: "none" | "open" | Extract<Event, { type: "interrupt.answered" }>;
  asksUntil: number | undefined;
  offeredAt: number | undefined;
  expiresAt: number | undefined;
  claims: number;
  released: boolean;
  settled: Extract<Event, { type: "tool.returned" }> | undefined;
  settledIn: number;
  answeredIn: number;
};

type Said = { seq: number; id: string; kind: "user" } | { seq: number; id: string; kind: "step"; done: boolean; calls: Seen[] };

/** Knows nothing of `fold` and `decide`: it sees the events and holds them against the promises. */
function watch() {
  let run: { seq: number; runId: string; turn: string; cancelled: boolean } | undefined;
  let turn: { id: string; seq: number } | undefined;
  let outcome: string | undefined;
  let epoch = 0;
  const turns = new Set<string>();
  const calls = new Map<string, Seen>();
  const steps = new Map<string, string>();
  const texts = new Set<string>();
  let context: Said[] = [];
  let ordinals: { stepId: string; last: number } = { stepId: "", last: 0 };
  let before = summary();

  function summary() {
    let [openCalls, questions] = [0, 0];
    for (const call of calls.values()) {
      if (call.question === "open") questions += 1;
      else if (!call.settled && call.offeredAt !== undefined) openCalls += 1;
    }
    return { run: run !== undefined, cancelled: run?.cancelled ?? false, outcome, openCalls, questions };
  }
  const call = (callId: string): Seen => {
    const found = calls.get(callId);
    assert.ok(found, `${callId} was never called`);
    return found;
  };
  const step = (stepId: string) => context.find((said) => said.id === stepId && said.kind === "step");

  const see = (event: StoredEvent, first: number) => {
    const between: Event["type"][] = ["run.started", "call.claimed", "call.released", "thread.rewound"];
    assert.ok(run || between.includes(event.type), `${event.type} happens inside a run`);
    switch (event.type) {
      case "run.started":
        assert.ok(!run, "one run at a time");
        assert.ok(event.epoch > epoch, "epochs rise");
        epoch = event.epoch;
        run = { seq: event.seq, runId: event.runId, turn: event.turnId, cancelled: false };
        if (turn?.id !== event.turnId) {
          assert.ok(!turns.has(event.turnId), "a turn that is over does not come back");
          assert.ok(
            [...calls.values()].every(({ settled }) => settled),
            "the turn before is closed first",
          );
          turns.add(event.turnId);
          turn = { id: event.turnId, seq: event.seq };
        } else assert.deepEqual(event.messages, [], "a new message is a new turn");
        for (const { id } of event.messages) {
          assert.ok(!context.some((said) => said.kind === "user" && said.id === id), `${id} is said once`);
          context.push({ seq: event.seq, id, kind: "user" });
        }
        return;
      case "run.recovered":
        assert.equal(event.epoch, epoch + 1, "a takeover raises the epoch");
        epoch = event.epoch;
        return;
      case "cancel.requested":
        assert.ok(run && !run.cancelled, "a cancel is asked for once");
        run.cancelled = true;
        return;
      case "run.ended":
        seeEnd(event);
        return;
      case "step.started":
        assert.ok(![...steps.values()].includes(event.name), "names of open steps are unique");
        assert.ok(
          [...calls.values()].every(({ settled }) => settled),
          "the model is called when every call has its result",
        );
        steps.set(event.stepId, event.name);
        context.push({ seq: event.seq, id: event.stepId, kind: "step", done: false, calls: [] });
        return;
      case "step.ended": {
        assert.ok(steps.delete(event.stepId), "a step ends once");
        const said = step(event.stepId);
        if (said?.kind === "step") said.done = event.completed;
        for (const seen of calls.values()) assert.ok(seen.stepId !== event.stepId || seen.called, "arguments are closed before their step");
        return;
      }
      case "text.started":
        assert.ok(steps.has(event.stepId));
        texts.add(event.messageId);
        return;
      case "text.delta":
        assert.ok(texts.has(event.messageId));
        return;
      case "text.ended":
        assert.ok(texts.delete(event.messageId), "a text ends once");
        return;
      case "tool.started": {
        const { callId, name, owner, stepId } = event;
        assert.ok(steps.has(stepId) && !calls.has(callId));
        const seen: Seen = {
          callId,
          name,
          owner,
          turn: run?.turn ?? "",
          stepId,
          called: undefined,
          question: "none",
          asksUntil: undefined,
          offeredAt: undefined,
          expiresAt: undefined,
          claims: 0,
          released: true,
          settled: undefined,
          settledIn: 0,
          answeredIn: 0,
        };
        calls.set(callId, seen);
        return;
      }
      case "tool.delta":
        assert.ok(!call(event.callId).called);
        return;
      case "tool.called": {
        const seen = call(event.callId);
        assert.ok(!seen.called && steps.has(event.stepId));
        seen.called = event;
        const said = step(event.stepId);
        if (said?.kind === "step") said.calls.push(seen);
        return;
      }
      case "call.offered": {
        const seen = call(event.callId);
        assert.ok(seen.called && !seen.settled && seen.offeredAt === undefined, "a call is offered once");
        assert.equal(seen.called.invalid, undefined, "what is invalid is offered to nobody");
        const said = step(seen.stepId);
        assert.ok(said?.kind === "step" && said.done, "a call is offered when its step is complete");
        if (seen.called.approval) assert.ok(isAllowed(seen.question), "nobody runs what nobody allowed");
        const edited = typeof seen.question === "object" ? seen.question.input : undefined;
        assert.deepEqual(event.input, edited ?? seen.called.input, "what is offered is what a person allowed");
        if (ordinals.stepId !== seen.stepId) ordinals = { stepId: seen.stepId, last: 0 };
        assert.equal(event.ordinal, ordinals.last + 1, "ordinals count the offered calls of a step");
        ordinals.last = event.ordinal;
        if (event.expiresAt !== undefined) assert.ok(event.expiresAt > event.at, "a deadline starts at the offer");
        Object.assign(seen, { offeredAt: event.seq, expiresAt: event.expiresAt, owner: event.owner, claims: 0, released: true });
        return;
      }
      case "call.claimed": {
        const seen = call(event.callId);
        assert.ok(!seen.settled && event.claim === seen.claims + 1, "claims count up");
        if (seen.offeredAt !== undefined) assert.notEqual(event.by, "server");
        else {
          assert.equal(event.by, "server");
          assert.ok(seen.claims === 0 || seen.called?.idempotent, "only what may run twice runs twice");
          if (seen.called?.approval) assert.ok(isAllowed(seen.question), "nobody runs what nobody allowed");
        }
        Object.assign(seen, { claims: event.claim, released: false });
        return;
      }
      case "call.released": {
        const seen = call(event.callId);
        assert.ok(!seen.released && event.claim === seen.claims, "only what is claimed is released");
        seen.released = true;
        return;
      }
      case "tool.returned":
        seeResult(event, first);
        return;
      case "interrupt.raised": {
        const seen = call(event.callId ?? "");
        assert.ok(seen.called?.approval && !seen.settled && seen.question === "none");
        Object.assign(seen, { question: "open", asksUntil: event.expiresAt });
        return;
      }
      case "interrupt.answered": {
        const seen = call(event.callId ?? "");
        assert.equal(seen.question, "open", "a question is answered once");
        Object.assign(seen, { question: event, answeredIn: run?.seq });
        return;
      }
      case "thread.rewound": {
        assert.ok(!run && [...calls.values()].every(({ settled }) => settled), "nothing is open where a thread is rewound");
        const kept = context.filter(({ seq }) => seq < event.to);
        assert.equal(event.removed.length, context.length - kept.length);
        context = kept;
        return;
      }
      default:
        assert.fail(`nobody writes ${event.type} here`);
    }
  };

  const seeResult = (event: Extract<StoredEvent, { type: "tool.returned" }>, first: number) => {
    const seen = call(event.callId);
    assert.ok(!seen.settled, `${event.callId} settles once`);
    assert.ok(seen.called, "only what was called is settled");
    assert.equal(run?.turn, seen.turn, "a run holds only its own turn");
    assert.deepEqual([event.name, event.owner], [seen.name, seen.owner]);
    assert.notEqual(event.output, FABRICATED, "nobody forges");
    assert.notEqual(seen.question, "open", "a call is not settled over an open question");
    const outside = event.by === "user:alice" && (event.status === "completed" || event.status === "failed");
    if (outside) assert.ok(seen.offeredAt !== undefined && seen.offeredAt <= first, "only what was offered before is settled from outside");
    if (event.by === "server")
      assert.ok(seen.owner === "server" && seen.offeredAt === undefined && seen.claims > 0, "the server settles what it runs");
    if (event.status === "completed") assert.equal(event.by, seen.owner === "server" ? "server" : "user:alice");
    if (event.status === "expired") {
      const due = seen.offeredAt === undefined ? seen.asksUntil : seen.expiresAt;
      assert.ok(due !== undefined && due <= event.at, "a deadline fires when it has passed");
    }
    Object.assign(seen, { settled: event, settledIn: run?.seq });
  };

  const seeEnd = (event: Extract<StoredEvent, { type: "run.ended" }>) => {
    assert.ok(run);
    assert.deepEqual([event.run, event.runId, event.turnId], [run.seq, run.runId, run.turn], "a run ends as it began");
    assert.deepEqual([steps.size, texts.size], [0, 0], "texts and steps are closed before the end");
    const open = [...calls.values()].filter(({ settled }) => !settled);
    if (run.cancelled) assert.equal(event.outcome.type, "cancelled", "a cancel that was acknowledged cancels");
    if (event.outcome.type === "waiting") {
      const missing = event.outcome.for.map((wait) => wait.callId);
      assert.ok(missing.length > 0, "nobody waits for nothing");
      assert.deepEqual(missing.toSorted(), open.map(({ callId }) => callId).toSorted(), "a run waits for exactly what is open");
      for (const { offeredAt, question } of open) assert.ok(offeredAt !== undefined || question === "open", "and only for the outside");
    } else assert.deepEqual(open, [], `a run that is ${event.outcome.type} leaves nothing open`);
    outcome = event.outcome.type;
    run = undefined;
  };

  /** The same again is no news; after a failure it is a request to go on. */
  const repeated = (settledIn: number): Expected => (!run && outcome === "failed" && settledIn >= (turn?.seq ?? 0) ? "retry" : "nothing");

  return {
    see,
    get before() {
      return before;
    },
    remember() {
      before = summary();
    },
    calls(which: "offered" | "asked" | "open" | "any"): string[] {
      const found: string[] = [];
      for (const { callId, settled, offeredAt, question } of calls.values()) {
        const [isOffered, isAsked] = [!settled && offeredAt !== undefined, question === "open"];
        if (which === "any" || (which !== "asked" && isOffered) || (which !== "offered" && isAsked)) found.push(callId);
      }
      return found;
    },
    claim(callId: string): number | undefined {
      const seen = calls.get(callId);
      return seen && seen.offeredAt !== undefined && !seen.released ? seen.claims : undefined;
    },
    isOpen: (callId: string): boolean => calls.has(callId) && calls.get(callId)?.settled === undefined,
    shows: (id: string): boolean => context.some((said) => said.kind === "user" && said.id === id),
    isDue(id: string, now: number): boolean {
      const seen = calls.get(id.replace(":approval", ""));
      if (!seen || seen.settled) return false;
      const due = id.endsWith(":approval") ? (seen.question === "open" ? seen.asksUntil : undefined) : seen.expiresAt;
      return due !== undefined && due <= now;
    },
    /** How a settled call's result looked when it came in. */
    resultOf(callId: string): Result | undefined {
      const settled = calls.get(callId)?.settled;
      if (settled?.status !== "completed" && settled?.status !== "failed") return undefined;
      const { status, output, error } = settled;
      return { callId, status, ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
    },
    answerOf(callId: string): Answer | undefined {
      const question = calls.get(callId)?.question;
      if (typeof question !== "object" || question.status === "expired") return undefined;
      return { callId, status: question.status, ...(question.value !== undefined && { value: question.value }) };
    },
    expectResult(result: Result): Expected {
      const seen = calls.get(result.callId);
      if (!seen) return "not_found";
      const { settled } = seen;
      if (settled?.status === "expired" || settled?.status === "cancelled") return "gone";
      const named = result.name === undefined || result.name === seen.name;
      if (settled) {
        const same = settled.status === result.status && sameJson(settled.output, result.output) && settled.error === result.error;
        return same && named ? repeated(seen.settledIn) : "conflict";
      }
      const claimed = result.claim === undefined || (!seen.released && result.claim === seen.claims);
      const empty = result.output === "" && result.messageId !== undefined && seen.owner !== "client";
      return seen.offeredAt !== undefined && named && claimed && !empty ? "news" : "conflict";
    },
    expectAnswer(callId: string, { status, value }: Answer): Expected {
      const seen = calls.get(callId);
      if (!seen || seen.question === "none") return "not_found";
      if (seen.question === "open") return "news";
      if (seen.question.status === "expired") return "gone";
      if (seen.question.status === "cancelled") return status === "cancelled" ? repeated(seen.answeredIn) : "gone";
      return status === "resolved" && sameJson(seen.question.value, value as Json) ? repeated(seen.answeredIn) : "conflict";
    },
    expectClaim(callId: string, held: boolean): Expected {
      const seen = calls.get(callId);
      if (!seen) return "not_found";
      if (seen.settled) return "gone";
      return seen.offeredAt === undefined || (held && !seen.released) ? "conflict" : "news";
    },
    /** What the provider is about to see: completed steps only, each call once and with its one result. */
    beforeModel(thread: Thread) {
      const shown = thread.history.filter((entry) => entry.role === "user" || entry.state === "completed");
      const expected = context.filter((said) => said.kind === "user" || said.done);
      assert.deepEqual(
        shown.map((entry) => (entry.role === "user" ? entry.id : entry.stepId)),
        expected.map(({ id }) => id),
      );
      const steps = shown.filter((entry): entry is AssistantEntry => entry.role === "assistant");
      const made = expected.flatMap((said) => (said.kind === "step" ? said.calls : []));
      const parts = steps.flatMap((entry) => entry.parts.flatMap((part) => (part.type === "call" ? [part] : [])));
      assert.deepEqual(
        parts.map(({ callId }) => callId),
        made.map(({ callId }) => callId),
        "every call once, in call order",
      );
      for (const [i, { settlement, input, edited }] of parts.entries()) {
        const { settled, called, question } = made[i] as Seen;
        assert.ok(settlement && settled, "every call has its result");
        assert.deepEqual([settlement.status, settlement.output, settlement.error], [settled.status, settled.output, settled.error]);
        assert.deepEqual([input, edited], [called?.input, typeof question === "object" ? question.input : undefined]);
      }
    },
  };
}

function isAllowed(question: Seen["question"]): boolean {
  if (typeof question !== "object" || question.status !== "resolved") return false;
  return question.value === true || (isObject(question.value) && question.value["approved"] === true);
}

function assertSame(actual: Thread, expected: Thread, how: string): void {
  if (!isDeepStrictEqual(actual, expected)) assert.deepStrictEqual(actual, expected, how);
}
