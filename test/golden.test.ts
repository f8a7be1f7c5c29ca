import assert from "node:assert/strict";
import { copyFileSync, globSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { connect, type StoredEvent } from "../src/client/client.ts";
import { createHandback } from "../src/handback.ts";
import { goldenAgent } from "./golden/agents.ts";
import { scratch } from "./support/server-process.ts";

/** Databases of every release stay here: what they left pending must still settle. */
describe("a database of an earlier release", () => {
  const files = globSync("test/golden/*.db");
  assert.ok(files.length > 0, "found no golden databases");
  for (const file of files) {
    it(`${basename(file)} is read, and what it left pending settles`, async (t) => {
      const data = scratch();
      copyFileSync(file, join(data, "handback.db"));
      const handback = await createHandback({ data, agents: { default: goldenAgent() } });
      t.after(() => handback.close({ grace: 0 }));
      const client = connect({ url: (await handback.listen({ port: 0 })).url });

      const { threads } = await client.threads.list();
      assert.deepEqual(threads.map(({ threadId, status, pending }) => `${threadId} ${status} ${pending}`).sort(), [
        "asks waiting 1",
        "talk idle 0",
        "waits waiting 1",
      ]);
      assert.equal((await client.threads.get("talk")).title, "A long talk");
      assert.equal((await client.grants.list()).length, 1);
      const found = await client.threads.list({ search: "menu" }); // said in the middle, before there was an index
      assert.deepEqual(
        found.threads.map(({ threadId }) => threadId),
        ["waits"],
      );

      const { calls } = await client.calls.list({ status: "pending" });
      const menu = calls.find(({ name }) => name === "get_menu");
      const question = calls.find(({ kind }) => kind === "interrupt");
      const { seq } = await client.calls.result(menu?.id ?? "", { latte: 30 });
      assert.equal((await rest("waits", seq)).at(-1), "done");
      const answered = await client.calls.approve(question?.callId ?? "", { input: { amount: 20 } });
      assert.equal((await rest("asks", answered.seq)).at(-1), "done");
      const started = await client.run("talk", "and now?");
      assert.equal((await rest("talk", started.seq)).at(-1), "done");

      async function rest(thread: string, after: number): Promise<string[]> {
        const events: StoredEvent[] = [];
        for await (const event of client.follow(thread, { after, until: "turn" })) events.push(event);
        return events.map((event) => (event.type === "run.ended" ? event.outcome.type : event.type));
      }
    });
  }
});
