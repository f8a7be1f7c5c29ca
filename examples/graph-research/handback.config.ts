// Research with parallel branches: one task for each topic, all at the same time, each in a graph of its own; then somebody sums up.
import { agentNode, append, chatAgent, defineConfig, edge, field, goto, graph, graphNode, node, START, send } from "handback";
import { says, scriptedBy } from "handback/testing";
import { z } from "zod";

const facts = field(z.array(z.string()), { reduce: append, default: () => [] });

/** What one branch does: look, then check. */
const branch = graph(
  { topic: field(z.string()), facts },
  {
    nodes: {
      look: node(({ state }) => ({ facts: [`${state.topic} grows in the mountains`] }), { retry: { attempts: 3 }, timeout: "10s" }),
      check: ({ state }) => ({ facts: [`${state.topic} was checked`] }),
    },
    edges: [edge(START, "look"), edge("look", "check")],
  },
);

const writer = chatAgent({
  instructions: "Sum the facts up.",
  // Put your model here: "gpt-4o-mini". This one repeats what it is told.
  model: scriptedBy(({ history }) => {
    const last = history.at(-1);
    return says("In short: ", last?.role === "user" && typeof last.content === "string" ? last.content : "nothing");
  }),
});

const research = graph(
  { topics: field(z.array(z.string())), topic: field(z.string()), facts, summary: field(z.string()) },
  {
    input: ({ text }) => ({ topics: text.split(/\s*,\s*/).filter((topic) => topic !== "") }),
    nodes: {
      split: node(({ state }) => goto(state.topics.map((topic) => send("branch", { topic }))), { to: ["branch"] }),
      branch: graphNode(branch, { input: ({ topic }) => ({ topic }), output: (found) => ({ facts: found.facts }) }),
      write: agentNode(writer, { input: (state) => state.facts.join("; "), output: ({ text }) => ({ summary: text }) }),
    },
    edges: [edge(START, "split"), edge("branch", "write")],
  },
);

export default defineConfig({ agents: { default: research } });
