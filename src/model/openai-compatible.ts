import { AppError } from "../core/error.ts";
import { aiSdkModel, type LanguageModel } from "./ai-sdk.ts";
import type { Model } from "./model.ts";

export type OpenAiCompatibleOptions = { model: string; baseUrl: string; apiKey?: string; headers?: Record<string, string> };

/** A model behind any OpenAI-compatible API: OpenAI, vLLM, Ollama, OpenRouter … The provider package is loaded at first use. */
export function openAiCompatible({ model, baseUrl, apiKey, headers }: OpenAiCompatibleOptions): Model {
  if (!URL.canParse(baseUrl)) throw new AppError("invalid", `The model's base URL is not a URL: ${baseUrl}`);
  // The name keys the provider metadata in the log, so it must never change.
  const settings = { name: "handback", baseURL: baseUrl, includeUsage: true, ...(apiKey && { apiKey }), ...(headers && { headers }) };
  const secrets = [...(apiKey ? [apiKey] : []), ...Object.values(headers ?? {})];
  let loaded: LanguageModel | undefined;
  const load = async () => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    loaded ??= createOpenAICompatible(settings).chatModel(model);
    return loaded;
  };
  return aiSdkModel(load, { secrets });
}
