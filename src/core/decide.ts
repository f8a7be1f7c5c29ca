import { bind, sameResult } from "./bind.ts";
import type { Answer, ClaimCommand, Command, ExpireCommand, Known, RecoverCommand, ReleaseCommand, Result, RunCommand } from "./command.ts";
import { NOTHING_KNOWN } from "./command.ts";
import { AppError } from "./error.ts";
import { type Cause, EVENT_VERSION, type Event, type Outcome, type StoredEvent, type UserMessage } from "./event.ts";
import { sameJson } from "./json.ts";
import { answered, cancelOpen, returned, TIMED_OUT } from "./settle.ts";
import { closing } from "./step.ts";
import { type Call, type Entry, fold, type Interrupt, preview, readyCalls, type Thread, waits } from "./thread.ts";

/** The facts that follow from a command, and where its sender should follow the log from. */
export type Decision = {
  events: Event[];
  /** The requester follows what lies behind this seq. */
  after: number;
  /** Inputs of a history door that were stale, forged or none of its business. */
  ignored: number;
};

/** The rules, with no I/O: which facts follow from this command in this thread? Throws what the sender should hear. */
export function decide(thread: Thread, command: Command, known: Known = NOTHING_KNOWN): Decision {
  if (thread.newest > EVENT_VERSION) {
    throw new AppError("unavailable", "This thread was written by a newer release of Handback; upgrade this server to go on with it");
  }
  switch (command.type) {
    case "run":
      return decideRun(thread, command, known);
    case "cancel":
      return cancel(thread, command);
    case "expire":
      return expire(thread, command);
    case "claim":
      return claim(thread, command, known);
    case "release":
      return release(thread, command);
    case "recover":
      return recover(thread, command);
    case "change": {
      const { title, metadata } = command;
      return facts(thread, [{ type: "thread.changed", ...(title !== undefined && { title }), ...(metadata && { metadata }) }]);
    }
    default:
      return command satisfies never;
  }
}

function facts(thread: Thread, events: Event[], after: number = thread.seq): Decision {
  return { events, after, ignored: 0 };
}

// --- run ---

type News = {
  messages: UserMessage[];
  results: [Call, Result][];
  answers: [Interrupt, Answer][];
  ignored: number;
  /** The run that holds the latest settlement the sender already knows of. */
  seen: number | undefined;
  /** Where the latest turn began whose message the sender already has. */
  turn: number | undefined;
};

function decideRun(thread: Thread, asked: RunCommand, known: Known): Decision {
  const { nameless = [], results } = asked;
  const command = nameless.length > 0 ? { ...asked, results: [...results, ...bind(thread, nameless, known)] } : asked;
  const news = sort(thread, command, known);
  const decision = thread.run ? whileRunning(thread, news, command) : whileIdle(thread, news, command, known);
  return { ...decision, ignored: news.ignored };
}

/** Tells news from what the thread knows already, by id. */
function sort(thread: Thread, command: RunCommand, known: Known): News {
  const news: News = { messages: [], results: [], answers: [], ignored: 0, seen: undefined, turn: undefined };
  const ids = new Set<string>();
  for (const message of command.messages) {
    const turn = known.messages.get(message.id);
    if (turn !== undefined) news.turn = Math.max(turn, news.turn ?? 0);
    if (ids.has(message.id) || (turn !== undefined && message.id !== command.rewindTo)) continue;
    ids.add(message.id);
    news.messages.push(message);
  }
  // The latest one counts: whoever resends a history shows the results of all its turns.
  const seen = (id: string) => {
    const settled = known.settled.get(id);
    const ours = command.door === "history" && settled?.event.type === "tool.returned" && settled.event.owner === "server";
    if (settled && !ours) news.seen = Math.max(settled.runSeq, news.seen ?? 0);
  };
  let unknown: AppError | undefined;
  const judge = (id: string, verdict: () => void) => {
    try {
      verdict();
    } catch (error) {
      if (!(error instanceof AppError) || command.door === "explicit" || error.code === "invalid") throw error;
      if (error.code === "not_found") unknown ??= error;
      news.ignored += 1;
    }
    seen(id);
  };
  const covered = new Set<string>();
  for (const answer of command.answers) {
    const id = questionOf(answer);
    const about = answer.callId ?? thread.interrupts.get(id)?.callId ?? known.settled.get(id)?.event.callId;
    if (about !== undefined) covered.add(about);
    judge(id, () => {
      const interrupt = openInterrupt(thread, answer, known);
      if (!interrupt) return;
      const other = news.answers.find(([asked]) => asked === interrupt)?.[1];
      if (!other) news.answers.push([interrupt, answer]);
      else if (other.status !== answer.status || !sameJson(other.value, answer.value))
        throw new AppError("conflict", `Two answers to ${id} in one request`);
    });
  }
  for (const result of command.results) {
    // A client that answers an approval may send a made-up result for the same call along: the answer counts.
    if (covered.has(result.callId)) continue;
    judge(result.callId, () => {
      const call = openCall(thread, result, known);
      if (!call) return;
      const other = news.results.find(([open]) => open === call)?.[1];
      if (!other) news.results.push([call, result]);
      else if (!sameResult(other, result)) throw new AppError("conflict", `Two results for call ${result.callId} in one request`);
    });
  }
  if (news.seen !== undefined && news.seen < (news.turn ?? 0)) news.seen = undefined;
  // A request of nothing but results for calls this thread never made is a mistake its sender should hear of.
  const nothing = news.messages.length + news.results.length + news.answers.length === 0 && news.seen === undefined;
  if (unknown && nothing && command.messages.length === 0) throw unknown;
  return news;
}

