import { load } from "../aisdk/setup.ts";

export type Message = {
  id: string;
  role: string;
  content?: string;
  toolCallId?: string;
  toolCalls?: { id: string; function: { name: string; arguments: string } }[];
};
export type Interrupt = { id: string; reason: string; toolCallId?: string; message?: string };

/** An agent as CopilotKit sees it. */
export type Agent = {
  threadId: string;
  messages: Message[];
  state: unknown;
  isRunning: boolean;
  pendingInterrupts: Interrupt[];
  addMessage(message: Message): void;
  subscribe(subscriber: { onEvent(params: { event: { type: string }; input: { runId: string } }): void }): void;
};

export type FrontendTool = {
  name: string;
  description?: string;
  parameters?: unknown;
  type?: "human-in-the-loop";
  followUp?: boolean;
  handler?: (args: Record<string, unknown>) => unknown;
};

type RunParameters = { agent: Agent; resume?: { interruptId: string; status: string; payload?: unknown }[]; runId?: string };

/** As much of `CopilotKitCore` as the tests use. */
export type Core = {
  runtimeConnectionStatus: string;
  agents: Record<string, Agent & { capabilities: unknown }>;
  telemetryDisabled: boolean;
  getAgent(id: string): Agent | undefined;
  runAgent(parameters: RunParameters): Promise<unknown>;
  connectAgent(parameters: { agent: Agent }): Promise<unknown>;
  stopAgent(parameters: { agent: Agent }): void;
  subscribe(subscriber: object): void;
};

/** A page, without its pixels: the unmodified core, what its agent told, and what it complained of. */
export type Page = {
  core: Core;
  agent: Agent;
  events: string[];
  errors: string[];
  say(text: string): Promise<void>;
  /** Shows what is there, and follows what goes on. */
  connect(): Promise<void>;
  /** Answers an interrupt as `useInterrupt` does: under the name of the run that asked, with a tool message of its own making. */
  answer(payload: unknown): Promise<void>;
};

export type PageOptions = { threadId?: string; tools?: FrontendTool[]; single?: boolean; agentId?: string; properties?: object };

type Decision = { resume: { interruptId: string; status: string }[]; toolResults: { toolCallId: string; content: string }[] };
type Module = {
  CopilotKitCore: new (options: object) => Core;
  ɵInterruptState: new () => { setStandard(interrupts: Interrupt[]): void; resolve(payload: unknown): Decision };
};

/** Opens a page on a thread, as a browser does: it asks what there is, and shows nothing yet. */
export async function openPage({ url }: { url: string }, options: PageOptions = {}): Promise<Page> {
  const { threadId = "t", tools = [], single = false, agentId = "default", properties = {} } = options;
  // Without a window it takes itself for a server's render, and asks for nothing.
  Object.assign(globalThis, { window: globalThis });
  const { CopilotKitCore, ɵInterruptState } = await load<Module>("@copilotkit/core", import.meta.dirname);
  const errors: string[] = [];
  const core = new CopilotKitCore({
    runtimeUrl: `${url}/copilotkit`,
    runtimeTransport: single ? "single" : "rest",
    tools: tools.map((tool) => ({ description: tool.name, ...tool })),
    properties,
  });
  core.subscribe({ onError: ({ code, error }: { code: string; error: Error }) => void errors.push(`${code}: ${error.message}`) });
  while (core.runtimeConnectionStatus === "connecting" || core.runtimeConnectionStatus === "disconnected") {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const agent = core.getAgent(agentId);
  if (!agent) throw new Error(`no agent ${agentId}: ${errors.join()}`);
  agent.threadId = threadId;
  const events: string[] = [];
  let runId = "";
  agent.subscribe({
    onEvent({ event, input }) {
      events.push(event.type);
      runId = input.runId;
    },
  });
  return {
    core,
    agent,
    events,
    errors,
    async say(content) {
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
      await core.runAgent({ agent });
    },
    connect: async () => void (await core.connectAgent({ agent })),
    async answer(payload) {
      const state = new ɵInterruptState();
      state.setStandard(agent.pendingInterrupts);
      const { resume, toolResults } = state.resolve(payload);
      for (const result of toolResults) agent.addMessage({ id: crypto.randomUUID(), role: "tool", ...result });
      await core.runAgent({ agent, resume, runId });
    },
  };
}
