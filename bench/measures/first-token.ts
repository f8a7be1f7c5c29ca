import { post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";

/** How much later than the provider's the first token is, one request at a time. */
export async function firstToken(contenders: Contender[], { quick }: Effort, upstream: string): Promise<Row[]> {
  const direct: number[] = [];
  const seen = new Map(contenders.map(({ name }) => [name, { first: [] as number[], cpu: [] as number[] }]));
  const rounds = quick ? 60 : 300;
  for (let round = 0; round < rounds; round += 1) {
    const { firstToken } = await post(`${upstream}/chat/completions`, { model: "m", messages: [{ role: "user", content: '{"n":1}' }] });
    direct.push(firstToken);
    for (const contender of contenders) {
      const answer = await post(contender.url, contender.ask({ n: 1 }));
      if (round >= rounds / 6) seen.get(contender.name)?.first.push(answer.firstToken);
    }
  }
  const own = median(direct);
  const values = Object.fromEntries([...seen].map(([name, { first }]) => [name, median(first) - own]));
  return [compare(`first token over the provider's (${own.toFixed(1)} ms), p50`, "ms", values, 1)];
}