/** The call a result may settle, or undefined when it is already settled this way. Throws 404, 409 or 410. */
function openCall(thread: Thread, result: Result, known: Known): Call | undefined {
  const { callId } = result;
  const call = thread.calls.get(callId);
  if (!call) {
    const settled = known.settled.get(callId)?.event;
    if (settled?.type !== "tool.returned") throw new AppError("not_found", `There is no call ${callId} in this thread`);
    if (settled.status === "expired" || settled.status === "cancelled") {
      const why = settled.status === "expired" ? `has expired (${TIMED_OUT})` : "was cancelled";
      throw new AppError("gone", `Call ${callId} ${why}; its result can no longer be used`);
    }
    if (!sameResult(settled, result)) throw new AppError("conflict", `Call ${callId} already has another result (${settled.status})`);
    if (result.name !== undefined && result.name !== settled.name) throw otherTool(settled, result.name);
    return undefined;
  }
  if (call.phase === "asked") throw new AppError("conflict", `Call ${callId} waits for approval; nobody may run it yet`);
  if (call.phase !== "offered") throw new AppError("conflict", `Call ${callId} was not handed out; this server runs it`);
  if (result.name !== undefined && result.name !== call.name) throw otherTool(call, result.name);
  if (result.claim !== undefined && !holds(call, result.claim)) throw lapsed(callId, result.claim);
  // Clients send an empty message for tools they have no code for: that is no result of somebody else's call.
  if (call.owner !== "client" && result.output === "" && result.messageId !== undefined) {
    throw new AppError("conflict", `Call ${callId} is not this client's to answer with nothing`);
  }
  return call;
}

function otherTool({ callId, name }: { callId: string; name: string }, wrong: string): AppError {
  return new AppError("conflict", `Call ${callId} is for ${name}, not for ${wrong}`);
}

/** Whether this claim is the call's last one and was not given back. */
function holds({ claim }: Call, number: number): boolean {
  return claim?.claim === number && !claim.released;
}

function lapsed(callId: string, claim: number): AppError {
  return new AppError("conflict", `Claim ${claim} on call ${callId} is no longer valid`);
}

/** An approval may be named by its call. */
function questionOf({ interruptId, callId }: Answer): string {
  return interruptId ?? `${callId}:approval`;
}

function openInterrupt(thread: Thread, answer: Answer, known: Known): Interrupt | undefined {
  const id = questionOf(answer);
  const interrupt = thread.interrupts.get(id);
  if (interrupt) return interrupt;
  const settled = known.settled.get(id)?.event;
  if (settled?.type !== "interrupt.answered")
    throw new AppError("not_found", `Nothing in this thread asks ${answer.interruptId ?? `about call ${answer.callId}`}`);
  if (settled.status === "expired") throw new AppError("gone", `The question ${id} has expired`);
  if (settled.status === "cancelled") {
    if (answer.status !== "cancelled") throw new AppError("gone", `The question ${id} was cancelled`);
  } else if (answer.status === "cancelled" || !sameJson(settled.value, answer.value)) {
    throw new AppError("conflict", `The question ${id} already has another answer`);
  }
  return undefined;
}

