import { closingQuote, stringReader, unescaped } from "./string-reader.ts";
import type { ReaderState, ValueReader, ValueSink } from "./value.ts";
import { wordValue } from "./words.ts";

/** Deeper than any honest argument, and far from where `JSON.stringify` gives up. */
const DEEPEST = 512;
const LONGEST_WORD = 64;

const SPACE = /\s/;
const KEY_CHARACTER = /[\w$-]/;
const WORD_END = /[\s,，:;{}[\]()<>"'`&]/;
const CLOSED_BY: Record<string, string> = { "}": "{", "]": "[", ")": "(" };

type Place = "value" | "key" | "bareKey" | "quotedKey" | "colon" | "after" | "string" | "word" | "comment" | "over";

/**
 * Reads one value as models write them, in any pieces, each character once: JSON, relaxed JSON and Python literals.
 * It repairs what leaves no doubt (commas, quotes, brackets) and never the end of a string.
 */
export function valueReader(sink: ValueSink, { until = "" }: { until?: string } = {}): ValueReader {
  const stack: string[] = [];
  const string = stringReader(sink, { closes: (c) => stack.includes(CLOSED_BY[c] ?? ""), alone: () => stack.length === 0 });
  let place: Place = "value";
  let state: ReaderState = "open";
  let problem: string | undefined;
  /** The key or word being read. */
  let held = "";
  let keyQuote = "";
  let escaped = false;
  let comment = "";
  let before: Place = "value";
  let brokenString = false;
  let halted = false;
  let at = 0;
  let strict: boolean | undefined;

  return {
    push,
    end,
    halt: () => {
      halted = true;
    },
    get at() {
      return at;
    },
    get state() {
      return state;
    },
    get problem() {
      return problem;
    },
    get depth() {
      return stack.length;
    },
    get dangling() {
      return place === "key" || place === "value" || (place === "word" && typeof wordValue(held) === "number");
    },
    get strict() {
      return strict ?? false;
    },
    get quoted() {
      return place === "quotedKey" ? keyQuote === '"' : place === "string" && string.strict;
    },
  };

  function push(text: string, from: number, to = text.length): number {
    if (state === "paused") state = "open";
    halted = false;
    let i = from;
    while (i < to && state === "open" && !halted) {
      at = i;
      i = problem === undefined ? step(text, i, to) : skip(text, i);
    }
    return i;
  }

  function step(text: string, i: number, to: number): number {
    if (place === "string") return inString(text, i, sink.careful?.() ? i + 1 : to);
    const c = text[i] as string;
    switch (place) {
      case "quotedKey":
        return inQuotedKey(c, i);
      case "bareKey":
        if (KEY_CHARACTER.test(c)) return grow(c, i);
        place = "colon";
        return i;
      case "word":
        if (!WORD_END.test(c)) return held.length < LONGEST_WORD ? grow(c, i) : fail("a word without quotes", i);
        return endWord(c, i);
      case "comment":
        return inComment(c, i);
      default:
        break;
    }
    if (SPACE.test(c)) return i + 1;
    if (until.includes(c)) {
      state = "paused";
      return i;
    }
    if (c === "/" || c === "#") return startComment(c, i);
    switch (place) {
      case "value":
        return startValue(c, i);
      case "key":
        return startKey(c, i);
      case "colon":
        if (c !== ":" && c !== "：") return fail("a key without a value", i);
        sink.key(held);
        place = "value";
        return i + 1;
      case "after":
        return afterValue(c, i);
      default:
        return fail("text behind the value", i);
    }
  }

  function grow(c: string, i: number): number {
    held += c;
    return i + 1;
  }

  function startValue(c: string, i: number): number {
    if (c === "{" || c === "[" || c === "(") {
      if (stack.length >= DEEPEST) return fail(`nested deeper than ${DEEPEST} levels`, i);
      stack.push(c);
      place = c === "{" ? "key" : "value";
      sink.open(c === "{" ? "{" : "[");
      return i + 1;
    }
    if (closingQuote(c) !== undefined) return startString(c, false, i);
    if (CLOSED_BY[c] !== undefined && stack.length > 0 && stack.at(-1) !== "{") return closeBracket(c, i);
    if (WORD_END.test(c)) return fail(`an unexpected ${c}`, i);
    place = "word";
    held = c;
    return i + 1;
  }

  function startString(quote: string, raw: boolean, i: number): number {
    string.start(quote, raw);
    place = "string";
    return i + 1;
  }

  function inString(text: string, from: number, to: number): number {
    const end = string.push(text, from, to);
    if (string.over) endString();
    return end;
  }

  function endString(): void {
    place = stack.length === 0 ? "over" : "after";
    if (stack.length === 0) state = "done";
    if (string.problem !== undefined) fail(string.problem, at);
  }

  function startKey(c: string, i: number): number {
    held = "";
    if (c === "}" || c === "]") return closeBracket(c, i);
    if (c === "," || c === "，") return i + 1;
    strict = c === '"' && strict !== false;
    const quote = c === "`" ? undefined : closingQuote(c);
    if (quote !== undefined) {
      [keyQuote, escaped, place] = [quote, false, "quotedKey"];
      return i + 1;
    }
    if (!KEY_CHARACTER.test(c)) return fail(`an unexpected ${c}`, i);
    place = "bareKey";
    return i;
  }

  function inQuotedKey(c: string, i: number): number {
    if (c === keyQuote && !escaped) {
      if (held.includes("\\")) held = unescaped(held);
      place = "colon";
      return i + 1;
    }
    escaped = c === "\\" && !escaped;
    return grow(c, i);
  }

  function afterValue(c: string, i: number): number {
    if (c === "," || c === "，") {
      place = stack.at(-1) === "{" ? "key" : "value";
      return i + 1;
    }
    if (CLOSED_BY[c] !== undefined) return closeBracket(c, i);
    if (sink.satisfied?.(c)) {
      state = "done";
      return i;
    }
    if (WORD_END.test(c) && !`{["'`.includes(c)) return fail(`an unexpected ${c}`, i);
    place = stack.at(-1) === "{" ? "key" : "value"; // a forgotten comma
    return i;
  }

  /** A bracket also closes those inside it that were forgotten. */
  function closeBracket(c: string, i: number): number {
    const opened = stack.lastIndexOf(CLOSED_BY[c] ?? "");
    if (opened < 0) return fail(`an unexpected ${c}`, i);
    while (stack.length > opened) closeOne();
    if (stack.length === 0) state = "done";
    return i + 1;
  }

  function closeOne(): void {
    stack.pop();
    place = stack.length === 0 ? "over" : "after";
    sink.close();
  }

  function endWord(c: string, i: number): number {
    if ((c === '"' || c === "'") && /^[rbuf]{1,2}$/i.test(held)) return startString(c, /r/i.test(held), i);
    if (!sendWord()) return fail(`${held} stands without quotes`, i);
    return i;
  }

  function sendWord(): boolean {
    const value = wordValue(held);
    if (value === undefined) return false;
    place = stack.length === 0 ? "over" : "after";
    sink.scalar(value);
    if (stack.length === 0) state = "done";
    return true;
  }

  function startComment(c: string, i: number): number {
    [comment, before, place] = [c, place, "comment"];
    return i + 1;
  }

  function inComment(c: string, i: number): number {
    if (comment === "/" && c !== "/" && c !== "*") return fail("an unexpected /", i);
    const block = comment.startsWith("/*");
    if (block ? comment.endsWith("*") && c === "/" && comment.length > 2 : c === "\n") place = before;
    comment = comment.length < 2 ? comment + c : comment.slice(0, 2) + c;
    return i + 1;
  }

  /** Behind a mistake only brackets are counted, so that the end is found. */
  function skip(text: string, i: number): number {
    const c = text[i] as string;
    if (stack.length === 0) {
      state = "done";
      return i;
    }
    if (escaped) escaped = false;
    else if (brokenString) {
      if (c === "\\") escaped = true;
      else if (c === '"') brokenString = false;
    } else if (c === '"') brokenString = true;
    else if (until.includes(c)) {
      state = "paused";
      return i;
    } else if (c === "{" || c === "[") stack.push(c);
    else if (c === "}" || c === "]") stack.pop();
    if (stack.length === 0) state = "done";
    return i + 1;
  }

  function fail(why: string, i: number): number {
    problem ??= why;
    [brokenString, escaped, halted] = [false, false, true];
    if (stack.length === 0) state = "done";
    return i;
  }

  function end(): void {
    if (state === "done") return;
    if (problem === undefined) endOpen();
    if (problem !== undefined) {
      state = "done";
      return;
    }
    const closable = place === "after" || place === "key" || place === "over" || (place === "value" && "[(".includes(stack.at(-1) ?? "{"));
    while (closable && stack.length > 0) closeOne();
    state = closable ? "done" : "cut";
  }

  /** What was being read is whole if nothing else comes: a word, or a string behind its quote. */
  function endOpen(): void {
    if (place === "string") {
      string.end();
      if (string.over) endString();
    } else if (place === "word" && !sendWord()) problem = `${held} stands without quotes`;
  }
}
