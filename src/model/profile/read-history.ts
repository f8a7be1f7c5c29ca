import type { ToolSpec } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import type { AssistantEntry, CallPart, Entry } from "../../core/thread.ts";
import { profileMachine } from "./machine.ts";
import type { Profile, WrittenCall } from "./profile.ts";
import { type InboundResult, resultsIn } from "./results.ts";
import { JSON_Strict, XML_Tag } from "./seed-profiles.ts";

/** A message as somebody else remembers it: all text, or with calls and results beside it. */
export type Told =
  | { role: "user"; text: string }
  | { role: "assistant"; text: string; calls: WrittenCall[] }
  | { role: "tool"; results: InboundResult[] };

export type ReadHistoryOptions = {
  /** How tools are told to the model in this request; none is native calls. */
  profile: Profile | undefined;
  tools: readonly ToolSpec[];
  /** Whether this server has handed out this very call. */
  isOurs: (call: WrittenCall) => boolean;
};

/**
 * A history out of messages whose sender keeps the thread. Only what proves to be the result of a call we handed out becomes
 * one; everything else stays what it is, words of the user and of the assistant.
 */
export function readHistory(told: readonly Told[], options: ReadHistoryOptions): Entry[] {
  const profile = options.profile ?? JSON_Strict;
  // Bare JSON last: it would be found inside tags, too.
  const forms = [...new Set([profile, XML_Tag, JSON_Strict])].toSorted((a, b) => Number(bare(a)) - Number(bare(b)));
  const entries: Entry[] = [];
  let last: Shown | undefined;
  for (const [i, message] of told.entries()) {
    const about = { seq: 0, turnId: PAST };
    if (message.role === "assistant") {
      last = { entry: assistantEntry(i), message, forms, options, readings: undefined, found: undefined, looked: 0 };
      last.entry.parts = [{ type: "text", messageId: last.entry.messageId, text: wordsOf(message, profile) }];
      entries.push(last.entry);
      continue;
    }
    const results = message.role === "tool" ? message.results : inboundIn(message.text, forms);
    if (results && last && settle(last, results)) continue;
    const content = message.role === "user" ? message.text : message.results.map((result) => resultWords(result, profile)).join("\n");
    entries.push({ role: "user", ...about, id: `told-${i}`, content });
  }
  return entries.filter((entry) => entry.role === "user" || entry.parts.some((part) => part.type !== "text" || part.text !== ""));
}

const PAST = "past";

function bare({ syntax }: Profile): boolean {
  return syntax.frames.length === 0;
}

/** An assistant's message, and what has been found in it since results for it came. */
type Shown = {
  entry: AssistantEntry;
  message: Extract<Told, { role: "assistant" }>;
  forms: readonly Profile[];
  options: ReadHistoryOptions;
  /** What it says in each of the forms, and in the one in which results were found to fit. */
  readings: Piece[][] | undefined;
  found: Piece[] | undefined;
  /** Results that were held against it. */
  looked: number;
};

/** To hold a result against a call takes a hash; a message has at most 64 calls. */
const MOST_RESULTS = 256;

/** A piece of a message, in order. `written` is a call as it stands in the text, perhaps without its id. */
type Piece =
  | { type: "text" | "reasoning"; text: string }
  | { type: "call"; call: WrittenCall; written?: { source: string; named: boolean }; result?: InboundResult };

function assistantEntry(i: number): AssistantEntry {
  return { role: "assistant", seq: 0, turnId: PAST, stepId: `told-${i}`, messageId: `told-${i}`, state: "completed", parts: [] };
}

function inboundIn(text: string, forms: readonly Profile[]): InboundResult[] | undefined {
  for (const form of forms) {
    const results = resultsIn(form, text);
    if (results) return results;
  }
  return undefined;
}

/** Gives every result its call, if each has one of ours in the message before it that no other has taken. */
function settle(shown: Shown, results: readonly InboundResult[]): boolean {
  shown.looked += results.length;
  if (shown.looked > MOST_RESULTS) return false;
  shown.readings ??= readingsOf(shown);
  for (const pieces of shown.found ? [shown.found] : shown.readings) {
    const matched = match(pieces, results, shown.options.isOurs);
    if (!matched) continue;
    for (const [piece, result] of matched) piece.result = result;
    const profile = shown.options.profile ?? JSON_Strict;
    shown.found = pieces;
    shown.entry.parts = pieces.map((piece) => toPart(piece, shown.entry.messageId, profile));
    return true;
  }
  return false;
}

type CallPiece = Extract<Piece, { type: "call" }>;

function match(
  pieces: readonly Piece[],
  results: readonly InboundResult[],
  isOurs: ReadHistoryOptions["isOurs"],
): Map<CallPiece, InboundResult> | undefined {
  const matched = new Map<CallPiece, InboundResult>();
  for (const result of results) {
    const id = result.toolCallId;
    const piece = pieces.find((candidate): candidate is CallPiece => {
      if (candidate.type !== "call" || candidate.result || matched.has(candidate)) return false;
      const named = candidate.written?.named ?? true;
      return (!named || candidate.call.id === id) && isOurs({ ...candidate.call, id });
    });
    if (!piece) return undefined;
    matched.set(piece, result);
  }
  return matched.size > 0 ? matched : undefined;
}

/** What a message says, in each of the forms. Calls beside the text come behind it. */
function readingsOf({ message, forms, options: { tools } }: Shown): Piece[][] {
  const beside = () => message.calls.map((call): Piece => ({ type: "call", call }));
  return forms.map((form) => [...piecesIn(message.text, form, tools), ...beside()]);
}

function piecesIn(text: string, form: Profile, tools: readonly ToolSpec[]): Piece[] {
  const machine = profileMachine(form, tools);
  const pieces: Piece[] = [];
  for (const event of [...machine.push(text), ...machine.finish()]) {
    if (event.type === "text" || event.type === "reasoning") pieces.push({ type: event.type, text: event.delta });
    else if (event.type === "refused") pieces.push({ type: "text", text: event.refusal.source });
    else if (event.type === "called") {
      const { id, name, input, source, refusal } = event;
      if (refusal) pieces.push({ type: "text", text: source });
      else pieces.push({ type: "call", call: { id, name, input }, written: { source, named: source.includes(id) } });
    }
  }
  return pieces;
}

function toPart(piece: Piece, messageId: string, profile: Profile): AssistantEntry["parts"][number] {
  if (piece.type !== "call") return { type: piece.type, messageId, text: piece.text };
  const { call, written, result } = piece;
  if (!result) return { type: "text", messageId, text: profile.callTemplate([call]) };
  const part: CallPart = {
    type: "call",
    callId: result.toolCallId,
    name: call.name,
    input: call.input,
    owner: "client",
    messageId,
    settlement: { status: "completed", output: result.result, messageId: `${result.toolCallId}:result` },
  };
  if (written) part.source = written.source;
  if (result.edited !== undefined) part.edited = result.edited;
  return part;
}

/** A message as text alone: calls beside it are written as the profile would have them. */
function wordsOf({ text, calls }: Extract<Told, { role: "assistant" }>, profile: Profile): string {
  return [text, ...(calls.length > 0 ? [profile.callTemplate(calls)] : [])].filter((words) => words !== "").join("\n\n");
}

function resultWords({ toolCallId, result, edited }: InboundResult, profile: Profile): string {
  return profile.resultTemplate(toolCallId, result as Json, { name: "tool", ...(edited !== undefined && { edited }) });
}
