import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { createHandback } from "handback";
import config from "./handback.config.ts";

// A LangGraph graph asks, its server is stopped, another one takes the answer: `node --conditions=handback-source examples/langgraph/main.ts`
const data = mkdtempSync(join(tmpdir(), "handback-langgraph-"));
const first = await createHandback({ ...config, data });
const user = { id: "u1", role: "user" as const, content: "cats" };
const agent = new HttpAgent({ url: `${(await first.listen({ port: 0 })).url}/agui`, threadId: "post", initialMessages: [user] });
await agent.runAgent();
const [question] = agent.pendingInterrupts;
console.log("asked:", question?.message);
assert.equal(question?.message, "Publish it?");
await first.close();

const second = await createHandback({ ...config, data });
agent.url = `${(await second.listen({ port: 0 })).url}/agui`;
await agent.runAgent({ resume: [{ interruptId: question.id, status: "resolved", payload: "yes" }] });
const said = agent.messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
console.log("said:", said);
assert.deepEqual(said, ["A post about cats.", "Published."]);
await second.close();
rmSync(data, { recursive: true });
