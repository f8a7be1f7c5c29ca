import { parseArgs } from "node:util";
import { type Contender, NAMES, start, startUpstream } from "./contender.ts";
import { firstToken } from "./measures/first-token.ts";
import { roundTrip } from "./measures/round-trip.ts";
import { idleStreams, streams } from "./measures/streams.ts";
import { tokens } from "./measures/tokens.ts";
import type { Effort, Row } from "./row.ts";
import { printTable } from "./table.ts";

/** Each measure with servers of its own, so that none inherits another's garbage. */
const MEASURES: Record<string, (contenders: Contender[], effort: Effort, upstream: string) => Promise<Row[]>> = {
  tokens,
  "first-token": firstToken,
  "round-trip": roundTrip,
  streams,
  idle: idleStreams,
};

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" }, servers: { type: "string" } },
});
const effort = { quick: values.quick };
const names = NAMES.filter((name) => values.servers?.split(",").includes(name) ?? true);
const rows: Row[] = [];
for (const [name, measure] of Object.entries(MEASURES)) {
  if (values.only !== undefined && !values.only.split(",").includes(name)) continue;
  const upstream = await startUpstream();
  const contenders: Contender[] = [];
  for (const contender of names) contenders.push(await start(contender, upstream.url));
  const found = await measure(contenders, effort, upstream.url);
  printTable(found);
  rows.push(...found);
  for (const contender of contenders) await contender.stop();
  await upstream.stop();
}
