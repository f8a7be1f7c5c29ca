import type { Json, JsonObject } from "../../core/json.ts";
import { coerce, flows, propertyOf, resolve } from "./coerce.ts";
import { FORBIDDEN_KEYS } from "./parse-loosely.ts";
import type { ValueSink } from "./value.ts";

const SPECIAL = /["\\\p{Cc}\p{Cs}]/u;

type Level = { kind: "{" | "["; empty: boolean; schema: JsonObject | undefined };

/**
 * Writes a value as strict JSON while it is being read. With a schema, strings and objects that fit flow through;
 * whatever must be converted first is held until it is whole.
 */
export function jsonWriter({ write, schema: root }: { write: (piece: string) => void; schema?: JsonObject | undefined }): ValueSink {
  const levels: Level[] = [];
  let next: Json | undefined = root;
  let held: { level: number; schema: JsonObject | undefined; pieces: string[] } | undefined;
  let skipping: number | undefined;

  return {
    open(kind) {
      const schema = begin(kind === "{" ? "object" : "array");
      levels.push({ kind, empty: true, schema });
      put(kind);
    },
    close() {
      const level = levels.pop();
      put(level?.kind === "{" ? "}" : "]");
      end();
    },
    key(name) {
      if (skipping !== undefined) return;
      if (FORBIDDEN_KEYS.has(name)) {
        skipping = levels.length;
        return;
      }
      const level = levels.at(-1);
      put(`${level?.empty ? "" : ","}${JSON.stringify(name)}:`);
      if (level) level.empty = false;
      next = propertyOf(level?.schema, name);
    },
    startText() {
      begin("string");
      put('"');
    },
    text: (piece) => put(SPECIAL.test(piece) ? JSON.stringify(piece).slice(1, -1) : piece),
    endText() {
      put('"');
      end();
    },
    scalar(value) {
      const schema = begin();
      put(JSON.stringify(held ? value : coerce(value, schema, root)));
      end();
    },
  };

  function put(piece: string): void {
    if (skipping !== undefined) return;
    if (held) held.pieces.push(piece);
    else write(piece);
  }

  /** A value begins: the comma before it, its schema, and whether it can flow. */
  function begin(kind?: "string" | "object" | "array"): JsonObject | undefined {
    const level = levels.at(-1);
    if (level?.kind === "[") {
      if (!level.empty) put(",");
      level.empty = false;
      next = level.schema?.["items"];
    }
    const schema = resolve(next, root);
    next = undefined;
    if (kind && !held && skipping === undefined && !flows(schema, kind)) held = { level: levels.length, schema, pieces: [] };
    return schema;
  }

  function end(): void {
    if (skipping === levels.length) skipping = undefined;
    if (held?.level !== levels.length) return;
    const { pieces, schema } = held;
    held = undefined;
    put(JSON.stringify(coerce(JSON.parse(pieces.join("")) as Json, schema, root)));
  }
}
