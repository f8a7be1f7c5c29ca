import { APICallError } from "@ai-sdk/provider";
import { AppError } from "../core/error.ts";
import { isObject, type JsonObject } from "../core/json.ts";

/** What kind of trouble a provider has; the first three are retried. */
export type ProviderTrouble = "busy" | "broken" | "unreachable" | "auth" | "quota" | "context" | "refused" | "garbled";

/** The cause of an `AppError("model")`: what a retry has to know, without headers, keys or the prompt. */
export class ProviderFailure extends Error {
  readonly trouble: ProviderTrouble;
  readonly status: number | undefined;
  /** What the provider asks us to wait, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(trouble: ProviderTrouble, message: string, { status, retryAfter }: { status?: number; retryAfter?: number } = {}) {
    super(message);
    this.name = "ProviderFailure";
    this.trouble = trouble;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const HEADLINES: Record<ProviderTrouble, string> = {
  busy: "The model provider is busy",
  broken: "The model provider failed",
  unreachable: "The connection to the model provider failed",
  auth: "The model provider refused the key",
  quota: "The model provider's quota is used up",
  context: "The conversation is too long for the model",
  refused: "The model provider refused the request",
  garbled: "The model's answer could not be read",
};

/** Anything a provider throws, as an error fit for users: the status and the provider's own words, never a secret. */
export function toModelError(error: unknown, secrets: readonly string[] = []): AppError {
  if (error instanceof AppError) return error;
  const { status, code, words, retryAfter, network } = read(error);
  const trouble = network ? "unreachable" : judge(status, code, words);
  const own = redact(words, secrets);
  const message = `${HEADLINES[trouble]}${status === undefined ? "" : ` (${status})`}${own && `: ${own}`}`;
  const details = { ...(status !== undefined && { status }), ...(retryAfter !== undefined && { retryAfter }) };
  return new AppError("model", message, { cause: new ProviderFailure(trouble, message, details) });
}

type Reading = { status: number | undefined; code: string; words: string; retryAfter?: number | undefined; network?: boolean };

function read(error: unknown): Reading {
  if (APICallError.isInstance(error)) {
    const { statusCode, responseHeaders = {}, responseBody = "", data } = error;
    if (statusCode === undefined || statusCode < 300) {
      const network = networkCode(error);
      return { status: undefined, code: "", words: network ?? error.message, network: network !== undefined || error.isRetryable };
    }
    const body = data ?? parse(responseBody);
    const { code, words } = readBody(body);
    const plain = /^\s*</.test(responseBody) ? "" : responseBody; // a proxy's error page helps nobody
    return { status: statusCode, code, words: words || plain || error.message, retryAfter: toRetryAfter(responseHeaders) };
  }
  // An error inside the stream is the provider's own JSON, or whatever the connection or a parser threw.
  if (!(error instanceof Error)) {
    const { code, words } = readBody(error);
    const status = Number(code);
    return { status: status >= 400 && status < 600 ? status : undefined, code, words };
  }
  const network = networkCode(error);
  return { status: undefined, code: "", words: network ?? error.message, network: network !== undefined };
}

function judge(status: number | undefined, code: string, words: string): ProviderTrouble {
  if (/context_length|context.?window|context.?length|prompt is too long|too many (input )?tokens|input token count/i.test(code + words)) {
    return "context";
  }
  if (status === 402 || /insufficient_quota|billing/i.test(code)) return "quota";
  if (status === 401 || status === 403 || /api_key|authentication|permission/i.test(code)) return "auth";
  if (status === 429 || status === 408 || status === 503 || status === 529 || /rate_limit|overloaded/i.test(code)) return "busy";
  if ((status !== undefined && status >= 500) || /server_error|api_error/i.test(code)) return "broken";
  return status === undefined && code === "" ? "garbled" : "refused";
}

/** Error bodies as OpenAI, Anthropic, Google, vLLM and Ollama write them. */
function readBody(body: unknown): { code: string; words: string } {
  if (typeof body === "string") return { code: "", words: body };
  if (!isObject(body)) return { code: "", words: "" };
  const { error = body } = body;
  if (typeof error === "string") return { code: "", words: error };
  if (!isObject(error)) return { code: "", words: "" };
  const { message, detail } = error;
  const words = [message, detail].find((text) => typeof text === "string") ?? "";
  return { code: codeOf(error), words };
}

function codeOf({ code, type, status }: JsonObject): string {
  return [code, type, status].filter((part) => typeof part === "string" || typeof part === "number").join(" ");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The system's name for a broken connection (`ECONNREFUSED`), wherever in the chain of causes it is. */
function networkCode(error: Error): string | undefined {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && /^(E[A-Z]{3,}|UND_ERR_)/.test(code)) return code;
  }
  return undefined;
}

/** `Retry-After` in milliseconds. A date is taken relative to the provider's own clock. */
function toRetryAfter(headers: Record<string, string>): number | undefined {
  const { "retry-after-ms": precise, "retry-after": after, date } = headers;
  if (precise && Number(precise) >= 0) return Number(precise);
  if (!after) return undefined;
  const ms = Number.isNaN(Number(after)) ? Date.parse(after) - Date.parse(date ?? "") : Number(after) * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** More of its words nobody reads, and looking through all of them for what might be a key could take for ever. */
const MOST_WORDS = 4_000;

/** Providers like to quote the key they refuse, and URLs may carry one. */
function redact(words: string, secrets: readonly string[]): string {
  let text = words.trim();
  for (const secret of secrets) if (secret.length >= 6) text = text.replaceAll(secret, "[redacted]");
  text = text
    .slice(0, MOST_WORDS)
    .replaceAll(/\b(?:sk|pk|rk|gsk|xai|key|api)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|\bBearer\s+\S+/gi, "[redacted]")
    .replaceAll(/(https?:\/\/)(?:[^\s/@]*@)?([^\s?#"']*)[?#][^\s"']*/g, "$1$2");
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
