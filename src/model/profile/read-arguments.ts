import type { Json, JsonObject } from "../../core/json.ts";
import { jsonWriter } from "./json-writer.ts";
import type { ValueReader, ValueSink } from "./value.ts";
import { valueReader } from "./value-reader.ts";

/** What came of a call's arguments. `raw` is what stood there instead. */
export type ArgumentsRead = { value: JsonObject } | { problem: string; raw?: string };

export type ArgumentsSink = ValueSink & { result(): ArgumentsRead };

/** JSON in a string in a string is as deep as anybody was seen to go. */
const LAYERS = 3;

/**
 * Takes the arguments of a call as an object, as JSON in a string, as nothing at all, and gives strict JSON to `write` as
 * it comes. Anything else is not guessed at.
 */
export function readArguments(schema: JsonObject | undefined, write: (piece: string) => void): ArgumentsSink {
  const pieces: string[] = [];
  const writer = jsonWriter({
    schema,
    write(piece) {
      pieces.push(piece);
      write(piece);
    },
  });
  return layer(writer, () => JSON.parse(pieces.join("")) as JsonObject, LAYERS);
}

function layer(writer: ValueSink, whole: () => JsonObject, layers: number): ArgumentsSink {
  let depth = 0;
  let form: "nothing" | "object" | "list" | "text" | "other" = "nothing";
  let raw: string[] = [];
  let empty = true;
  let inner: { sink: ArgumentsSink; reader: ValueReader; behind: string } | undefined;
  const sink: ValueSink = {
    open(kind) {
      if (depth === 0) form = kind === "{" ? "object" : "list";
      else empty = false;
      depth += 1;
      if (form === "object") writer.open(kind);
    },
    close() {
      depth -= 1;
      if (form === "object") writer.close();
    },
    key: (name) => void (form === "object" && writer.key(name)),
    startText() {
      empty = false;
      if (depth > 0) return void (form === "object" && writer.startText());
      form = "text";
      raw = [];
      const below = layers > 1 ? layer(writer, whole, layers - 1) : undefined;
      inner = below && { sink: below, reader: valueReader(below), behind: "" };
    },
    text(piece) {
      if (depth > 0) return void (form === "object" && writer.text(piece));
      raw.push(piece);
      if (!inner) return;
      const at = inner.reader.push(piece, 0);
      if (at < piece.length && inner.behind.length < 64) inner.behind += piece.slice(at);
    },
    endText() {
      if (depth > 0) return void (form === "object" && writer.endText());
      inner?.reader.end();
    },
    scalar(value) {
      empty = false;
      if (depth > 0) void (form === "object" && writer.scalar(value));
      else if (value !== null) form = "other";
    },
    unfinished: () => inner?.reader.state === "open" && inner.reader.problem === undefined && inner.reader.depth > 0,
  };
  return { ...sink, result };

  function result(): ArgumentsRead {
    if (form === "nothing" || (form === "list" && empty)) return { value: {} };
    if (form === "object") return { value: whole() };
    if (form !== "text") return { problem: "the arguments must be an object" };
    const text = raw.join("");
    if (text.trim() === "") return { value: {} };
    const { reader, sink: below, behind } = inner ?? {};
    const problem =
      reader?.state === "cut"
        ? "the JSON in the string is cut off"
        : (reader?.problem ?? (/[^\s}\]]/.test(behind ?? "") ? "there is text behind the JSON in the string" : undefined));
    if (problem !== undefined) return { problem: `the arguments are not JSON: ${problem}`, raw: text };
    const read = below?.result() ?? { problem: "the arguments are strings in strings" };
    return "problem" in read ? { problem: read.problem, raw: text } : read;
  }
}

/** The arguments as a value: what they are, or the words that stand in their place. */
export function inputOf(read: ArgumentsRead): Json {
  return "value" in read ? read.value : (read.raw ?? null);
}
