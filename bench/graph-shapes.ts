import type { Effort } from "./row.ts";

/** A graph to run: how many nodes one run executes, and how often it is run. */
export type Shape = { name: "chain" | "fan-out" | "loop"; nodes: number; runs: number };

/** What one node cost, in microseconds. */
export type Cost = { shape: Shape; mode: string; cpu: number; wall: number };

export function shapes({ quick }: Effort): Shape[] {
  const runs = (many: number) => Math.max(3, Math.round(quick ? many / 5 : many));
  return [
    { name: "chain", nodes: 10, runs: runs(150) },
    { name: "chain", nodes: 100, runs: runs(20) },
    { name: "chain", nodes: 1_000, runs: runs(4) },
    { name: "fan-out", nodes: 100, runs: runs(20) },
    { name: "loop", nodes: 100, runs: runs(20) },
  ];
}

/** Runs a shape often enough to be warm, then measures the whole process: threads of its own count too. */
export async function measure(shape: Shape, mode: string, run: (threadId: string) => Promise<number>): Promise<Cost> {
  const once = async (name: string) => {
    const result = await run(`${shape.name}-${shape.nodes}-${mode}-${name}`);
    if (result !== shape.nodes) throw new Error(`${shape.name} of ${shape.nodes} counted ${result}`);
  };
  for (let i = 0; i < Math.max(2, shape.runs / 4); i += 1) await once(`warm${i}`);
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  for (let i = 0; i < shape.runs; i += 1) await once(String(i));
  const wall = (performance.now() - begun) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const executed = shape.nodes * shape.runs;
  return { shape, mode, cpu: (user + system) / executed, wall: wall / executed };
}
