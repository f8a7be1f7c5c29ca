import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LanguageModelV2, LanguageModelV3StreamPart, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { convertArrayToReadableStream, MockLanguageModelV3, MockLanguageModelV4 } from "ai/test";
import type { AssistantEntry, Entry } from "../core/thread.ts";
import { aiSdkModel, type LanguageModel } from "./ai-sdk.ts";
import type { ModelEvent, ModelRequest } from "./model.ts";

const USAGE = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};
const FINISH: LanguageModelV4StreamPart = { type: "finish", usage: USAGE, finishReason: { unified: "stop", raw: "end_turn" } };
const USER: Entry = { role: "user", seq: 1, turnId: "t1", id: "m1", content: "hi" };

function mock(...parts: LanguageModelV4StreamPart[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({ modelId: "mock", doStream: async () => ({ stream: convertArrayToReadableStream(parts) }) });
}

async function ask(
  model: LanguageModel,
  request: Partial<ModelRequest> = {},
  signal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const blob = async () => ({ mediaType: "image/png", data: new Uint8Array([1]) });
  return Array.fromAsync(aiSdkModel(model)({ instructions: undefined, history: [USER], tools: [], options: {}, blob, ...request }, signal));
}

describe("aiSdkModel", () => {
  it("speaks texts and thoughts under ids of its own", async () => {
    const events = await ask(
      mock(
        { type: "stream-start", warnings: [] },
        { type: "response-metadata", modelId: "mock-2026" },
        { type: "reasoning-start", id: "0" },
        { type: "reasoning-delta", id: "0", delta: "hm" },
        { type: "reasoning-end", id: "0" },
        { type: "ping" },
        { type: "raw", rawValue: 1 },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "Hel" },
        { type: "text-delta", id: "0", delta: "" },
        { type: "text-delta", id: "0", delta: "lo" },
        { type: "text-end", id: "0" },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "again" },
        { type: "text-end", id: "0" },
        FINISH,
      ),
    );
    assert.deepEqual(events, [
      { type: "reasoning.started", id: "reasoning-1" },
      { type: "reasoning.delta", id: "reasoning-1", delta: "hm" },
      { type: "reasoning.ended", id: "reasoning-1" },
      { type: "text.started", id: "text-2" },
      { type: "text.delta", id: "text-2", delta: "Hel" },
      { type: "text.delta", id: "text-2", delta: "lo" },
      { type: "text.ended", id: "text-2" },
      { type: "text.started", id: "text-3" },
      { type: "text.delta", id: "text-3", delta: "again" },
      { type: "text.ended", id: "text-3" },
      {
        type: "finished",
        reason: "stop",
        usage: { model: "mock-2026", inputTokens: 10, outputTokens: 5, totalTokens: 15, reasoningTokens: 2, cachedInputTokens: 4 },
      },
    ]);
  });

  it("ends what the provider left open", async () => {
    const events = await ask(mock({ type: "text-start", id: "a" }, { type: "reasoning-delta", id: "b", delta: "x" }, FINISH));
    assert.deepEqual(
      events.map(({ type }) => type),
      ["text.started", "reasoning.started", "reasoning.delta", "reasoning.ended", "text.ended", "finished"],
    );
  });

  it("starts a call whose arguments were not streamed, and reads no arguments as an empty object", async () => {
    const events = await ask(mock({ type: "tool-call", toolCallId: "c1", toolName: "look", input: "" }, FINISH));
    assert.deepEqual(events.slice(0, 2), [
      { type: "tool.started", id: "c1", name: "look" },
      { type: "tool.called", id: "c1", name: "look", input: "{}" },
    ]);
  });

  it("leaves the provider's own tools alone", async () => {
    const events = await ask(
      mock(
        { type: "tool-input-start", id: "w1", toolName: "web_search", providerExecuted: true },
        { type: "tool-input-delta", id: "w1", delta: "{}" },
        { type: "tool-input-end", id: "w1" },
        { type: "tool-call", toolCallId: "w1", toolName: "web_search", input: "{}", providerExecuted: true },
        { type: "tool-result", toolCallId: "w1", toolName: "web_search", result: { hits: 1 } },
        { type: "source", sourceType: "url", id: "s1", url: "https://example.com", title: "Example" },
        { type: "source", sourceType: "document", id: "s2", mediaType: "application/pdf", title: "Paper" },
        FINISH,
      ),
    );
    assert.deepEqual(events.slice(0, -1), [
      { type: "source", id: "s1", url: "https://example.com", title: "Example" },
      { type: "source", id: "s2", title: "Paper" },
    ]);
  });

  it("hands over generated files as bytes, and links as sources", async () => {
    const events = await ask(
      mock(
        { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
        { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/a.png") } },
        FINISH,
      ),
    );
    assert.deepEqual(events.slice(0, -1), [
      { type: "file", mediaType: "image/png", data: Buffer.from([1, 2, 3]) },
      { type: "source", url: "https://example.com/a.png" },
    ]);
  });

  it("brings back to the provider what it said about thoughts, texts and calls", async () => {
    const model = mock(
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { anthropic: { signature: "sig" } } },
      { type: "reasoning-end", id: "0" },
      { type: "text-start", id: "1", providerMetadata: { openai: { itemId: "early" } } },
      { type: "text-delta", id: "1", delta: "Hi" },
      { type: "text-end", id: "1", providerMetadata: { openai: { itemId: "late" } } },
      { type: "tool-call", toolCallId: "c1", toolName: "look", input: "{}", providerMetadata: { google: { thoughtSignature: "t" } } },
      FINISH,
    );
    const parts = (await ask(model)).flatMap((event): AssistantEntry["parts"] => {
      if (!("provider" in event)) return [];
      const { provider } = event;
      if (event.type === "reasoning.ended") return [{ type: "reasoning", messageId: "x", text: "hm", provider }];
      if (event.type === "text.ended") return [{ type: "text", messageId: "x", text: "Hi", provider }];
      const settlement = { status: "completed" as const, output: 1, messageId: "r" };
      return [{ type: "call", callId: "c1", name: "look", input: {}, owner: "external", messageId: "x", provider, settlement }];
    });
    const entry = { role: "assistant" as const, seq: 2, turnId: "t1", stepId: "s1", messageId: "a", state: "completed" as const, parts };
    await ask(model, { history: [USER, entry] });
    assert.deepEqual(model.doStreamCalls[1]?.prompt[1]?.content, [
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "sig" } } },
      { type: "text", text: "Hi", providerOptions: { openai: { itemId: "late" } } },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "look",
        input: {},
        providerOptions: { google: { thoughtSignature: "t" } },
      },
    ]);
  });

  it("sends settings and tools, with a schema every provider accepts", async () => {
    const model = mock(FINISH);
    const request = { instructions: undefined, history: [USER], options: {}, blob: async () => assert.fail() };
    const tools = [{ name: "look", description: "Looks", input: {} }];
    await Array.fromAsync(aiSdkModel(model, { settings: { temperature: 0 } })({ ...request, tools }, new AbortController().signal));
    assert.equal(model.doStreamCalls[0]?.temperature, 0);
    assert.deepEqual(model.doStreamCalls[0]?.tools, [
      { type: "function", name: "look", description: "Looks", inputSchema: { type: "object", properties: {} } },
    ]);
  });

  it("fails when the answer breaks off, stops with an error or leaves a call unfinished", async () => {
    const failed = { ...FINISH, finishReason: { unified: "error" as const, raw: undefined } };
    const start: LanguageModelV4StreamPart = { type: "tool-input-start", id: "c1", toolName: "look" };
    const unread = { type: "error" as const, error: { message: "overloaded", type: "overloaded_error" } };
    const cases: [MockLanguageModelV4, RegExp][] = [
      [mock({ type: "text-start", id: "0" }), /broke off/],
      [mock(failed), /because of an error/],
      [mock(start, FINISH), /did not finish its call of look/],
      [mock(unread), /provider is busy: overloaded/],
      [mock({ type: "error", error: new Error("bad chunk") }), /could not be read: bad chunk/],
    ];
    for (const [model, message] of cases) await assert.rejects(ask(model), { name: "AppError", code: "model", message });
  });

  it("stops when told to, also a provider that does not listen", async () => {
    const cancelled = Promise.withResolvers<unknown>();
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) => controller.enqueue({ type: "text-start", id: "0" }),
      cancel: (reason) => cancelled.resolve(reason),
    });
    const stop = new AbortController();
    const reason = new Error("enough");
    const answer = ask(new MockLanguageModelV4({ doStream: async () => ({ stream }) }), {}, stop.signal);
    setImmediate(() => stop.abort(reason));
    await assert.rejects(answer, (error) => error === reason);
    assert.equal(await cancelled.promise, reason);
  });

  it("lets go of the provider when nobody listens any more", async () => {
    const cancelled = Promise.withResolvers<void>();
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      pull: (controller) => controller.enqueue({ type: "text-delta", id: "0", delta: "x" }),
      cancel: () => cancelled.resolve(),
    });
    const model = aiSdkModel(new MockLanguageModelV4({ doStream: async () => ({ stream }) }));
    const request = { instructions: undefined, history: [USER], tools: [], options: {}, blob: async () => assert.fail() };
    for await (const event of model(request, new AbortController().signal)) if (event.type === "text.delta") break;
    await cancelled.promise;
  });

  describe("with models of older AI SDKs", () => {
    const file = { type: "file" as const, mediaType: "image/png", blob: "b1" };
    const link = { type: "file" as const, mediaType: "image/png", url: "https://example.com/a.png" };
    const history: Entry[] = [{ role: "user", seq: 1, turnId: "t1", id: "m1", content: [file, link] }];
    const prompt = [
      {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png", data: new Uint8Array([1]) },
          { type: "file", mediaType: "image/png", data: new URL("https://example.com/a.png") },
        ],
      },
    ];

    it("speaks v3", async () => {
      const parts: LanguageModelV3StreamPart[] = [
        { type: "file", mediaType: "image/png", data: new Uint8Array([7]) },
        { type: "finish", usage: USAGE, finishReason: { unified: "stop", raw: undefined } },
      ];
      const model = new MockLanguageModelV3({ doStream: { stream: convertArrayToReadableStream(parts) } });
      const [first] = await ask(model, { history });
      assert.deepEqual(first, { type: "file", mediaType: "image/png", data: new Uint8Array([7]) });
      assert.deepEqual(model.doStreamCalls[0]?.prompt, prompt);
    });

    it("speaks v2", async () => {
      let asked: unknown;
      const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 16, reasoningTokens: 2, cachedInputTokens: undefined };
      const model: LanguageModelV2 = {
        specificationVersion: "v2",
        provider: "old",
        modelId: "old-model",
        supportedUrls: {},
        doGenerate: () => assert.fail(),
        doStream: async (options) => {
          asked = options.prompt;
          return { stream: convertArrayToReadableStream([{ type: "finish" as const, usage, finishReason: "length" as const }]) };
        },
      };
      assert.deepEqual(await ask(model, { history }), [
        {
          type: "finished",
          reason: "length",
          usage: { model: "old-model", inputTokens: 10, outputTokens: 5, totalTokens: 16, reasoningTokens: 2 },
        },
      ]);
      assert.deepEqual(asked, prompt);
    });
  });
});
