import { createServer, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { report } from "./report.ts";

/**
 * CopilotKit's runtime with its own agent and its memory runner. It is no dependency of ours: `COPILOTKIT` names a directory
 * in which `npm i @copilotkit/runtime @ai-sdk/openai-compatible@2 zod` was run.
 */
const [upstream = ""] = process.argv.slice(2);
const load = createRequire(`${process.env["COPILOTKIT"]}/`);

type Made = new (options: object) => object;
const { CopilotRuntime, BuiltInAgent, InMemoryAgentRunner } = load("@copilotkit/runtime/v2") as Record<string, Made>;
const { createCopilotNodeListener } = load("@copilotkit/runtime/v2/node") as {
  createCopilotNodeListener(options: object): RequestListener;
};
const { createOpenAICompatible } = load("@ai-sdk/openai-compatible") as {
  createOpenAICompatible(options: object): { chatModel(name: string): object };
};
if (!CopilotRuntime || !BuiltInAgent || !InMemoryAgentRunner) throw new Error("This is another version of @copilotkit/runtime");

const model = createOpenAICompatible({ name: "fake", baseURL: upstream, apiKey: "none", includeUsage: true }).chatModel("fake");
const agents = { default: new BuiltInAgent({ model, maxSteps: 1 }) };
const runtime = new CopilotRuntime({ agents, runner: new InMemoryAgentRunner({}) });
const server = createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" }));
server.listen(0, "127.0.0.1", () => report(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/copilotkit/agent/default/run`));
