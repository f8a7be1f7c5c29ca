import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Json } from "../core/json.ts";
import { patch } from "../core/patch.ts";
import { difference } from "./difference.ts";

describe("difference", () => {
  const key = fc.constantFrom("a", "b", "c/d", "e~f", "");
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 1, 2, "x"),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { noNullPrototype: true }),
    ),
  }));

  it("leads from any document to any other", () => {
    fc.assert(fc.property(value, value, (before, after) => assert.deepEqual(patch(before, difference(before, after)), after)));
  });

  it("is nothing between equals, and what was added where a list has grown", () => {
    const list = [{ a: 1 }, { a: 2 }];
    assert.deepEqual(difference({ list }, structuredClone({ list })), []);
    assert.deepEqual(difference({ list }, { list: [...structuredClone(list), { a: 3 }] }), [
      { op: "add", path: "/list/-", value: { a: 3 } },
    ]);
  });

  it("is the whole where a list was cut at its front", () => {
    const list = Array.from({ length: 10 }, (_, i) => ({ id: i, text: String(i), more: i }));
    assert.deepEqual(difference({ list }, { list: list.slice(1) }), [{ op: "replace", path: "/list", value: list.slice(1) }]);
  });
});
