import { post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";

/** Some tokens at a pace, so that none can hide behind the end of its answer. */
const WISH = { n: 3, ms: 10 };

/** How much later than the provider's the first token is, one request at a time. */
export async function firstToken(contenders: Contender[], { quick }: Effort, upstream: string): Promise<Row[]> {
  const direct: number[] = [];
  const seen = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  const rounds = quick ? 60 : 300;
  for (let round = 0; round < rounds; round += 1) {
    const body = { model: "m", messages: [{ role: "user", content: JSON.stringify(WISH) }] };
    direct.push((await post(`${upstream}/chat/completions`, body)).firstToken);
    for (const contender of contenders) {
      const answer = await post(contender.url, contender.ask(WISH));
      if (round >= rounds / 6) seen.get(contender.name)?.push(answer.firstToken);
    }
  }
  const own = median(direct);
  const values = Object.fromEntries([...seen].map(([name, times]) => [name, median(times) - own]));
  return [compare(`first token over the provider's (${own.toFixed(1)} ms), p50`, "ms", values, 1)];
}
