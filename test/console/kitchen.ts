import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Agent } from "../../src/agent/agent.ts";
import { chatAgent } from "../../src/agent/chat.ts";
import { END, goto, START } from "../../src/agent/graph/command.ts";
import { edge, join, when } from "../../src/agent/graph/edge.ts";
import { append, field } from "../../src/agent/graph/field.ts";
import { graph } from "../../src/agent/graph/graph.ts";
import { agentNode, node } from "../../src/agent/graph/node.ts";
import { AppError } from "../../src/core/error.ts";
import { says, scriptedBy } from "../../src/model/scripted.ts";

/** A graph that does all a drawing can show: it plans, works side by side, asks, fails and goes on. `ms` is how long its nodes take. */
export function kitchen(ms = 0): Agent {
  const model = scriptedBy(() => says("Two eggs, ", "flour and ", "a little patience."), { keep: 0 });
  return graph(
    { dish: field(z.string()), log: field(z.array(z.string()), { reduce: append, default: () => [] }) },
    {
      input: ({ text }) => ({ dish: text }),
      nodes: {
        plan: agentNode(chatAgent({ model }), { input: ({ dish }) => `Plan ${dish}`, output: ({ text }) => ({ log: [text] }) }),
        shop: node(
          async ({ progress }) => {
            progress(0.5, "half the list");
            await sleep(ms);
            return { log: ["shopped"] };
          },
          { description: "Buys what is missing" },
        ),
        prepare: node(
          async () => {
            await sleep(ms / 2);
            return { log: ["prepared"] };
          },
          { description: "Washes and cuts" },
        ),
        confirm: node(
          async ({ state, interrupt }) =>
            (await interrupt("confirm", `Shall we cook **${state.dish}** now?`, { schema: z.boolean() })) ? goto("cook") : goto(END),
          { to: ["cook", END], description: "Asks a person" },
        ),
        cook: async ({ state, text }) => {
          await sleep(ms / 2);
          if (/burn/.test(state.dish)) throw new AppError("invalid", "The pan caught fire");
          text(`Here is your ${state.dish}.`);
          return { log: ["cooked"] };
        },
        taste: async ({ state, interrupt }) => {
          if (!/strange/.test(state.dish)) return {};
          const prompt = { message: "How is it?", scale: { from: 1, to: 5 }, notes: ["salt", "sweetness"] };
          return { log: [JSON.stringify(await interrupt("verdict", prompt, { reason: "tasting_panel" }))] };
        },
      },
      edges: [
        edge(START, "plan"),
        edge("plan", "shop"),
        edge("plan", "prepare"),
        join(["shop", "prepare"], "confirm"),
        when("cook", ({ dish }) => (/plain/.test(dish) ? END : "taste"), ["taste", END]),
      ],
    },
  );
}
