import { chatAgent, defineConfig, tool } from "handback";
import { z } from "zod";

const getMenu = tool({
  // no execute: somebody outside does it
  name: "get_menu",
  description: "The coffee menu",
  input: z.object({ category: z.string() }),
  timeout: "30s",
});
const getTime = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => new Date().toISOString() });
const refund = tool({
  name: "refund",
  description: "Pay back",
  input: z.object({ order: z.string(), amount: z.number() }),
  approval: true,
  execute: async ({ order, amount }, { callId }) => ({ order, amount, callId }),
});

export default defineConfig({
  agents: { default: chatAgent({ model: "gpt-4o-mini", instructions: "You run a coffee shop.", tools: [getMenu, getTime, refund] }) },
});
