import { closingQuote, stringReader, unescaped } from "./string-reader.ts";
import type { ValueSink } from "./value-sink.ts";
import { wordValue } from "./words.ts";

export type ValueReader = {
  /** Reads on from `from`, at most up to `to`; gives the place of the first character that is not part of the value. Stops at a mistake. */
  push(text: string, from: number, to?: number): number;
  /** No more comes: closes open brackets, if that is all that is missing. */
  end(): void;
  /** Makes `push` return behind the present character. */
  halt(): void;
  /** The present character, for a sink that wants to know where it is. */
  readonly at: number;
  readonly state: ReaderState;
  /** Why it is not a value after all. It is then read to its outermost bracket without a word to the sink. */
  readonly problem: string | undefined;
  readonly depth: number;
  /** Inside a string in double quotes: where strict JSON would be, too. */
  readonly quoted: boolean;
  /** Its keys so far are those of strict JSON. */
  readonly strict: boolean;
};

/** `paused`: behind its place stands one of the `until` characters, outside of any string. */
export type ReaderState = "open" | "paused" | "done" | "cut";

/** Deeper than any honest argument, and far from where `JSON.stringify` gives up. */
const DEEPEST = 512;
const LONGEST_WORD = 64;

const BACKSLASH = 92;
const SPACE = /\s/;
const KEY_CHARACTER = /[\w$-]/;
const WORD_END = /[\s,:;{}[\]()<>"'`&]/;
const CLOSED_BY: Record<string, string> = { "}": "{", "]": "[", ")": "(" };
const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "/": "/", "\\": "\\", '"': '"', "'": "'" };
const WORDS = new Map<string, boolean | null>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null],
  ["undefined", null],
]);

type Place = "value" | "key" | "bareKey" | "quotedKey" | "colon" | "after" | "quotes" | "string" | "quote" | "word" | "comment" | "over";

/**
 * Reads one value as models write them, in any pieces, each character once: JSON, relaxed JSON and Python literals.
 * It repairs what leaves no doubt (commas, quotes, brackets) and never the end of a string.
 */