/** A running thread takes results and answers, and nothing else that is new. */
function whileRunning(thread: Thread, news: News, command: RunCommand): Decision {
  const running = thread.run?.seq ?? 0;
  if (news.messages.length > 0 || command.rewindTo !== undefined) {
    throw new AppError("conflict", "The thread is running; wait until it has ended, or cancel it");
  }
  const settled = settle(thread, news, command);
  if (settled.length > 0) return facts(thread, settled, running - 1);
  const earlier = command.door === "explicit" && isOver(thread, news.turn) ? news.turn : undefined;
  return facts(thread, [], (news.seen ?? earlier ?? running) - 1);
}

/** Whether another turn has begun since the one that began here. */
function isOver({ turn }: Thread, start: number | undefined): start is number {
  return start !== undefined && turn !== undefined && start < turn.seq;
}

function whileIdle(thread: Thread, news: News, command: RunCommand, known: Known): Decision {
  if (news.messages.length > 0 || command.rewindTo !== undefined) return newTurn(thread, news, command);
  if (news.results.length + news.answers.length > 0) return goOn(thread, news, command);
  if (news.seen !== undefined && !failedSince(thread, news.seen)) return facts(thread, [], news.seen - 1);
  if (!thread.turn || !thread.ended) throw new AppError("invalid", "There is nothing to answer: send a message", { field: "messages" });
  const { type } = thread.ended.outcome;
  if (!isOver(thread, news.turn)) {
    if (type === "failed") return begin(thread, command, [], { cause: "retry" });
    if (type === "waiting") return facts(thread, [], (known.run ?? thread.ended.start) - 1);
  }
  if (known.run !== undefined) return facts(thread, [], known.run - 1);
  if (command.door === "explicit") return facts(thread, [], (news.turn ?? thread.turn.seq) - 1);
  const last = command.messages.findLast(({ id }) => known.messages.get(id) === news.turn)?.id;
  return newTurn(thread, news, { ...command, rewindTo: last ?? "" });
}

/** A retry of what a failed turn was told goes on with the turn, or its sender could never get past a provider's bad minute. */
function failedSince(thread: Thread, seen: number): boolean {
  return thread.ended?.outcome.type === "failed" && seen >= (thread.turn?.seq ?? 0);
}

/** Results and answers for a turn that waits. One that leaves something open is a run of its own, over at once. */
function goOn(thread: Thread, news: News, command: RunCommand): Decision {
  const cause = news.results.length > 0 ? "result" : "answer";
  return begin(thread, command, settle(thread, news, command), {
    cause,
    askAgent: news.answers.some(([{ callId }]) => callId === undefined),
  });
}

function settle(thread: Thread, news: News, command: RunCommand): Event[] {
  let { ordinal } = thread;
  const events = news.results.map(([call, result]) =>
    returned(call, result.status, { by: command.by, via: result.via ?? command.via }, result),
  );
  for (const [interrupt, answer] of news.answers) {
    const more = answered(thread, interrupt, answer, command, ordinal + 1);
    if (more.some(({ type }) => type === "call.offered")) ordinal += 1;
    events.push(...more);
  }
  return events;
}

/** Starts a run that continues the turn, unless what is still open keeps it from going anywhere. */
function begin(thread: Thread, command: RunCommand | ExpireCommand, inputs: Event[], how: { cause: Cause; askAgent?: boolean }): Decision {
  const events = [started(thread, command, how.cause), ...inputs];
  const after = tried(thread, events);
  const missing = waits(after);
  if (missing.length > 0 && readyCalls(after).length === 0 && !how.askAgent) {
    events.push(over(thread, command.runId, { type: "waiting", for: missing }));
  }
  return facts(thread, events);
}

/** The end of a run that this same append began. */
function over(thread: Thread, runId: string, outcome: Outcome): Event {
  return { type: "run.ended", runId, turnId: thread.turn?.turnId ?? "", run: thread.seq + 1, outcome };
}

function started(thread: Thread, command: RunCommand | ExpireCommand, cause: Cause): Event {
  const { runId, by, via } = command;
  const { tools, options, parentRunId } = command.type === "run" ? command : ({} as Partial<RunCommand>);
  const merged = options && { ...thread.options, ...options };
  return {
    type: "run.started",
    runId,
    turnId: thread.turn?.turnId ?? "",
    epoch: thread.epoch + 1,
    cause,
    agent: thread.turn?.agent ?? "",
    messages: [],
    // What is absent is the turn's: a result that comes by another door has no tools to declare.
    ...(tools && tools.length > 0 && !sameJson(tools, thread.tools) && { tools }),
    ...(merged && !sameJson(merged, thread.options) && { options: merged }),
    ...(parentRunId !== undefined && { parentRunId }),
    by,
    via,
  };
}

