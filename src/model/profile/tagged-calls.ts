import type { Calls } from "./calls.ts";
import type { Payload } from "./payload.ts";
import type { Tagged } from "./profile.ts";
import type { ArgumentsSink } from "./read-arguments.ts";

type Place = "name" | "between" | "key" | "value" | "over" | "failed";

export type TaggedOptions = {
  calls: Calls;
  tags: Tagged;
  /** Place in the source of an index into the text being pushed. */
  at: (i: number) => number;
};

/** The end of a tag that closes something: models mistake one for the other. */
const ANY_END = /^(?:<(?:\/(?:\w+(?:\s*>?)?)?)?)?$/;
const LONGEST_NAME = 128;
const LONGEST_KEY = 256;

/** One call written with tags. Values stand there as they are and become what the tool's schema says. Begins behind the opening of the name. */
export function taggedCalls({ calls, tags, at }: TaggedOptions): Payload {
  const { name, key, value, end } = tags;
  const closings = [value.close, `\n${value.close}`, `\r\n${value.close}`];
  let place: Place = "name";
  let sink: ArgumentsSink | undefined;
  /** What may be part of a tag, or all of a name or key. */
  let held = "";
  let first = true;
  let ended: "done" | "cut" | undefined;
  let rejected = false;
  let closed = false;
  /** A key waits for its value. */
  let keyed = false;
  /** There is an argument: otherwise there is no telling whether some were to come. */
  let filled = false;

  return {
    push(text, from) {
      let i = from;
      while (i < text.length && place !== "over" && place !== "failed" && !rejected) i = step(text, i);
      return i;
    },
    end() {
      if (place === "name") rejected = true;
      // Between arguments only the closing tags are missing.
      else if (place === "between" && filled && !keyed && (end.startsWith(held) || ANY_END.test(held))) close(undefined);
      else if (place !== "over" && place !== "failed") ended = "cut";
    },
    get state() {
      if (rejected) return "rejected";
      return place === "over" || place === "failed" ? "done" : (ended ?? "open");
    },
    get failed() {
      return place === "failed";
    },
    get committed() {
      return sink !== undefined;
    },
    attempted: true,
    get closed() {
      return closed;
    },
  };

  function step(text: string, i: number): number {
    const c = text[i] as string;
    switch (place) {
      case "name":
        return inName(c, i);
      case "between":
        return between(c, i);
      case "key":
        held += c;
        if (held.endsWith(key.close)) {
          sink?.key(held.slice(0, -key.close.length).trim());
          [held, place, keyed] = ["", "between", true];
          if (value.open === "") startValue();
        } else if (held.length > LONGEST_KEY) fail("a key without an end");
        return i + 1;
      default:
        return inValue(text, i);
    }
  }

  function inName(c: string, i: number): number {
    const over = name.close === "" ? c === "\n" || c === "<" : c === name.close;
    if (!over) {
      held += c;
      if (held.length > LONGEST_NAME || /[^\w\s.:-]/.test(c)) rejected = true;
      return i + 1;
    }
    if (!/^[\w.:-]+$/.test(held.trim())) {
      rejected = true;
      return i;
    }
    sink = calls.begin(calls.nameOf(held.trim()).name);
    sink.open("{");
    [held, place] = ["", "between"];
    return c === "<" ? i : i + 1;
  }

  /** The tag of the next key or value, or one of the ends. */
  function between(c: string, i: number): number {
    if (held === "" && /\s/.test(c)) return i + 1;
    held += c;
    const tag = (keyed ? [value.open] : [key.open, end]).find((open) => open !== "" && open.startsWith(held));
    if (tag === undefined) return atEnd(i);
    if (tag !== held) return i + 1;
    held = "";
    if (tag === key.open) place = "key";
    else if (tag === value.open) startValue();
    else close(i + 1);
    return i + 1;
  }

  /** Whatever closes something closes the frame, but for one more end of a value. */
  function atEnd(i: number): number {
    if (keyed || !ANY_END.test(held)) fail(`an unexpected ${held}`);
    else if (held === value.close) held = "";
    else if (held.endsWith(">")) {
      close(i + 1);
      closed = true;
    }
    return i + 1;
  }

  function startValue(): void {
    sink?.startText();
    [place, first, held, keyed, filled] = ["value", true, "", false, true];
  }

  /** Everything up to the closing tag, without the line break at either end. */
  function inValue(text: string, from: number): number {
    let i = from;
    if (first) {
      const c = text[i];
      first = c === "\r" && held === "";
      if (first) held = "\r";
      else if (c === "\n") held = "";
      if (first || c === "\n") return i + 1;
    }
    const flowing = held === "";
    if (flowing) while (i < text.length && text[i] !== "\n" && text[i] !== "\r" && text[i] !== "<") i += 1;
    if (i > from) {
      sink?.text(text.slice(from, i));
      return i;
    }
    const seen = held + text[i];
    if (closings.some((closing) => closing.startsWith(seen))) {
      held = seen;
      if (seen.endsWith(value.close)) {
        sink?.endText();
        [held, place] = ["", "between"];
      }
      return i + 1;
    }
    if (held === "") {
      sink?.text(seen);
      return i + 1;
    }
    sink?.text(held);
    held = "";
    return i;
  }

  function close(to: number | undefined): void {
    sink?.close();
    calls.complete(to === undefined ? undefined : at(to));
    place = "over";
  }

  function fail(problem: string): void {
    calls.spoil(problem);
    place = "failed";
  }
}
