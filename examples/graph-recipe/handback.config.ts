// Seed 003's recipe: an agent plans, a person confirms the amounts, another node cooks. Runs without a key: the model is a script.
import { agentNode, append, chatAgent, defineConfig, END, edge, field, goto, graph, node, START } from "handback";
import { says, scriptedBy } from "handback/testing";
import { z } from "zod";

const planner = chatAgent({
  model: scriptedBy(() => says("Two eggs, ", "a spoon of butter ", "and some salt.")), // put your model here: "gpt-4o-mini"
  instructions: "Say what is needed for the dish, in one sentence.",
});

const recipe = graph(
  {
    dish: field(z.string()),
    plan: field(z.string()),
    log: field(z.array(z.string()), { reduce: append, default: () => [] }),
  },
  {
    input: ({ text }) => ({ dish: text }),
    nodes: {
      plan: agentNode(planner, { input: ({ dish }) => `Plan ${dish}`, output: ({ text }) => ({ plan: text, log: ["planned"] }) }),
      confirm: node(
        async ({ interrupt }) => {
          const go = await interrupt("confirm", "Confirm continuing after the recipe amounts are calculated.", { schema: z.boolean() });
          return go ? goto("cook", { log: ["confirmed"] }) : goto(END, { log: ["stopped"] });
        },
        { to: ["cook", END] },
      ),
      cook: ({ state, text, progress }) => {
        progress(0.5, "in the pan");
        text(`Here is your ${state.dish}: ${state.plan}`);
        return { log: ["cooked"] };
      },
    },
    edges: [edge(START, "plan"), edge("plan", "confirm"), edge("cook", END)],
  },
);

export default defineConfig({ agents: { default: recipe } });
