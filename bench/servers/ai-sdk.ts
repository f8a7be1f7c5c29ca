import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  convertToModelMessages,
  isStepCount,
  jsonSchema,
  pipeUIMessageStreamToResponse,
  streamText,
  type ToolSet,
  toUIMessageStream,
  type UIMessage,
} from "ai";
import { report } from "./report.ts";

/** What one writes today without us: AI SDK 7 `streamText` as a UI message stream over node:http. It keeps nothing. */
const provider = createOpenAICompatible({ name: "fake", baseURL: process.argv[2] ?? "", apiKey: "none", includeUsage: true });
const tools = { ext: { description: "Runs outside", inputSchema: jsonSchema({ type: "object" }) } } as ToolSet;

const server = createServer(async (request, response) => {
  const { messages } = JSON.parse(await read(request)) as { messages: UIMessage[] };
  const { stream } = streamText({
    model: provider.chatModel("fake"),
    messages: await convertToModelMessages(messages),
    tools,
    stopWhen: isStepCount(10),
  });
  void pipeUIMessageStreamToResponse({ response, stream: toUIMessageStream({ stream }) });
});
server.listen(0, "127.0.0.1", () => report(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
