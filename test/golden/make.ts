// Writes the golden database of this release: `node test/golden/make.ts`. Run once per release, before it is tagged; never again.
import { copyFileSync, existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../src/client/client.ts";
import { createHandback } from "../../src/handback.ts";
import { VERSION } from "../../src/version.ts";
import { goldenAgent } from "./agents.ts";

const file = `test/golden/${VERSION}.db`;
if (existsSync(file)) throw new Error(`${file} is there already: what a release wrote is not written again`);
const data = mkdtempSync(join(tmpdir(), "handback-golden-"));
const handback = await createHandback({ data, agents: { default: goldenAgent() } });
const { url } = await handback.listen({ port: 0 });
const client = connect({ url });
for (const [thread, messages] of Object.entries({
  talk: Array.from({ length: 40 }, (_, i) => `line ${i}`), // long enough for a snapshot
  waits: ["hello", "the menu, please"],
  asks: ["a refund, please"],
})) {
  for (const message of messages) {
    const { seq } = await client.run(thread, message);
    for await (const _ of client.follow(thread, { after: seq, until: "run" }));
  }
}
await client.threads.rename("talk", "A long talk");
await client.grants.add({ tool: "refund", threadId: "talk" });
await handback.close();
copyFileSync(join(data, "handback.db"), file);
console.log(`wrote ${file}`);
