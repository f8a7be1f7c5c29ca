import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelEvent } from "../model.ts";
import { chatSpeech } from "./chat-speech.ts";

/** What is heard of these deltas. */
function hear(deltas: object[], { reason = "stop", ...last }: { reason?: string | null; usage?: object } = {}): ModelEvent[] {
  const said: ModelEvent[] = [];
  const speech = chatSpeech("m", (event) => said.push(event));
  for (const delta of deltas) speech.take({ choices: [{ delta, finish_reason: null }] });
  speech.take({ choices: [{ delta: {}, finish_reason: reason }], ...last });
  speech.end();
  return said;
}

type Piece = { index?: number; id?: string; name?: string; input?: string };

/** The calls that come of these pieces, each `[id, name, input]`, after what was said of them on the way was checked. */
function calls(...pieces: Piece[]): [string, string, string][] {
  const said = hear(
    pieces.map(({ index, id, name, input }) => ({ tool_calls: [{ index, id, function: { name, arguments: input } }] })),
    { reason: "tool_calls" },
  );
  const called = said.filter((event) => event.type === "tool.called");
  for (const { id, name, input } of called) {
    assert.deepEqual(
      said.find((event) => event.type === "tool.started" && event.id === id),
      { type: "tool.started", id, name },
    );
    const deltas = said.flatMap((event) => (event.type === "tool.delta" && event.id === id ? [event.delta] : []));
    assert.equal(deltas.join("") || "{}", input);
  }
  return called.map(({ id, name, input }) => [id, name, input as string]);
}

describe("calls in a chat completion", () => {
  it("go by their index, and are told in its order", () => {
    assert.deepEqual(
      calls(
        { index: 1, id: "b", name: "two" },
        { index: 0, id: "a", name: "one", input: "{" },
        { index: 1, input: '{"x":1}' },
        { index: 0, input: "}" },
      ),
      [
        ["a", "one", "{}"],
        ["b", "two", '{"x":1}'],
      ],
    );
  });

  it("may come without an index, one after the other", () => {
    assert.deepEqual(
      calls(
        { id: "a", name: "one", input: '{"x":' },
        { input: "1}" },
        { id: "b", name: "one", input: "{}" },
        { name: "two", id: "c", input: "" },
      ),
      [
        ["a", "one", '{"x":1}'],
        ["b", "one", "{}"],
        ["c", "two", "{}"],
      ],
    );
  });

  it("get an id where the provider gives none, and another where it gives one twice", () => {
    const without = calls({ index: 0, name: "one", input: "{}" }, { index: 1, id: " ", name: "one", input: "{}" });
    assert.equal(new Set(without.map(([id]) => id)).size, 2);
    for (const [id] of without) assert.match(id, /^call_[\w-]{36}$/);
    const twice = calls({ index: 0, id: "a", name: "one", input: "{}" }, { index: 1, id: "a", name: "one", input: "{}" });
    assert.equal(twice[0]?.[0], "a");
    assert.notEqual(twice[1]?.[0], "a");
  });

  it("may have their name behind their first arguments", () => {
    assert.deepEqual(calls({ index: 0, id: "a", input: '{"x"' }, { index: 0, name: "one", input: ":1}" }), [["a", "one", '{"x":1}']]);
  });

  it("may repeat name and id with every piece", () => {
    const piece = { index: 0, id: "a", name: "one" };
    assert.deepEqual(calls({ ...piece, input: '{"x":' }, { ...piece, input: '{"y":"}"}' }, { ...piece, input: "}" }), [
      ["a", "one", '{"x":{"y":"}"}}'],
    ]);
  });

  it("may all have the same index", () => {
    assert.deepEqual(
      calls(
        { index: 0, id: "a", name: "one", input: '{"x":1}' },
        { index: 0, id: "b", name: "one", input: '{"x":2}' },
        { index: 0, id: "c", name: "two", input: "" },
        { index: 0, id: "c", input: "{}" },
      ),
      [
        ["a", "one", '{"x":1}'],
        ["b", "one", '{"x":2}'],
        ["c", "two", "{}"],
      ],
    );
  });

  it("may hold their arguments as a value", () => {
    const said = hear([{ tool_calls: [{ id: "a", function: { name: "one", arguments: { x: 1 } } }] }]);
    assert.deepEqual(said.at(-2), { type: "tool.called", id: "a", name: "one", input: '{"x":1}' });
  });

  it("are not to be read without a name", () => {
    assert.throws(() => calls({ index: 0, id: "a", input: "{}" }), /has no name/);
  });

  it("keep Gemini's signature for its next request", () => {
    const extra = { extra_content: { google: { thought_signature: "s" } } };
    const said = hear([{ tool_calls: [{ id: "a", function: { name: "one", arguments: "{}" }, ...extra }] }]);
    assert.deepEqual(said.at(-2), {
      type: "tool.called",
      id: "a",
      name: "one",
      input: "{}",
      provider: { handback: { thoughtSignature: "s" } },
    });
  });
});

