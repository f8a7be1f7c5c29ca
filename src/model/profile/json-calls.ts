import { type Calls, INVENTED } from "./calls.ts";
import type { Payload } from "./payload.ts";
import { type ArgumentsSink, readArguments } from "./read-arguments.ts";
import type { ValueSink } from "./value.ts";
import { valueReader } from "./value-reader.ts";

export type JsonCallsOptions = {
  calls: Calls;
  /** Stands in a frame of its own: it is a call, whatever it names. */
  framed: boolean;
  /** Under this key stands a list of calls. */
  envelope?: string | undefined;
  /** Under this key stands a result, which no model can know. */
  result?: string | undefined;
  /** Place in the source of an index into the text being pushed. */
  at: (i: number) => number;
  /** Before it is certain that this is a call, this many characters are held back. */
  patience?: number;
};

/** What a key says. Models that forget the protocol fall back on what they have seen elsewhere. */
const MEANINGS = new Map<string, Meaning>([
  ...["name", "tool", "tool_name", "function_name", "action"].map((key) => [key, "name"] as const),
  ...["arguments", "parameters", "args", "params", "input", "tool_input", "action_input"].map((key) => [key, "arguments"] as const),
  ...["function", "tool_call", "function_call"].map((key) => [key, "function"] as const),
  ...["id", "call_id", "tool_call_id", "toolCallId"].map((key) => [key, "id"] as const),
  ...["type", "role"].map((key) => [key, "type"] as const),
  ...["content", "index"].map((key) => [key, "blank"] as const),
  ...["thought", "thoughts", "thinking", "reasoning"].map((key) => [key, "thought"] as const),
]);
/** The keys with which a call can begin. */
export const CALL_KEYS: readonly string[] = [...MEANINGS.keys()];
/** What `type` and `role` may say where nothing else says that this is a call. */
const KINDS = new Set(["function", "tool_call", "tool_use", "function_call", "assistant"]);

type Meaning = "name" | "arguments" | "function" | "id" | "type" | "blank" | "thought";
type Role = Meaning | "root" | "envelope" | "skip" | "result";
type Container = "list" | "call" | "function" | "skip";

/** The call that is being read. Its arguments may stand before its name. */
type Element = { id: string | undefined; name: string | undefined; sink: ArgumentsSink | undefined; early: boolean };

/** No name and no id that is worth anything is longer. */
const LONGEST_WORD = 256;
const NAME = /^[\w.:-]{1,128}$/;
const PATIENCE = 65_536;

