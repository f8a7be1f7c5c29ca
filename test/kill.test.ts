import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseArgs } from "node:util";
import { siege } from "./kill/siege.ts";

const { values } = parseArgs({ options: { kills: { type: "string" }, seed: { type: "string" } }, strict: false });
const kills = Number(values.kills ?? process.env["KILLS"] ?? 200);
const seed = Number(values.seed ?? process.env["SEED"] ?? Math.floor(Math.random() * 1e9));

describe("kill -9", () => {
  it(`loses nothing and repeats nothing in ${kills} kills`, { timeout: 120_000 + kills * 2_000 }, async (t) => {
    const data = mkdtempSync(join(tmpdir(), "handback-kill-"));
    t.diagnostic(`seed ${seed}`);
    const { problems, summary } = await siege({ data, kills, seed });
    for (const line of summary) t.diagnostic(line);
    assert.deepEqual(problems.slice(0, 20), [], `${problems.length} problems; SEED=${seed}, data in ${data}`);
    rmSync(data, { recursive: true });
  });
});
