import { request as ask, createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { report } from "./report.ts";

/** The floor: node:http that parses the provider's stream and passes its tokens on. */
const upstream = `${process.argv[2]}/chat/completions`;

type Chunk = { choices: { delta: { content?: string; tool_calls?: unknown[] } }[] };

const server = createServer(async (request, response) => {
  const { messages } = JSON.parse(await read(request)) as { messages: unknown[] };
  const body = JSON.stringify({ model: "fake", stream: true, stream_options: { include_usage: true }, messages });
  const answer = await new Promise<IncomingMessage>((resolve) => {
    ask(upstream, { method: "POST", headers: { "content-type": "application/json" } }, resolve).end(body);
  });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  let text = "";
  answer.setEncoding("utf8").on("data", (piece: string) => {
    const blocks = (text + piece).split("\n\n");
    text = blocks.pop() ?? "";
    const out = blocks.map(translate).join("");
    if (out) response.write(out);
  });
  answer.on("end", () => response.end());
});
server.listen(0, "127.0.0.1", () => report(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));

function translate(block: string): string {
  const data = block.slice("data: ".length);
  if (data === "[DONE]") return "data: [DONE]\n\n";
  const delta = (JSON.parse(data) as Chunk).choices[0]?.delta;
  return delta ? `data: ${JSON.stringify({ type: "text-delta", delta: delta.content, calls: delta.tool_calls })}\n\n` : "";
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
