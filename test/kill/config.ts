import { join } from "node:path";
import { type Config, defineConfig } from "../../src/handback.ts";
import { plannedAgent } from "./agent.ts";

/** For `handback start` in these tests: the agent of the kill tests, which leaves its trace in `KILL_TRACE`. */
const config: Config = defineConfig({ agents: { default: plannedAgent(join(process.env["KILL_TRACE"] ?? ".", "trace.jsonl")) } });
export default config;
