import { AppError } from "../../core/error.ts";
import type { CallSettings, ToolSpec } from "../../core/event.ts";
import type { Entry } from "../../core/thread.ts";
import type { ModelRequest } from "../model.ts";
import { toMessages, toSystem } from "../prompt.ts";
import { toChatMessages } from "./chat-message.ts";

/**
 * Writes requests to a model as bodies of chat completions, in JSON. What a model sees of an entry never changes, so a history that
 * has grown since the last request is written from where it was: a long one costs what is new in it.
 */
export function chatBody(model: string): (request: ModelRequest) => Promise<string> {
  const known = new WeakMap<Entry, Beginning>(); // by the first entry
  return async (request) => {
    const { history, tools, stop = [], options, blob } = request;
    const [first] = history;
    const before = first && known.get(first);
    let beginning = before && history[before.count - 1] === before.last ? before : NOTHING;
    let messages = beginning.text;
    for (let i = beginning.count; i < history.length; i += 1) {
      const entry = history[i] as Entry;
      messages = joined(messages, await write(entry, blob));
      if (beginning.count === i && isLasting(entry)) beginning = { count: i + 1, last: entry, text: messages };
    }
    if (messages === "") throw new AppError("internal", "There is nothing to send to the model");
    if (first) known.set(first, beginning);
    const system = toSystem(request);
    const preamble = system ? JSON.stringify({ role: "system", content: system }) : "";
    const head = JSON.stringify({
      model,
      ...toSettings(options.settings ?? {}),
      ...(stop.length > 0 && { stop }),
      ...(tools.length > 0 && { tools: tools.map(toTool) }),
      stream: true,
      stream_options: { include_usage: true },
    });
    return `${head.slice(0, -1)},"messages":[${joined(preamble, messages)}]}`;
  };
}

/**
 * The first entries of a history as they were written. Histories only grow, or are cut and grow again with other entries:
 * where the last of these is in its place, so are the others.
 */
type Beginning = { count: number; last: Entry | undefined; text: string };

const NOTHING: Beginning = { count: 0, last: undefined, text: "" };

function joined(before: string, text: string): string {
  if (text === "") return before;
  return before === "" ? text : `${before},${text}`;
}

async function write(entry: Entry, blob: ModelRequest["blob"]): Promise<string> {
  const messages = (await toMessages(entry, blob)).flatMap(toChatMessages);
  return messages.map((message) => JSON.stringify(message)).join(",");
}

/** Whether an entry is as it will stay. Those with files are not kept: their bytes lie in the store, and once is enough. */
function isLasting(entry: Entry): boolean {
  if (entry.role === "assistant") return entry.state === "completed" && !entry.parts.some(({ type }) => type === "added");
  return typeof entry.content === "string" || !entry.content.some(({ type }) => type === "file");
}

function toSettings(settings: CallSettings): object {
  const { temperature, topP, topK, maxOutputTokens, presencePenalty, frequencyPenalty, seed } = settings;
  return {
    temperature,
    top_p: topP,
    top_k: topK,
    max_tokens: maxOutputTokens,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    seed,
  };
}

function toTool({ name, description, input }: ToolSpec): object {
  const parameters = { type: "object", ...("properties" in input ? {} : { properties: {} }), ...input };
  return { type: "function", function: { name, description, parameters } };
}
