import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../core/json.ts";
import { profileMachine } from "./machine.ts";
import { parse } from "./parse.ts";
import { defineProfile } from "./profile.ts";
import { readResults } from "./results.ts";
import { JSON_Strict, XML_Tag } from "./seed-profiles.ts";

const TOOLS = ["search", "ping"].map((name) => ({
  name,
  description: "",
  input: { type: "object", properties: { query: { type: "string" }, limit: { type: "integer" } } } as JsonObject,
}));
const PING = '{"id":"call_1","type":"function","function":{"name":"ping","arguments":"{}"}}';
const ENVELOPE = `{"tool_calls":[${PING}]}`;

/** Text, calls by name, and what was refused. */
function read(profile: typeof JSON_Strict, text: string, cut = false) {
  const { text: said, calls, refused } = parse(profile, text, { tools: TOOLS, cut });
  return [said, calls.map(({ name }) => name), refused.map(({ code }) => code)];
}

/** What is shown while a text comes in, one character at a time. */
function shown(profile: typeof JSON_Strict, text: string): string {
  const machine = profileMachine(profile, TOOLS);
  const found = [...text].flatMap((c) => machine.push(c));
  return found.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("");
}

describe("profileMachine", () => {
  it("shows text as soon as it cannot be part of a call", () => {
    assert.equal(shown(JSON_Strict, "Hello wor"), "Hello wor");
    assert.equal(shown(JSON_Strict, 'See {"pa'), "See"); // it may become `parameters`
    assert.equal(shown(JSON_Strict, 'See {"po'), 'See {"po');
    assert.equal(shown(JSON_Strict, 'See {"tool_calls": [{"id": "1", "fun'), "See");
    assert.equal(shown(JSON_Strict, "a [link"), "a [link");
    assert.equal(shown(XML_Tag, "a <tool_b"), "a <tool_b");
    assert.equal(shown(XML_Tag, "a <tool_c"), "a");
  });

  it("streams arguments before the call is over", () => {
    const machine = profileMachine(JSON_Strict, TOOLS);
    const found = machine.push('{"tool_calls":[{"id":"c","function":{"name":"search","arguments":"{\\"query\\":\\"ca');
    assert.deepEqual(found, [
      { type: "started", id: "c", name: "search" },
      { type: "arguments", id: "c", delta: '{"query":"ca' },
    ]);
  });

  it("gives back the model's own words, call by call", () => {
    const text = `{"tool_calls": [\n  ${PING},\n  ${PING}\n]}`;
    const { calls } = parse(JSON_Strict, `Well. ${text} Done.`, { tools: TOOLS });
    assert.equal(calls.map(({ source }) => source).join(""), text);
    assert.equal(calls[0]?.source, `{"tool_calls": [\n  ${PING}`);
  });

  const texts: [string, typeof JSON_Strict, string, ReturnType<typeof read>, boolean?][] = [
    ["leaves JSON alone that holds calls somewhere inside", JSON_Strict, `{"log": ${ENVELOPE}}`, [`{"log": ${ENVELOPE}}`, [], []]],
    ["leaves inline code alone", JSON_Strict, `Write \`${ENVELOPE}\`.`, [`Write \`${ENVELOPE}\`.`, [], []]],
    ["leaves other code blocks alone", JSON_Strict, `\`\`\`js\nf(${ENVELOPE})\n\`\`\``, [`\`\`\`js\nf(${ENVELOPE})\n\`\`\``, [], []]],
    ["finds a call behind a code block", JSON_Strict, `\`\`\`js\nf()\n\`\`\`\n${ENVELOPE}`, ["```js\nf()\n```", ["ping"], []]],
    ["lets an empty envelope vanish", JSON_Strict, 'No need. {"tool_calls": []}', ["No need.", [], []]],
    [
      "needs a tool there is where the envelope is missing",
      JSON_Strict,
      '{"name":"Bob","arguments":{}}',
      ['{"name":"Bob","arguments":{}}', [], []],
    ],
    [
      "takes a list of tools for what it is",
      JSON_Strict,
      '[{"name":"ping","description":"x"}]',
      ['[{"name":"ping","description":"x"}]', [], []],
    ],
    ["tells of a tool there is not", JSON_Strict, ENVELOPE.replace("ping", "rm"), ["", ["rm"], ["unknown_tool"]]],
    ["goes on with the text where the last brace is missing", JSON_Strict, `${ENVELOPE.slice(0, -1)}\nI wait.`, ["I wait.", ["ping"], []]],
    ["accepts a missing brace at the end", JSON_Strict, ENVELOPE.slice(0, -1), ["", ["ping"], []]],
    ["refuses it at the length limit", JSON_Strict, ENVELOPE.slice(0, -1), ["", [], ["unfinished_tool_call"]], true],
    [
      "keeps what was whole before the length limit",
      JSON_Strict,
      `{"tool_calls":[${PING},{"id":"call_2","fu`,
      ["", ["ping"], ["unfinished_tool_call"]],
      true,
    ],
    ["mints an id in place of an endless one", JSON_Strict, ENVELOPE.replace("call_1", "x".repeat(9_999)), ["", ["ping"], []]],
    ["needs the closing tag at the length limit", XML_Tag, "<tool_code>ping()", ["", [], ["unfinished_tool_call"]], true],
    ["accepts its absence otherwise", XML_Tag, "<tool_code>ping()", ["", ["ping"], []]],
    ["takes an envelope inside a tag", XML_Tag, `<tool_code>${ENVELOPE}</tool_code>`, ["", ["ping"], []]],
    ["takes tags that are only mentioned for text", XML_Tag, "Use <tool_code> tags.", ["Use <tool_code> tags.", [], []]],
    ["refuses a frame without a call", XML_Tag, '<tool_code>{"a":1}</tool_code>', ["", [], ["malformed_tool_call"]]],
  ];
  for (const [name, profile, text, expected, cut] of texts) it(name, () => assert.deepEqual(read(profile, text, cut), expected));

  it("can begin inside a thought, and can let a call end one", () => {
    const opened = defineProfile({ name: "Opened", base: JSON_Strict, syntax: { ...JSON_Strict.syntax, startsInReasoning: true } });
    assert.deepEqual(read(opened, `hm ${ENVELOPE}</think>No.`), ["No.", [], []]);
    const ending = defineProfile({ name: "Ending", base: XML_Tag, syntax: { ...XML_Tag.syntax, callEndsReasoning: true } });
    assert.deepEqual(read(ending, "<think>hm <tool_code>ping()</tool_code>"), ["", ["ping"], []]);
    assert.deepEqual(read(XML_Tag, "<think>hm <tool_code>ping()</tool_code>"), ["", [], []]);
  });
});