/** A new message is a new turn. What waits is closed first, in a run of its own, so that each run holds one turn. */
function newTurn(thread: Thread, news: News, command: RunCommand): Decision {
  const events: Event[] = [];
  let { epoch } = thread;
  if (waits(thread).length > 0) {
    const answeredNow = new Set(news.answers.map(([interrupt]) => interrupt.interruptId));
    const question = [...thread.interrupts.keys()].find((id) => !answeredNow.has(id));
    if (question !== undefined)
      throw new AppError("conflict", `The thread waits for an answer to ${question}; answer or cancel it first`, { field: "resume" });
    const settled = settle(thread, news, command);
    const opening = started(thread, command, settled.length > 0 ? "result" : "cancel");
    const rest = cancelOpen(tried(thread, [opening, ...settled]), command, "A new message came first");
    if (rest.length > 0 && command.whilePending === "reject") {
      throw new AppError(
        "conflict",
        `The thread waits for ${rest.length} call${rest.length > 1 ? "s" : ""}; hand the results back or cancel first`,
      );
    }
    events.push(opening, ...settled, ...rest, over(thread, command.runId, { type: "cancelled", reason: "A new message came first" }));
    epoch += 1;
  }
  const rewound = rewind(thread, command);
  if (rewound) events.push(rewound.event);
  const messages = [...(rewound?.before ?? []), ...(news.messages.length > 0 ? news.messages : (rewound?.again ?? []))];
  const after = thread.seq + events.length;
  const { runId, turnId, parentRunId, state, by, via } = command;
  const agent = command.agent ?? thread.turn?.agent ?? "default";
  const tools = command.tools ?? [];
  const toolExecution = command.options?.toolExecution ?? thread.options.toolExecution;
  const options = { ...command.options, ...(toolExecution && { toolExecution }) };
  events.push({
    type: "run.started",
    runId,
    turnId,
    epoch: epoch + 1,
    cause: rewound ? "retry" : "message",
    agent,
    messages,
    ...(!sameJson(tools, thread.tools) && { tools }),
    ...(!sameJson(options, thread.options) && { options }),
    ...(parentRunId !== undefined && { parentRunId }),
    by,
    via,
  });
  if (state !== undefined && !sameJson(state, thread.state))
    events.push({ type: "state.patched", ops: [{ op: "replace", path: "", value: state }] });
  return facts(thread, events, after);
}

type Rewound = { event: Event /** What began the turn in front of the message. */; before: UserMessage[]; again: UserMessage[] };

/** Takes the messages behind a user message (and itself) out of the context; the log keeps them. */
function rewind({ history, turn }: Thread, { rewindTo }: RunCommand): Rewound | undefined {
  if (rewindTo === undefined) return undefined;
  // An empty name means the last turn, which may have begun without a message. Only what is in the context counts:
  // the place of a message that was rewound lies behind others that came later.
  const named = history.findLastIndex((entry) => entry.role === "user" && entry.id === rewindTo);
  const to = rewindTo === "" ? turn?.seq : history[named]?.seq;
  if (to === undefined) throw new AppError("not_found", `There is no message ${rewindTo} in this thread`, { field: "rewindTo" });
  const removed: string[] = [];
  const before: UserMessage[] = [];
  const again: UserMessage[] = [];
  for (let i = history.findLastIndex(({ seq }) => seq < to) + 1; i < history.length; i += 1) {
    const entry = history[i] as Entry;
    removed.push(entry.role === "user" ? entry.id : entry.messageId);
    if (entry.role !== "user" || entry.seq !== to) continue;
    const { id, content, name } = entry;
    (i < named ? before : again).push({ id, content, ...(name !== undefined && { name }) });
  }
  return { event: { type: "thread.rewound", to, removed }, before, again };
}

/** The head as it would be after these events. */
function tried(thread: Thread, events: Event[]): Thread {
  const copy = preview(thread);
  for (const [i, event] of events.entries()) fold(copy, { ...event, seq: thread.seq + 1 + i, at: 0, v: EVENT_VERSION } as StoredEvent);
  return copy;
}

// --- cancel, expire, claim, release, recover ---

function cancel(thread: Thread, command: Extract<Command, { type: "cancel" }>): Decision {
  const { runId, by, via, reason } = command;
  const why = reason === undefined ? {} : { reason };
  if (thread.run) {
    if (thread.run.cancel) return facts(thread, [], thread.run.seq - 1);
    return facts(thread, [{ type: "cancel.requested", runId: thread.run.runId, by, ...why }], thread.run.seq - 1);
  }
  if (waits(thread).length === 0) throw new AppError("not_found", "There is no run to cancel in this thread");
  return facts(thread, closeTurn(thread, { by, via, runId, now: command.now }, "cancel", reason ?? "Cancelled", []));
}

