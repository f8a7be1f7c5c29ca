import type { Answer, Result } from "../../core/command.ts";
import { isObject, type Json, sameJson } from "../../core/json.ts";
import type { CallPart, Entry, Thread, UserEntry } from "../../core/thread.ts";
import { ASK_APPROVAL } from "./chunk.ts";
import type { AisdkRequest, Listed, Said } from "./decode.ts";
import type { ShownCall } from "./shown.ts";

/** What is new in a list that a client resends whole, and what it wants of it. */
export type Plan = {
  messages: Said[];
  /** Answer again from this user message on. */
  rewindTo?: string;
  results: Result[];
  answers: Answer[];
  /** Results and decisions that this server never asked this client for, or that came too late. */
  ignored: number;
  /** The turn the client means, by its id or by the message that begins it. */
  about: { turnId: string } | { messageId: string } | undefined;
};

/**
 * Reads the list against the thread. We take new user messages, first results for calls this client was handed, and first
 * decisions on what it was asked. Nothing else it sends counts.
 */
export function reconcile(thread: Thread, request: AisdkRequest): Plan {
  const { messages, results: handedBack } = request;
  const last = messages.at(-1);
  const shown = [...messages.flatMap((message) => (message.role === "assistant" ? message.calls : [])), ...handedBack];
  const plan: Plan = { messages: [], ...harvest(thread, shown), about: undefined };
  plan.answers.push(...request.answers);
  if (!last) return plan;
  if (last.role === "assistant") return { ...plan, about: { turnId: last.id } };
  const about = { messageId: last.id };
  const known = userEntry(thread, last.id);
  if (request.trigger === "regenerate") {
    const again = known ?? thread.history.find((entry) => isUser(entry) && entry.turnId === request.messageId);
    if (again && isUser(again)) return { ...plan, rewindTo: again.id, about: { messageId: again.id } };
  }
  if (known) return sameContent(known.content, last.content) ? { ...plan, about } : { ...plan, messages: [last], rewindTo: last.id, about };
  return { ...plan, about, ...append(thread, messages) };
}

/** Where new messages go: behind the last one the thread knows. What the thread has behind that one was edited away. */
function append(thread: Thread, list: readonly Listed[]): { messages: Said[]; rewindTo?: string } {
  const turnOf = (message: Listed) =>
    message.role === "user"
      ? userEntry(thread, message.id)?.turnId
      : thread.history.some(({ turnId }) => turnId === message.id)
        ? message.id
        : undefined;
  const parent = list.findLastIndex((message) => turnOf(message) !== undefined);
  const messages = list
    .slice(parent + 1)
    .flatMap((message) => (message.role === "user" ? [{ id: message.id, content: message.content }] : []));
  if (parent < 0) return { messages }; // a client that sends only its last message
  const turnId = turnOf(list[parent] as Listed);
  const end = thread.history.findLastIndex((entry) => entry.turnId === turnId);
  const rewindTo = thread.history.slice(end + 1).find(isUser)?.id;
  return { messages, ...(rewindTo !== undefined && { rewindTo }) };
}

function harvest(thread: Thread, shown: readonly ShownCall[]): Pick<Plan, "results" | "answers" | "ignored"> {
  const found = { results: [] as Result[], answers: [] as Answer[], ignored: 0 };
  let history: Map<string, CallPart> | undefined;
  const settledPart = (callId: string) => {
    history ??= new Map(
      thread.history.flatMap((entry) =>
        isUser(entry) ? [] : entry.parts.flatMap((part) => (part.type === "call" ? [[part.callId, part] as const] : [])),
      ),
    );
    return history.get(callId);
  };
  for (const call of shown) {
    if (call.name === ASK_APPROVAL && call.settled) {
      if (thread.interrupts.has(call.callId)) found.answers.push(toAnswer(call.callId, decisionOf(call)));
      else if (!settledPart(call.callId.replace(/:approval$/, ""))) found.ignored += 1;
    } else if (call.state === "approval-responded" && call.approval) {
      const { id, approved, reason } = call.approval;
      const asked = thread.interrupts.get(id);
      if (asked?.callId === call.callId) found.answers.push(toAnswer(id, { approved, ...(reason !== undefined && { reason }) }));
      else if (asked || thread.calls.get(call.callId)?.phase === "asked" || !settledPart(call.callId)) found.ignored += 1;
    } else if (call.settled) {
      const open = thread.calls.get(call.callId);
      if (open?.phase === "offered" && open.owner === "client") found.results.push(toResult(call));
      else if (open || isForged(settledPart(call.callId), call)) found.ignored += 1;
    }
  }
  return found;
}

/** A result nobody here knows, or another one than was accepted. */
function isForged(part: CallPart | undefined, { output, error }: ShownCall): boolean {
  if (!part?.settlement) return true;
  const { status, output: accepted } = part.settlement;
  return error === undefined && !((status === "completed" || status === "expired") && sameJson(accepted ?? null, output));
}

function toResult({ callId, name, output, forModel, error }: ShownCall): Result {
  const named = { ...(name !== "" && { name }), ...(forModel !== undefined && { metadata: { forModel } }) };
  return error === undefined ? { callId, ...named, status: "completed", output } : { callId, ...named, status: "failed", error };
}

function toAnswer(interruptId: string, value: Json): Answer {
  return { interruptId, status: "resolved", value };
}

/** What a person said to `ask_approval`; a page that failed to ask has not been told yes. */
function decisionOf({ output, error }: ShownCall): Json {
  if (error !== undefined) return { approved: false, reason: error };
  if (typeof output === "boolean") return { approved: output };
  return isObject(output) && typeof output["approved"] === "boolean" ? output : { approved: false, reason: "The answer could not be read" };
}

function isUser(entry: Entry): entry is UserEntry {
  return entry.role === "user";
}

function userEntry({ history }: Thread, id: string): UserEntry | undefined {
  return history.findLast((entry): entry is UserEntry => isUser(entry) && entry.id === id);
}

/** The same words and as many files: what else a client may have changed about a message it resends is not ours to see. */
function sameContent(a: UserEntry["content"], b: Said["content"]): boolean {
  return wordsOf(a) === wordsOf(b) && filesIn(a) === filesIn(b);
}

function wordsOf(content: string | readonly { type: string; text?: string }[]): string {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
}

function filesIn(content: string | readonly { type: string }[]): number {
  return typeof content === "string" ? 0 : content.filter(({ type }) => type === "file").length;
}
