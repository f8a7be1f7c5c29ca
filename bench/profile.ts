import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isObject, type Json } from "../src/core/json.ts";
import type { Found } from "../src/model/profile/calls.ts";
import { profileMachine } from "../src/model/profile/machine.ts";
import { profileNamed } from "../src/model/profile/profiles.ts";
import { chunked, cutInto, TOOLS } from "../test/profile/sample.ts";
import { short } from "./numbers.ts";

/**
 * Profiles beside `@ai-sdk-tool/parser`: how many cases each gets right, and how long each takes. The parser is no
 * dependency of ours; it is installed into a temporary directory. Writes PROFILES.md.
 */

type Outcome = { text: string; calls: { name: string; arguments: Json }[] };
type Reader = (pieces: readonly string[], cut: boolean) => Promise<Outcome>;
type Part = { type: string; id?: string; delta?: string; toolName?: string; input?: string };
type Protocol = { createStreamParser(options: { tools: unknown[]; options: object }): TransformStream<Part, Part> };
type Peer = {
  hermesProtocol(tags?: { toolCallStart: string; toolCallEnd: string }): Protocol;
  qwen3CoderProtocol(): Protocol;
};
type Case = {
  profile: string;
  level: string;
  kind: string;
  text: string;
  expected_text: string;
  expected_calls: Outcome["calls"];
  exact_text?: boolean;
  finish_reason?: string;
};

const VERSION = "4.1.26";
const PATIENCE_MS = 60_000;

function ours(name: string): Reader {
  return async (pieces, cut) => {
    const machine = profileMachine(profileNamed(name), TOOLS);
    const found: Found[] = [];
    for (const piece of pieces) found.push(...machine.push(piece));
    found.push(...machine.finish({ cut }));
    return {
      text: found.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join(""),
      calls: found.flatMap((event) =>
        event.type === "called" ? [{ name: event.name, arguments: event.refusal && !isObject(event.input) ? {} : event.input }] : [],
      ),
    };
  };
}

/** What it has for our profiles. Its Hermes protocol with our tags is the nearest to XML_Tag; it knows nothing like the others. */
async function peers(): Promise<Map<string, Reader>> {
  const { hermesProtocol, qwen3CoderProtocol } = (await import(install())) as Peer;
  return new Map([
    ["XML_Tag", peer(hermesProtocol({ toolCallStart: "<tool_code>", toolCallEnd: "</tool_code>" }))],
    ["Hermes", peer(hermesProtocol())],
    ["Qwen_XML", peer(qwen3CoderProtocol())],
  ]);
}

function peer(protocol: Protocol): Reader {
  const tools = TOOLS.map(({ name, description, input }) => ({ type: "function", name, description, inputSchema: input }));
  return async (pieces, cut) => {
    const parser = protocol.createStreamParser({ tools, options: {} });
    const parts = Array.fromAsync(parser.readable as unknown as AsyncIterable<Part>);
    const writer = parser.writable.getWriter();
    for (const delta of pieces) await writer.write({ type: "text-delta", id: "1", delta });
    await writer.write({ type: "finish", finishReason: { unified: cut ? "length" : "stop" }, usage: {} } as Part);
    await writer.close();
    const all = await parts;
    return {
      text: all.map((part) => (part.type === "text-delta" ? part.delta : "")).join(""),
      calls: all.flatMap(({ type, toolName = "", input = "" }) =>
        type === "tool-call" ? [{ name: toolName, arguments: JSON.parse(input) }] : [],
      ),
    };
  };
}

function install(): string {
  const directory = join(tmpdir(), `handback-bench-parser-${VERSION}`);
  mkdirSync(directory, { recursive: true });
  if (!existsSync(join(directory, "node_modules"))) {
    writeFileSync(join(directory, "package.json"), '{"private":true,"type":"module"}');
    execFileSync("npm", ["install", `@ai-sdk-tool/parser@${VERSION}`, "--no-audit", "--no-fund"], { cwd: directory, stdio: "ignore" });
  }
  return pathToFileURL(
    createRequire(join(directory, "x.js"))
      .resolve("@ai-sdk-tool/parser")
      .replace(/\.cjs$/, ".js"),
  ).href;
}

