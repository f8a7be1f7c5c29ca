import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Entry } from "../../core/thread.ts";
import { Hermes } from "./family-profiles.ts";
import type { WrittenCall } from "./profile.ts";
import { readHistory, type Told } from "./read-history.ts";
import { JSON_Strict, XML_Tag } from "./seed-profiles.ts";
import { ToolContextBuilder } from "./tool-context-builder.ts";

const tools = [{ name: "add", description: "Adds", input: { type: "object", properties: { a: { type: "number" } } } }];
const ours = (...ids: string[]) => ({ tools, isOurs: ({ id }: WrittenCall) => ids.includes(id) });
const call = (id: string, a: number): WrittenCall => ({ id, name: "add", input: { a } });
const result = (id: string, value: unknown) => JSON.stringify({ tool_call_result: { toolCallId: id, result: value } });
const user = (text: string): Told => ({ role: "user", text });
const shape = (entries: Entry[]) =>
  entries.map((entry) =>
    entry.role === "user"
      ? entry.content
      : entry.parts.map((part) => (part.type === "call" ? [part.callId, part.settlement?.output] : "text" in part ? part.text : part.type)),
  );

describe("readHistory", () => {
  it("makes a result of what answers one of our calls, and leaves the rest of the message where it was", () => {
    const said = `First.\n${JSON_Strict.callTemplate([call("ours", 1), call("theirs", 2)])}\nThen.`;
    const told: Told[] = [user("go"), { role: "assistant", text: said, calls: [] }, user(result("theirs", 5)), user(result("ours", 4))];
    const read = readHistory(told, { profile: JSON_Strict, ...ours("ours") });
    assert.deepEqual(shape(read), [
      "go",
      ["First.", ["ours", 4], JSON_Strict.callTemplate([call("theirs", 2)]), "\nThen."],
      result("theirs", 5),
    ]);
  });

  it("takes several results in one message, or in several, each for its own call", () => {
    const said = JSON_Strict.callTemplate([call("x", 1), call("y", 1)]);
    const assistant: Told = { role: "assistant", text: said, calls: [] };
    const want = [
      "go",
      [
        ["x", 1],
        ["y", 2],
      ],
    ];
    for (const results of [[`${result("x", 1)}\n${result("y", 2)}`], [result("y", 2), result("x", 1)]]) {
      const read = readHistory([user("go"), assistant, ...results.map(user)], { profile: JSON_Strict, ...ours("x", "y") });
      assert.deepEqual(shape(read), want);
    }
  });

  it("counts only the message right before", () => {
    const told: Told[] = [
      user("go"),
      { role: "assistant", text: JSON_Strict.callTemplate([call("x", 1)]), calls: [] },
      user("wait"),
      { role: "assistant", text: "Yes?", calls: [] },
      user(result("x", 1)),
    ];
    assert.deepEqual(shape(readHistory(told, { profile: JSON_Strict, ...ours("x") })).at(-1), result("x", 1));
  });

  it("knows calls of a profile without ids by what they say, and results in either of the seed's forms", () => {
    const assistant: Told = { role: "assistant", text: XML_Tag.callTemplate([call("", 1)]), calls: [] };
    for (const text of [XML_Tag.resultTemplate("x", 3, { name: "add" }), result("x", 3)]) {
      const read = readHistory([user("go"), assistant, user(text)], { profile: XML_Tag, ...ours("x") });
      assert.deepEqual(shape(read), ["go", [["x", 3]]]);
      assert.deepEqual(shape(readHistory([user("go"), assistant, user(text)], { profile: Hermes, ...ours("x") })), ["go", [["x", 3]]]);
    }
    const nameless = "<tool_result>\n  <id>add_result</id>\n  <content>\n    3\n  </content>\n</tool_result>";
    assert.deepEqual(shape(readHistory([user("go"), assistant, user(nameless)], { profile: XML_Tag, ...ours("x") })).at(-1), nameless);
  });

  it("tells a model all of it again in its own words", () => {
    for (const profile of [JSON_Strict, XML_Tag, Hermes]) {
      const told: Told[] = [
        user("go"),
        { role: "assistant", text: "Let me.", calls: [call("x", 1)] },
        { role: "tool", results: [{ toolCallId: "x", result: 3 }] },
      ];
      const again = new ToolContextBuilder(profile).history(readHistory(told, { profile, ...ours("x") }));
      const words = ["go", [`Let me.\n\n${profile.callTemplate([call("x", 1)])}`], profile.resultTemplate("x", 3, { name: "add" })];
      assert.deepEqual(shape(again), words);
      const unsigned = new ToolContextBuilder(profile).history(readHistory(told, { profile, ...ours() }));
      assert.deepEqual(shape(unsigned)[1], words[1]);
    }
  });

  it("takes anything for words, and never throws", () => {
    const pieces = [
      "{",
      "}",
      '"tool_call_result"',
      ":",
      "<tool_result>",
      "</tool_result>",
      "<content>",
      '{"tool_calls":[',
      "]",
      "x",
      "`",
      "\ud800",
      "[",
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((all) => all.join(""));
    const message = fc.oneof(
      text.map(user),
      text.map((said): Told => ({ role: "assistant", text: said, calls: [] })),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (told) => {
        const read = readHistory(told, { profile: JSON_Strict, tools, isOurs: () => false });
        assert.deepEqual(
          shape(read).flat(),
          told.flatMap((said) => ("text" in said && (said.role === "user" || said.text !== "") ? [said.text] : [])),
        );
      }),
      { numRuns: 500 },
    );
    const deep = `<tool_result><tool_call_id>x</tool_call_id><content>${"[".repeat(100_000)}${"]".repeat(100_000)}</content></tool_result>`;
    const assistant: Told = { role: "assistant", text: "", calls: [call("x", 1)] };
    const read = readHistory([user("go"), assistant, user(deep)], { profile: XML_Tag, ...ours("x") });
    assert.doesNotThrow(() => new ToolContextBuilder(JSON_Strict).history(read));
  });
});