describe("readResults", () => {
  const json = (id: string) => `{"tool_call_result":{"toolCallId":"${id}","result":1}}`;
  const pending = new Map([
    ["call_1", "ping"],
    ["call_2", "search"],
  ]);

  it("takes a message of nothing but results of open calls", () => {
    assert.equal(readResults(JSON_Strict, `${json("call_1")}\n${json("call_2")}`, pending)?.length, 2);
    for (const text of [
      `Look: ${json("call_1")}`,
      json("call_3"),
      json("call_1").repeat(2),
      "",
      json("call_1").replace("}}", '},"x":1}'),
    ]) {
      assert.equal(readResults(JSON_Strict, text, pending), undefined);
    }
  });

  it("knows the seed's tags by tool, and ours by call", () => {
    const seed = "<tool_result>\n  <id>search_result</id>\n  <content>\n    a &lt; b\n  </content>\n</tool_result>";
    assert.deepEqual(readResults(XML_Tag, seed, pending), [{ toolCallId: "call_2", result: "a < b" }]);
    const own = XML_Tag.resultTemplate("call_1", { a: 1 }, { name: "ping" });
    assert.deepEqual(readResults(XML_Tag, own, pending), [{ toolCallId: "call_1", result: { a: 1 } }]);
    assert.equal(readResults(XML_Tag, `${seed} please`, pending), undefined);
  });
});
