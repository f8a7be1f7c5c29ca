import type { ValueSink } from "./value.ts";

/** Reads the strings of a value, one at a time, in any pieces. The sink hears what they hold, decoded. */
export type StringReader = {
  /** A string begins behind this quote. `raw`: it knows no escapes. */
  start(quote: string, raw: boolean): void;
  /** Reads on up to `to`; gives the place of the first character that is not part of the string. */
  push(text: string, from: number, to: number): number;
  /** No more comes. */
  end(): void;
  readonly over: boolean;
  /** Why it is not a string after all. */
  readonly problem: string | undefined;
  /** It is one that strict JSON would read as a string, too. */
  readonly strict: boolean;
};

type Place = "opening" | "inside" | "quote" | "over";

const BACKSLASH = 92;
const SPACE = /\s/;
const COMMA = "，";
const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "/": "/", "\\": "\\", '"': '"', "'": "'" };
/** Quotes by which a string may open, and which one then closes it. */
const CLOSING: Record<string, string> = { '"': '"', "'": "'", "`": "`", "“": "”", "”": "”", "‘": "’", "’": "’" };

/** The quote that ends what this one opens, if it opens anything. */
export function closingQuote(c: string): string | undefined {
  return CLOSING[c];
}

/** A string without its escapes. One that JSON does not know keeps its backslash: a pattern must not change its meaning. */
export function unescaped(text: string): string {
  return text.replaceAll(/\\(u[\da-f]{4}|[\s\S])/gi, (seen, rest: string) =>
    rest.length > 1 ? String.fromCharCode(Number.parseInt(rest.slice(1), 16)) : (ESCAPES[rest] ?? seen),
  );
}

/** `closes`: whether this character may stand behind a string. Without brackets around it (`alone`) the next quote is its end. */
export function stringReader(sink: ValueSink, { closes, alone }: { closes: (c: string) => boolean; alone: () => boolean }): StringReader {
  let place: Place = "over";
  let problem: string | undefined;
  let quote = "";
  let triple = false;
  let raw = false;
  /** Undecoded part of an escape, `\` included. */
  let escaping = "";
  /** Quotes inside the string that should have been escaped. */
  let strays = 0;
  let run = 0;
  /** Blanks behind a quote that may end the string. */
  let held = "";

  return {
    start(opened, isRaw) {
      sink.startText();
      [place, problem, quote, triple, raw, escaping, strays, run] = [
        "opening",
        undefined,
        CLOSING[opened] ?? opened,
        false,
        isRaw,
        "",
        0,
        1,
      ];
    },
    push(text, from, to) {
      let i = from;
      while (i < to && place !== "over") {
        if (place === "inside") i = inside(text, i, to);
        else i = place === "opening" ? openingQuotes(text[i] as string, i) : behindQuote(text[i] as string, i);
      }
      return i;
    },
    end() {
      if (place === "quote" || (place === "opening" && run === 2)) endString();
    },
    get over() {
      return place === "over";
    },
    get problem() {
      return problem;
    },
    get strict() {
      return (place === "inside" || place === "quote") && quote === '"' && !triple;
    },
  };

  /** `"` opens a string, `""` is an empty one, `"""` opens one that may hold quotes and line breaks. */
  function openingQuotes(c: string, i: number): number {
    if (c === quote) {
      run += 1;
      triple = run === 3;
      if (triple) [place, run] = ["inside", 0];
      return i + 1;
    }
    if (run === 2 && alone()) endString();
    else [place, run, held] = [run === 2 ? "quote" : "inside", 0, ""];
    return i;
  }

  function inside(text: string, from: number, to: number): number {
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
    if (text.charCodeAt(i) === BACKSLASH) escaping = "\\";
    else if (triple) {
      run += 1;
      if (run === 3) endString();
    } else if (alone()) endString();
    else [place, held] = ["quote", ""];
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
      sink.text(whole ? unescaped(seen) : escaping);
      escaping = "";
      return whole ? i + 1 : i;
    } else sink.text(ESCAPES[c] ?? seen);
    escaping = "";
    return i + 1;
  }

  /** A quote ends its string if what follows fits behind a string. Otherwise it should have been escaped. */
  function behindQuote(c: string, i: number): number {
    if (SPACE.test(c) || (c === COMMA && !held.includes(COMMA))) {
      held += c;
      return i + 1;
    }
    const opens = CLOSING[c] !== undefined;
    const ends = held.includes(COMMA) ? opens : c === "," || closes(c);
    // Between two quotes with a line break between only the comma is missing.
    if ((ends && !(strays > 0 && sink.unfinished?.())) || (opens && strays === 0 && held.includes("\n"))) {
      endString();
      return i;
    }
    if (c === quote && held === "" && strays % 2 === 1) {
      sink.text(quote); // `"say "hello""`: the one before belongs to the text
      strays += 1;
      return i + 1;
    }
    if (c === quote || (c === "+" && strays % 2 === 0)) {
      problem = c === "+" ? "a sum in place of a string" : "two strings in a row"; // a forgotten comma, or quotes that should have been escaped
      place = "over";
      return i;
    }
    sink.text(quote + held);
    strays += 1;
    place = "inside";
    return i;
  }

  function endString(): void {
    place = "over";
    sink.endText();
    if (strays % 2 !== 0) problem = "quotes inside a string are not escaped";
  }
}