/** A run that settles everything open and ends the turn. */
function closeTurn(
  thread: Thread,
  who: { by: string; via: string; runId: string; now: number },
  cause: Cause,
  reason: string,
  first: Event[],
): Event[] {
  const opening = started(thread, { ...who, type: "expire", id: "" }, cause);
  const rest = cancelOpen(tried(thread, [opening, ...first]), who, reason);
  return [opening, ...first, ...rest, over(thread, who.runId, { type: "cancelled", reason })];
}

/** Whoever is first in the log wins: a deadline that finds its call settled does nothing. */
function expire(thread: Thread, command: ExpireCommand): Decision {
  const call = thread.calls.get(command.id);
  const interrupt = thread.interrupts.get(command.id);
  const due = call?.phase === "offered" ? call.expiresAt : interrupt?.expiresAt;
  if (due === undefined || due > command.now) return facts(thread, []);
  const settled: Event[] = interrupt ? expireInterrupt(thread, interrupt, command) : call ? [expireCall(call, command)] : [];
  const policy = call?.onTimeout?.type;
  if (policy === "cancel") {
    if (!thread.run) return facts(thread, closeTurn(thread, command, "expiry", TIMED_OUT, settled));
    if (thread.run.cancel) return facts(thread, settled);
    return facts(thread, [...settled, { type: "cancel.requested", runId: thread.run.runId, by: command.by, reason: TIMED_OUT }]);
  }
  return thread.run
    ? facts(thread, settled)
    : begin(thread, command, settled, { cause: "expiry", askAgent: interrupt?.callId === undefined && interrupt !== undefined });
}

function expireCall(call: Call, source: ExpireCommand): Event {
  const policy = call.onTimeout ?? { type: "fail" };
  if (policy.type === "default") return returned(call, "expired", source, { output: policy.output });
  return returned(call, "expired", source, {
    error: policy.type === "deny" ? `${TIMED_OUT}: denied, because nobody answered in time` : TIMED_OUT,
  });
}

function expireInterrupt(thread: Thread, { interruptId, callId }: Interrupt, source: ExpireCommand): Event[] {
  const { by, via } = source;
  const call = callId === undefined ? undefined : thread.calls.get(callId);
  const expired: Event = { type: "interrupt.answered", interruptId, ...(callId !== undefined && { callId }), status: "expired", by, via };
  return call ? [expired, returned(call, "expired", source, { error: "Nobody decided in time, so it was not run" })] : [expired];
}

/** The claim's number is the fence; its lease is a row the engine keeps. */
function claim(thread: Thread, command: ClaimCommand, known: Known): Decision {
  const { callId, by, held } = command;
  const call = thread.calls.get(callId);
  if (call?.phase !== "offered") {
    if (call) throw new AppError("conflict", `Call ${callId} is not handed out`);
    if (!known.settled.has(callId)) throw new AppError("not_found", `There is no call ${callId}`);
    throw new AppError("gone", `Call ${callId} already has a result`);
  }
  const last = call.claim;
  if (held && last && !last.released) throw new AppError("conflict", `Call ${callId} is claimed by ${last.by}`);
  const freed: Event[] = last && !last.released ? [{ type: "call.released", callId, claim: last.claim, reason: "lapsed" }] : [];
  return facts(thread, [...freed, { type: "call.claimed", callId, by, claim: (last?.claim ?? 0) + 1 }]);
}

function release(thread: Thread, { callId, claim, reason }: ReleaseCommand): Decision {
  const call = thread.calls.get(callId);
  if (call?.phase !== "offered" || !holds(call, claim)) throw lapsed(callId, claim);
  return facts(thread, [{ type: "call.released", callId, claim, reason }]);
}

/** The takeover's first fact raises the epoch, so that a driver that was only asleep writes nothing more. */
function recover(thread: Thread, source: RecoverCommand): Decision {
  if (!thread.run) return facts(thread, []);
  const events: Event[] = [{ type: "run.recovered", runId: thread.run.runId, epoch: thread.epoch + 1 }, ...closing(thread)];
  for (const call of thread.calls.values()) {
    // Begun, but nobody knows how it ended: only a tool that may safely run twice runs again.
    const unknown = call.phase === "ready" && call.claim && !call.idempotent;
    if (unknown) events.push(returned(call, "failed", source, { error: "Outcome unknown: the server stopped while the tool was running" }));
  }
  return facts(thread, events, thread.run.seq - 1);
}
