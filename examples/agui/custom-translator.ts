// A translator around ours: events of the app's own beside the standard ones. And callbacks, for when one event is to be changed.
import assert from "node:assert/strict";
import { HttpAgent } from "@ag-ui/client";
import { chatAgent, createHandback, type Translator } from "handback";
import { finishes, says, scripted } from "handback/testing";

const withTrace: Translator =
  (inner, { runId }) =>
  async (event) => {
    const frames = await inner(event);
    if (event.type !== "step.ended") return frames;
    return [...frames, { type: "CUSTOM", name: "trace.metadata", value: { runId, reason: event.finishReason ?? null, at: event.at } }];
  };

const handback = await createHandback({
  data: ":memory:",
  agui: {
    translator: withTrace,
    afterTranslate: [
      (event) => (event.type === "TEXT_MESSAGE_CONTENT" ? { ...event, delta: `${event["delta"]} [via callback]` } : undefined),
    ],
  },
  agents: { default: chatAgent({ model: scripted([...says("Hello."), ...finishes()]) }) },
});
const { url } = await handback.listen({ port: 0 });

const agent = new HttpAgent({ url: `${url}/agui`, threadId: "demo" });
agent.addMessage({ id: "u1", role: "user", content: "Hi." });
const traces: unknown[] = [];
await agent.runAgent({ runId: "run-1" }, { onCustomEvent: ({ event }) => void traces.push(event.value) });

console.log(agent.messages.at(-1)?.content, traces);
assert.equal(agent.messages.at(-1)?.content, "Hello. [via callback]");
assert.equal(traces.length, 1);
await handback.close({ grace: 0 });
