import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { profileMachine } from "../src/model/profile/machine.ts";
import type { Profile } from "../src/model/profile/profile.ts";
import { profileNamed } from "../src/model/profile/profiles.ts";
import { TOOLS } from "./profile/sample.ts";

const SIZE = 350_000;
const CODE = 'const a = { b: "x\\y" }; // }}\n';
const file = (size: number) => ({ path: "a.js", content: CODE.repeat(size / CODE.length) });
const call = (name: string, input: unknown) => ({ id: "call_1", type: "function", function: { name, arguments: input } });

/** Texts that make a careless parser look again and again at what it has seen. */
const TEXTS: [string, string, (size: number) => string][] = [
  ["arguments as a string", "JSON_Strict", (n) => JSON.stringify({ tool_calls: [call("write_file", JSON.stringify(file(n)))] })],
  ["arguments as an object", "JSON_Strict", (n) => JSON.stringify({ tool_calls: [call("write_file", file(n))] })],
  ["JSON in a tag", "XML_Tag", (n) => `<tool_code>${JSON.stringify({ name: "write_file", arguments: file(n) })}</tool_code>`],
  ["call syntax", "XML_Tag", (n) => `<tool_code>write_file(content=${JSON.stringify(file(n).content)})</tool_code>`],
  ["a value in a tag", "Qwen_XML", (n) => `<tool_call><function=write_file><parameter=content>\n${file(n).content}\n</parameter>`],
  ["braces and nothing else", "JSON_Strict", (n) => "{".repeat(n)],
  ["code full of braces", "JSON_Strict", (n) => "if (a) { b: {} } [c] ".repeat(n / 21)],
  ["objects that begin like calls", "JSON_Strict", (n) => '{"id":'.repeat(n / 6)],
  ["calls that never get a name", "JSON_Strict", (n) => '{"arguments":['.repeat(n / 14)],
  ["tags that open and open", "XML_Tag", (n) => "<tool_code>".repeat(n / 11)],
  ["tags that almost open", "XML_Tag", (n) => "<tool_cod<".repeat(n / 10)],
  ["thoughts that almost end", "XML_Tag", (n) => `<think>${"</thin".repeat(n / 6)}`],
  ["an invented result without end", "XML_Tag", (n) => `<tool_result>${"<x>".repeat(n / 3)}`],
  [
    "quotes that should have been escaped",
    "JSON_Strict",
    (n) => `{"tool_calls":[{"name":"search","arguments":{"query":"${'x" y'.repeat(n / 4)}`,
  ],
  ["ordinary text", "JSON_Strict", (n) => "The quick brown fox jumps. ".repeat(n / 27)],
];

describe("profile machine: twice the text takes twice the time", () => {
  for (const [name, profile, text] of TEXTS) {
    it(name, () => {
      const measure = (size: number) => fastest(profileNamed(profile), text(size));
      measure(20_000); // warm
      for (let attempt = 1; ; attempt += 1) {
        const [once, twice] = [measure(SIZE), measure(2 * SIZE)];
        const ratio = twice / once;
        if (ratio < 3) break;
        assert.ok(attempt < 4, `${once.toFixed(0)} ms, then ${twice.toFixed(0)} ms: ${ratio.toFixed(1)} times as long`);
      }
    });
  }
});

function fastest(profile: Profile, text: string): number {
  return Math.min(...[1, 2, 3].map(() => time(profile, text)));
}

function time(profile: Profile, text: string): number {
  const machine = profileMachine(profile, TOOLS);
  const start = performance.now();
  for (let i = 0; i < text.length; i += 4) machine.push(text.slice(i, i + 4));
  machine.finish();
  return performance.now() - start;
}
