import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isObject, type Json, sameJson } from "./json.ts";

describe("sameJson", () => {
  it("does not mind the order of keys, and minds everything else", () => {
    const same: [Json | undefined, Json | undefined][] = [
      [
        { a: 1, b: [{ c: null }] },
        { b: [{ c: null }], a: 1 },
      ],
      [undefined, undefined],
      [null, null],
      [0, -0],
      [[], []],
      [{}, {}],
      ["é", "\u00e9"],
    ];
    const different: [Json | undefined, Json | undefined][] = [
      [undefined, null],
      [null, 0],
      [{ a: 1 }, { a: "1" }],
      [3, "3"],
      [
        [1, 2],
        [2, 1],
      ],
      [[], {}],
      [{}, []],
      [[null], []],
      [{ a: null }, {}],
      [{ a: null }, { b: null }],
      [{ a: null }, { toString: null }],
      [{}, null],
      [true, 1],
      ["", false],
    ];
    for (const [a, b] of same) assert.ok(sameJson(a, b) && sameJson(b, a), JSON.stringify([a, b]));
    for (const [a, b] of different) assert.ok(!sameJson(a, b) && !sameJson(b, a), JSON.stringify([a, b]));
  });

  it("is not fooled by keys that look like a prototype's", () => {
    assert.ok(!sameJson(JSON.parse('{"__proto__":1}'), JSON.parse('{"a":1}')));
    assert.ok(!sameJson(JSON.parse('{"__proto__":{}}'), JSON.parse('{"constructor":{}}')));
    assert.ok(sameJson(JSON.parse('{"__proto__":[1]}'), JSON.parse('{"__proto__":[1]}')));
  });

  it("finds every value the same as its copy, and agrees with its text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        assert.ok(sameJson(a as Json, JSON.parse(JSON.stringify(a))));
        if (JSON.stringify(a) === JSON.stringify(b)) assert.ok(sameJson(a as Json, b as Json));
        assert.equal(sameJson(a as Json, b as Json), sameJson(b as Json, a as Json));
      }),
      { numRuns: 500 },
    );
  });
});

describe("isObject", () => {
  it("means what JSON calls an object", () => {
    assert.deepEqual([{}, { a: 1 }].map(isObject), [true, true]);
    assert.deepEqual([null, undefined, [], "", 0, true].map(isObject), [false, false, false, false, false, false]);
  });
});
