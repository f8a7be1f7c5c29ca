// Empties dist before the library is built. The console stays: it is built anew only when it has changed.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

if (existsSync("dist"))
  for (const name of readdirSync("dist")) if (!/^\.?console/.test(name)) rmSync(join("dist", name), { recursive: true });
