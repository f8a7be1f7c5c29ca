import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Trace } from "./agent.ts";
import { check } from "./check.ts";
import { readDatabase } from "./check-database.ts";
import { emptyHistory } from "./history.ts";
import { type Lives, lives as startLives } from "./lives.ts";
import { nemesis as startNemesis } from "./nemesis.ts";
import { random } from "./random.ts";
import { user } from "./user.ts";

/** Threads in use at the same time. */
const USERS = 8;
const TURNS = 12;

/** How long the last server may take to bring every thread to its end. */
const FINISH_MS = 30_000;

export type Siege = { data: string; kills: number; seed: number };

/** Users talk to a server that is killed again and again. Returns every promise it broke, and what happened in numbers. */
export async function siege({ data, kills, seed }: Siege): Promise<{ problems: string[]; summary: string[] }> {
  const lives = startLives({ spares: 2 });
  try {
    const { history, tally, seconds, finished } = await besiege(lives, { data, kills, seed });
    const { logs, problems, snapshots } = readDatabase(data);
    const trace = readTrace(data);
    if (!finished) problems.push(`not every thread came to its end within ${FINISH_MS} ms of quiet`);
    problems.push(...lives.complaints, ...check({ history, logs, trace, uptimes: lives.uptimes }));

    const events = [...logs.values()].flat();
    const count = (type: string) => events.filter((event) => event.type === type).length;
    const unknown = events.filter((event) => event.type === "tool.returned" && event.error?.startsWith("Outcome unknown")).length;
    const summary = [
      `${kills} kills in ${seconds.toFixed(0)} s: ${JSON.stringify(tally)}`,
      `${logs.size} threads, ${events.length} events, ${count("run.started")} runs, ${count("run.recovered")} recoveries, ${snapshots} snapshots`,
      `${count("tool.returned")} calls settled, ${unknown} with outcome unknown, ${trace.length} lines of trace`,
      `${history.acts.length} answers to clients, ${history.views.length} followers`,
    ];
    return { problems, summary };
  } finally {
    lives.close();
  }
}

async function besiege(lives: Lives, { data, kills, seed }: Siege) {
  const history = emptyHistory();
  const nemesis = startNemesis(lives, data, random(seed), kills);
  const world = { url: lives.url, history, saw: nemesis.saw };
  const chance = random(seed + 1);
  let over = false;
  let threads = 0;
  const sit = async () => {
    while (!over) {
      threads += 1;
      await user(world, `thread-${threads}`, random(seed + 1 + threads), { turns: chance.between(1, TURNS), enough: () => over });
    }
  };
  const begun = performance.now();
  const users = Promise.all(Array.from({ length: USERS }, sit));
  const tally = await Promise.race([nemesis.run(), users.then(() => Promise.reject(new Error("The users left")))]);
  const seconds = (performance.now() - begun) / 1000;
  over = true;
  const last = lives.start({ data });
  const finished = await Promise.race([users.then(() => true), quiet()]);
  last.end();
  await last.over;
  return { history, tally, seconds, finished };
}

function quiet(): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, FINISH_MS, false).unref());
}

function readTrace(data: string): Trace[] {
  const lines = readFileSync(join(data, "trace.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Trace);
}
