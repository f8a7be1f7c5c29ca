import { fileURLToPath } from "node:url";

/** `npm start -- --config examples/assistant-ui-raw.config.ts` serves the agent; this page sends `/api`, `/v1` and `/sandbox` there. */
const target = "http://127.0.0.1:4242";

/** In a project of your own: `npm install handback`, and none of this. */
const source = (path) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

export default {
  resolve: { alias: { "handback/client/sandbox": source("client/sandbox/sandbox.ts"), "handback/profiles": source("profiles.ts") } },
  build: { target: "esnext" },
  // Both 127.0.0.1 and localhost lead here: the page has one name, its sandbox the other.
  server: { host: "127.0.0.1", proxy: { "/api": target, "/v1": target, "/sandbox": target } },
};
