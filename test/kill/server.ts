import { join } from "node:path";
import { createHandback } from "../../src/handback.ts";
import { sqliteStore } from "../../src/store/sqlite.ts";
import { plannedAgent } from "./agent.ts";
import { type KillPoint, killable } from "./killable.ts";

/** What a waiting server is told: where its data is and, if it is to kill itself, where. */
export type Orders = { data: string; point?: KillPoint };

// The server of the kill tests. It starts up to the point where it would open its data, and waits there to be told to go on,
// so that a dead one can be replaced at once.

process.once("disconnect", () => process.exit());
process.once("message", async ({ data, point }: Orders) => {
  const store = killable(await sqliteStore({ path: data }), point);
  const agents = { default: plannedAgent(join(data, "trace.jsonl")) };
  const handback = await createHandback({ store, agents, coalesce: 4, heartbeat: "1s", log: complain });
  const { url } = await handback.listen({ port: 0 });
  process.send?.({ url });
  process.once("message", async () => {
    await handback.close({ grace: "1s" });
    process.exit();
  });
});

/** Nothing of this may ever happen, however often it is killed. */
function complain({ event, ...fields }: { event: string }): void {
  if (/failed|error/.test(event)) process.stderr.write(`${event} ${JSON.stringify(fields)}\n`);
}
