import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import { AppError } from "../../core/error.ts";
import { PROVIDER } from "./chat-calls.ts";

/** A message as chat completions know it; every result of a call is a message of its own. */
export function toChatMessages(message: LanguageModelV4Message): object[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user": {
      const [first, ...rest] = message.content;
      const alone = rest.length === 0 && first?.type === "text";
      return [{ role: "user", content: alone ? first.text : message.content.map(toPart) }];
    }
    case "assistant":
      return [toAssistant(message)];
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result" ? [{ role: "tool", tool_call_id: part.toolCallId, content: toContent(part.output) }] : [],
      );
    default:
      return message satisfies never;
  }
}

function toAssistant({ content }: Extract<LanguageModelV4Message, { role: "assistant" }>): object {
  let text = "";
  let thought = "";
  const calls: object[] = [];
  for (const part of content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "reasoning") thought += part.text;
    else if (part.type === "tool-call") {
      const { toolCallId: id, toolName: name, input, providerOptions: options } = part;
      const signature = options?.[PROVIDER]?.["thoughtSignature"] ?? options?.["google"]?.["thoughtSignature"];
      const extra = typeof signature === "string" ? { extra_content: { google: { thought_signature: signature } } } : {};
      calls.push({ id, type: "function", function: { name, arguments: JSON.stringify(input) }, ...extra });
    }
  }
  return {
    role: "assistant",
    content: calls.length > 0 ? text || null : text,
    ...(thought !== "" && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toContent(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "execution-denied":
      return output.reason ?? "";
    case "json":
    case "error-json":
    case "content":
      return JSON.stringify(output.value);
    default:
      return output satisfies never;
  }
}

function toPart(part: { type: "text"; text: string } | LanguageModelV4FilePart): object {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType, data, filename } = part;
  if (data.type !== "url" && data.type !== "data") throw unfit(mediaType);
  const kind = mediaType.split("/")[0];
  const bytes = data.type === "data" ? data.data : undefined;
  const base64 = () => (typeof bytes === "string" ? bytes : Buffer.from(bytes ?? []).toString("base64"));
  const url = () => (data.type === "url" ? data.url.href : `data:${mediaType};base64,${base64()}`);
  if (kind === "image") return { type: "image_url", image_url: { url: url() } };
  if (kind === "video") return { type: "video_url", video_url: { url: url() } };
  if (kind === "text") {
    const text = data.type === "url" ? data.url.href : Buffer.from(base64(), "base64").toString();
    return { type: "text", text };
  }
  if (bytes === undefined)
    throw new AppError("model", `The model provider takes files of the type ${mediaType} only with their bytes, not as links`);
  const format = AUDIO[mediaType];
  if (format) return { type: "input_audio", input_audio: { data: base64(), format } };
  if (mediaType === "application/pdf") return { type: "file", file: { filename: filename ?? "document.pdf", file_data: url() } };
  throw unfit(mediaType);
}

/** The sounds chat completions name. */
const AUDIO: Record<string, string> = { "audio/wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3" };

function unfit(mediaType: string): AppError {
  return new AppError("model", `The model provider takes no files of the type ${mediaType}`);
}
