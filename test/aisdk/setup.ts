import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const HERE = import.meta.dirname;
const STAMP = join(HERE, "node_modules", ".handback-setup");

/** Installs the clients that judge this door, unless they are there. They are a test's, not the package's, so they live in a folder of their own. */
export function installClients(): void {
  const wanted = createHash("sha256")
    .update(readFileSync(join(HERE, "package-lock.json")))
    .digest("hex");
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return;
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: HERE, encoding: "utf8" });
  if (npm.status !== 0)
    throw new Error(`Could not install the AI SDK clients into test/aisdk (needs npm and its registry):\n${npm.stderr}`);
  writeFileSync(STAMP, wanted);
}

/** A package of that folder. Not a plain import: type checks must hold before anything is installed there. */
export async function load<T>(name: string): Promise<T> {
  installClients();
  const path = createRequire(join(HERE, "package.json")).resolve(name);
  return (await import(pathToFileURL(path).href)) as T;
}
