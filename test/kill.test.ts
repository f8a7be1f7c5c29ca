import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseArgs } from "node:util";
import type { Trace } from "./kill/agent.ts";
import { check } from "./kill/check.ts";
import { readDatabase } from "./kill/check-database.ts";
import { emptyHistory } from "./kill/history.ts";
import { lives as startLives } from "./kill/lives.ts";
import { nemesis as startNemesis } from "./kill/nemesis.ts";
import { random } from "./kill/random.ts";
import { user } from "./kill/user.ts";

const { values } = parseArgs({ options: { kills: { type: "string" }, seed: { type: "string" } }, strict: false });
const kills = Number(values.kills ?? process.env["KILLS"] ?? 200);
const seed = Number(values.seed ?? process.env["SEED"] ?? Math.floor(Math.random() * 1e9));

/** Threads in use at the same time. */
const USERS = 8;
const TURNS = 12;

/** How long the last server may take to bring every thread to its end. */
const FINISH_MS = 30_000;

describe("kill -9", () => {
  it(`loses nothing and repeats nothing in ${kills} kills`, { timeout: 60_000 + kills * 2_000 }, async (t) => {
    t.diagnostic(`seed ${seed} (repeat with SEED=${seed})`);
    const data = mkdtempSync(join(tmpdir(), "handback-kill-"));
    const chance = random(seed);
    const history = emptyHistory();
    const lives = startLives({ spares: 2 });
    t.after(lives.close);
    const nemesis = startNemesis(lives, data, random(seed + 1), kills);
    const world = { url: lives.url, history, saw: nemesis.saw };
    let over = false;
    let count = 0;
    const seat = async () => {
      while (!over) {
        count += 1;
        await user(world, `thread-${count}`, random(seed + count), { turns: chance.between(1, TURNS), enough: () => over });
      }
    };
    const begun = performance.now();
    const seats = Promise.all(Array.from({ length: USERS }, seat));
    const tally = await Promise.race([nemesis.run(), seats.then(() => assert.fail("the users left"))]);
    const took = (performance.now() - begun) / 1000;
    over = true;
    const last = lives.start({ data });
    await within(FINISH_MS, seats, () => `threads did not come to their end; seed ${seed}, data in ${data}`);
    last.end();
    await last.over;

    const { logs, problems, snapshots } = readDatabase(data);
    const trace = readFileSync(join(data, "trace.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Trace);
    problems.push(...lives.complaints, ...check({ history, logs, trace, uptimes: lives.uptimes }));
    const events = [...logs.values()].flat();
    const of = (type: string) => events.filter((event) => event.type === type).length;
    t.diagnostic(`${kills} kills in ${took.toFixed(0)} s: ${JSON.stringify(tally)}`);
    t.diagnostic(
      `${logs.size} threads, ${events.length} events, ${of("run.started")} runs, ${of("run.recovered")} recoveries, ${of("tool.returned")} calls, ${snapshots} snapshots`,
    );
    const unknown = events.filter((event) => event.type === "tool.returned" && event.error?.startsWith("Outcome unknown")).length;
    t.diagnostic(
      `${history.acts.length} answers, ${history.views.length} followers, ${trace.length} trace lines, ${unknown} outcomes unknown`,
    );
    assert.deepEqual(problems.slice(0, 20), [], `${problems.length} problems, seed ${seed}, data in ${data}`);
    rmSync(data, { recursive: true });
  });
});

async function within<T>(ms: number, work: Promise<T>, why: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(why())), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
