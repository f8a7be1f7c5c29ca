import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { describe, it } from "node:test";
import fc from "fast-check";
import { isObject, type Json, type JsonObject } from "../src/core/json.ts";
import { profileMachine } from "../src/model/profile/machine.ts";
import { parse } from "../src/model/profile/parse.ts";
import type { Profile } from "../src/model/profile/profile.ts";
import { PROFILES, profileNamed } from "../src/model/profile/profiles.ts";
import { unescaped } from "../src/model/profile/string-reader.ts";
import { cutInto, TOOLS } from "./profile/sample.ts";

const RUNS = { numRuns: 1000 };
const name = fc.constantFrom(...PROFILES.keys());

/** Pieces of every syntax, so that chance builds things that are almost calls. */
const SHARDS = [
  ..."{}[]()<>\"'`,:;=\\ \n\t/#&*",
  ..."“”‘’，：~",
  "```",
  "~~~",
  "```json\n",
  "```tool_code\n",
  '"tool_calls"',
  "tool_calls: [",
  '{"tool_calls":[',
  '{"tool_call_result":',
  '"name"',
  '"name":"ping"',
  '{"name":"search","arguments":{',
  '"arguments":',
  '"function":{',
  '"id":"call_1"',
  "search(",
  'query="',
  "True",
  "None",
  "12.5",
  "<tool_code>",
  "</tool_code>",
  "<tool_call>",
  "</tool_call>",
  "<function=search>",
  "<parameter=query>",
  "</parameter>",
  "</function>",
  "<arg_key>",
  "</arg_key><arg_value>",
  "</arg_value>",
  "<tool_result>",
  "</tool_result>",
  "<tool_response>",
  "<think>",
  "</think>",
  "&quot;",
  "&lt;",
  "\\u00e9",
  '"\\u005f_proto__"',
  '"thought":"x"',
  "print(",
  "x = ping(",
  "# x",
  "// x",
  "<![CDATA[",
  "]]>",
  "<|python_tag|>",
  "\r\n",
  '\\"',
  '"""',
  "寿司🍣",
  "\ud83c",
  "hello world",
] as const;

const shard = fc.oneof(fc.constantFrom(...SHARDS), fc.string({ maxLength: 5 }));
const rubble = fc.array(shard, { maxLength: 40 }).map((shards) => shards.join(""));

/** Good messages with something left out and something put in. */
const SAID = ["cases.jsonl", "cases-more.jsonl"]
  .flatMap((file) =>
    readFileSync(new URL(`profile/${file}`, import.meta.url), "utf8")
      .trim()
      .split("\n"),
  )
  .map((line) => (JSON.parse(line) as { text: string }).text)
  .filter((text) => text.length < 600);
const call = [{ id: "call_1", name: "search", input: { query: 'a "b"\n<c>', limit: 2 } }];
const good = fc.constantFrom(...SAID, ...[...PROFILES.values()].map((profile) => profile.callTemplate([...call, ...call])));
const dent = fc.tuple(fc.nat(), fc.nat({ max: 4 }), shard);
const damaged = fc.tuple(good, fc.array(dent, { minLength: 1, maxLength: 4 })).map(([text, dents]) => {
  let result = text;
  for (const [where, length, put] of dents) {
    const at = where % (result.length + 1);
    result = result.slice(0, at) + put + result.slice(at + length);
  }
  return result;
});
const debris = fc.oneof(rubble, damaged);
const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const safe = (input: Json) => !/__proto__|constructor/.test(JSON.stringify(input));
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });

function pieces(text: string, sizes: readonly number[]): string[] {
  let next = 0;
  return cutInto(text, () => sizes[next++ % sizes.length] ?? 1);
}

