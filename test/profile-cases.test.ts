import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { isObject, type Json } from "../src/core/json.ts";
import { unescapeXml } from "../src/model/profile/entities.ts";
import { type Parsed, parse } from "../src/model/profile/parse.ts";
import type { Profile } from "../src/model/profile/profile.ts";
import { profileNamed } from "../src/model/profile/profiles.ts";
import { readResults } from "../src/model/profile/results.ts";
import { chunked, TOOLS } from "./profile/sample.ts";

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

describe("profile cases", () => {
  for (const case_ of [...casesIn("cases.jsonl"), ...casesIn("cases-more.jsonl")]) {
    it(`${case_.id} (${case_.level}): ${case_.note}`, () => {
      const profile = profileNamed(case_.profile);
      if (case_.kind === "parse") checkParsed(profile, case_);
      else if (case_.kind === "encode_result") checkResult(profile, case_);
      else checkInbound(profile, case_);
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