/** Calls as JSON: in an envelope, in a list or bare; the arguments as an object or as JSON in a string. */
export function jsonCalls({ calls, framed, envelope, result, at, patience = PATIENCE }: JsonCallsOptions): Payload {
  const containers: Container[] = [];
  let next: Role = "root";
  let element: Element | undefined;
  let trusted = framed;
  let committed = false;
  let rejected = false;
  let forged = false;
  let empty = false;
  let more = false;
  /** Brackets open inside the arguments; -1 outside of them. */
  let depth = -1;
  let said: string[] | undefined;
  let length = 0;
  let role: Role = "skip";
  let read = 0;
  let judged = false;
  let ending = false;
  /** Brackets are closed for the model, but not where arguments may be missing. */
  let broken = false;
  const reader = valueReader(toSink(), { until: framed ? "<&" : "" });

  return {
    push(text, from) {
      let i = from;
      do {
        const certain = committed || forged || framed;
        const next = reader.push(text, i, certain ? text.length : Math.min(text.length, i + patience - read));
        read += next - i;
        i = next;
        judge();
      } while (i < text.length && !rejected && reader.state === "open");
      return i;
    },
    end() {
      [ending, broken] = [true, depth > 0 && reader.dangling];
      if (broken) return;
      reader.end();
      judge();
    },
    get state() {
      if (rejected) return "rejected";
      return broken ? "cut" : reader.state;
    },
    get committed() {
      return committed;
    },
    get forged() {
      return forged;
    },
    get attempted() {
      return framed || trusted;
    },
    foreign: () => (reader.strict ? { depth: reader.depth, quoted: reader.quoted } : undefined),
  };

  /** What a mistake, the end or too long a wait means. */
  function judge(): void {
    if (forged || rejected) return;
    if (reader.problem !== undefined && !judged) {
      judged = true;
      if (committed) calls.spoil(reader.problem);
      else if (!framed) reject();
    }
    if (committed || framed) return;
    if (read >= patience || (reader.state === "done" && (!empty || more))) reject();
  }

  function toSink(): ValueSink {
    return {
      open(kind) {
        if (depth >= 0) {
          depth += 1;
          return element?.sink?.open(kind);
        }
        const role = take();
        if (role === "arguments") {
          startArguments();
          depth = 1;
          return element?.sink?.open(kind);
        }
        containers.push(containerFor(role, kind));
      },
      close() {
        if (depth > 0) {
          depth -= 1;
          element?.sink?.close();
          if (depth === 0) depth = -1;
          return;
        }
        const container = containers.pop();
        if (container === "call") endElement();
        else if (container === "list" && !element) empty = !committed;
      },
      key(name) {
        if (depth > 0) return element?.sink?.key(name);
        next = roleOf(name);
      },
      startText() {
        if (depth > 0) return element?.sink?.startText();
        role = take();
        if (role === "arguments") {
          startArguments();
          return element?.sink?.startText();
        }
        if (!committed && (role === "root" || role === "envelope")) reject();
        said = [];
        length = 0;
      },
      text(piece) {
        if (depth > 0 || role === "arguments") return element?.sink?.text(piece);
        if (role === "skip" || role === "result" || role === "thought") return;
        if (role === "blank" && !committed && !trusted) return reject();
        length += piece.length;
        if (length <= LONGEST_WORD) said?.push(piece);
        else if (!committed && !trusted) reject();
      },
      endText() {
        if (depth > 0) return element?.sink?.endText();
        if (role === "arguments") {
          role = "skip";
          return element?.sink?.endText();
        }
        if (length <= LONGEST_WORD) endWord(said?.join("") ?? "");
      },
      scalar(value) {
        if (depth > 0) return element?.sink?.scalar(value);
        const role = take();
        if (role === "arguments") {
          startArguments();
          element?.sink?.scalar(value);
        } else if (!committed && !framed && role !== "id" && role !== "blank" && role !== "thought" && role !== "skip") reject();
      },
      satisfied: (c) => committed && !framed && element === undefined && !(containers.length === 1 ? '"' : '"{[').includes(c),
      careful: () => !committed && !forged && !framed,
      unfinished: () => element?.sink?.unfinished?.() ?? false,
    };
  }

  /** What the value that begins now is for. */
  function take(): Role {
    const role = containers.at(-1) === "list" ? "root" : next;
    next = "skip";
    return role;
  }

  function containerFor(role: Role, kind: "{" | "["): Container {
    if (role === "root") {
      if (kind === "{") {
        if (containers.length > 0) calls.confirm();
        element = { id: undefined, name: undefined, sink: undefined, early: false };
        return "call";
      }
      if (containers.length === 0) return "list";
    }
    if (role === "envelope") {
      if (kind === "[") [trusted, element] = [true, undefined];
      else element = { id: undefined, name: undefined, sink: undefined, early: false }; // one call in place of a list
      return kind === "[" ? "list" : "call";
    }
    if (role === "function" && kind === "{") return "function";
    if (role !== "skip" && role !== "result" && !committed && !framed) reject();
    return "skip";
  }

  function roleOf(key: string): Role {
    const container = containers.at(-1);
    if (container !== "call" && container !== "function") return "skip";
    if (container === "call" && (containers.length === 1 || (containers.length === 2 && containers[0] === "list"))) {
      if (key === envelope) return "envelope";
      if (key === result && committed) calls.report("forged_result", INVENTED);
      else if (key === result) {
        forged = true;
        return "result";
      }
      if (trusted && !framed) more = true; // something stands beside the list
    }
    if (key === "result" && element?.id !== undefined && element.name === undefined && calls.has(element.id)) forged = true;
    const meaning = MEANINGS.get(key);
    if (forged || (element === undefined && trusted)) return "skip";
    if (meaning === undefined && !trusted && !committed) reject();
    return meaning === undefined || (meaning === "arguments" && element?.sink) ? "skip" : meaning;
  }

  function endWord(word: string): void {
    switch (role) {
      case "name":
      case "function":
        named(word);
        return;
      case "id":
        if (element) element.id ??= word;
        return;
      case "type":
        if (!committed && !trusted && !KINDS.has(word)) reject();
        return;
      default:
        return;
    }
  }

  function named(word: string): void {
    if (!element || element.name !== undefined) return;
    const { name, known } = calls.nameOf(word);
    if (!known && !(NAME.test(name) && (trusted || committed))) {
      if (!committed && !framed) reject();
      return;
    }
    element.name = name;
    if (trusted || element.sink) committed = true;
  }

  function startArguments(): void {
    if (!element || element.sink) return;
    if (element.name === undefined) {
      element.early = true;
      element.sink = readArguments(undefined, () => {});
      return;
    }
    committed = true;
    element.sink = calls.begin(element.name, element.id);
  }

  function endElement(): void {
    if (!element || forged || rejected) return;
    const { name, id, sink, early } = element;
    element = undefined;
    if (name === undefined || (!trusted && !committed && !sink)) {
      if (committed) calls.report("malformed_tool_call", "a call without a name");
      else if (!framed) reject();
      return;
    }
    committed = true;
    broken = ending && !sink;
    if (broken) return;
    if (early && sink) calls.whole(name, id, sink.result());
    else if (!sink) calls.begin(name, id);
    calls.complete(ending ? undefined : at(reader.at + 1));
  }

  function reject(): void {
    if (forged) return;
    rejected = true;
    reader.halt();
  }
}
