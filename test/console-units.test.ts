import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { checkJson } from "../console/src/ui/check-json.ts";
import "../console/src/ui/check-schema.ts";
import { diffLines } from "../console/src/ui/diff-lines.ts";
import { splitBlocks } from "../console/src/ui/markdown-blocks.ts";
import { scanJson } from "../console/src/ui/scan-json.ts";

const SCHEMA = {
  type: "object",
  properties: { table: { type: "string" }, limit: { type: "integer", maximum: 500 }, tags: { type: "array", items: { type: "string" } } },
  required: ["table"],
  additionalProperties: false,
};

describe("checkJson", () => {
  it("says line and column of what is no JSON", () => {
    for (const [text, line, column] of [
      ['{\n  "limit": ,\n}', 2, 12],
      ['{"a": 1', 1, 8],
      ['{\n  "a": 1\n', 3, 1],
      ['{"a" 1}', 1, 6],
      ["{'a': 1}", 1, 2],
      ['{"a": tru}', 1, 7],
      ['["a\tb"]', 1, 2],
      ["1 2", 1, 3],
      ["", 1, 1],
      ["[1, 2", 1, 6],
    ] as const) {
      const { value, problems } = checkJson(text, SCHEMA);
      assert.equal(value, undefined);
      const [problem] = problems;
      assert.deepEqual(problem?.type === "syntax" && [problem.line, problem.column], [line, column], JSON.stringify(text));
    }
  });

  it("says the path of what a schema does not allow, once and at the place itself", () => {
    const paths = (value: unknown) =>
      checkJson(JSON.stringify(value), SCHEMA).problems.map((problem) => problem.type === "schema" && problem.path);
    assert.deepEqual(paths({ table: "orders", limit: "10" }), ["/limit"]);
    assert.deepEqual(paths({ table: "orders", limit: 501 }), ["/limit"]);
    assert.deepEqual(paths({ table: "orders", tags: ["a", 2] }), ["/tags/1"]);
    assert.deepEqual(paths({ limit: 1 }), ["/"]);
    assert.equal(paths({ table: "orders", more: true }).length, 1);
    assert.deepEqual(paths({ table: "orders", limit: 10 }), []);
  });

  it("agrees with JSON.parse about what is JSON", () => {
    const valid = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const anything = fc.oneof(fc.json(), fc.string({ unit: fc.constantFrom(...'{}[]",:0.-e \\ntrue\n\u0001') }));
    fc.assert(
      fc.property(anything, (text) => (scanJson(text) === undefined) === valid(text)),
      { numRuns: 3_000 },
    );
  });

  it("keeps numbers numbers", () => {
    assert.deepEqual(checkJson('{"table":"orders","limit":10}', SCHEMA).value, { table: "orders", limit: 10 });
  });
});

describe("diffLines", () => {
  const show = (before: string, after: string) =>
    diffLines(before, after).map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`);

  it("finds the lines that differ", () => {
    assert.deepEqual(show("a\nb\nc", "a\nx\nc"), [" a", "-b", "+x", " c"]);
    assert.deepEqual(show("a\nb\nc\nd", "b\nc\ne\nd"), ["-a", " b", " c", "+e", " d"]);
    assert.deepEqual(show("a", "a"), [" a"]);
  });

  it("gives back both sides, whatever they are", () => {
    const texts = ["", "a", "a\nb", "b\na", "a\na\na", "x\na\ny\nb\nz", "b\nz\nb"];
    for (const before of texts) {
      for (const after of texts) {
        const lines = diffLines(before, after);
        const side = (other: string) =>
          lines
            .filter(({ kind }) => kind !== other)
            .map(({ text }) => text)
            .join("\n");
        assert.deepEqual([side("added"), side("removed")], [before, after]);
      }
    }
  });
});

describe("splitBlocks", () => {
  it("cuts at blank lines, but never inside a fence or a list", () => {
    assert.deepEqual(splitBlocks("# A\n\ntext\nmore\n\n- one\n\n- two\n\n  still two\n\nend"), [
      "# A\n",
      "text\nmore\n\n- one\n\n- two\n\n  still two\n",
      "end",
    ]);
    assert.deepEqual(splitBlocks("```js\na\n\nb\n```\n\nafter"), ["```js\na\n\nb\n```\n", "after"]);
    assert.deepEqual(splitBlocks("````\n```\n\n```\n````\n\nx"), ["````\n```\n\n```\n````\n", "x"]);
    assert.deepEqual(splitBlocks(""), []);
  });

  it("changes nothing before the last block while text grows", () => {
    const text = "# Title\n\nSome words.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet a;\n\nlet b;\n```\n\nThe end.";
    let before: string[] = [];
    for (let length = 1; length <= text.length; length += 1) {
      const now = splitBlocks(text.slice(0, length));
      assert.deepEqual(
        now.slice(0, before.length - 1).map((block) => block.trimEnd()),
        before.slice(0, -1).map((block) => block.trimEnd()),
      );
      before = now;
    }
    assert.equal(before.join("\n"), text);
  });
});