describe("a chat completion", () => {
  it("thinks under either name, and ends a thought before it speaks or calls", () => {
    const said = hear([
      { reasoning: "a" },
      { content: "b" },
      { reasoning_content: "c" },
      { tool_calls: [{ id: "x", function: { name: "y" } }] },
    ]);
    assert.deepEqual(
      said.map((event) => event.type),
      [
        "reasoning.started",
        "reasoning.delta",
        "reasoning.ended",
        "text.started",
        "text.delta",
        "text.ended",
        "reasoning.started",
        "reasoning.delta",
        "reasoning.ended",
        "tool.started",
        "tool.called",
        "finished",
      ],
    );
  });

  it("may be written in parts, as Mistral does", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }, null] };
    const said = hear([{ content: [thinking, { type: "text", text: "yes" }, { type: "reference", reference_ids: [1] }] }]);
    assert.deepEqual(
      said.flatMap((event) => ("delta" in event ? [event.delta] : [])),
      ["hm", "yes"],
    );
  });

  it("says why it ended in the words of all models", () => {
    const reasons = {
      stop: "stop",
      length: "length",
      content_filter: "content-filter",
      tool_calls: "tool-calls",
      function_call: "tool-calls",
      eos: "other",
    };
    for (const [reason, expected] of Object.entries(reasons)) {
      assert.deepEqual(hear([{ content: "a" }], { reason }).at(-1), { type: "finished", reason: expected, usage: { model: "m" } });
    }
  });

  it("says a refusal, and that it is one", () => {
    const said = hear([{ content: null, refusal: "I will not" }, { refusal: false }]);
    assert.deepEqual(said.slice(1), [
      { type: "text.delta", id: "text-1", delta: "I will not" },
      { type: "text.ended", id: "text-1" },
      { type: "finished", reason: "content-filter", usage: { model: "m" } },
    ]);
  });

  it("counts what the provider counts, and what it leaves out as nothing", () => {
    assert.deepEqual(hear([], { usage: { prompt_tokens: 3, completion_tokens: null } }).at(-1), {
      type: "finished",
      reason: "stop",
      usage: { model: "m", inputTokens: 3, outputTokens: 0, totalTokens: 3, reasoningTokens: 0, cachedInputTokens: 0 },
    });
  });

  it("passes over what it does not know", () => {
    const speech = chatSpeech("m", () => {});
    for (const chunk of [{}, { choices: [] }, { choices: [null] }, { choices: [{ delta: { content: 7, tool_calls: [null, 1] } }] }])
      speech.take(chunk);
    assert.throws(() => speech.take([]), /no object/);
  });

  it("is not complete without a reason to end", () => {
    assert.throws(() => hear([{ content: "a" }], { reason: null }), /without a finish reason/);
  });
});
