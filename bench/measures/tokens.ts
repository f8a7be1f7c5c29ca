import { post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";

const PARALLEL = 16;

/** CPU and bytes per token, as fast as the provider can and at a model's pace. */
export async function tokens(contenders: Contender[], { quick }: Effort): Promise<Row[]> {
  const fast = await streamed(contenders, { n: 500 }, quick ? 4 : 12);
  const paced = await streamed(contenders, { n: 200, ms: 20 }, quick ? 2 : 5);
  return [
    compare("CPU per 1,000 tokens, 16 × 500 as fast as they come", "ms", fast.cpu, 0.5),
    compare("CPU per 1,000 tokens, 16 × 200 at 50 a second", "ms", paced.cpu, 0.5),
    compare("tokens a second, 16 × 500", "1/s", fast.rate),
    compare("bytes on the wire per token, 16 × 500", "B", fast.bytes),
  ];
}

type Figures = Record<"cpu" | "rate" | "bytes", Row["values"]>;

/** Rounds take turns between the servers, so that a busy machine is busy for all of them. The first round warms up. */
async function streamed(contenders: Contender[], wish: { n: number; ms?: number }, rounds: number): Promise<Figures> {
  const seen = new Map(contenders.map(({ name }) => [name, { cpu: [] as number[], rate: [] as number[], bytes: [] as number[] }]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const contender of contenders) {
      const before = await contender.usage();
      const begun = performance.now();
      const answers = await Promise.all(Array.from({ length: PARALLEL }, () => post(contender.url, contender.ask(wish))));
      const seconds = (performance.now() - begun) / 1000;
      const { cpuMs } = await contender.usage();
      const thousands = (PARALLEL * wish.n) / 1000;
      if (round === 0) continue;
      const figures = seen.get(contender.name);
      figures?.cpu.push((cpuMs - before.cpuMs) / thousands);
      figures?.rate.push((thousands * 1000) / seconds);
      figures?.bytes.push(answers.reduce((sum, { bytes }) => sum + bytes, 0) / thousands / 1000);
    }
  }
  const medians = (of: keyof Figures) => Object.fromEntries([...seen].map(([name, figures]) => [name, median(figures[of])]));
  return { cpu: medians("cpu"), rate: medians("rate"), bytes: medians("bytes") };
}
