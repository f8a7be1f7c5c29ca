// A page that is loaded again in the middle of an answer: the unmodified client, pointed at the history, sees the rest of it.
import assert from "node:assert/strict";
import { HttpAgent } from "@ag-ui/client";
import { chatAgent, createHandback } from "handback";
import { says, scripted } from "handback/testing";

const gate = Promise.withResolvers<void>();
const [started, first, ...rest] = says("One ", "two ", "three.");
const model = scripted(async function* () {
  yield* [started, first].filter((event) => event !== undefined);
  await gate.promise; // the answer takes its time
  yield* rest;
});
const handback = await createHandback({ data: ":memory:", agents: { default: chatAgent({ model }) } });
const { url } = await handback.listen({ port: 0 });

const before = new HttpAgent({ url: `${url}/agui`, threadId: "demo" });
before.addMessage({ id: "u1", role: "user", content: "Count." });
const answered = before.runAgent();
await until(() => before.messages.at(-1)?.content === "One ");

const after = new HttpAgent({ url: `${url}/agui/history`, threadId: "demo" });
const followed = after.runAgent();
await until(() => after.messages.at(-1)?.content === "One ");
gate.resolve();
await Promise.all([answered, followed]);

console.log(after.messages.at(-1)?.content);
assert.deepEqual(after.messages, before.messages);
await handback.close({ grace: 0 });

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 5));
}
