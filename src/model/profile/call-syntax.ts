import type { Calls } from "./calls.ts";
import type { Payload } from "./payload.ts";
import type { ArgumentsSink } from "./read-arguments.ts";
import type { ValueReader } from "./value.ts";
import { valueReader } from "./value-reader.ts";

const NAME_CHARACTER = /[\w.:-]/;
const TOKEN_CHARACTER = /[\w.+-]/;
const LONGEST_NAME = 128;

type Place = "name" | "parenthesis" | "argument" | "token" | "equals" | "value" | "after" | "over" | "rejected" | "failed";

/** One call as `name(key="value", …)`. With `known`, only of a tool there is; otherwise any name before a parenthesis is one. */
export function callSyntax({ calls, known, at }: { calls: Calls; known: boolean; at: (i: number) => number }): Payload {
  let place: Place = "name";
  let word = "";
  /** `print(` stands before it, as Gemma and Gemini like to write. */
  let printed = false;
  let position = 0;
  let parameters: string[] = [];
  let sink: ArgumentsSink | undefined;
  let opened = false;
  let reader: ValueReader | undefined;
  let ended: "done" | "cut" | undefined;
  let paused = false;

  return {
    push(text, from) {
      paused = false;
      let i = from;
      while (i < text.length && place !== "over" && place !== "rejected" && place !== "failed" && !paused) i = step(text, i);
      return i;
    },
    end() {
      if (place === "over" || place === "failed") ended = "done";
      else if (place === "name" || place === "parenthesis") place = "rejected";
      else ended = "cut"; // an argument may be missing: there is no telling
    },
    get state() {
      if (place === "rejected") return "rejected";
      return place === "over" || place === "failed" ? "done" : (ended ?? (paused ? "paused" : "open"));
    },
    get failed() {
      return place === "failed";
    },
    get committed() {
      return sink !== undefined;
    },
    get attempted() {
      return sink !== undefined;
    },
  };

  function step(text: string, i: number): number {
    const c = text[i] as string;
    if (place === "value") return inValue(text, i);
    if (place === "name") return inName(c, i);
    if (place === "token" && TOKEN_CHARACTER.test(c)) {
      word += c;
      return i + 1;
    }
    if (/\s/.test(c)) {
      if (place === "token") place = "equals";
      if (place === "parenthesis" && c === "\n") return unnamed(i);
      return i + 1;
    }
    if (c === "<" || c === "&") {
      paused = true;
      return i;
    }
    switch (place) {
      case "parenthesis":
        return behindName(c, i);
      case "argument":
        if (c === ")") return close(i);
        if (c === ",") return i + 1;
        if (/[A-Za-z_]/.test(c)) {
          [place, word] = ["token", c];
          return i + 1;
        }
        positional(c);
        return i;
      case "token":
      case "equals":
        return afterToken(c, i);
      case "after":
        if (c === ")") return close(i);
        if (c !== ",") return fail(`an unexpected ${c}`, i);
        place = "argument";
        return i + 1;
      default:
        return i + 1;
    }
  }

  function inName(c: string, i: number): number {
    if (NAME_CHARACTER.test(c) && word.length < LONGEST_NAME) {
      word += c;
      return i + 1;
    }
    if (word === "" && /\s/.test(c)) return i + 1;
    if (word === "" || (known && !calls.nameOf(word).known)) return unnamed(i);
    place = "parenthesis";
    return i;
  }

  /** Behind `print` and behind the name of a variable the name is still to come. */
  function behindName(c: string, i: number): number {
    const prints = c === "(" && !printed && word === "print" && !calls.nameOf(word).known;
    if (prints || (c === "=" && !known)) {
      [place, word, printed] = ["name", "", prints || printed];
      return i + 1;
    }
    if (c !== "(") return unnamed(i);
    begin();
    return i + 1;
  }

  /** There is no name here: it is no call, or one of `print` itself. */
  function unnamed(i: number): number {
    if (!printed) return stop("rejected", i);
    const variable = word !== "";
    word = "print";
    begin();
    return variable ? fail("a value without a name", i) : i;
  }

  function begin(): void {
    const { name } = calls.nameOf(word);
    parameters = calls.parametersOf(name);
    sink = calls.begin(name);
    place = "argument";
  }

  /** `key=…` names an argument; any other word is a value without a name. */
  function afterToken(c: string, i: number): number {
    if (c === "=" || c === ":") {
      key(word);
      startValue();
      return i + 1;
    }
    const token = word;
    positional(token);
    if (place === "value") reader?.push(token, 0);
    return i;
  }

  function key(name: string): void {
    if (!opened) sink?.open("{");
    opened = true;
    sink?.key(name);
  }

  function startValue(): void {
    if (sink) reader = valueReader(sink, { until: "<&" });
    place = "value";
  }

  /** The n-th value without a name is the n-th parameter; a lone object is all arguments at once. */
  function positional(first: string): void {
    if (first !== "{" || opened) {
      const name = parameters[position++];
      if (name === undefined) {
        fail("a value without a name", 0);
        return;
      }
      key(name);
    }
    startValue();
  }

  function inValue(text: string, i: number): number {
    if (!reader) return i;
    const end = reader.push(text, i);
    if (reader.problem !== undefined) return fail(reader.problem, end);
    if (reader.state === "paused") paused = true;
    if (reader.state === "done") place = "after";
    return end;
  }

  function close(i: number): number {
    if (opened) sink?.close();
    calls.complete(at(i + 1));
    return stop("over", i + 1);
  }

  function fail(problem: string, i: number): number {
    calls.spoil(problem);
    return stop("failed", i);
  }

  function stop(where: Place, i: number): number {
    place = where;
    return i;
  }
}
