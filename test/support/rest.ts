import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { chatAgent } from "../../src/agent/chat.ts";
import { tool } from "../../src/agent/tool.ts";
import type { Agent } from "../../src/handback.ts";
import type { ModelEvent, ModelRequest } from "../../src/model/model.ts";
import { calls, fails, says, scriptedBy } from "../../src/model/scripted.ts";

const anything = { type: "object" } as const;

/** Tools that other systems run, one of this server's, and one that asks first. */
const TOOLS = [
  tool({ name: "get_menu", description: "获取咖啡菜单", input: anything }),
  tool({ name: "place_order", description: "下单", input: anything }),
  tool({ name: "count", description: "Counts", input: anything, output: z.number() }),
  tool({ name: "brew", description: "Brews", input: anything, timeout: "10s" }),
  tool({ name: "add", description: "Adds", input: anything, execute: () => 3 }),
  tool({ name: "pay", description: "Pays", input: anything, approval: true }),
];

/** The coffee shop of seed 002: `call a b` calls tools, `fail` fails; with results it repeats them. */
export function coffeeShop(): Agent {
  return chatAgent({ model: scriptedBy(serve), tools: TOOLS });
}

function serve(request: ModelRequest, signal: AbortSignal): readonly ModelEvent[] | AsyncIterable<ModelEvent> {
  const last = request.history.at(-1);
  if (last?.role === "assistant") {
    const results = last.parts.flatMap((part) => (part.type === "call" ? [part.settlement?.output ?? part.settlement?.error ?? null] : []));
    return says("这是我们的咖啡菜单：", JSON.stringify(results));
  }
  const text = String(last?.content);
  if (text.startsWith("fail")) return fails("The provider is down")(request, signal);
  if (text === "帮我查询咖啡菜单") return [...says("我来帮您查询咖啡菜单"), ...calls("get_menu", { category: "coffee" })];
  if (text.startsWith("call "))
    return text
      .slice(5)
      .split(" ")
      .flatMap((name, n) => calls(name, { n }));
  return says("echo ", text);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look where they like
export type Reply = { status: number; json: any; headers: Headers };

/** Speaks to the REST door as a backend would. */
export function backend(url: string, headers: Record<string, string> = {}) {
  const send = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers, ...more },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json(), headers: response.headers };
  };
  return {
    send,
    chat: (body: object, more?: Record<string, string>) => send("POST", "/chat", { threadId: "t", ...body }, more),
    pending: (threadId = "t") => send("GET", `/chat/pending-tools/${threadId}`),
    result: (body: object, more?: Record<string, string>) => send("POST", "/chat/tool-result", { threadId: "t", ...body }, more),
  };
}

/** What sends every call outside. */
export const OUTSIDE = { toolExecutionConfig: { mode: "outside", outsideConfig: { waitForResult: false, timeout: 30000 } } };

type Executor = {
  processUserMessage(threadId: string, message: string): Promise<Record<string, unknown>>;
};

/**
 * The Node example at the end of seed 002, letter for letter; only `axios` is a stand-in of ten lines, and the address it
 * prints leads to `url`. Loading it runs its usage example, whose outcome `console` hears.
 */
export function seedExample(url: string, log: (...words: unknown[]) => void): new (url: string) => Executor {
  const code = readFileSync("test/seeds/external-tool-executor.js.txt", "utf8");
  const call = async (method: string, target: string, body?: unknown) => {
    const response = await fetch(target.replace("http://localhost:3000", url), {
      method,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`Request failed with status code ${response.status}`);
    return { data: await response.json() };
  };
  const axios = { post: (target: string, body: unknown) => call("POST", target, body), get: (target: string) => call("GET", target) };
  return new Function("require", "console", `${code}\nreturn ExternalToolExecutor;`)(() => axios, { log, error: log });
}

/** A thread that waits for these calls, and their ids. */
export async function waiting(server: { url: string }, ...tools: string[]): Promise<string[]> {
  const { chat, pending } = backend(server.url);
  assert.equal((await chat({ message: `call ${tools.join(" ")}`, ...OUTSIDE })).status, 200);
  return (await pending()).json.data.pendingToolCalls.map(({ id }: { id: string }) => id);
}
