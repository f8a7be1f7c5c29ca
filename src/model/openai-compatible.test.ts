import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { AppError } from "../core/error.ts";
import type { AssistantEntry, Entry } from "../core/thread.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { fakeUpstream, type Script, type Upstream } from "../testing/upstream.ts";
import type { Model, ModelEvent, ModelRequest } from "./model.ts";
import { openAiCompatible } from "./openai-compatible.ts";
import { ProviderFailure } from "./provider-failure.ts";
import { withRetry } from "./retry.ts";

const upstreams: Upstream[] = [];
after(() => Promise.all(upstreams.map((upstream) => upstream.close())));

async function given(script?: Script): Promise<{ upstream: Upstream; model: Model }> {
  const upstream = await fakeUpstream(script);
  upstreams.push(upstream);
  return { upstream, model: openAiCompatible({ model: "m", baseUrl: upstream.url, apiKey: "secret-key" }) };
}

function request(history: string | Entry[] = "hi"): ModelRequest {
  const entries: Entry[] = typeof history === "string" ? [{ role: "user", seq: 1, turnId: "t1", id: "m1", content: history }] : history;
  const tools = [{ name: "look", description: "Looks", input: { type: "object", properties: { at: { type: "number" } } } }];
  return { instructions: "Be brief.", history: entries, tools, options: {}, blob: async () => assert.fail() };
}

const never = new AbortController().signal;
const ask = (model: Model, history?: string | Entry[]): Promise<ModelEvent[]> => Array.fromAsync(model(request(history), never));

/** Asks with a clock that is wound on until there is an answer; `waited` is how long that took. */
async function askPatiently(model: Model): Promise<{ events: ModelEvent[]; waited: number }> {
  const clock = fakeClock();
  let over = false;
  const answer = ask(withRetry(model, { clock, random: () => 1 })).finally(() => {
    over = true;
  });
  answer.catch(() => {});
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    await clock.advance(50);
  }
  return { events: await answer, waited: clock.now() };
}

describe("openAiCompatible", () => {
  it("speaks thoughts, text and usage", async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const { model, upstream } = await given(() => ({ reasoning: ["let ", "me"], text: ["Hel", "lo"], usage }));
    assert.deepEqual(await ask(model), [
      { type: "reasoning.started", id: "reasoning-1" },
      { type: "reasoning.delta", id: "reasoning-1", delta: "let " },
      { type: "reasoning.delta", id: "reasoning-1", delta: "me" },
      { type: "reasoning.ended", id: "reasoning-1" },
      { type: "text.started", id: "text-2" },
      { type: "text.delta", id: "text-2", delta: "Hel" },
      { type: "text.delta", id: "text-2", delta: "lo" },
      { type: "text.ended", id: "text-2" },
      {
        type: "finished",
        reason: "stop",
        usage: { model: "fake-model", inputTokens: 10, outputTokens: 5, totalTokens: 15, reasoningTokens: 2, cachedInputTokens: 4 },
      },
    ]);
    const sent = upstream.requests[0];
    assert.equal(sent?.headers.authorization, "Bearer secret-key");
    assert.deepEqual(sent?.body.messages, [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
    ]);
    assert.equal(sent?.body.tools?.[0]?.function.name, "look");
  });

  it("makes parallel calls, their arguments in pieces", async () => {
    const { model } = await given(() => ({
      calls: [
        { id: "c1", name: "look", input: ['{"at"', ":1}"] },
        { id: "c2", name: "look", input: [] },
      ],
    }));
    assert.deepEqual((await ask(model)).slice(0, -1), [
      { type: "tool.started", id: "c1", name: "look" },
      { type: "tool.delta", id: "c1", delta: '{"at"' },
      { type: "tool.delta", id: "c1", delta: ":1}" },
      { type: "tool.started", id: "c2", name: "look" },
      { type: "tool.called", id: "c1", name: "look", input: '{"at":1}' },
      { type: "tool.called", id: "c2", name: "look", input: "{}" },
    ]);
  });

  it("shows the model its calls and their results, in call order", async () => {
    const { model, upstream } = await given();
    const call = { type: "call" as const, name: "look", input: { at: 1 }, owner: "external" as const, messageId: "a1" };
    const parts: AssistantEntry["parts"] = [
      { type: "reasoning", messageId: "a1", text: "hm" },
      { ...call, callId: "c1", settlement: { status: "rejected", error: "too dear", messageId: "r1" } },
      { ...call, callId: "c2", settlement: { status: "completed", output: { ok: true }, messageId: "r2" } },
    ];
    const [user] = request().history as [Entry];
    await ask(model, [user, { role: "assistant", seq: 2, turnId: "t1", stepId: "s1", messageId: "a1", state: "completed", parts }]);
    const called = { type: "function", function: { name: "look", arguments: '{"at":1}' } };
    assert.deepEqual(upstream.requests[0]?.body.messages.slice(2), [
      {
        role: "assistant",
        content: null,
        reasoning_content: "hm",
        tool_calls: [
          { id: "c1", ...called },
          { id: "c2", ...called },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "A person rejected this call and it was not run: too dear" },
      { role: "tool", tool_call_id: "c2", content: '{"ok":true}' },
    ]);
  });

  it("hangs up when it is aborted, and passes the reason on", async () => {
    const { model, upstream } = await given(() => ({ text: ["a", "b"], hangAfter: 1 }));
    const stop = new AbortController();
    const reason = new Error("enough");
    const answer = async () => {
      for await (const event of withRetry(model, { clock: fakeClock() })(request(), stop.signal)) {
        if (event.type === "text.delta") stop.abort(reason);
      }
    };
    await assert.rejects(answer(), (error) => error === reason);
    assert.equal(await upstream.requests[0]?.answered, false);
  });

  it("hangs up when nobody listens any more", async () => {
    const { model, upstream } = await given(() => ({ text: ["a", "b"], hangAfter: 1 }));
    for await (const event of model(request(), never)) if (event.type === "text.delta") break;
    assert.equal(await upstream.requests[0]?.answered, false);
  });

  it("says what is wrong with a base URL before it is used", () => {
    assert.throws(() => openAiCompatible({ model: "m", baseUrl: "localhost/v1" }), { code: "invalid" });
  });
});

