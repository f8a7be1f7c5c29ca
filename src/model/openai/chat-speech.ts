import { randomUUID } from "node:crypto";
import type { Usage } from "../../core/event.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ModelEvent } from "../model.ts";
import { chatCalls } from "./chat-calls.ts";

/** What a chat completion says, chunk by chunk. An answer in one piece is one chunk. */
export type ChatSpeech = {
  /** Throws what the provider calls an error. */
  take(chunk: unknown): void;
  /** Throws where the answer is not complete. */
  end(): void;
};

/** Tells `say` what a model says. This is the hot path: one object per token. */
export function chatSpeech(model: string, say: (event: ModelEvent) => void): ChatSpeech {
  const calls = chatCalls(say, () => `call_${randomUUID()}`);
  let speaking: string | undefined; // ids of the text and the thought that are open
  let thinking: string | undefined;
  let opened = 0;
  let named: string | undefined;
  let reason: string | undefined;
  let refused = false;
  let usage: JsonObject | undefined;

  const endThought = () => {
    if (thinking !== undefined) say({ type: "reasoning.ended", id: thinking });
    thinking = undefined;
  };
  const endText = () => {
    if (speaking !== undefined) say({ type: "text.ended", id: speaking });
    speaking = undefined;
  };
  const sayText = (delta: string) => {
    endThought();
    if (speaking === undefined) {
      speaking = `text-${++opened}`;
      say({ type: "text.started", id: speaking });
    }
    say({ type: "text.delta", id: speaking, delta });
  };
  const think = (delta: string) => {
    endText();
    if (thinking === undefined) {
      thinking = `reasoning-${++opened}`;
      say({ type: "reasoning.started", id: thinking });
    }
    say({ type: "reasoning.delta", id: thinking, delta });
  };
  /** Mistral writes thoughts and texts as parts. */
  const sayParts = (parts: readonly unknown[]) => {
    for (const part of parts) {
      if (!isObject(part)) continue;
      if (part["type"] === "text" && isFilled(part["text"])) sayText(part["text"]);
      if (part["type"] !== "thinking" || !Array.isArray(part["thinking"])) continue;
      const thought = part["thinking"].map((piece) => (isObject(piece) && isFilled(piece["text"]) ? piece["text"] : "")).join("");
      if (thought !== "") think(thought);
    }
  };

  return {
    take(chunk) {
      if (!isObject(chunk)) throw new Error("it is no object");
      const { error, choices } = chunk;
      if (error !== undefined && error !== null) throw error;
      if (named === undefined && isFilled(chunk["model"])) named = chunk["model"];
      if (isObject(chunk["usage"])) usage = chunk["usage"];
      const choice = Array.isArray(choices) ? choices[0] : undefined;
      if (!isObject(choice)) return;
      if (isFilled(choice["finish_reason"])) reason = choice["finish_reason"];
      const delta = choice["delta"] ?? choice["message"];
      if (!isObject(delta)) return;
      const { content, tool_calls: pieces } = delta;
      const thought = delta["reasoning_content"] ?? delta["reasoning"];
      if (isFilled(thought)) think(thought);
      if (isFilled(content)) sayText(content);
      else if (Array.isArray(content)) sayParts(content);
      // A refusal is said in place of the text.
      if (isFilled(delta["refusal"])) {
        refused = true;
        sayText(delta["refusal"]);
      }
      if (!Array.isArray(pieces) || pieces.length === 0) return;
      endThought();
      endText(); // before the call, as with models of other kinds: a client has the whole text when the call appears
      for (const piece of pieces) calls.take(piece);
    },
    end() {
      if (reason === undefined) throw new Error("it ended without a finish reason");
      endThought();
      endText();
      calls.end();
      say({ type: "finished", reason: toReason(reason, refused), usage: toUsage(usage, named ?? model) });
    },
  };
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The reason in the words all models use. */
function toReason(reason: string, refused: boolean): string {
  switch (reason) {
    case "stop":
      return refused ? "content-filter" : "stop";
    case "length":
      return "length";
    case "content_filter":
      return "content-filter";
    case "tool_calls":
    case "function_call":
      return "tool-calls";
    default:
      return "other";
  }
}

function toUsage(usage: JsonObject | undefined, model: string): Usage {
  if (!usage) return { model };
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage;
  const inputTokens = count(usage["prompt_tokens"]);
  const outputTokens = count(usage["completion_tokens"]);
  return {
    model,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    reasoningTokens: isObject(output) ? count(output["reasoning_tokens"]) : 0,
    cachedInputTokens: isObject(input) ? count(input["cached_tokens"]) : 0,
  };
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
