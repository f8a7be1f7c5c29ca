import type { StoredEvent } from "../../src/core/event.ts";
import { sameJson } from "../../src/core/json.ts";
import type { Heard } from "./agent.ts";
import type { Uptime } from "./lives.ts";

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

/** Latest that a deadline may fire in a server that is up: the promised second, and some for a busy machine. */
const LATE_MS = 2_500;

/** What is wrong with a log whose thread has come to its end. */
export function checkLog(log: readonly StoredEvent[], uptimes: readonly Uptime[]): string[] {
  return [
    ...checkOrder(log),
    ...checkRuns(log),
    ...checkSpeech(log),
    ...checkCalls(log),
    ...checkDeadlines(log, uptimes),
    ...checkHeard(log),
  ];
}

function* checkOrder(log: readonly StoredEvent[]): Generator<string> {
  for (const [i, { seq }] of log.entries()) if (seq !== i + 1) return yield `seq ${seq} stands where ${i + 1} is due`;
}

/** Each run has one beginning and one end, nothing is outside, and epochs only rise. */
function* checkRuns(log: readonly StoredEvent[]): Generator<string> {
  let run: Of<"run.started"> | undefined;
  let cancelled = false;
  let epoch = 0;
  for (const event of log) {
    if (event.type === "run.started" || event.type === "run.recovered") {
      if (event.epoch !== epoch + 1) yield `epoch ${event.epoch} follows ${epoch} at ${event.seq}`;
      epoch = event.epoch;
    }
    if (event.type === "run.started") {
      if (run) yield `run ${event.seq} began inside run ${run.seq}`;
      run = event;
      cancelled = event.cause === "cancel";
    } else if (!run && event.type !== "thread.rewound") yield `${event.type} ${event.seq} is outside of every run`;
    if (event.type === "cancel.requested") cancelled = true;
    if (event.type !== "run.ended") continue;
    if (event.run !== run?.seq || event.runId !== run.runId || event.turnId !== run.turnId)
      yield `the end ${event.seq} is not that of run ${run?.seq}`;
    if (event.outcome.type === "failed") yield `run ${run?.seq} failed: ${JSON.stringify(event.outcome.error)}`;
    if (cancelled && event.outcome.type !== "cancelled") yield `run ${run?.seq} was cancelled and ended ${event.outcome.type}`;
    run = undefined;
  }
  if (run) yield `run ${run.seq} has no end`;
  const last = log.findLast((event) => event.type === "run.ended");
  if (last?.outcome.type === "waiting") yield "the thread still waits";
}

/** What is begun is ended before its run is, and an ending says what its deltas said. */
function* checkSpeech(log: readonly StoredEvent[]): Generator<string> {
  const texts = new Map<string, string>();
  const steps = new Set<string>();
  for (const event of log) {
    switch (event.type) {
      case "step.started":
        steps.add(event.stepId);
        break;
      case "step.ended":
        if (!steps.delete(event.stepId)) yield `step ${event.stepId} ended at ${event.seq} and was not open`;
        break;
      case "text.started":
        if (!steps.has(event.stepId)) yield `a text began outside its step at ${event.seq}`;
        texts.set(event.messageId, "");
        break;
      case "text.delta":
        if (!texts.has(event.messageId)) yield `a delta at ${event.seq} belongs to no open text`;
        texts.set(event.messageId, `${texts.get(event.messageId)}${event.delta}`);
        break;
      case "text.ended":
        if (texts.get(event.messageId) !== event.text)
          yield `text ${event.seq} ends with "${event.text}" after "${texts.get(event.messageId)}"`;
        texts.delete(event.messageId);
        break;
      case "run.ended":
        if (steps.size + texts.size > 0) yield `run ${event.run} ended with ${steps.size} steps and ${texts.size} texts open`;
        break;
      default:
    }
  }
}

/** Each call is started, called and settled once, and nothing more is heard of it. */
function* checkCalls(log: readonly StoredEvent[]): Generator<string> {
  const stages = new Map<string, string[]>();
  for (const event of log) {
    if (!("callId" in event) || event.callId === undefined || event.type === "tool.delta" || event.type === "tool.progressed") continue;
    stages.set(event.callId, [...(stages.get(event.callId) ?? []), event.type]);
  }
  for (const [callId, stage] of stages) if (!LIFE.test(stage.join(" "))) yield `call ${callId} went ${stage.join(", ")}`;
}

/** A server's call may be claimed by each of its lives. A question that is cancelled closes its call too. */
const LIFE =
  /^tool\.started tool\.called( interrupt\.raised interrupt\.answered)?(( call\.claimed)+( call\.offered)?| call\.offered)? tool\.returned$/;

/** A deadline fires when it is due, or soon after a server is up that can. */
function* checkDeadlines(log: readonly StoredEvent[], uptimes: readonly Uptime[]): Generator<string> {
  const deadlines = new Map<string, number>();
  for (const event of log) {
    if (event.type === "call.offered" && event.expiresAt !== undefined) deadlines.set(event.callId, event.expiresAt);
    if (event.type !== "tool.returned") continue;
    const due = deadlines.get(event.callId);
    if (due === undefined) continue;
    if (event.status === "expired" && event.at < due) yield `call ${event.callId} expired ${due - event.at} ms too early`;
    const missed = uptimes.find(({ from, to }) => Math.min(to, event.at) - Math.max(from, due) > LATE_MS);
    if (missed) yield `call ${event.callId} was open ${event.at - Math.max(missed.from, due)} ms after its deadline`;
  }
}

/** The model was told what the log says, for every call of its turn and in call order. */
function* checkHeard(log: readonly StoredEvent[]): Generator<string> {
  for (const end of log) {
    if (end.type !== "run.ended" || end.outcome.type !== "done") continue;
    const turn = log.findIndex((event) => event.type === "run.started" && event.turnId === end.turnId);
    const events = log.slice(turn, end.seq);
    const text = events.flatMap((event) => (event.type === "text.ended" ? [event.text] : [])).at(-1) ?? "";
    const completed = new Set(events.flatMap((event) => (event.type === "step.ended" && event.completed ? [event.stepId] : [])));
    const told = events
      .filter((event): event is Of<"tool.called"> => event.type === "tool.called" && completed.has(event.stepId))
      .map(({ callId }): Heard => {
        const settled = events.find((event): event is Of<"tool.returned"> => event.type === "tool.returned" && event.callId === callId);
        return { callId, status: settled?.status, output: settled?.output, error: settled?.error };
      });
    const heard = JSON.parse(text.slice(text.indexOf("["))) as Heard[];
    const same = sameJson(heard as never, JSON.parse(JSON.stringify(told)));
    if (!same) yield `the model heard ${JSON.stringify(heard)} where the log has ${JSON.stringify(told)}`;
  }
}
