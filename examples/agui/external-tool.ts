// A tool that runs in the page: the model calls it, the run ends, the page executes it and hands the result back.
import assert from "node:assert/strict";
import { HttpAgent } from "@ag-ui/client";
import { chatAgent, createHandback } from "handback";
import { calls, says, scripted } from "handback/testing";

const model = scripted(calls("change_background", { colour: "tomato" }, { id: "call-1" }), says("The page is tomato now."));
const handback = await createHandback({ data: ":memory:", agents: { default: chatAgent({ model }) } });
const { url } = await handback.listen({ port: 0 });

// --- the page ---
const page = { background: "white" };
const changeBackground = {
  name: "change_background",
  description: "Paints the page",
  parameters: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
};
const agent = new HttpAgent({ url: `${url}/agui`, threadId: "demo" });
agent.addMessage({ id: "u1", role: "user", content: "Make it tomato." });
await agent.runAgent({ tools: [changeBackground] });

const last = agent.messages.at(-1);
const [call] = (last?.role === "assistant" && last.toolCalls) || [];
assert.ok(call, "the model called the page's tool");
page.background = JSON.parse(call.function.arguments).colour;
agent.addMessage({ id: "r1", role: "tool", toolCallId: call.id, content: JSON.stringify({ status: "ok" }) });
await agent.runAgent({ tools: [changeBackground] });

console.log(page.background, "|", agent.messages.at(-1)?.content);
assert.deepEqual([page.background, agent.messages.at(-1)?.content], ["tomato", "The page is tomato now."]);
await handback.close({ grace: 0 });
