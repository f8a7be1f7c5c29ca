import type { ToolSpec } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";

/** What a client may expect of an agent, in the shape of AG-UI 1.0's `AgentCapabilities`. */
export function capabilities(agent: {
  name: string;
  version: string;
  tools: readonly ToolSpec[];
  websocket: boolean;
  /** Longest a run may take, in milliseconds; 0 is for ever. */
  runTimeout: number;
}): JsonObject {
  const { name, version, tools, websocket, runTimeout } = agent;
  const items = tools.map((tool) => ({ name: tool.name, description: tool.description, parameters: tool.input }));
  return {
    identity: { name, type: "handback", version },
    transport: { streaming: true, websocket, httpBinary: false, pushNotifications: false, resumable: true },
    tools: { supported: true, items, parallelCalls: true, clientProvided: true },
    output: { structuredOutput: false },
    state: { snapshots: true, deltas: true, memory: false, persistentState: true },
    multiAgent: { supported: false },
    reasoning: { supported: true, streaming: true, encrypted: false },
    multimodal: { input: { image: true, audio: true, video: true, pdf: true, file: true }, output: { image: false, audio: false } },
    execution: { codeExecution: false, ...(runTimeout > 0 && { maxExecutionTime: Math.ceil(runTimeout / 1000) }) },
    humanInTheLoop: {
      supported: true,
      approvals: true,
      interventions: false,
      feedback: false,
      interrupts: true,
      approveWithEdits: true,
    },
  };
}
