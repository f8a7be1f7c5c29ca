// An expense goes through by itself when it is small; a larger one waits for a person, who may also change the amount.
import { append, defineConfig, END, edge, field, goto, graph, node, START, when } from "handback";
import { z } from "zod";

const decision = z.object({ approved: z.boolean(), amount: z.number().positive().optional(), reason: z.string().optional() });

const expense = graph(
  {
    amount: field(z.number()),
    log: field(z.array(z.string()), { reduce: append, default: () => [] }),
  },
  {
    input: ({ text }) => ({ amount: Number(/\d+(\.\d+)?/.exec(text)?.[0] ?? 0) }),
    nodes: {
      review: ({ state }) => ({ log: [`asked for ${state.amount}`] }),
      approve: node(
        async ({ state, interrupt, text }) => {
          // Everything above an interrupt runs again when the answer comes: ask before you act.
          const { approved, amount, reason } = await interrupt(
            "approve",
            { question: "Pay this expense?", amount: state.amount },
            { schema: decision },
          );
          if (approved) return goto("pay", { amount: amount ?? state.amount, log: ["approved"] });
          text(`Not paid: ${reason ?? "no reason was given"}.`);
          return goto(END, { log: ["rejected"] });
        },
        { description: "A person decides", to: ["pay", END] },
      ),
      pay: node(
        ({ state, text }) => {
          text(`Paid ${state.amount}.`);
          return { log: [`paid ${state.amount}`] };
        },
        { retry: { attempts: 3, delay: "1s" }, timeout: "30s" },
      ),
    },
    edges: [
      edge(START, "review"),
      when("review", ({ amount }) => (amount > 100 ? "approve" : "pay"), ["approve", "pay"], "more than 100?"),
      edge("pay", END),
    ],
    result: ({ log }) => ({ log: [...log] }),
  },
);

export default defineConfig({ agents: { default: expense } });
