import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Json } from "./json.ts";
import { patch, segment } from "./patch.ts";

describe("patch", () => {
  it("does what RFC 6902 shows in its appendix", () => {
    const cases: [Json, Json[], Json][] = [
      [{ foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { foo: "bar", baz: "qux" }],
      [{ foo: ["bar", "baz"] }, [{ op: "add", path: "/foo/1", value: "qux" }], { foo: ["bar", "qux", "baz"] }],
      [{ foo: "bar", baz: "qux" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
      [{ foo: ["bar", "qux", "baz"] }, [{ op: "remove", path: "/foo/1" }], { foo: ["bar", "baz"] }],
      [{ foo: "bar", baz: "qux" }, [{ op: "replace", path: "/baz", value: "boo" }], { foo: "bar", baz: "boo" }],
      [
        { foo: { bar: 1, waldo: 2 }, qux: {} },
        [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
        { foo: { bar: 1 }, qux: { thud: 2 } },
      ],
      [
        { foo: ["all", "grass", "cows", "eat"] },
        [{ op: "move", from: "/foo/1", path: "/foo/3" }],
        { foo: ["all", "cows", "eat", "grass"] },
      ],
      [{ baz: "qux", foo: ["a", 2, "c"] }, [{ op: "test", path: "/foo/1", value: 2 }], { baz: "qux", foo: ["a", 2, "c"] }],
      [{ foo: "bar" }, [{ op: "add", path: "/child", value: { g: {} } }], { foo: "bar", child: { g: {} } }],
      [{ foo: "bar" }, [{ op: "add", path: "/baz", value: "qux", xyz: 123 }], { foo: "bar", baz: "qux" }],
      [{ "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
      [{ foo: ["bar"] }, [{ op: "add", path: "/foo/-", value: ["abc"] }], { foo: ["bar", ["abc"]] }],
      [{ a: 1 }, [{ op: "copy", from: "/a", path: "/b" }], { a: 1, b: 1 }],
      [{ a: 1 }, [{ op: "add", path: "/a", value: null }], { a: null }],
      [
        { a: [1] },
        [
          { op: "replace", path: "/a/0", value: 2 },
          { op: "add", path: "/a/1", value: 3 },
        ],
        { a: [2, 3] },
      ],
      [
        { a: { b: 1 } },
        [
          { op: "test", path: "/a", value: { b: 1 } },
          { op: "move", from: "/a", path: "/a" },
        ],
        { a: { b: 1 } },
      ],
      [{ "": { "": 1 } }, [{ op: "replace", path: "//", value: 2 }], { "": { "": 2 } }],
    ];
    for (const [before, ops, after] of cases) assert.deepEqual(patch(before, ops), after, JSON.stringify(ops));
  });

  it("puts a whole new document in place of the old", () => {
    assert.deepEqual(patch({ a: 1 }, [{ op: "replace", path: "", value: [1] }]), [1]);
    assert.deepEqual(patch({ a: 1 }, [{ op: "add", path: "", value: "x" }]), "x");
    assert.deepEqual(patch({ a: 1 }, [{ op: "remove", path: "" }]), null);
  });

  it("reaches keys with slashes and tildes", () => {
    for (const key of ["a/b", "m~n", "~1", "~0", "/", "~", "~01", "", "-", "0", " ", "ключ"]) {
      assert.deepEqual(patch({}, [{ op: "add", path: `/${segment(key)}`, value: 1 }]), { [key]: 1 });
    }
  });

  it("refuses what does not fit, and names it", () => {
    const document = { a: [1, 2], b: { c: null }, n: null, s: "text" };
    const wrong: Json[] = [
      { op: "add", path: "/a/3", value: 1 },
      { op: "add", path: "/a/-1", value: 1 },
      { op: "add", path: "/a/01", value: 1 },
      { op: "add", path: "/a/1e0", value: 1 },
      { op: "add", path: "/a/x", value: 1 },
      { op: "add", path: "/a/-/b", value: 1 },
      { op: "add", path: "/x/y", value: 1 },
      { op: "add", path: "/n/y", value: 1 },
      { op: "add", path: "/s/0", value: 1 },
      { op: "add", path: "/b" },
      { op: "replace", path: "/b" },
      { op: "test", path: "/n" },
      { op: "replace", path: "/x", value: 1 },
      { op: "replace", path: "/a/2", value: 1 },
      { op: "replace", path: "/a/-", value: 1 },
      { op: "remove", path: "/x" },
      { op: "remove", path: "/a/2" },
      { op: "remove", path: "/a/-" },
      { op: "move", from: "/x", path: "/y" },
      { op: "move", from: "/b", path: "/b/c" },
      { op: "move", from: "/a/0", path: "/a/0/x" },
      { op: "move", path: "/y" },
      { op: "copy", from: "/a/-", path: "/y" },
      { op: "test", path: "/a", value: [2, 1] },
      { op: "test", path: "/toString", value: null },
      { op: "test", path: "/a/length", value: 2 },
      { op: "add", path: "b", value: 1 },
      { op: "add", path: "/b~2", value: 1 },
      { op: "add", path: "/b~", value: 1 },
      { op: "add", value: 1 },
      { op: "add", path: null, value: 1 },
      { op: "merge", path: "/b", value: 1 },
      { path: "/b" },
      "add",
      null,
      [],
    ];
    for (const op of wrong)
      assert.throws(() => patch(document, [op]), { code: "invalid", message: /^Bad state patch: / }, JSON.stringify(op));
    assert.deepEqual(document, { a: [1, 2], b: { c: null }, n: null, s: "text" });
  });

  it("does not let an element move into itself, even where another would take its place", () => {
    assert.throws(() => patch([{}, {}], [{ op: "move", from: "/0", path: "/0/x" }]), { code: "invalid" });
  });

  it("does all of it or nothing", () => {
    const document = { a: 1 };
    assert.throws(() =>
      patch(document, [
        { op: "add", path: "/b", value: 2 },
        { op: "remove", path: "/c" },
      ]),
    );
    assert.deepEqual(document, { a: 1 });
  });

  it("never touches a prototype", () => {
    for (const path of ["/__proto__/polluted", "/__proto__", "/a/__proto__/polluted"]) {
      assert.throws(() => patch({ a: {} }, [{ op: "add", path, value: 1 }]), { code: "invalid" });
    }
    assert.throws(() => patch({ a: {} }, [{ op: "copy", from: "/__proto__", path: "/b" }]), { code: "invalid" });
    assert.throws(() => patch({ a: {} }, [{ op: "add", path: "/constructor/prototype/polluted", value: 1 }]), { code: "invalid" });
    assert.equal(({} as { polluted?: number }).polluted, undefined);
    const own = patch({}, [{ op: "add", path: "/constructor", value: 1 }]);
    assert.deepEqual(Object.keys(own as object), ["constructor"]);
  });

  it("leaves the old document as it was and shares what it did not touch", () => {
    const before = { a: { b: [1, 2] }, c: { d: 1 } };
    const after = patch(before, [{ op: "add", path: "/a/b/0", value: 0 }]) as typeof before;
    assert.deepEqual(before, { a: { b: [1, 2] }, c: { d: 1 } });
    assert.deepEqual(after.a.b, [0, 1, 2]);
    assert.equal(after.c, before.c);
  });

  it("undoes an addition by a removal, for any key and value", () => {
    const key = fc.string().filter((text) => text !== "__proto__");
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue(), { noNullPrototype: true }), key, fc.jsonValue(), (document, name, value) => {
        fc.pre(!Object.hasOwn(document, name));
        const path = `/${segment(name)}`;
        const added = patch(document as Json, [{ op: "add", path, value: value as Json }]);
        assert.deepEqual(
          patch(added, [
            { op: "test", path, value: value as Json },
            { op: "remove", path },
          ]),
          document,
        );
      }),
      { numRuns: 300 },
    );
  });

  it("copies what it changes once, and never changes what is somewhere else too", () => {
    const before = { list: ["a"], other: { x: 1 } };
    const kept = structuredClone(before);
    const after = patch(before, [
      { op: "add", path: "/list/-", value: "b" },
      { op: "add", path: "/list/-", value: "c" },
      { op: "copy", from: "/list", path: "/twin" },
      { op: "add", path: "/list/-", value: "d" },
      { op: "move", from: "/other", path: "/moved" },
      { op: "add", path: "/moved/y", value: 2 },
    ]);
    assert.deepEqual(after, { list: ["a", "b", "c", "d"], twin: ["a", "b", "c"], moved: { x: 1, y: 2 } });
    assert.deepEqual(before, kept);
    const value = { deep: [1] };
    const ops = [
      { op: "add", path: "/v", value },
      { op: "add", path: "/v/deep/-", value: 2 },
    ];
    assert.deepEqual(patch({}, ops), { v: { deep: [1, 2] } });
    assert.deepEqual(value, { deep: [1] }, "an operation is a fact, and stays as it was");
  });
});
