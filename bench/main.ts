import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Contender, NAMES, start, startUpstream } from "./contender.ts";
import { aisdkDoor } from "./measures/aisdk-door.ts";
import { firstToken } from "./measures/first-token.ts";
import { graph } from "./measures/graph.ts";
import { install } from "./measures/install.ts";
import { restRoundTrip } from "./measures/rest-round-trip.ts";
import { roundTrip } from "./measures/round-trip.ts";
import { idleStreams, streams } from "./measures/streams.ts";
import { tokens } from "./measures/tokens.ts";
import { waiting } from "./measures/waiting.ts";
import { describeMachine, toReport } from "./report.ts";
import type { Effort, Row } from "./row.ts";
import { printTable } from "./table.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" }, servers: { type: "string" } },
});
const effort: Effort = { quick: values.quick };

const MEASURES: Record<string, () => Promise<Row[]>> = {
  tokens: () => sideBySide(tokens),
  "first-token": () => sideBySide(firstToken),
  aisdk: () => sideBySide(aisdkDoor),
  "round-trip": () => sideBySide(roundTrip),
  rest: () => sideBySide(restRoundTrip),
  streams: () => sideBySide(streams),
  idle: () => sideBySide(idleStreams),
  waiting,
  graph: () => graph(effort),
  install: () => install(effort),
};

const chosen = Object.entries(MEASURES).filter(([name]) => values.only?.split(",").includes(name) ?? true);
const machine = describeMachine();
const rows: Row[] = [];
for (const [, measure] of chosen) {
  const found = await measure();
  printTable(found);
  rows.push(...found);
}
if (values.only === undefined && values.servers === undefined) publish();

/** Runs a measure with servers of its own, so that none inherits another's garbage. */
async function sideBySide(measure: (contenders: Contender[], effort: Effort, upstream: string) => Promise<Row[]>): Promise<Row[]> {
  const upstream = await startUpstream();
  const contenders: Contender[] = [];
  for (const name of NAMES) {
    if (values.servers?.split(",").includes(name) ?? true) contenders.push(await start(name, upstream.url));
  }
  const found = await measure(contenders, effort, upstream.url);
  for (const contender of contenders) await contender.stop();
  await upstream.stop();
  return found;
}

/** Quick runs are for whoever develops; only a full one is worth keeping. */
function publish(): void {
  if (effort.quick) return;

  writeFileSync(join(import.meta.dirname, "results.json"), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  writeFileSync(join(import.meta.dirname, "RESULTS.md"), toReport(machine, rows));
}
