import { sameResult } from "./bind.ts";
import { holds, lapsed } from "./claim.ts";
import type { Answer, Known, Result, RunCommand } from "./command.ts";
import { AppError } from "./error.ts";
import type { UserMessage } from "./event.ts";
import { sameJson } from "./json.ts";
import { TIMED_OUT } from "./settle.ts";
import type { Call, Interrupt, Thread } from "./thread.ts";

/** What a request brings that the thread does not know yet. */
export type News = {
  messages: UserMessage[];
  results: [Call, Result][];
  answers: [Interrupt, Answer][];
  ignored: number;
  /** The run that holds the latest settlement the sender already knows of. */
  seen: number | undefined;
  /** Where the latest turn began whose message the sender already has. */
  turn: number | undefined;
};

/** Tells news from what the thread knows already, by id. */
export function sortNews(thread: Thread, command: RunCommand, known: Known): News {
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
