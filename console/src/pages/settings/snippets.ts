import type { Meta } from "handback/client";
import type { Key } from "../../i18n/i18n.ts";
import type { CodeLanguage } from "../../ui/highlight.tsx";

/** How another program speaks to this server: code that works as it stands, with this server's own address. */
export type Snippet = { id: string; name: string; about: Key; install?: string; language: CodeLanguage; code: string };

/** One for each door there is. `secured`: this server wants a key, so the code shows where it goes. */
export function snippetsOf(root: string, doors: Meta["doors"], { tool, secured }: { tool: string; secured: boolean }): Snippet[] {
  const at = (door: string, path: string) => root + (doors[door] ?? path);
  const curlKey = secured ? " \\\n  -H 'authorization: Bearer YOUR_KEY'" : "";
  const headers = secured ? `, headers: { authorization: "Bearer YOUR_KEY" }` : "";
  const json = `-H 'content-type: application/json'${curlKey}`;
  const native = at("native", "/v1");
  return [
    {
      id: "curl",
      name: "curl",
      about: "settings.aboutCurl",
      language: "sh",
      code: `# Say something. The thread appears in this console by itself.
curl ${native}/threads/from-curl/runs ${json} \\
  -d '{"message":"the coffee menu, please"}'

# Who owes the agent a result?
curl '${native}/calls?status=pending'${curlKey}

# Hand one back.
curl ${native}/calls/CALL_ID/result ${json} \\
  -d '{"output":{"latte":30}}'`,
    },
    {
      id: "client",
      name: "handback/client",
      about: "settings.aboutClient",
      install: "npm install handback",
      language: "js",
      code: `import { connect } from "handback/client";

const handback = connect({ url: "${root}"${headers} });
const { seq } = await handback.run("my-thread", "Hello!");
for await (const event of handback.follow("my-thread", { after: seq, until: "turn" })) {
  if (event.type === "text.delta") process.stdout.write(event.delta);
}`,
    },
    {
      id: "worker",
      name: "Worker",
      about: "settings.aboutWorker",
      install: "npm install handback zod",
      language: "js",
      code: `// tools.ts
import { tool } from "handback";
import { z } from "zod";

export default [
  tool({
    name: "${tool}",
    description: "Runs here, wherever here is",
    input: z.object({}).loose(),
    execute: async (input) => ({ done: true, input }),
  }),
];

// ${secured ? "HANDBACK_WORKER_KEY=YOUR_KEY " : ""}npx handback worker ./tools.ts --url ${root}`,
    },
    {
      id: "agui",
      name: "AG-UI",
      about: "settings.aboutAgui",
      install: "npm install @ag-ui/client",
      language: "js",
      code: `import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent({ url: "${at("agui", "/agui")}", threadId: "my-thread"${headers} });
agent.addMessage({ id: crypto.randomUUID(), role: "user", content: "Hello!" });
await agent.runAgent();
console.log(agent.messages.at(-1)?.content);`,
    },
    {
      id: "use-chat",
      name: "useChat",
      about: "settings.aboutUseChat",
      install: "npm install ai @ai-sdk/react",
      language: "js",
      code: `import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from "ai";

const transport = new DefaultChatTransport({ api: "${at("aisdk", "/api/chat")}"${headers} });

export function Chat() {
  const { messages, sendMessage, addToolOutput } = useChat({
    id: "my-thread",
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  });
  // …
}`,
    },
    {
      id: "assistant-ui",
      name: "assistant-ui",
      about: "settings.aboutAssistantUi",
      install: "npm install @assistant-ui/react @assistant-ui/react-ai-sdk",
      language: "js",
      code: `import { AssistantRuntimeProvider } from "@assistant-ui/react";
import { AssistantChatTransport, useChatRuntime } from "@assistant-ui/react-ai-sdk";

const transport = new AssistantChatTransport({ api: "${at("aisdk", "/api/chat")}"${headers} });

export function App({ children }) {
  const runtime = useChatRuntime({ transport });
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>;
}`,
    },
    {
      id: "copilotkit",
      name: "CopilotKit",
      about: "settings.aboutCopilotkit",
      install: "npm install @copilotkit/react-core",
      language: "js",
      code: `import { CopilotChat, CopilotKitProvider } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";

export const App = () => (
  <CopilotKitProvider runtimeUrl="${at("copilotkit", "/copilotkit")}"${secured ? ' headers={{ authorization: "Bearer YOUR_KEY" }}' : ""}>
    <CopilotChat agentId="default" threadId="my-thread" />
  </CopilotKitProvider>
);`,
    },
    {
      id: "rest",
      name: "REST",
      about: "settings.aboutRest",
      language: "sh",
      code: `# Say something; its calls are for you to execute.
curl ${at("rest", "/chat")} ${json} \\
  -d '{"message":"the coffee menu, please","threadId":"my-thread",
       "toolExecutionConfig":{"mode":"outside","outsideConfig":{"timeout":60000}}}'

# What is there to do?
curl ${at("rest", "/chat")}/pending-tools/my-thread${curlKey}

# Hand the result back and hear what the agent makes of it.
curl ${at("rest", "/chat")}/tool-result ${json} \\
  -d '{"threadId":"my-thread","toolResult":{"success":true,"data":{"latte":30}},"success":true}'`,
    },
  ];
}
