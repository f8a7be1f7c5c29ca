import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Packs and installs Handback as a user would, and raw AI SDK beside it; then starts what was installed. */
export async function install({ quick }: Effort): Promise<Row[]> {
  const place = mkdtempSync(join(tmpdir(), "handback-bench-"));
  try {
    const tarball = npm(ROOT, "pack", "--silent", "--pack-destination", place).trim().split("\n").at(-1) ?? "";
    const ours = project(place, "handback", join(place, tarball));
    const theirs = project(place, "ai-sdk", `ai@${versionOf("ai")}`, `@ai-sdk/openai-compatible@${versionOf("@ai-sdk/openai-compatible")}`);
    const sizes = compare("production install", "MB", { handback: megabytes(ours), "ai-sdk": megabytes(theirs) });
    sizes.bar = { text: "< 40 MB", holds: (sizes.values.handback ?? 99) < 40 };
    const times: number[] = [];
    for (let i = 0; i < (quick ? 3 : 9); i += 1) times.push(await startOnce(ours, join(place, `data-${i}`)));
    const cold = median(times);
    const start: Row = { what: "cold start to the listening line, p50", unit: "ms", values: { handback: cold } };
    return [sizes, { ...start, bar: { text: "< 1,000 ms", holds: cold < 1_000 } }];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function startOnce(project: string, data: string): Promise<number> {
  const begun = performance.now();
  const args = ["node_modules/handback/dist/cli/main.js", "start", "--port", "0", "--data", data];
  const child = spawn(process.execPath, args, { cwd: project, stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const took = performance.now() - begun;
  child.kill("SIGKILL");
  await once(child, "exit");
  return took;
}

function project(place: string, name: string, ...packages: string[]): string {
  const path = mkdtempSync(join(place, `${name}-`));
  writeFileSync(join(path, "package.json"), '{"private":true}');
  npm(path, "install", "--silent", "--omit=dev", "--no-audit", "--no-fund", ...packages);
  return path;
}

function versionOf(name: string): string {
  return (JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")) as { version: string }).version;
}

function megabytes(project: string): number {
  const files = readdirSync(join(project, "node_modules"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0) / 1e6;
}

function npm(cwd: string, ...args: string[]): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