describe("profile machine, on whatever comes", () => {
  it("finds the same in any pieces, and what it streams adds up", () => {
    fc.assert(
      fc.property(name, debris, cuts, fc.boolean(), (name, text, sizes, cut) => {
        const profile = profileNamed(name);
        const whole = parse(profile, text, { tools: TOOLS, cut });
        assert.deepEqual(parse(profile, pieces(text, sizes), { tools: TOOLS, cut }), whole);
        assert.deepEqual(parse(profile, [...pieces(text, [1])], { tools: TOOLS, cut }), whole);
        checkStream(profile, pieces(text, sizes), cut);
      }),
      RUNS,
    );
  });

  it("never invents a call: without a tool's name in the text there is none of that tool", () => {
    fc.assert(
      fc.property(name, debris, (name, text) => {
        const profile = profileNamed(name);
        const { calls } = parse(profile, text, { tools: TOOLS });
        const said = unescaped(text);
        for (const { name, source } of calls) assert.ok(said.includes(name) && text.includes(source), `${name} in ${source}`);
      }),
      RUNS,
    );
  });

  it("shows all of a text in which nothing opens", () => {
    fc.assert(
      fc.property(name, fc.string({ unit: "binary" }), (name, words) => {
        const profile = profileNamed(name);
        const text = words.replaceAll(/[<{[`]/g, "-");
        assert.equal(parse(profile, text, { tools: TOOLS }).text, text);
      }),
      RUNS,
    );
  });

  it("never makes a call of a cut-off one", () => {
    fc.assert(
      fc.property(name, fc.string(), fc.nat(), (name, query, at) => {
        const profile = profileNamed(name);
        const whole = write(profile, { query });
        const text = whole.slice(0, at % whole.length);
        assert.deepEqual(parse(profile, text, { tools: TOOLS, cut: true }).calls, []);
      }),
      RUNS,
    );
  });

  it("never makes half a value of a whole one, wherever the model stops", () => {
    const config = fc.oneof(value, fc.integer(), fc.array(fc.integer()), fc.dictionary(fc.string({ maxLength: 3 }), fc.integer()));
    fc.assert(
      fc.property(fc.constantFrom("JSON_Strict", "XML_Tag", "Hermes"), config.filter(safe), fc.nat(), (name, config, at) => {
        const profile = profileNamed(name);
        const input = JSON.parse(JSON.stringify({ config })) as JsonObject;
        const whole = profile.callTemplate([{ id: "call_1", name: "set_config", input }]);
        const { calls } = parse(profile, whole.slice(0, at % whole.length), { tools: TOOLS });
        for (const call of calls) if (!call.refusal) assert.ok(isPart(call.input, input), JSON.stringify(call.input));
      }),
      RUNS,
    );
  });

  it("reads back every call it writes", () => {
    fc.assert(
      fc.property(name, fc.string(), value.filter(safe), cuts, (name, query, config, sizes) => {
        const profile = profileNamed(name);
        fc.pre(!profile.syntax.frames.some(({ grammars }) => typeof grammars[0] === "object") || !/[<\n]/.test(query));
        const calls = [
          { id: "call_7", name: "search", input: { query, limit: 3 } },
          { id: "call_8", name: "ping", input: {} },
        ];
        if (profile.syntax.ids || profile.name === "Hermes")
          calls.push({ id: "call_9", name: "set_config", input: { config } as JsonObject as never });
        const read = parse(profile, pieces(`Well.\n${profile.callTemplate(calls)}\nDone.`, sizes), { tools: TOOLS });
        assert.deepEqual(
          read.calls.map(({ name, input, refusal }) => ({ name, input, refusal })),
          calls.map(({ name, input }) => ({ name, input: JSON.parse(JSON.stringify(input)), refusal: undefined })),
        );
        assert.equal(read.text.replaceAll(/\s+/g, " "), "Well. Done.");
      }),
      RUNS,
    );
  });

  it("encodes results so that they hold no call and end where they end", () => {
    fc.assert(
      fc.property(name, debris, (name, output) => {
        const profile = profileNamed(name);
        const encoded = profile.resultTemplate("call_1", output, { name: "search" });
        assert.deepEqual(parse(profile, encoded, { tools: TOOLS }).calls, []);
        const { result } = profile.syntax;
        if ("close" in result) assert.equal(encoded.split(result.close).length, 2);
        else
          assert.deepEqual(JSON.parse(encoded), {
            [result.key]: { toolCallId: "call_1", result: output.toWellFormed() === output ? output : JSON.parse(JSON.stringify(output)) },
          });
      }),
      RUNS,
    );
  });
});

/** Every call is started once, its pieces are its input, and it ends once. */
function checkStream(profile: Profile, text: readonly string[], cut: boolean): void {
  const machine = profileMachine(profile, TOOLS);
  const found = [...text.flatMap((piece) => machine.push(piece)), ...machine.finish({ cut })];
  const open = new Map<string, string>();
  for (const event of found) {
    if (event.type === "started") {
      assert.ok(!open.has(event.id));
      open.set(event.id, "");
    } else if (event.type === "arguments") open.set(event.id, `${open.get(event.id)}${event.delta}`);
    else if (event.type === "called") {
      const streamed = open.get(event.id);
      assert.notEqual(streamed, undefined);
      if (!event.refusal && streamed !== "") assert.deepEqual(JSON.parse(streamed ?? ""), event.input);
      open.delete(event.id);
    } else if (event.type === "refused" && event.id !== undefined) assert.ok(open.delete(event.id));
    else if (event.type === "text") assert.ok(event.delta !== "");
  }
  assert.deepEqual([...open.keys()], []);
}

function write(profile: Profile, input: JsonObject): string {
  return profile.callTemplate([{ id: "call_1", name: "search", input }]);
}

/** Whether nothing is there that is not in the whole, though something may be missing at the end of a list or an object. */
function isPart(part: Json, whole: Json): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && part.every((item, i) => i < whole.length && isPart(item, whole[i] as Json));
  if (!isObject(part)) return Object.is(part, whole);
  return isObject(whole) && Object.keys(part).every((key) => Object.hasOwn(whole, key) && isPart(part[key] as Json, whole[key] as Json));
}
