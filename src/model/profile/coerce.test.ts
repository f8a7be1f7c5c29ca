import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../core/json.ts";
import { coerce } from "./coerce.ts";

describe("coerce", () => {
  const cases: [string, Json, Json, Json][] = [
    ["a number in a string", "5", { type: "number" }, 5],
    ["no number", "five", { type: "number" }, "five"],
    ["a broken integer", "5.5", { type: "integer" }, "5.5"],
    ["a Python boolean", "True", { type: "boolean" }, true],
    ["a number where a text is wanted", 5, { type: "string" }, "5"],
    ["JSON in a string", '{"a":[1]}', { type: "object" }, { a: [1] }],
    ["a Python list in a string", "['a', 1]", { type: "array" }, ["a", 1]],
    ["blanks and case around a choice", " Celsius ", { enum: ["celsius", "kelvin"] }, "celsius"],
    [
      "the depths",
      { list: ["1", "2"] },
      { type: "object", properties: { list: { type: "array", items: { type: "integer" } } } },
      { list: [1, 2] },
    ],
    ["what may be a text as well", "5", { anyOf: [{ type: "string" }, { type: "number" }] }, "5"],
    ["what may be nothing", "5", { anyOf: [{ type: "null" }, { type: "number" }] }, 5],
    ["a reference", { a: "1" }, { properties: { a: { $ref: "#/$defs/n" } }, $defs: { n: { type: "number" } } }, { a: 1 }],
    ["a reference to itself", { a: { a: "x" } }, { properties: { a: { $ref: "#" } } }, { a: { a: "x" } }],
    ["what cannot be", [1], { type: "number" }, [1]],
  ];
  for (const [name, value, schema, expected] of cases) it(name, () => assert.deepEqual(coerce(value, schema), expected));
});
