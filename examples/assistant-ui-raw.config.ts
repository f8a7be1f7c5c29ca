import { browserJsEval, chatAgent, defineConfig } from "handback";

/** The model has no calls of its own: it gets its tool by prompt, and writes its calls as text. */
export default defineConfig({
  agents: { default: chatAgent({ model: "ling-1t", profile: "JSON_Strict", tools: [browserJsEval] }) },
  aisdk: { version: 7 },
});
