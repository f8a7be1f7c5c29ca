import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const HERE = import.meta.dirname;

/** Installs what a folder's package.json names, unless it is there. The clients that judge us are a test's, not the package's. */
export function install(folder: string): void {
  const wanted = createHash("sha256")
    .update(readFileSync(join(folder, "package.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules", ".handback-setup");
  const done = () => existsSync(stamp) && readFileSync(stamp, "utf8") === wanted;
  if (done()) return;
  const lock = join(tmpdir(), `handback-setup-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`);
  while (!take(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200); // another test file is at it
  try {
    if (!done()) run(folder);
    writeFileSync(stamp, wanted);
  } finally {
    rmSync(lock, { recursive: true });
  }
}

/** A lock older than any install was left behind. */
function take(lock: string): boolean {
  if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 300_000) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

function run(folder: string): void {
  // Not `npm ci`: a lockfile cannot name the optional packages of other platforms that a registry lacks.
  const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-save"], { cwd: folder, encoding: "utf8" });
  if (npm.status !== 0) throw new Error(`Could not install into ${folder} (needs npm and its registry):\n${npm.stderr}`);
}

/** A package of a private folder, by default this one. Not a plain import: type checks must hold before anything is installed there. */
export async function load<T>(name: string, folder: string = HERE): Promise<T> {
  install(folder);
  const path = createRequire(join(folder, "package.json")).resolve(name);
  return (await import(pathToFileURL(path).href)) as T;
}
