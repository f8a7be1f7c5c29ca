import { chatAgent, defineConfig, tool } from "handback";
import { z } from "zod";

const paint = tool({
  name: "paint",
  description: "Paints the page",
  input: z.object({ colour: z.string() }),
  owner: "client", // the page runs it by itself
});
const askUser = tool({
  name: "ask_user",
  description: "Asks the person a yes-or-no question",
  input: z.object({ question: z.string() }),
  owner: "client", // the page shows it, and the person answers
});
const refund = tool({
  name: "refund",
  description: "Pays back",
  input: z.object({ amount: z.number() }),
  approval: true, // this server runs it, once a person has agreed
  execute: ({ amount }) => ({ paid: amount }),
});

export default defineConfig({
  agents: { default: chatAgent({ model: "gpt-4o-mini", tools: [paint, askUser, refund] }) },
  aisdk: { version: 7 },
});