async function isRight(read: Reader, { text, finish_reason, ...expected }: Case): Promise<boolean> {
  for (const pieces of [[text], ...chunked(text)]) {
    const got = await read(pieces, finish_reason === "length").catch(() => undefined);
    if (!got || JSON.stringify(got.calls.map(sorted)) !== JSON.stringify(expected.expected_calls.map(sorted))) return false;
    const same = expected.exact_text ? got.text === expected.expected_text : blanks(got.text) === blanks(expected.expected_text);
    if (!same) return false;
  }
  return true;
}

function sorted({ name, arguments: input }: Outcome["calls"][number]): Json {
  return [name, ...Object.entries(input ?? {}).sort(([a], [b]) => a.localeCompare(b))];
}

function blanks(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

const lines: string[] = [];
function print(line: string): void {
  lines.push(line);
  console.log(line);
}

const theirs = await peers();
const SETS = { "cases.jsonl": "given", "cases-more.jsonl": "our own" };
const cases = Object.entries(SETS).flatMap(([file, set]) =>
  readFileSync(new URL(`../test/profile/${file}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => ({ set, ...(JSON.parse(line) as Case) }))
    .filter(({ kind }) => kind === "parse"),
);

print(`| cases right in every chunking | Handback | @ai-sdk-tool/parser ${VERSION} |\n|---|---|---|`);
for (const profile of ["JSON_Strict", "XML_Tag", "Hermes", "Qwen_XML", "GLM", "Ling", "Pythonic"]) {
  for (const set of Object.values(SETS)) {
    for (const level of ["core", "robust", "policy", "adversarial"]) {
      const all = cases.filter((case_) => case_.profile === profile && case_.level === level && case_.set === set);
      if (all.length === 0) continue;
      const count = async (read: Reader) => (await Promise.all(all.map((case_) => isRight(read, case_)))).filter(Boolean).length;
      const peer = theirs.get(profile);
      print(
        `| ${profile}, ${level}, ${set} | ${await count(ours(profile))}/${all.length} | ${peer ? `${await count(peer)}/${all.length}` : "–"} |`,
      );
    }
  }
}

print(`\n| one call, ms | Handback | @ai-sdk-tool/parser ${VERSION} |\n|---|---|---|`);
const other = theirs.get("XML_Tag") ?? ours("XML_Tag");
const CODE = 'const a = { b: "x" }; // }}\n';
let tooLong = false;
for (const [kilobytes, size] of [
  [20, 30],
  [80, 30],
  [350, 30],
  [20, 4],
  [80, 4],
  [350, 4],
  [700, 4],
] as const) {
  const input = { path: "a.js", content: CODE.repeat((kilobytes * 1000) / CODE.length) };
  const pieces = cutInto(`<tool_code>${JSON.stringify({ name: "write_file", arguments: input })}</tool_code>`, () => size);
  const time = async (read: Reader) => {
    const start = performance.now();
    await read(pieces, false);
    return performance.now() - start;
  };
  const mine = Math.min(await time(ours("XML_Tag")), await time(ours("XML_Tag")), await time(ours("XML_Tag")));
  if (size === 4 && kilobytes === 20) tooLong = false;
  const its: number = tooLong ? Number.NaN : await time(other);
  tooLong ||= its * 16 > PATIENCE_MS; // four times the text takes it sixteen times as long
  print(`| ${kilobytes} KB, ${size} characters a piece | ${short(mine)} | ${Number.isNaN(its) ? "not measured" : short(its)} |`);
}

const HEAD = `# Profiles beside @ai-sdk-tool/parser

Written by \`node bench/profile.ts\`. A case is right if text and calls are, in pieces of 1, 2, 3 and 7 characters, at once, and five times at random. It
claims no JSON_Strict, no GLM and no call syntax; what it does not claim counts as wrong within a profile it has.
`;
writeFileSync(new URL("PROFILES.md", import.meta.url), `${HEAD}\n${lines.join("\n")}\n`);
