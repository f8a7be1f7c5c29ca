import { chatAgent, createHandback, type Model, tool } from "../../src/handback.ts";
import { report } from "./report.ts";

/** Handback as it ships: AG-UI over SSE, every event on disk before it is seen. */
const [upstream = "", data = ""] = process.argv.slice(2);

const external = tool({ name: "ext", description: "Runs outside", input: { type: "object" } });

/** A model in this process that looks at one message only: what is left is our own part. */
const instant: Model = async function* ({ history }) {
  const id = "1";
  const last = history.at(-1);
  if (last?.role === "user" && last.content !== "talk") {
    yield { type: "tool.started", id: "call", name: "ext" };
    yield { type: "tool.called", id: "call", name: "ext", input: "{}" };
  } else {
    yield { type: "text.started", id };
    yield { type: "text.delta", id, delta: "token " };
    yield { type: "text.ended", id };
  }
  yield { type: "finished", reason: "stop" };
};

const handback = await createHandback({
  data,
  provider: { baseUrl: upstream },
  agents: { default: chatAgent({ model: "fake", tools: [external] }), instant: chatAgent({ model: instant, tools: [external] }) },
});
const { url } = await handback.listen({ port: 0 });
report(url);
