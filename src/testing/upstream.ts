import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Pacer, pacer } from "./pacer.ts";

/** What a client of the fake provider sent: the parts of a chat completion request that matter here. */
export type ChatBody = {
  model: string;
  messages: ChatMessage[];
  tools?: { type: "function"; function: { name: string; description?: string; parameters?: unknown } }[];
  stream_options?: { include_usage?: boolean };
};
export type ChatMessage = {
  role: "system" | "user" | "assistant" | "tool";
  content?: string | null | { type: string; text?: string }[];
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
};

/** How the fake provider answers one request. Every string is one chunk on the wire. */
export type Turn =
  | {
      reasoning?: string[];
      text?: string[];
      calls?: { id?: string; name: string; input: string[] }[];
      /** Milliseconds between chunks; without it they come as fast as they can. */
      ms?: number;
      usage?: object;
      /** Breaks the connection, or falls silent, after so many chunks; 0 is before the headers. */
      cutAfter?: number;
      hangAfter?: number;
    }
  | Refusal;
type Refusal = { status: number; message?: string; code?: string; headers?: Record<string, string> };

export type Script = (body: ChatBody) => Turn | Promise<Turn>;

export type Upstream = {
  /** The base URL a client is configured with. */
  url: string;
  /** What came in, oldest first. `answered` is false when the connection ended before the answer did. */
  requests: { body: ChatBody; headers: IncomingHttpHeaders; answered: Promise<boolean> }[];
  close(): Promise<void>;
};

/** A strict OpenAI-compatible provider on 127.0.0.1. Cheap enough to feed a thousand streams from one process. */
export async function fakeUpstream(
  script: Script = byLastMessage,
  { keep = 1000, port = 0 }: { keep?: number; port?: number } = {},
): Promise<Upstream> {
  const requests: Upstream["requests"] = [];
  const pace = pacer();
  const server = createServer(async (request, response) => {
    try {
      const body = JSON.parse(await readBody(request)) as ChatBody;
      const { promise: answered, resolve } = Promise.withResolvers<boolean>();
      response.on("close", () => resolve(response.writableFinished));
      if (keep > 0) requests.push({ body, headers: request.headers, answered });
      if (requests.length > keep) requests.shift();
      const broken = findFault(body.messages);
      const turn = broken ? { status: 400, message: broken } : await script(body);
      if ("status" in turn) refuse(response, turn);
      else answer(response, turn, body, pace);
    } catch (error) {
      refuse(response, { status: 500, message: String(error) });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * The default script: the last user message says in JSON what to do. `{"n":200,"ms":20}` streams 200 tokens, one every
 * 20 ms; `{"tools":["a","b"],"input":{…}}` calls these tools first; `{"status":429}`, `{"cutAfter":5}` and `{"hangAfter":0}` fail.
 */
export function byLastMessage({ messages }: ChatBody): Turn {
  const wish = parseWish(messages.findLast(({ role }) => role === "user")?.content);
  if (wish.status) return { status: wish.status };
  const { n = 3, tools = [], input = {}, ...how } = wish;
  const text = Array<string>(n).fill("token ");
  if (tools.length === 0 || messages.at(-1)?.role === "tool") return { ...how, text };
  return { ...how, text, calls: tools.map((name) => ({ name, input: [JSON.stringify(input)] })) };
}

type Wish = { n?: number; ms?: number; tools?: string[]; input?: object; status?: number; cutAfter?: number; hangAfter?: number };

function parseWish(content: ChatMessage["content"]): Wish {
  const text = typeof content === "string" ? content : (content?.find((part) => part.text)?.text ?? "");
  try {
    return JSON.parse(text) as Wish;
  } catch {
    return {};
  }
}

/** What OpenAI says about a conversation in which calls and results do not match. */
function findFault(messages: ChatMessage[]): string | undefined {
  if (!Array.isArray(messages) || messages.length === 0) return "Invalid 'messages': empty array.";
  let open = new Set<string>();
  for (const { role, tool_calls: calls = [], tool_call_id: id = "" } of messages) {
    if (role === "tool") {
      if (!open.delete(id)) return "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      continue;
    }
    if (open.size > 0) break;
    open = new Set(calls.map((call) => call.id));
  }
  if (open.size === 0) return undefined;
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
}

function answer(response: ServerResponse, turn: Exclude<Turn, Refusal>, body: ChatBody, pace: Pacer): void {
  const { ms = 0, cutAfter = Number.POSITIVE_INFINITY, hangAfter = Number.POSITIVE_INFINITY } = turn;
  const chunks = toChunks(turn);
  const last = Math.min(cutAfter, hangAfter);
  const whole = last > chunks.length;
  if (!whole) chunks.length = last;
  const end = () => {
    if (whole) response.end(toEnding(turn, body, chunks.length));
    else if (cutAfter < hangAfter) response.socket?.end(); // after what was written
  };
  if (last === 0) {
    end();
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  if (ms > 0) writePaced(response, chunks, ms, end, pace);
  else writeAll(response, chunks, end);
}

function refuse(response: ServerResponse, turn: Refusal): void {
  const { status, message = `Fake failure ${status}`, code = null, headers } = turn;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message, type: "fake_error", code } }));
}

function writePaced(response: ServerResponse, chunks: Buffer[], ms: number, end: () => void, pace: Pacer): void {
  let next = 0;
  const beat = (at: number) => {
    if (response.destroyed) return;
    const chunk = chunks[next++];
    if (chunk) response.write(chunk);
    if (next >= chunks.length) end();
    else pace(at + ms, beat);
  };
  beat(performance.now());
}

const BATCH = 20;

function writeAll(response: ServerResponse, chunks: Buffer[], end: () => void): void {
  let next = 0;
  const write = () => {
    while (next < chunks.length) {
      if (response.destroyed) return;
      const free = response.write(Buffer.concat(chunks.slice(next, next + BATCH)));
      next += BATCH;
      if (!free) return void response.once("drain", write);
    }
    end();
  };
  write();
}

let calls = 0;

function toChunks({ reasoning = [], text = [], calls: wanted = [] }: Exclude<Turn, Refusal>): Buffer[] {
  return [
    ...reasoning.map((piece) => toFrame({ reasoning_content: piece })),
    ...text.map(toTextFrame),
    ...wanted.flatMap(({ id = `call_${++calls}`, name, input }, index) => [
      toFrame({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...input.map((piece) => toFrame({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
}

function toEnding({ calls = [], usage }: Exclude<Turn, Refusal>, body: ChatBody, count: number): Buffer {
  const counted = usage ?? { prompt_tokens: body.messages.length, completion_tokens: count, total_tokens: body.messages.length + count };
  const frames = [toFrame({}, calls.length > 0 ? "tool_calls" : "stop")];
  if (body.stream_options?.include_usage)
    frames.push(Buffer.from(`data: ${JSON.stringify({ ...FRAME, choices: [], usage: counted })}\n\n`));
  return Buffer.concat([...frames, Buffer.from("data: [DONE]\n\n")]);
}

const FRAME = { id: "chatcmpl-fake", object: "chat.completion.chunk", created: 1, model: "fake-model" };

function toFrame(delta: object, finish: string | null = null): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ ...FRAME, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
}

/** Benches send the same few tokens millions of times. */
const textFrames = new Map<string, Buffer>();

function toTextFrame(text: string): Buffer {
  const known = textFrames.get(text);
  if (known) return known;
  const frame = toFrame({ content: text });
  if (textFrames.size < 1000) textFrames.set(text, frame);
  return frame;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
