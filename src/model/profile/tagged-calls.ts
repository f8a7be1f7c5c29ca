import type { Calls } from "./calls.ts";
import type { Payload } from "./payload.ts";
import type { Tagged } from "./profile.ts";
import type { ArgumentsSink } from "./read-arguments.ts";

type Place = "name" | "between" | "key" | "value" | "over" | "failed";

export type TaggedOptions = {
  calls: Calls;
  tags: Tagged;
  /** Closes the frame around it. */
  frameEnd: string;
  /** Place in the source of an index into the text being pushed. */
  at: (i: number) => number;
};

const LONGEST_NAME = 128;
const LONGEST_KEY = 256;

/** One call written with tags. Values stand there as they are and become what the tool's schema says. Begins behind the opening of the name. */
export function taggedCalls({ calls, tags, frameEnd, at }: TaggedOptions): Payload {
  const { name, key, value, end } = tags;
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

  return {
    push(text, from) {
      let i = from;
      while (i < text.length && place !== "over" && place !== "failed" && !rejected) i = step(text, i);
      return i;
    },
    end() {
      if (place === "name") rejected = true;
      // Between arguments only the closing tags are missing.
      else if (place === "between" && !keyed && (end.startsWith(held) || frameEnd.startsWith(held))) close(undefined);
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
    const tag = (keyed ? [value.open] : [key.open, end, frameEnd]).find((open) => open !== "" && open.startsWith(held));
    if (tag === undefined) fail(`an unexpected ${held}`);
    if (tag !== held) return i + 1;
    held = "";
    if (tag === key.open) place = "key";
    else if (tag === value.open) startValue();
    else close(i + 1);
    closed = tag === frameEnd;
    return i + 1;
  }

  function startValue(): void {
    sink?.startText();
    [place, first, held, keyed] = ["value", true, "", false];
  }

  /** Everything up to the closing tag, without the line break at either end. */
  function inValue(text: string, from: number): number {
    let i = from;
    if (first) {
      first = false;
      if (text[i] === "\n") return i + 1;
    }
    const closing = `\n${value.close}`;
    const flowing = held === "";
    if (flowing) while (i < text.length && text[i] !== "\n" && text[i] !== "<") i += 1;
    if (i > from) {
      sink?.text(text.slice(from, i));
      return i;
    }
    const seen = held + text[i];
    if (closing.startsWith(seen) || value.close.startsWith(seen)) {
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
