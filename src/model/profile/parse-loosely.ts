import type { Json, JsonObject } from "../../core/json.ts";
import type { ValueSink } from "./value.ts";
import { valueReader } from "./value-reader.ts";

/** Keys with which a value could reach behind itself. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor"]);

/** A value that is all of the text, read as models write values. */
export function parseLoosely(text: string): { value: Json } | undefined {
  const built = valueBuilder();
  const reader = valueReader(built.sink);
  const end = reader.push(text, 0);
  reader.end();
  if (reader.state !== "done" || reader.problem !== undefined || text.slice(end).trim() !== "") return undefined;
  return { value: built.value() };
}

function valueBuilder(): { sink: ValueSink; value: () => Json } {
  const top: Json[] = [];
  const open: { into: Json[] | JsonObject; key: string }[] = [{ into: top, key: "" }];
  let said: string[] = [];
  const add = (value: Json) => {
    const { into, key } = open.at(-1) ?? { into: top, key: "" };
    if (Array.isArray(into)) into.push(value);
    else if (!FORBIDDEN_KEYS.has(key)) into[key] = value;
  };
  const sink: ValueSink = {
    open(kind) {
      const into = kind === "{" ? {} : [];
      add(into);
      open.push({ into, key: "" });
    },
    close: () => void open.pop(),
    key(name) {
      const level = open.at(-1);
      if (level) level.key = name;
    },
    startText() {
      said = [];
    },
    text: (piece) => void said.push(piece),
    endText: () => add(said.join("")),
    scalar: add,
  };
  return { sink, value: () => top[0] ?? null };
}
