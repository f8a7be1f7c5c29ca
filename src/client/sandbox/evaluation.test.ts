import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readEvaluation } from "./evaluation.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

describe("what a frame says", () => {
  it("is a value", () => {
    assert.deepEqual(readEvaluation('{"ok":true,"value":{"a":[1,null]}}', 100), { ok: true, value: { a: [1, null] } });
    assert.deepEqual(readEvaluation('{"ok":true,"value":null}', 100), { ok: true, value: null });
    assert.equal(readEvaluation(`{"ok":true,"value":"${"[".repeat(90)}\\"${"[".repeat(90)}"}`, 1000).ok, true);
    assert.equal(readEvaluation(`{"ok":true,"value":${nested(50)}}`, 1000).ok, true);
  });

  it("is an error, cut to a length a person can read", () => {
    const said = JSON.stringify({ ok: false, error: { name: "x".repeat(1000), message: "y".repeat(10_000) } });
    assert.deepEqual(readEvaluation(said, 1), { ok: false, error: { name: "x".repeat(100), message: "y".repeat(2000) } });
  });

  it("may be anything, and is then nothing", () => {
    const sayings = [
      undefined,
      null,
      5,
      {},
      { ok: true, value: 1 },
      ["x"],
      "",
      "{",
      "null",
      "5",
      "[]",
      '"x"',
      "{}",
      '{"ok":true}',
      '{"ok":1,"value":1}',
    ];
    for (const said of [...sayings, '{"ok":false}', '{"ok":false,"error":null}', '{"error":{"name":1,"message":"x"}}']) {
      const read = readEvaluation(said, 100);
      assert.equal(read.ok === false && read.error.name, "SandboxError", JSON.stringify(said));
    }
  });

  it("is neither too long nor too deep", () => {
    for (const value of [`"${"x".repeat(20_000)}"`, nested(51), nested(30_000), "[".repeat(5_000), `{"a":${nested(50)}}`]) {
      const read = readEvaluation(`{"ok":true,"value":${value}}`, value.startsWith('"') ? 1000 : 100_000);
      assert.equal(read.ok === false && read.error.name, "ResultError", value.slice(0, 20));
    }
  });
});
