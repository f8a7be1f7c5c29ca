import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import type { Row } from "./row.ts";
import { toMarkdown } from "./table.ts";

/** Where and with what a bench ran. */
export type Machine = { date: string; cpu: string; memory: string; load: string; versions: Record<string, string> };

export function describeMachine(): Machine {
  const all = cpus();
  return {
    date: new Date().toISOString().slice(0, 16).replace("T", " "),
    cpu: `${all.length} × ${all[0]?.model.trim()}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GB`,
    load: loadavg()
      .map((load) => load.toFixed(1))
      .join(" "),
    versions: {
      handback: versionIn("package.json"),
      node: process.versions.node,
      sqlite: process.versions["sqlite"] ?? "?",
      ai: versionIn("node_modules/ai/package.json"),
      "@ai-sdk/openai-compatible": versionIn("node_modules/@ai-sdk/openai-compatible/package.json"),
    },
  };
}

export function toReport({ date, cpu, memory, load, versions }: Machine, rows: Row[]): string {
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `# Bench results

Written by \`npm run bench\`. Absolute times belong to this machine; the ratios are what to look at.

- ${date} UTC, ${cpu}, ${memory}, load before the run ${load}
- ${named.join(", ")}
- Handback: AG-UI over SSE, every event in SQLite (WAL, \`synchronous=FULL\`) before it is sent. AI SDK: \`streamText\` as a UI message
  stream over node:http, nothing kept. Relay: node:http that parses the provider's stream and passes tokens on.
- LangGraph: LangGraph.js 1.4.18 with its SQLite checkpointer (WAL, \`synchronous=FULL\` too), at its default durability (async) and at
  sync; Handback's engine without a door, every superstep on disk before the next. Functions that do nothing, in one process.
- The same fake provider, each server, the provider and the clients in a process of their own, all on this machine.
- ratio: Handback / AI SDK unless it says otherwise.

${toMarkdown(rows)}
`;
}

function versionIn(file: string): string {
  return (JSON.parse(readFileSync(`${import.meta.dirname}/../${file}`, "utf8")) as { version: string }).version;
}
