// Seed 003's think aggregator: thoughts are told as custom events of the app's own, and gathered before they are written down.
import assert from "node:assert/strict";
import { type Agent, type Aggregator, chatAgent, createHandback, type Event, joinDeltas } from "handback";
import { says, scripted, thinks } from "handback/testing";

/** The same agent, its thoughts as `think_start`, `think_content` and `think_end`. */
function thinkingAloud(agent: ReturnType<typeof chatAgent>): Agent {
  return {
    ...agent,
    async *step(context) {
      for await (const event of agent.step(context)) yield toThink(event);
    },
  };
}

function toThink(event: Event): Event {
  if (event.type === "reasoning.started") return { type: "custom.emitted", name: "think_start", value: null };
  if (event.type === "reasoning.delta") return { type: "custom.emitted", name: "think_content", value: event.delta };
  if (event.type === "reasoning.ended") return { type: "custom.emitted", name: "think_end", value: null };
  return event;
}

/** Joins texts as always; thoughts are held back and told as one, in front of whatever comes next. */
function thinkAggregator(): Aggregator {
  const inner = joinDeltas();
  let think = "";
  const told = (): Event[] => {
    const value = think;
    think = "";
    return value === "" ? [] : [{ type: "custom.emitted", name: "think_content", value }];
  };
  return {
    append(event) {
      if (event.type !== "custom.emitted" || event.name !== "think_content") return [...told(), ...inner.append(event)];
      if (typeof event.value === "string") think += event.value;
      return inner.flush(); // what was said before it comes first
    },
    flush: () => [...told(), ...inner.flush()],
  };
}

const model = scripted([...thinks("Tea ", "or ", "coffee", "?"), ...says("Tea.")]);
const handback = await createHandback({
  data: ":memory:",
  aggregate: thinkAggregator,
  agents: { default: thinkingAloud(chatAgent({ model })) },
});

const request = new Request("http://localhost/");
const body = { threadId: "demo", messages: [{ role: "user", content: "What shall I drink?" }] };
const events = await handback.agui.run(body, { request });
const told: unknown[] = [];
for await (const event of events(AbortSignal.timeout(5_000))) if (event.type === "CUSTOM") told.push([event["name"], event["value"]]);

console.log(told);
assert.deepEqual(told, [
  ["think_start", null],
  ["think_content", "Tea or coffee?"],
  ["think_end", null],
]);
await handback.close({ grace: 0 });
