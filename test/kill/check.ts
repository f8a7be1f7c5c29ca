import type { StoredEvent } from "../../src/core/event.ts";
import { sameJson } from "../../src/core/json.ts";
import { encode } from "../../src/protocol/agui/encode.ts";
import type { Trace } from "./agent.ts";
import { checkLog } from "./check-log.ts";
import type { Act, History, Stream, View } from "./history.ts";
import type { Uptime } from "./lives.ts";

/** What clients did and saw, what the log says in the end, and what the server's tools did. */
export type Evidence = {
  history: History;
  logs: ReadonlyMap<string, readonly StoredEvent[]>;
  trace: readonly Trace[];
  uptimes: readonly Uptime[];
};

/** Everything that contradicts what Handback promises. */
export function check({ history, logs, trace, uptimes }: Evidence): string[] {
  const problems: string[] = [];
  for (const [threadId, log] of logs) {
    for (const problem of [...checkLog(log, uptimes), ...checkTrace(log, trace)]) problems.push(`${threadId}: ${problem}`);
  }
  const of = (threadId: string) => logs.get(threadId) ?? [];
  for (const view of history.views) for (const problem of checkView(view, of(view.threadId))) problems.push(`${view.threadId}: ${problem}`);
  for (const stream of history.streams) {
    for (const problem of checkStream(stream, of(stream.threadId))) problems.push(`${stream.threadId}: ${problem}`);
  }
  for (const act of history.acts) {
    const problem = checkAct(act, of(act.threadId));
    if (problem)
      problems.push(`${act.threadId}: ${act.type} ${"id" in act ? act.id : ""} by ${act.door} got ${act.status}, but ${problem}`);
  }
  return problems;
}

/** A follower has seen each event behind its offset once, in order, as the log has it. */
function* checkView({ after, seqs, events }: View, log: readonly StoredEvent[]): Generator<string> {
  for (const [i, event] of events.entries()) {
    const seq = after + 1 + i;
    if (seqs[i] !== seq) return yield `a follower from ${after} got ${seqs[i]} where ${seq} was due`;
    if (!sameJson(event, shown(log[seq - 1]))) return yield `a follower saw another ${seq} than the log has: ${JSON.stringify(event)}`;
  }
}

/** What a client was told on AG-UI is what the log says at that place; snapshots bring it up to date besides. */
function* checkStream({ threadId, frames }: Stream, log: readonly StoredEvent[]): Generator<string> {
  let last = 0;
  let told: string[] = []; // of one event, whose last frame carries its seq
  for (const { id, data } of frames) {
    if (!/^{"type":"(MESSAGES|STATE)_SNAPSHOT"/.test(data)) told.push(data);
    if (id === undefined) continue;
    if (id <= last) return yield `an AG-UI stream went from ${last} to ${id}`;
    last = id;
    const event = log[id - 1];
    const due = event && encode(threadId, event, "agui:1").map((frame) => JSON.stringify(frame));
    if (told.join() !== due?.join()) return yield `an AG-UI stream showed ${told.join()} for ${id}, the log has ${due?.join()}`;
    told = [];
  }
}

/** A user's projection leaves these out. */
function shown(event: StoredEvent | undefined): StoredEvent | undefined {
  if (event?.type !== "run.started") return event;
  const { options, ...rest } = event;
  return rest;
}

/** What an answer promised is in the log. */
function checkAct(act: Act, log: readonly StoredEvent[]): string | undefined {
  const { status, door } = act;
  const ok = status === 200 || status === 202;
  switch (act.type) {
    case "message": {
      const times = log.filter((event) => event.type === "run.started" && event.messages.some(({ id }) => id === act.id)).length;
      if (status === 409) return undefined;
      return ok && times === 1 ? undefined : `the message is in the log ${times} times`;
    }
    case "result": {
      const settled = log.find((event) => event.type === "tool.returned" && event.callId === act.id);
      if (settled?.type !== "tool.returned") return "the call is not settled";
      if (door === "agui") return ok ? undefined : "AG-UI takes or ignores";
      const same = settled.status === "completed" && settled.output === act.output;
      if (ok) return same ? undefined : `the log has ${JSON.stringify(settled)}`;
      const gone = settled.status === "expired" || settled.status === "cancelled";
      return (status === 409 && !same && !gone) || (status === 410 && gone) ? undefined : `the log has ${JSON.stringify(settled)}`;
    }
    case "answer": {
      const answered = log.find((event) => event.type === "interrupt.answered" && event.callId === act.id);
      if (answered?.type !== "interrupt.answered") return "the question is not answered";
      if (door === "agui") return ok ? undefined : "AG-UI takes or ignores";
      const same = answered.status === "resolved" && (answered.value as { approved: boolean }).approved === act.approved;
      if (ok) return same ? undefined : `the log has ${JSON.stringify(answered)}`;
      return status === 410 && answered.status === "cancelled" ? undefined : `the log has ${JSON.stringify(answered)}`;
    }
    case "cancel": {
      const cancelled = log.some(
        (event) => event.type === "cancel.requested" || (event.type === "run.started" && event.cause === "cancel"),
      );
      return status === 404 || (ok && cancelled) ? undefined : "nothing was cancelled";
    }
    default:
      return act satisfies never;
  }
}

/** Server tools ran as often as they may, on the input that was agreed to, and what they did is what the model was told. */
function* checkTrace(log: readonly StoredEvent[], trace: readonly Trace[]): Generator<string> {
  for (const event of log) {
    if (event.type !== "tool.returned" || !["note", "charge", "refund"].includes(event.name)) continue;
    const { callId, name, status, output, error } = event;
    const runs = trace.filter((line) => line.callId === callId);
    const begun = runs.filter(({ at }) => at === "begin").length;
    const ended = runs.length - begun;
    const unknown = error?.startsWith("Outcome unknown") === true;
    if (name !== "note" && begun > 1) yield `${name} ${callId} ran ${begun} times`;
    if (name === "note" && unknown) yield `${callId} may run twice, but was given up`;
    if (status === "completed" && ended === 0) yield `${name} ${callId} has a result, but never ran to its end`;
    if (status === "completed" && !sameJson(output, { did: runs.at(-1)?.input.n ?? -1 }))
      yield `${callId} returned ${JSON.stringify(output)}`;
    if (status === "failed" && !unknown) yield `${name} ${callId} failed: ${error}`;
    if (status === "rejected" && begun > 0) yield `${name} ${callId} was rejected and ran`;
    const answer = log.find((other) => other.type === "interrupt.answered" && other.callId === callId);
    const agreed = answer?.type === "interrupt.answered" ? answer.input : undefined;
    if (agreed !== undefined && runs.some(({ input }) => !sameJson(input, agreed)))
      yield `${callId} ran on another input than was agreed to`;
  }
}
