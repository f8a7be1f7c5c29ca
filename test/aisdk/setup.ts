import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const HERE = import.meta.dirname;

/** Installs what a folder's package.json names, unless it is there. The clients that judge us are a test's, not the package's. */
export function install(folder: string): void {
  const wanted = createHash("sha256")
    .update(readFileSync(join(folder, "package.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules", ".handback-setup");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  // Not `npm ci`: a lockfile cannot name the optional packages of other platforms that a registry lacks.
  const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-save"], { cwd: folder, encoding: "utf8" });
  if (npm.status !== 0) throw new Error(`Could not install into ${folder} (needs npm and its registry):\n${npm.stderr}`);
  writeFileSync(stamp, wanted);
}

/** A package of this folder. Not a plain import: type checks must hold before anything is installed here. */
export async function load<T>(name: string): Promise<T> {
  install(HERE);
  const path = createRequire(join(HERE, "package.json")).resolve(name);
  return (await import(pathToFileURL(path).href)) as T;
}
