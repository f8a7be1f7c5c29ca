import { begin, type Decision, facts, over, started, tried } from "./begin.ts";
import { bind } from "./bind.ts";
import type { Known, RunCommand } from "./command.ts";
import { AppError } from "./error.ts";
import type { Event, UserMessage } from "./event.ts";
import { sameJson } from "./json.ts";
import { type News, sortNews } from "./news.ts";
import { goBack, resumed, resumeOf } from "./resume.ts";
import { answered, cancelOpen, returned } from "./settle.ts";
import { type Entry, type Thread, waits } from "./thread.ts";

/** Messages, results and answers of one request: what they change depends on whether the thread runs, waits or rests. */
export function decideRun(thread: Thread, asked: RunCommand, known: Known): Decision {
  const { nameless = [], results } = asked;
  const bound = nameless.length > 0 ? { ...asked, results: [...results, ...bind(thread, nameless, known)] } : asked;
  const { command, back } = resumed(thread, bound, known);
  // The same request again must not go back again.
  if (back) return known.run === undefined ? goBack(thread, command, back) : facts(thread, [], known.run - 1);
  const news = sortNews(thread, command, known);
  const decision = thread.run ? whileRunning(thread, news, command) : whileIdle(thread, news, command, known);
  return { ...decision, ignored: news.ignored };
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
  // What belongs to a task lets that task go on, whatever the others still wait for.
  const asks = news.answers.some(([{ callId, taskId }]) => callId === undefined || taskId !== undefined);
  return begin(thread, command, settle(thread, news, command), {
    cause,
    askAgent: asks || news.results.some(([{ taskId }]) => taskId !== undefined),
    resume: resumeOf(news.answers),
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
