// Writes the golden logs of test/view.test.ts: `node --conditions=handback-source test/view/make.ts`. Run when the demo or the events change; then look at the diff.
import { writeFileSync } from "node:fs";
import { demoAgent } from "../../src/cli/demo/agent.ts";
import { connect, EMPTY_VIEW, foldAll, type StoredEvent } from "../../src/client/client.ts";
import { createHandback } from "../../src/handback.ts";
import { memoryStore } from "../../src/store/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { fakeClock } from "../../src/testing/fake-clock.ts";
import { obedient } from "../support/native.ts";
import { plain } from "./plain.ts";

const START = Date.parse("2026-01-05T12:00:00Z");
const kept = memoryStore();
const store: Store = { ...kept, close: async () => {} };
const clock = fakeClock(START);
let minted = 0;
const open = async () => {
  const handback = await createHandback({
    agents: { default: demoAgent({ pace: 0 }), obedient: obedient() },
    store,
    clock,
    coalesce: 0,
    ids: (prefix) => `${prefix}_${++minted}`,
  });
  return { handback, client: connect({ url: (await handback.listen({ port: 0 })).url }) };
};
let { handback, client } = await open();

async function say(thread: string, text: string, options: Parameters<typeof client.run>[2] = {}): Promise<StoredEvent[]> {
  const { seq } = await client.run(thread, text, options);
  return rest(thread, seq);
}

async function rest(thread: string, after: number): Promise<StoredEvent[]> {
  const events = await Array.fromAsync(client.follow(thread, { after, until: "run" }));
  await clock.advance(1500);
  return events;
}

const calledIn = (events: StoredEvent[]) => events.flatMap((event) => (event.type === "tool.called" ? [event.callId] : []));

const [primes = ""] = calledIn(await say("primes", "the sum of all primes up to 1000"));
const { claim } = await client.calls.claim(primes, { by: "console" });
await clock.advance(300);
await rest("primes", (await client.calls.result(primes, 76127, { claim })).seq);

const [approval = ""] = calledIn(await say("approval", "清理旧的草稿订单"));
await rest("approval", (await client.calls.approve(approval, { input: { status: "draft", limit: 10 }, reason: "careful" })).seq);
const [refused = ""] = calledIn(await say("approval", "refund it"));
await rest("approval", (await client.calls.reject(refused, "too risky")).seq);
const [own = ""] = calledIn(await say("approval", "refund it again"));
await rest("approval", (await client.calls.respond(own, "it was paid by hand")).seq);

const [, second = ""] = calledIn(await say("parallel", "two at once"));
await rest("parallel", (await client.calls.result(second, 3)).seq);

const expiring = await say("expired", "timeout");
await clock.advance(10_000);
await rest("expired", expiring.at(-1)?.seq ?? 0);

await say("report", "write the weekly report");
await client.threads.rename("report", "A week");

await say("failed", "fail");
await say("failed", "hello");
const [first] = (await client.log("failed")).events;
await rest("failed", (await client.regenerate("failed", first?.type === "run.started" ? (first.messages[0]?.id ?? "") : "")).seq);

await client.run("cut", "hang", { agent: "obedient" });
for await (const event of client.follow("cut")) if (event.type === "text.ended") break;
await handback.close({ grace: 0 });
({ handback, client } = await open());
await client.cancel("cut", "enough").catch(() => {});
await rest("cut", 0);

for (const name of ["primes", "approval", "parallel", "expired", "report", "failed", "cut"]) {
  const { events } = await client.log(name);
  writeFileSync(`test/view/${name}.jsonl`, `${events.map((event) => JSON.stringify(event)).join("\n")}\n`);
  writeFileSync(`test/view/${name}.json`, `${JSON.stringify(plain(foldAll(EMPTY_VIEW, events)), null, 2)}\n`);
}
await handback.close({ grace: 0 });
await kept.close();
