import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cost, type Shape, shapes } from "../graph-shapes.ts";
import type { Effort, Row } from "../row.ts";

/** The versions this was written against. An older better-sqlite3 would be built on the spot, and ends the process on Node 24.19 and later. */
const PROJECT = { private: true, type: "module", overrides: { "better-sqlite3": "13.0.3" } };
const PEER = ["@langchain/langgraph@1.4.18", "@langchain/core@1.2.13", "@langchain/langgraph-checkpoint-sqlite@1.0.4"];

const LABELS: Record<Shape["name"], string> = { chain: "chain of", "fan-out": "fan-out of", loop: "loop of" };

/** What a node of a graph costs against LangGraph.js with its SQLite checkpointer, with functions that do nothing. */
export async function graph(effort: Effort): Promise<Row[]> {
  const place = mkdtempSync(join(tmpdir(), "handback-bench-"));
  try {
    writeFileSync(join(place, "package.json"), JSON.stringify(PROJECT));
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", ...PEER], {
      cwd: place,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const wanted = shapes(effort);
    const ours = await costs("graph-handback", [place, JSON.stringify(wanted)]);
    const theirs = await costs("graph-langgraph", [place, place, JSON.stringify(wanted)]);
    return wanted.flatMap((shape) => ["async", "sync"].flatMap((mode) => rowsOf(shape, mode, ours, theirs)));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function costs(script: string, args: string[]): Promise<Cost[]> {
  const found: Cost[] = [];
  const execArgv = ["--expose-gc", ...(process.env["PROFILE"] === script ? ["--cpu-prof", "--cpu-prof-dir=profiles"] : [])];
  const child = fork(join(import.meta.dirname, `../${script}.ts`), args, { execArgv });
  child.on("message", (cost) => void found.push(cost as Cost));
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return found;
}

function rowsOf(shape: Shape, mode: string, ours: Cost[], theirs: Cost[]): Row[] {
  const same = ({ shape: other }: Cost) => other.name === shape.name && other.nodes === shape.nodes;
  const own = ours.find(same);
  const peer = theirs.find((cost) => same(cost) && cost.mode === mode);
  if (!own || !peer) return [];
  const label = `graph, ${LABELS[shape.name]} ${shape.nodes.toLocaleString("en")}, LangGraph ${mode}`;
  const row = (what: string, handback: number, langgraph: number): Row => {
    const ratio = handback / langgraph;
    return { what, unit: "µs", values: { handback, langgraph }, ratio, of: "LangGraph", bar: { text: "≤ 0.2 ×", holds: ratio <= 0.2 } };
  };
  return [row(`${label}: CPU per node`, own.cpu, peer.cpu), row(`${label}: time per node`, own.wall, peer.wall)];
}
