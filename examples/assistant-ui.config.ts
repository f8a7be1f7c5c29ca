import { chatAgent, defineConfig, tool } from "handback";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays back",
  input: z.object({ amount: z.number() }),
  approval: true, // this server runs it, once a person has agreed
  execute: ({ amount }) => ({ paid: amount }),
});

/** The page brings further tools: assistant-ui sends them with every request. */
export default defineConfig({
  agents: { default: chatAgent({ model: "gpt-4o-mini", tools: [refund] }) },
  aisdk: { version: 7 },
});
