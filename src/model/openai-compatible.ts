import { AppError } from "../core/error.ts";
import type { Model, ModelEvent } from "./model.ts";
import { chatBody } from "./openai/chat-body.ts";
import { type Hearing, listen } from "./openai/listen.ts";
import { poster } from "./openai/post.ts";
import { toModelError } from "./provider-failure.ts";

export type OpenAiCompatibleOptions = { model: string; baseUrl: string; apiKey?: string; headers?: Record<string, string> };

/** A model behind any OpenAI-compatible API: OpenAI, vLLM, Ollama, OpenRouter … */
export function openAiCompatible({ model, baseUrl, apiKey, headers = {} }: OpenAiCompatibleOptions): Model {
  const post = poster(toAddress(baseUrl), toHeaders(apiKey, headers));
  const toBody = chatBody(model);
  const secrets = [...(apiKey ? [apiKey] : []), ...Object.values(headers)];
  return async function* (request, signal): AsyncGenerator<ModelEvent> {
    const body = await toBody(request);
    signal.throwIfAborted();
    let hearing: Hearing | undefined;
    try {
      hearing = listen(await post(body, signal), model);
      for (let events = await hearing.next(); events; events = await hearing.next()) {
        for (const event of events) {
          signal.throwIfAborted();
          yield event;
        }
      }
      signal.throwIfAborted();
    } catch (error) {
      signal.throwIfAborted();
      throw toModelError(error, secrets);
    } finally {
      hearing?.hangUp();
    }
  };
}

function toAddress(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new AppError("invalid", `The model's base URL is not a URL of http or https: ${baseUrl}`);
  }
  url.pathname = `${url.pathname.replace(/\/$/, "")}/chat/completions`;
  return url;
}

/** Ours first: those who configure one of these mean theirs. */
function toHeaders(apiKey: string | undefined, own: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    "accept-encoding": "identity",
    "user-agent": "handback",
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
  };
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value;
  return headers;
}
