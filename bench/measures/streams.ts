import { open, post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median, quantile } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";

const PACE_MS = 50;
const NEW_PER_SECOND = 200;

/** Many streams at once at 20 tokens a second, up to 200 new ones each second. */
export async function streams(contenders: Contender[], { quick }: Effort): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of [200, 1_000]) {
    const n = quick ? 160 : 400; // long enough for all of them to be open at once
    const seen: Record<"p50" | "worst" | "cpu" | "rss", Row["values"]> = { p50: {}, worst: {}, cpu: {}, rss: {} };
    for (const contender of contenders) {
      const { slowdowns, cpu, rss } = await flood(contender, count, n);
      const { name } = contender;
      seen.p50[name] = median(slowdowns);
      seen.worst[name] = quantile(slowdowns, 1);
      seen.cpu[name] = cpu;
      seen.rss[name] = rss;
    }
    const label = `${count.toLocaleString("en")} streams at 20 tokens/s`;
    const worst = compare(`${label}: slowest stream`, "× ideal", seen.worst);
    if (count === 1_000) worst.bar = { text: "≤ 1.2 × ideal", holds: (seen.worst.handback ?? 9) <= 1.2 };
    rows.push(compare(`${label}: median stream`, "× ideal", seen.p50), worst);
    rows.push(compare(`${label}: CPU`, "% of a core", seen.cpu), compare(`${label}: memory per stream`, "kB", seen.rss));
  }
  return rows;
}

async function flood(contender: Contender, count: number, n: number): Promise<{ slowdowns: number[]; cpu: number; rss: number }> {
  const before = await contender.settled();
  let rss = before.rss;
  const begun = performance.now();
  const watch = setInterval(async () => {
    rss = Math.max(rss, (await contender.usage()).rss);
  }, 500);
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, (i / NEW_PER_SECOND) * 1000));
      return post(contender.url, contender.ask({ n, ms: PACE_MS }));
    }),
  );
  clearInterval(watch);
  const wall = performance.now() - begun;
  const { cpuMs } = await contender.usage();
  const ideal = (n - 1) * PACE_MS;
  return {
    slowdowns: answers.map(({ took }) => took / ideal),
    cpu: (100 * (cpuMs - before.cpuMs)) / wall,
    rss: (rss - before.rss) / count / 1000,
  };
}

/** Memory of a stream in which nothing happens: the provider has said one word and thinks. */
export async function idleStreams(contenders: Contender[], { quick }: Effort): Promise<Row[]> {
  const count = quick ? 200 : 1_000;
  const values: Row["values"] = {};
  for (const contender of contenders) {
    const before = await contender.settled();
    const closers: (() => void)[] = [];
    while (closers.length < count) {
      const batch = Array.from({ length: 50 }, () => open(contender.url, contender.ask({ n: 9, ms: 1, hangAfter: 1 })));
      closers.push(...(await Promise.all(batch)));
    }
    values[contender.name] = ((await contender.settled()).rss - before.rss) / count / 1000;
    for (const close of closers) close();
  }
  return [compare(`memory per idle stream (${count} open, provider silent)`, "kB", values)];
}
