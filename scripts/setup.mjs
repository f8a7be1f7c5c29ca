// Installs what the lockfile names, unless it is already there. Runs on any Node >= 20, before Node 24 exists here.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const stamp = "node_modules/.handback-setup";
const wanted = createHash("sha256").update(readFileSync("package-lock.json")).digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  console.log("Installing dependencies (about half a minute, once)…");
  // Not `npm ci`: it refuses a lockfile made where the registry has no binaries for other platforms.
  const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) process.exit(npm.status ?? 1);
  writeFileSync(stamp, wanted);
}
