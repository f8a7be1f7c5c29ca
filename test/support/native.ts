import assert from "node:assert/strict";
import { chatAgent } from "../../src/agent/chat.ts";
import { handBack, type Tool, tool } from "../../src/agent/tool.ts";
import type { StoredEvent } from "../../src/core/event.ts";
import type { Agent } from "../../src/handback.ts";
import type { ModelEvent, ModelRequest } from "../../src/model/model.ts";
import { calls, fails, hangs, says, scriptedBy, thinks } from "../../src/model/scripted.ts";
import type { Authenticate } from "../../src/server/principal.ts";

const anything = { type: "object" } as const;

/** Tools for every way a call can go. */
export const TOOLS: Tool[] = [
  tool({ name: "get_menu", description: "The menu", input: anything, output: { type: "array", items: { type: "string" } } }),
  tool({
    name: "pay",
    description: "Pays",
    input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
    approval: true,
  }),
  tool({ name: "brew", description: "Brews", input: anything, timeout: "60s" }),
  tool({ name: "show", description: "Shows something", input: anything, owner: "client" }),
  tool({ name: "add", description: "Adds", input: anything, execute: () => 3 }),
  tool({ name: "delegate", description: "Lets others do it", input: anything, execute: () => handBack() }),
];

/** Says and does what the last message asks for: `call get_menu get_menu`, `long 500`, `think`, `fail`; anything else is echoed. */
export function obedient(): Agent {
  return chatAgent({ model: scriptedBy(obey), models: { other: scriptedBy(obey) }, tools: TOOLS });
}

function obey(request: ModelRequest, signal: AbortSignal): readonly ModelEvent[] | AsyncIterable<ModelEvent> {
  const last = request.history.at(-1);
  if (last?.role === "assistant") {
    const results = last.parts.map((part) => (part.type === "call" ? (part.settlement?.output ?? part.settlement?.error) : ""));
    return says("got ", JSON.stringify(results));
  }
  const text = typeof last?.content === "string" ? last.content : "files";
  const [verb, ...words] = text.split(" ");
  if (verb === "call") return words.flatMap((name, i) => calls(name, { n: i, amount: 5 }));
  if (verb === "long") return says(...Array.from({ length: Number(words[0]) }, (_, i) => `${i} ${"·".repeat(Number(words[1] ?? 0))}`));
  if (verb === "think")
    return [...thinks("hm"), ...says("done")].map((event) =>
      event.type.endsWith("ended") ? { ...event, provider: { secret: "x" } } : event,
    ) as ModelEvent[];
  if (verb === "hang") return hangs(...says("wait"))(request, signal);
  if (verb === "fail") return fails("The provider is down")(request, signal);
  return says("echo ", text);
}

/** `Bearer alice` is the user alice, `Bearer op` the operator, `Bearer tools:a,b` an executor of a and b. */
export const authenticate: Authenticate = (request) => {
  const name = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  if (name === undefined) return undefined;
  if (name === "op") return { kind: "operator", app: "default", name };
  if (name === "elsewhere") return { kind: "operator", app: "elsewhere", name };
  if (name.startsWith("tools:")) return { kind: "executor", app: "default", name: "worker", tools: name.slice(6).split(",") };
  return { user: name };
};

export type Answer = {
  status: number; // biome-ignore lint/suspicious/noExplicitAny: tests look where they like
  json: any;
  text: string;
  headers: Headers;
};

/** Speaks to the native door as somebody. */
export function asker(url: string, who?: string): (method: string, path: string, body?: unknown) => Promise<Answer> {
  return async (method, path, body) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        ...(who !== undefined && { authorization: `Bearer ${who}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, text, json: isJson ? JSON.parse(text) : {}, headers: response.headers };
  };
}

/** One frame, with nothing interpreted. */
export type RawFrame = { event?: string; id?: string; data: string };

/** A stream of the native door, read frame by frame. */
export class Tail implements AsyncDisposable {
  readonly frames: RawFrame[] = [];
  readonly status: number;
  readonly comments: string[] = [];
  #reader: ReadableStreamDefaultReader<string> | undefined;
  #abort: AbortController;
  #buffer = "";
  #ended = false;

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.#abort = abort;
    this.#reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(url: string, path: string, options: { who?: string; last?: string } = {}): Promise<Tail> {
    const abort = new AbortController();
    const { who, last } = options;
    const headers = { ...(who !== undefined && { authorization: `Bearer ${who}` }), ...(last !== undefined && { "last-event-id": last }) };
    const response = await fetch(`${url}/v1${path}`, { headers, signal: abort.signal });
    assert.equal(response.status, 200, await (response.status === 200 ? "" : response.text()));
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    return new Tail(response, abort);
  }

  /** Reads one more chunk; false at the end. */
  async more(): Promise<boolean> {
    if (this.#ended) return false;
    const { done, value = "" } = (await this.#reader?.read()) ?? { done: true };
    assert.doesNotMatch(value, /\r/);
    this.#buffer += value;
    const blocks = this.#buffer.split("\n\n");
    this.#buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const frame: Record<string, string> = {};
      for (const line of block.split("\n")) {
        const [, field = "", text = ""] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
        if (field === "") this.comments.push(text);
        else frame[field] = text;
      }
      if (frame["data"] !== undefined) this.frames.push(frame as RawFrame);
    }
    this.#ended = Boolean(done);
    return !done;
  }

  /** Reads on until `found` finds something among the frames. */
  async until<T>(found: (frames: readonly RawFrame[]) => T | undefined | false): Promise<T> {
    for (;;) {
      const value = found(this.frames);
      if (value !== undefined && value !== false) return value;
      assert.ok(await this.more(), "the stream ended first");
    }
  }

  async rest(): Promise<readonly RawFrame[]> {
    while (await this.more());
    return this.frames;
  }

  /** The events of a plain stream. */
  get events(): StoredEvent[] {
    return this.frames.filter(({ event }) => event === undefined).map(({ data }) => JSON.parse(data) as StoredEvent);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    this.#abort.abort();
    await this.#reader?.cancel().catch(() => {});
  }
}
