import assert from "node:assert/strict";

// Tools executed by another system, with nothing but fetch. Start a server first: npm start

const url = process.env["HANDBACK_URL"] ?? "http://127.0.0.1:4242";
const threadId = `ts-${crypto.randomUUID()}`;

type Call = { id: string; name: string; args: { category: string } };

/** What your own system does. */
const tools: Record<string, (args: Call["args"]) => Promise<unknown>> = {
  get_menu: async ({ category }) => ({ category, menu: [{ name: "美式咖啡", price: 25 }] }),
};

async function post(path: string, body: object, key: string): Promise<{ data: { content: string; agentResponse: { content: string } } }> {
  // The key makes it safe to send again after a timeout: the same effect, the same answer.
  const headers = { "content-type": "application/json", "idempotency-key": key };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as {
    success: boolean;
    error?: string;
    data: { content: string; agentResponse: { content: string } };
  };
  if (!answer.success) throw new Error(`${response.status} ${answer.error}`);
  return answer;
}

const toolExecutionConfig = { mode: "outside", outsideConfig: { timeout: 60_000 } };
const asked = await post("/chat", { threadId, message: "the coffee menu, please", toolExecutionConfig }, crypto.randomUUID());
console.log(asked.data.content);

const pending = (await (await fetch(`${url}/chat/pending-tools/${threadId}`)).json()) as { data: { pendingToolCalls: Call[] } };
let answer = "";
for (const { id, name, args } of pending.data.pendingToolCalls) {
  const data = await tools[name]?.(args);
  const { data: done } = await post("/chat/tool-result", { threadId, toolCallId: id, toolResult: { success: true, data } }, id);
  answer = done.agentResponse.content;
}
console.log(answer);
assert.match(answer, /美式咖啡/);
