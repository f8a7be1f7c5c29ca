import { isDeeper, isObject, type Json } from "../../core/json.ts";
import { BY_HAND } from "../../core/settle.ts";
import type { CallPart } from "../../core/thread.ts";
import { unescapeXml } from "./entities.ts";
import type { Profile, ResultAbout } from "./profile.ts";
import type { ValueSink } from "./value.ts";
import { valueReader } from "./value-reader.ts";

/** Controls, direction marks, invisible tags and halves of characters: nothing a model should read, or a terminal obey. */
const UNSEEN = /[[\p{Cc}--[\t\n\r]]\p{Bidi_Control}\p{Noncharacter_Code_Point}\p{Cs}\u2028\u2029\ufeff\u{e0000}-\u{e007f}]/gv;

/** The result template of JSON_Strict. JSON cannot be closed from inside a string. */
export function jsonResult(id: string, result: Json, { edited }: Partial<ResultAbout> = {}): string {
  const body = { toolCallId: id, result: result ?? null, ...(edited !== undefined && { editedArguments: edited }) };
  return visible(JSON.stringify({ tool_call_result: body }, null, 3));
}

/** The result template of XML_Tag. `&`, `<` and `>` are escaped, so that there is one closing tag. */
export function xmlResult(id: string, result: Json, { name, edited }: ResultAbout): string {
  const lines = [
    "<tool_result>",
    `  <id>${escapeXml(name)}_result</id>`,
    `  <tool_call_id>${escapeXml(id)}</tool_call_id>`,
    ...(edited === undefined ? [] : [`  <edited_arguments>${escapeXml(JSON.stringify(edited))}</edited_arguments>`]),
    `  <content>\n    ${escapeXml(typeof result === "string" ? result : JSON.stringify(result ?? null))}\n  </content>`,
    "</tool_result>",
  ];
  return lines.join("\n");
}

export function escapeXml(text: string): string {
  return visible(text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"));
}

function visible(text: string): string {
  return text.replaceAll(UNSEEN, (unseen) =>
    Array.from({ length: unseen.length }, (_, i) => `\\u${unseen.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** What the model is told about a call: its output, or why there is none. */
export function resultOf({ settlement, invalid, byHand }: Pick<CallPart, "settlement" | "invalid" | "byHand">): Json {
  const { status = "cancelled", output, error } = settlement ?? {};
  if (byHand) return { note: BY_HAND, output: output ?? null };
  if (status === "completed" || (status === "expired" && output !== undefined)) return output ?? null;
  const reason = error ?? output;
  return { error: invalid === undefined ? ERRORS[status] : "invalid_call", ...(reason !== undefined && { reason }) };
}

const ERRORS = {
  failed: "tool_failed",
  rejected: "rejected_by_user",
  expired: "timed_out",
  cancelled: "cancelled",
} as const;

export type InboundResult = { toolCallId: string; result: Json /** The arguments a person put in place of the model's. */; edited?: Json };

/**
 * Results that a user hands back inside a message. Only a message that is nothing but results, all of calls that
 * are `pending` (tool names by call id), counts; anything else is what the user said.
 */
export function readResults(profile: Profile, text: string, pending: ReadonlyMap<string, string>): InboundResult[] | undefined {
  const results = resultsIn(profile, text, pending);
  return results?.every(({ toolCallId }) => pending.has(toolCallId)) ? results : undefined;
}

/** Results that a message is made of, if it is made of nothing else, whoever they are for. Nameless ones are of calls that are `pending`. */
export function resultsIn(
  { syntax: { result } }: Profile,
  text: string,
  pending: ReadonlyMap<string, string> = new Map(),
): InboundResult[] | undefined {
  const results = "key" in result ? jsonResults(text, result.key) : xmlResults(text, result, pending);
  if (!results || results.length === 0) return undefined;
  return new Set(results.map(({ toolCallId }) => toolCallId)).size === results.length ? results : undefined;
}

const NOWHERE: ValueSink = { open() {}, close() {}, key() {}, startText() {}, text() {}, endText() {}, scalar() {} };

function jsonResults(text: string, key: string): InboundResult[] | undefined {
  const results: InboundResult[] = [];
  for (let from = 0; text.slice(from).trim() !== ""; ) {
    const reader = valueReader(NOWHERE);
    const to = reader.push(text, from);
    const value = reader.state === "done" && reader.problem === undefined ? parseStrictly(text.slice(from, to)) : undefined;
    const body = isObject(value) && Object.keys(value).length === 1 ? value[key] : undefined;
    if (!isObject(body) || typeof body["toolCallId"] !== "string" || !("result" in body)) return undefined;
    if (Object.keys(body).some((field) => !["toolCallId", "result", "editedArguments"].includes(field))) return undefined;
    const edited = body["editedArguments"];
    results.push({ toolCallId: body["toolCallId"], result: body["result"] ?? null, ...(edited !== undefined && { edited }) });
    from = to;
  }
  return results;
}

/** A result without a call's id, as the seed prints it, is that of the first open call of its tool. */
function xmlResults(
  text: string,
  { open, close }: { open: string; close: string },
  pending: ReadonlyMap<string, string>,
): InboundResult[] | undefined {
  const results: InboundResult[] = [];
  const unnamed = new Map(pending);
  let rest = text.trim();
  while (rest !== "") {
    const end = rest.indexOf(close);
    if (!rest.startsWith(open) || end < 0) return undefined;
    const body = rest.slice(open.length, end);
    const named = /<tool_call_id>([^<]*)<\/tool_call_id>/.exec(body)?.[1];
    const tool = /<id>([^<]*)_result<\/id>/.exec(body)?.[1];
    const id = named === undefined ? [...unnamed].find(([, name]) => name === tool)?.[0] : unescapeXml(named);
    const content = /<content>([^<]*)<\/content>\s*$/.exec(body)?.[1];
    if (id === undefined || content === undefined) return undefined;
    unnamed.delete(id);
    const words = unescapeXml(content.trim());
    const edited = /<edited_arguments>([^<]*)<\/edited_arguments>/.exec(body)?.[1];
    const changed = edited === undefined ? undefined : parseStrictly(unescapeXml(edited));
    results.push({ toolCallId: id, result: parseStrictly(words) ?? words, ...(changed !== undefined && { edited: changed }) });
    rest = rest.slice(end + close.length).trim();
  }
  return results;
}

/** Deeper than any honest result, and far from where `JSON.stringify` gives up. */
const DEEPEST = 512;

function parseStrictly(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isDeeper(value, DEEPEST) ? undefined : value;
  } catch {
    return undefined;
  }
}
