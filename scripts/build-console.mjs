// Builds the console into dist/console, unless what is there was built from the same files. Beside each file lie its compressed forms.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const built = "dist/console";
const stamp = "dist/console/.built-from";
const wanted = state();

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  const lock = "node_modules/.handback-console-lock";
  while (!take(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200); // another process is at it
  try {
    if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) build();
  } finally {
    rmSync(lock, { recursive: true });
  }
}

/** In a folder of its own, which then takes the old one's place: a server that runs meanwhile never sees half a console. */
function build() {
  // Progress is no output: `npm pack --json` prints JSON and nothing else.
  console.error("Building the console (a few seconds, whenever it has changed)…");
  const fresh = `dist/.console-${process.pid}`;
  const vite = spawnSync(
    process.execPath,
    [join("node_modules", "vite", "bin", "vite.js"), "build", "console", "--outDir", join("..", fresh), "--logLevel", "warn"],
    { stdio: ["ignore", 2, 2] },
  );
  if (vite.status !== 0) process.exit(vite.status ?? 1);
  for (const file of globSync(`${fresh}/**/*.{js,css,svg,md}`)) compress(file);
  writeFileSync(join(fresh, ".built-from"), wanted);
  const old = `dist/.console-old-${process.pid}`;
  if (existsSync(built)) renameSync(built, old);
  renameSync(fresh, built);
  rmSync(old, { recursive: true, force: true });
}

function compress(file) {
  const bytes = readFileSync(file);
  if (bytes.length < 1024) return;
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}

/** Everything a build depends on. */
function state() {
  const files = [
    ...globSync([
      "console/src/**/*.{ts,tsx,css}",
      "console/public/*",
      "console/*.{html,json,ts}",
      "src/client/**/*.ts",
      "src/profiles.ts",
      "src/model/profile/*.ts",
      "src/core/*.ts",
    ]),
    "package-lock.json",
    "scripts/build-console.mjs",
  ].sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

/** A lock older than any build was left behind. */
function take(lock) {
  if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 120_000) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
