import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { isObject, type Json } from "../src/core/json.ts";
import { unescapeXml } from "../src/model/profile/entities.ts";
import { profileMachine } from "../src/model/profile/machine.ts";
import { type Parsed, parse } from "../src/model/profile/parse.ts";
import type { Profile } from "../src/model/profile/profile.ts";
import { PROFILES, profileNamed } from "../src/model/profile/profiles.ts";
import { readResults } from "../src/model/profile/results.ts";
import { chunked, cutInto, TOOLS } from "./profile/sample.ts";

type Case = {
  id: string;
  profile: string;
  level: "core" | "robust" | "policy" | "adversarial";
  kind: "parse" | "encode_result" | "inbound_user";
  text: string;
  expected_text: string | null;
  expected_calls: { name: string; arguments: Json }[];
  expected_ids?: (string | null)[];
  expected_errors?: string[];
  expected_reasoning?: string;
  exact_text?: boolean;
  finish_reason?: string;
  toolCallId?: string;
  toolName?: string;
  raw_result?: Json;
  pending?: string[];
  assert?: Record<string, Json>;
  note: string;
};

function casesIn(file: string): Case[] {
  const lines = readFileSync(new URL(`profile/${file}`, import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as Case);
}

/** What may be held back while it is not clear whether a call begins. */
const MOST_HELD = 64;
const CASES = [...casesIn("cases.jsonl"), ...casesIn("cases-more.jsonl")];

describe("profile cases", () => {
  for (const case_ of CASES) {
    it(`${case_.id} (${case_.level}): ${case_.note}`, () => {
      const profile = profileNamed(case_.profile);
      if (case_.kind === "parse") checkParsed(profile, case_);
      else if (case_.kind === "encode_result") checkResult(profile, case_);
      else checkInbound(profile, case_);
    });
  }
});

describe("text that only looks like a call", () => {
  for (const { id, profile, text, note } of CASES.filter(({ exact_text, level }) => exact_text && level !== "adversarial")) {
    it(`${id} is shown while it comes: ${note}`, () => {
      const machine = profileMachine(profileNamed(profile), TOOLS);
      let shown = 0;
      for (let i = 0; i < text.length; i += 1) {
        for (const found of machine.push(text[i] as string)) shown += found.type === "text" ? found.delta.length : 0;
        assert.ok(i + 1 - shown <= MOST_HELD, `${i + 1 - shown} characters are held at ${i}`);
      }
    });
  }
});

describe("calls of a megabyte", () => {
  const input = { path: "a.js", content: 'if (a) { b("\\"}</tool_code>```") }\n'.repeat(30_000) };
  for (const profile of PROFILES.values()) {
    if (profile.syntax.frames.some(({ grammars }) => typeof grammars[0] === "object")) continue; // raw values cannot hold their own end
    it(`are read in ${profile.name}`, () => {
      const text = profile.callTemplate([{ id: "call_1", name: "write_file", input }]);
      const { calls, refused } = parse(
        profile,
        cutInto(text, () => 1000),
        { tools: TOOLS },
      );
      assert.deepEqual([calls.map((call) => call.input), refused], [[input], []]);
    });
  }
});

function checkParsed(profile: Profile, { text, finish_reason, ...expected }: Case): void {
  const whole = parse(profile, text, { tools: TOOLS, cut: finish_reason === "length" });
  check(whole, expected);
  for (const pieces of chunked(text)) {
    assert.deepEqual(parse(profile, pieces, { tools: TOOLS, cut: finish_reason === "length" }), whole);
  }
}

function check({ text, reasoning, calls, refused }: Parsed, expected: Omit<Case, "text" | "finish_reason">): void {
  if (expected.exact_text) assert.equal(text, expected.expected_text);
  else assert.equal(collapse(text), collapse(expected.expected_text ?? ""));
  const called = calls.map(({ name, input, refusal }) => ({ name, arguments: refusal && !isObject(input) ? {} : input }));
  assert.deepEqual(called, expected.expected_calls);
  assert.deepEqual(
    refused.map(({ code }) => code),
    expected.expected_errors ?? [],
  );
  if (expected.expected_reasoning !== undefined) assert.equal(reasoning, expected.expected_reasoning);
  const ids = calls.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const [i, id] of (expected.expected_ids ?? []).entries()) {
    if (id === null) assert.match(ids[i] ?? "", /^call_auto_\d+$/);
    else assert.equal(ids[i], id);
  }
}

function checkResult(profile: Profile, { raw_result = null, toolCallId = "", toolName = "", assert: asked = {} }: Case): void {
  const encoded = profile.resultTemplate(toolCallId, raw_result, { name: toolName });
  if (asked["json_roundtrip"]) assert.deepEqual(JSON.parse(encoded), { tool_call_result: { toolCallId, result: raw_result } });
  if (asked["closing_tag_count"]) assert.equal(encoded.split("</tool_result>").length - 1, asked["closing_tag_count"]);
  if (asked["no_calls_when_reparsed_as"]) assert.deepEqual(parse(profile, encoded, { tools: TOOLS }).calls, []);
  if (asked["xml_unescape_roundtrip"]) {
    const content = /<content>([\s\S]*)<\/content>/.exec(encoded)?.[1] ?? "";
    assert.equal(unescapeXml(content).trim(), String(raw_result).trim());
  }
  if (asked["no_control_chars"]) assert.doesNotMatch(encoded, /[\p{Cc}--[\n]]|\p{Bidi_Control}|\uffff/v);
}

function checkInbound(profile: Profile, { text, pending = [], assert: asked = {} }: Case): void {
  const results = readResults(profile, text, new Map(pending.map((id) => [id, ""])));
  if (asked["treat_as"] === "user_text") assert.equal(results, undefined);
  else assert.deepEqual(results, [{ toolCallId: asked["toolCallId"], result: asked["result"] }]);
}

function collapse(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