describe("withRetry", () => {
  it("asks a busy provider again, when it says so", async () => {
    let asked = 0;
    const { model } = await given(() => (++asked === 1 ? { status: 429, headers: { "retry-after": "7" } } : { text: ["ok"] }));
    const { events, waited } = await askPatiently(model);
    assert.equal(events.at(-1)?.type, "finished");
    assert.ok(waited >= 7250 && waited < 8000, `waited ${waited} ms`);
  });

  it("gives up after three failures, in the provider's words", async () => {
    const { model, upstream } = await given(() => ({ status: 500, message: "Boiler burst" }));
    await assert.rejects(askPatiently(model), {
      name: "AppError",
      code: "model",
      message: "The model provider failed (500): Boiler burst",
    });
    assert.equal(upstream.requests.length, 3);
  });

  it("asks again when the connection broke before a word was said", async () => {
    let asked = 0;
    const { model } = await given(() => (++asked === 1 ? { cutAfter: 0 } : { text: ["ok"] }));
    assert.equal((await askPatiently(model)).events.at(-1)?.type, "finished");
  });

  it("never repeats what was said already", async () => {
    const { model, upstream } = await given(() => ({ text: ["a", "b", "c"], cutAfter: 2 }));
    await assert.rejects(askPatiently(model), { name: "AppError", message: "The connection to the model provider failed: UND_ERR_SOCKET" });
    assert.equal(upstream.requests.length, 1);
  });

  it("fails when the provider is not there", async () => {
    const { upstream, model } = await given();
    await upstream.close();
    await assert.rejects(askPatiently(model), { message: "The connection to the model provider failed: ECONNREFUSED" });
  });

  it("stops waiting when it is aborted", async () => {
    const { model, upstream } = await given(() => ({ status: 429 }));
    const stop = new AbortController();
    const clock = fakeClock();
    const answer = Array.fromAsync(withRetry(model, { clock })(request(), stop.signal));
    while (upstream.requests.length === 0) await clock.advance(0);
    await upstream.requests[0]?.answered;
    setTimeout(() => stop.abort(new Error("enough")), 5);
    await assert.rejects(answer, { message: "enough" });
    assert.equal(upstream.requests.length, 1);
  });

  it("does not ask again where that cannot help, and says why", async () => {
    const cases: [Awaited<ReturnType<Script>>, string, RegExp][] = [
      [
        { status: 401, message: "Incorrect API key provided: sk-proj-12345678" },
        "auth",
        /refused the key \(401\): Incorrect API key provided: \[redacted\]$/,
      ],
      [{ status: 403, message: "secret-key may not do this" }, "auth", /: \[redacted\] may not do this$/],
      [{ status: 400, code: "context_length_exceeded", message: "Too long" }, "context", /too long for the model \(400\): Too long$/],
      [{ status: 429, code: "insufficient_quota", message: "Pay" }, "quota", /quota is used up \(429\): Pay$/],
      [{ status: 404, message: "No model m at https://me:pass@host/v1?key=abc" }, "refused", /\(404\): No model m at https:\/\/host\/v1$/],
      [{ status: 429, headers: { "retry-after": "3600" } }, "busy", /busy \(429\)/],
    ];
    for (const [turn, trouble, message] of cases) {
      const { model, upstream } = await given(() => turn);
      await assert.rejects(askPatiently(model), (error: AppError) => {
        assert.match(error.message, message);
        assert.ok(error.cause instanceof ProviderFailure);
        assert.equal(error.cause.trouble, trouble);
        return error.code === "model";
      });
      assert.equal(upstream.requests.length, 1);
    }
  });
});
