import { chatAgent, defineConfig, tool } from "handback";
import { z } from "zod";

/** `paint` and `ask_user` are the page's own: CopilotKit sends them with every request. */
const refund = tool({
  name: "refund",
  description: "Pays back",
  input: z.object({ amount: z.number() }),
  approval: true, // this server runs it, once a person has agreed
  execute: ({ amount }) => ({ paid: amount }),
});

export default defineConfig({ agents: { default: chatAgent({ model: "gpt-4o-mini", tools: [refund] }) } });