export function valueReader(sink: ValueSink, { until = "" }: { until?: string } = {}): ValueReader {
  const stack: string[] = [];
  let place: Place = "value";
  let state: ReaderState = "open";
  let problem: string | undefined;
  /** The key or word being read, or the blanks behind a quote that may end its string. */
  let held = "";
  let quote = "";
  let triple = false;
  let raw = false;
  /** Undecoded part of an escape, `\` included. */
  let escaping = "";
  /** Quotes inside the current string that should have been escaped. */
  let strays = 0;
  let run = 0;
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
    get strict() {
      return strict ?? false;
    },
    get quoted() {
      return (place === "quotedKey" || place === "string" || place === "quote") && quote === '"' && !triple;
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
      case "quotes":
        return openingQuotes(c, i);
      case "quote":
        return closingQuote(c, i);
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
        if (c !== ":") return fail("a key without a value", i);
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
    if (c === '"' || c === "'" || c === "`") return startString(c, false, i);
    if (CLOSED_BY[c] !== undefined && stack.length > 0 && stack.at(-1) !== "{") return closeBracket(c, i);
    if (WORD_END.test(c)) return fail(`an unexpected ${c}`, i);
    place = "word";
    held = c;
    return i + 1;
  }

  function startString(c: string, isRaw: boolean, i: number): number {
    sink.startText();
    [place, quote, triple, raw, strays, run] = ["quotes", c, false, isRaw, 0, 1];
    return i + 1;
  }

  /** `"` opens a string, `""` is an empty one, `"""` opens one that may hold quotes and line breaks. */
  function openingQuotes(c: string, i: number): number {
    if (c === quote && run < 3) {
      run += 1;
      if (run < 3) return i + 1;
      triple = true;
      place = "string";
      run = 0;
      return i + 1;
    }
    if (run === 2) {
      endString();
      return i;
    }
    place = "string";
    run = 0;
    return i;
  }

  function inString(text: string, from: number, to: number): number {
    if (escaping !== "") return inEscape(text[from] as string, from);
    const end = quote.charCodeAt(0);
    if (run > 0 && text.charCodeAt(from) !== end) {
      sink.text(quote.repeat(run)); // one or two quotes do not end a string that began with three
      run = 0;
    }
    let i = from;
    for (; i < to; i += 1) {
      const code = text.charCodeAt(i);
      if (code === end || code === BACKSLASH) break;
    }
    if (i > from) sink.text(text.slice(from, i));
    if (i === to) return i;
    if (text.charCodeAt(i) === BACKSLASH) {
      escaping = "\\";
      return i + 1;
    }
    if (triple) {
      run += 1;
      if (run === 3) endString();
      return i + 1;
    }
    if (stack.length === 0) {
      endString();
      return i + 1;
    }
    place = "quote";
    held = "";
    return i + 1;
  }

  function inEscape(c: string, i: number): number {
    const seen = escaping + c;
    if (raw) sink.text(seen);
    else if (seen === "\\u" || (seen.length < 6 && /^\\u[\da-f]+$/i.test(seen))) {
      escaping = seen;
      return i + 1;
    } else if (seen.length > 2) {
      const whole = /^\\u[\da-f]{4}$/i.test(seen);
      sink.text(whole ? String.fromCharCode(Number.parseInt(seen.slice(2), 16)) : escaping);
      escaping = "";
      return whole ? i + 1 : i;
    }
    // An escape JSON does not know keeps its backslash: a pattern must not change its meaning.
    else sink.text(ESCAPES[c] ?? seen);
    escaping = "";
    return i + 1;
  }

  /** A quote ends its string if what follows fits behind a string. Otherwise it should have been escaped. */
  function closingQuote(c: string, i: number): number {
    if (SPACE.test(c)) {
      held += c;
      return i + 1;
    }
    if ((c === "," || stack.includes(CLOSED_BY[c] ?? "")) && !(strays > 0 && sink.unfinished?.())) {
      endString();
      return i;
    }
    if (c === quote) return fail("two strings in a row", i); // a forgotten comma, or quotes that should have been escaped
    sink.text(quote + held);
    strays += 1;
    place = "string";
    return i;
  }

  function endString(): void {
    place = stack.length === 0 ? "over" : "after";
    sink.endText();
    if (stack.length === 0) state = "done";
    if (strays % 2 === 0) return;
    problem = "quotes inside a string are not escaped";
    halted = true;
  }

  function startKey(c: string, i: number): number {
    held = "";
    if (c === "}" || c === "]") return closeBracket(c, i);
    if (c === ",") return i + 1;
    strict = c === '"' && strict !== false;
    if (c === '"' || c === "'") {
      quote = c;
      triple = false;
      escaping = "";
      place = "quotedKey";
      return i + 1;
    }
    if (!KEY_CHARACTER.test(c)) return fail(`an unexpected ${c}`, i);
    place = "bareKey";
    return i;
  }

  function inQuotedKey(c: string, i: number): number {
    if (escaping !== "") {
      escaping = "";
      return grow(ESCAPES[c] ?? `\\${c}`, i);
    }
    if (c === "\\") {
      escaping = c;
      return i + 1;
    }
    if (c !== quote) return grow(c, i);
    place = "colon";
    return i + 1;
  }

  function afterValue(c: string, i: number): number {
    if (c === ",") {
      place = stack.at(-1) === "{" ? "key" : "value";
      return i + 1;
    }
    if (CLOSED_BY[c] !== undefined) return closeBracket(c, i);
    if (c !== '"' && sink.satisfied?.()) {
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
    const value = WORDS.has(held) ? WORDS.get(held) : toNumber(held);
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
    if (escaping !== "") escaping = "";
    else if (brokenString) {
      if (c === "\\") escaping = c;
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
    brokenString = false;
    escaping = "";
    halted = true;
    if (stack.length === 0) state = "done";
    return i;
  }

  function end(): void {
    if (state === "done") return;
    if (problem !== undefined) {
      state = "done";
      return;
    }
    if (place === "quote" || (place === "quotes" && run === 2)) endString();
    else if (place === "word" && !sendWord()) problem = `${held} stands without quotes`;
    const closable = place === "after" || place === "key" || place === "over" || (place === "value" && "[(".includes(stack.at(-1) ?? "{"));
    if (!closable || problem !== undefined) {
      state = problem === undefined ? "cut" : "done";
      return;
    }
    while (stack.length > 0) closeOne();
    state = "done";
  }
}
