import type { StoredEvent } from "../../src/core/event.ts";
import { createHandback } from "../../src/handback.ts";
import { sqliteStore } from "../../src/store/sqlite.ts";
import { plannedAgent } from "./agent.ts";

// Fills a data directory with threads that each wait for one call, says so, and waits to be killed. One thread is real; the others are its copies.

const [data = "", count = "0"] = process.argv.slice(2);
process.once("disconnect", () => process.exit());
const store = await sqliteStore({ path: data });
const handback = await createHandback({ store, agents: { default: plannedAgent(`${data}/trace.jsonl`) } });
const content = JSON.stringify({ words: 3, steps: [["look"]] });
const body = JSON.stringify({ threadId: "crowd-0", runId: "run", messages: [{ id: "m", role: "user", content }] });
const answer = await handback.fetch(
  new Request("http://localhost/agui", { method: "POST", headers: { "content-type": "application/json" }, body }),
);
await answer.text();

const key = { app: "default", user: "user" };
const log = await store.read({ ...key, threadId: "crowd-0" }, { after: 0 });
const callId = log.find((event) => event.type === "call.offered")?.callId ?? "";
const text = JSON.stringify(log.map(({ seq, at, v, ...event }: StoredEvent) => event));
const copies: Promise<number>[] = [];
for (let i = 1; i < Number(count); i += 1) {
  copies.push(
    store.append({ ...key, threadId: `crowd-${i}` }, { seq: 0 }, JSON.parse(text.replaceAll(callId, `crowd-call-${i}`)), Date.now()),
  );
}
await Promise.all(copies);
process.send?.("filled");
