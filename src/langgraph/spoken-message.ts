import { type AIMessage, AIMessageChunk, type UsageMetadata } from "@langchain/core/messages";
import type { StepContext } from "../agent/agent.ts";
import { checkCall } from "../agent/speak.ts";
import type { Tool } from "../agent/tool.ts";
import type { Event, Owner, Usage } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { ownerOf } from "./calls.ts";

/** An assistant message of a graph while it is being spoken: one step of a model in the log. */
export type SpokenMessage = {
  take(message: AIMessage | AIMessageChunk): Promise<Event[]>;
  /** Everything but the end of the step. */
  close(): Promise<Event[]>;
  end: () => Extract<Event, { type: "step.ended" }>;
  calls: readonly SpokenCall[];
};

export type SpokenCall = { toolCallId: string; callId: string; name: string; owner: Owner; inside: boolean; said: string[] };

/** Begins a message. `parentStepId` is the node that speaks. */
export function spokenMessage(
  context: StepContext,
  { tools, parentStepId }: { tools: ReadonlyMap<string, Tool>; parentStepId: string | undefined },
): SpokenMessage {
  const { mint } = context;
  const step = { stepId: mint("step"), messageId: mint("msg") };
  const parent = parentStepId !== undefined && { parentStepId };
  const texts = new Map<"text" | "reasoning", { messageId: string; said: string[] }>();
  const calls: SpokenCall[] = [];
  const byIndex = new Map<number | string, SpokenCall>();
  const usage: Usage = {};
  let begun = false;
  let finishReason: string | undefined;

  const say = (type: "text" | "reasoning", delta: string): Event[] => {
    if (delta === "") return [];
    const events: Event[] = [];
    let text = texts.get(type);
    if (!text) {
      text = { messageId: type === "text" ? step.messageId : mint("msg"), said: [] };
      texts.set(type, text);
      events.push({ type: `${type}.started`, messageId: text.messageId, stepId: step.stepId });
    }
    text.said.push(delta);
    return [...events, { type: `${type}.delta`, messageId: text.messageId, delta }];
  };
  const call = async (toolCallId: string, name: string): Promise<Event[]> => {
    const { owner, inside } = ownerOf(name, tools, context);
    const spoken = { toolCallId, callId: await context.callId(toolCallId), name, owner, inside, said: [] };
    calls.push(spoken);
    return [{ type: "tool.started", callId: spoken.callId, name, ...step, owner }];
  };

  return {
    calls,
    async take(message) {
      const events: Event[] = [];
      if (!begun) events.push({ type: "step.started", ...step, name: "model", kind: "model", ...parent });
      begun = true;
      for (const { type, text } of textsIn(message)) events.push(...say(type, text));
      if (AIMessageChunk.isInstance(message)) {
        for (const { id, name, args = "", index } of message.tool_call_chunks ?? []) {
          const place = index ?? id ?? byIndex.size;
          if (!byIndex.has(place) && name !== undefined) {
            events.push(...(await call(id ?? mint("call"), name)));
            byIndex.set(place, calls.at(-1) as SpokenCall);
          }
          const spoken = byIndex.get(place);
          if (!spoken || args === "") continue;
          spoken.said.push(args);
          events.push({ type: "tool.delta", callId: spoken.callId, delta: args });
        }
      } else {
        for (const { id, name, args } of message.tool_calls ?? []) {
          events.push(...(await call(id ?? mint("call"), name)));
          const { callId, said } = calls.at(-1) as SpokenCall;
          said.push(JSON.stringify(args));
          events.push({ type: "tool.delta", callId, delta: JSON.stringify(args) });
        }
      }
      add(usage, message);
      const reason = message.response_metadata?.["finish_reason"] ?? message.response_metadata?.["stop_reason"];
      if (typeof reason === "string") finishReason = reason;
      return events;
    },
    async close() {
      const events: Event[] = [];
      for (const [type, { messageId, said }] of texts) events.push({ type: `${type}.ended`, messageId, text: said.join("") });
      for (const { callId, name, owner, inside, said, toolCallId } of calls) {
        const base = { type: "tool.called" as const, callId, name, ...step, owner, provider: { toolCallId } };
        if (inside) events.push({ ...base, input: inputOf(said.join("")), inside });
        else
          events.push({
            ...base,
            ...(await checkCall({ type: "tool.called", id: toolCallId, name, input: said.join("") }, tools, context)),
          });
      }
      return events;
    },
    end: () => ({
      type: "step.ended",
      stepId: step.stepId,
      name: "model",
      completed: true,
      ...parent,
      ...(finishReason !== undefined && { finishReason }),
      ...(Object.keys(usage).length > 0 && { usage }),
    }),
  };
}

/** The texts of a message in any of the shapes its content may have. */
function* textsIn({ content, additional_kwargs }: AIMessage | AIMessageChunk): Generator<{ type: "text" | "reasoning"; text: string }> {
  const aside = additional_kwargs["reasoning_content"];
  if (typeof aside === "string") yield { type: "reasoning", text: aside };
  if (typeof content === "string") return yield { type: "text", text: content };
  for (const block of content as unknown as Record<string, unknown>[]) {
    const thought = block["type"] === "reasoning" ? block["reasoning"] : block["type"] === "thinking" ? block["thinking"] : undefined;
    if (typeof thought === "string") yield { type: "reasoning", text: thought };
    if (block["type"] === "text" && typeof block["text"] === "string") yield { type: "text", text: block["text"] };
  }
}

function inputOf(said: string): Json {
  try {
    return said === "" ? {} : (JSON.parse(said) as Json);
  } catch {
    return said; // the graph was given it as it is, and so is whoever reads the log
  }
}

/** Pieces of a message add up, and so do their counts. */
function add(usage: Usage, { usage_metadata, response_metadata }: AIMessage | AIMessageChunk): void {
  const counts = usage_metadata as UsageMetadata | undefined;
  const model = response_metadata?.["model_name"] ?? response_metadata?.["model"];
  if (typeof model === "string") usage.model = model;
  if (!counts) return;
  const more = (key: Exclude<keyof Usage, "model">, value: unknown) => {
    if (typeof value === "number") usage[key] = (usage[key] ?? 0) + value;
  };
  more("inputTokens", counts.input_tokens);
  more("outputTokens", counts.output_tokens);
  more("totalTokens", counts.total_tokens);
  more("cachedInputTokens", counts.input_token_details?.cache_read);
  more("reasoningTokens", counts.output_token_details?.reasoning);
}
