import { chatAgent, defineConfig } from "handback";

/** The page brings its own tools: assistant-ui sends them with every request. */
export default defineConfig({
  agents: { default: chatAgent({ model: "gpt-4o-mini" }) },
  aisdk: { version: 7 },
});
