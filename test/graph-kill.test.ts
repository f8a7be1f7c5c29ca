import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { emptyThread, fold } from "../src/core/thread.ts";
import { checkTasks, uninterrupted } from "./graph/judge.ts";
import { type Spec, spec } from "./graph/random.ts";
import { readDatabase } from "./kill/check-database.ts";

const KILLS = Number(process.env["KILLS"] ?? 20);
const SEED = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1e9));

describe("kill -9 while graphs run", () => {
  it(`changes no outcome in ${KILLS} kills, and no finished task runs again`, { timeout: 120_000 + KILLS * 10_000 }, async (t) => {
    t.diagnostic(`SEED=${SEED}`);
    let kills = 0;
    let graphs = 0;
    for (const one of fc.sample(spec(1), { seed: SEED, numRuns: 1_000 })) {
      if (kills >= KILLS) break;
      kills += await survive(one, KILLS - kills);
      graphs += 1;
    }
    t.diagnostic(`${kills} kills of ${graphs} graphs`);
    assert.ok(kills >= KILLS);
  });
});

/** Runs one graph to its end, killing its process at random moments; gives the number of kills. */
async function survive(spec: Spec, most: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "handback-graph-"));
  const [data, specFile, trace] = ["data", "spec.json", "trace.jsonl"].map((name) => join(directory, name)) as [string, string, string];
  writeFileSync(specFile, JSON.stringify(spec));
  let kills = 0;
  for (;;) {
    const child = spawn(process.execPath, [new URL("./graph/child.ts", import.meta.url).pathname, data, specFile, trace], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit") as Promise<[number | null, string | null]>;
    const up = Promise.race([once(child.stdout, "data"), ended]);
    await up;
    const killer = new AbortController();
    if (kills < most && kills < 8)
      sleep(5 + Math.random() * 60, undefined, { signal: killer.signal }).then(
        () => child.kill("SIGKILL"),
        () => {},
      );
    const [code, signal] = await ended;
    killer.abort();
    if (signal === "SIGKILL") kills += 1;
    else {
      assert.equal(code, 0, `the process failed; see ${directory}`);
      break;
    }
  }
  const { logs, problems } = readDatabase(data);
  const events = logs.get("t") ?? [];
  const thread = emptyThread();
  for (const event of events) fold(thread, event);
  assert.deepEqual(problems, [], directory);
  assert.equal(thread.ended?.outcome.type, "done", directory);
  assert.deepEqual(thread.state, await uninterrupted(spec), directory);
  const ran = existsSync(trace)
    ? readFileSync(trace, "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { taskId: string; seq: number }]))
    : [];
  checkTasks(events, ran);
  rmSync(directory, { recursive: true });
  return kills;
}
