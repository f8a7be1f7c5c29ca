import type { ChatBody, ChatMessage, Script, Turn } from "../../src/testing/upstream.ts";
import { fakeUpstream, type Upstream } from "../../src/testing/upstream.ts";
import { framesIn } from "./frames.ts";
import type { Served } from "./serve.ts";

export const QUESTION = "计算 1000 以内的所有素数之和。";
export const INTENT = "我将使用浏览器执行工具来计算 1000 以内的所有素数之和。";
export const ANSWER = "计算完成。1000 以内的所有素数之和为 76127。";
export const CODE =
  "(function sumPrimes(limit) { let sum = 0; for (let n = 2; n <= limit; n++) { let prime = true; for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false; if (prime) sum += n; } return sum; })(1000);";

/** The seed's model output in step 3, character by character. */
export const JSON_CALL = `{
  "tool_calls": [
    {
      "id": "call_1",
      "type": "function",
      "function": {
        "name": "browser_js_eval",
        "arguments": ${JSON.stringify(JSON.stringify({ code: CODE }))}
      }
    }
  ]
}`;
export const XML_CALL = `<tool_code>
{
  "name": "browser_js_eval",
  "arguments": ${JSON.stringify({ code: CODE })}
}
</tool_code>`;

/** A provider whose model has no calls of its own: it asks for the sum, and says it once it has read it. */
export function primes(call: string): Script {
  return ({ messages }: ChatBody): Turn =>
    wordsOf(messages.at(-1)).includes("76127") ? { text: [...ANSWER] } : { text: [...`${INTENT}\n\n${call}`] };
}

export async function upstream(script: Script): Promise<Upstream & AsyncDisposable> {
  const fake = await fakeUpstream(script);
  return { ...fake, [Symbol.asyncDispose]: () => fake.close() };
}

/** What the provider was told, besides its system prompt. */
export function told(
  { requests }: Upstream,
  i = -1,
): { system: string; messages: [string, string][]; body: ChatBody & { stop?: string[] } } {
  const body = requests.at(i)?.body as ChatBody & { stop?: string[] };
  const [first, ...rest] = body.messages;
  return { system: wordsOf(first), messages: rest.map((message) => [message.role, wordsOf(message)]), body };
}

function wordsOf(message: ChatMessage | undefined): string {
  const { content } = message ?? {};
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");
}

export type Call = { id: string; name: string; input: { code?: string } };

/** One stateless request, and what its answer says. */
export async function say(server: Served, messages: object[], config: object = {}, more: object = {}) {
  const reply = await server.post({ messages, config, ...more }, "/api/chat");
  return { ...reply, ...read(reply.text) };
}

export function read(text: string): { said: string; calls: Call[]; types: string[] } {
  const frames = framesIn(text);
  const calls = frames.filter(({ type }) => type === "tool-input-available");
  return {
    said: frames.flatMap(({ type, delta }) => (type === "text-delta" ? [delta] : [])).join(""),
    calls: calls.map(({ toolCallId, toolName, input }) => ({
      id: String(toolCallId),
      name: String(toolName),
      input: input as Call["input"],
    })),
    types: frames.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1]),
  };
}

/** The same as bare text. */
export async function ask(
  server: Served,
  messages: object[],
  config: object = {},
): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(`${server.url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/plain" },
    body: JSON.stringify({ messages, config }),
  });
  return { status: response.status, type: response.headers.get("content-type") ?? "", text: await response.text() };
}
