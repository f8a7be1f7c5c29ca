import * as http from "node:http";
import * as https from "node:https";
import { APICallError } from "@ai-sdk/provider";

/** Sends a body and resolves with an answer that is a success. */
export type Post = (body: string, signal: AbortSignal) => Promise<http.IncomingMessage>;

/** How long to wait for a connection, and for the next word. */
type Patience = { connectMs: number; silenceMs: number };

/** A provider may think for long, but not so long without a word. */
const PATIENCE: Patience = { connectMs: 10_000, silenceMs: 300_000 };
/** How long a connection is kept for the next request; what lies between may forget it without telling us. */
const KEEP_MS = 30_000;
const MOST_HOPS = 3;
/** Of the body of a refusal. */
const MOST_WORDS = 64 * 1024;

/**
 * Posts JSON to one address over connections that are kept. On node:http: `fetch` hands every piece of an answer through streams that cost
 * more than all the rest of a token's way.
 */
export function poster(url: URL, headers: Readonly<Record<string, string>>, patience = PATIENCE): Post {
  const { Agent, globalAgent } = url.protocol === "https:" ? https : http;
  // Node's own agent knows the proxy it was told of (NODE_USE_ENV_PROXY); one of our own has to be given it.
  const { proxyEnv } = (globalAgent as unknown as { options: http.AgentOptions }).options;
  const agent = new Agent({ keepAlive: true, scheduling: "lifo", maxFreeSockets: 1024, timeout: KEEP_MS, ...(proxyEnv && { proxyEnv }) });
  const send: Send = (to, body, signal) => ask(to, { agent, headers, patience, body, signal });
  return async (body, signal) => {
    let at = url;
    for (let hops = 0; ; hops += 1) {
      const response = await persistently(send, at, body, signal);
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) return response;
      const next = hops < MOST_HOPS ? elsewhere(response, at) : undefined;
      if (!next) throw await toRefusal(response, at);
      response.on("error", () => {}).resume();
      at = next;
    }
  };
}

type Send = (url: URL, body: string, signal: AbortSignal) => Promise<http.IncomingMessage>;

/** A kept connection may have been hung up at the moment it was used; then nobody has read the request. */
async function persistently(send: Send, url: URL, body: string, signal: AbortSignal): Promise<http.IncomingMessage> {
  for (;;) {
    try {
      return await send(url, body, signal);
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
    }
  }
}

class Stale extends Error {}

type Asked = { agent: http.Agent; headers: Readonly<Record<string, string>>; patience: Patience; body: string; signal: AbortSignal };

function ask(url: URL, { agent, headers, patience, body, signal }: Asked): Promise<http.IncomingMessage> {
  const { request: open } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const request = open(url, { method: "POST", agent, headers, timeout: patience.connectMs });
    const stop = () => void request.destroy(new Error("Stopped"));
    request.on("socket", (socket) => {
      const listen = () => void socket.setTimeout(patience.silenceMs);
      if (socket.connecting) socket.once(url.protocol === "https:" ? "secureConnect" : "connect", listen);
      else listen();
    });
    request.on("timeout", () => request.destroy(Object.assign(new Error("No word came in time"), { code: "ETIMEDOUT" })));
    request.on("response", resolve);
    request.on("error", (error: NodeJS.ErrnoException) => {
      const stale = request.reusedSocket && !signal.aborted && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(stale ? new Stale() : unreachable(url, error));
    });
    request.on("close", () => signal.removeEventListener("abort", stop));
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    request.end(body);
  });
}

function unreachable(url: URL, cause: Error): APICallError {
  return new APICallError({ message: cause.message, url: url.href, requestBodyValues: undefined, cause, isRetryable: true });
}

/** Where a provider sends us with the same request, as long as it is the same host: our key is for nobody else. */
function elsewhere({ statusCode, headers: { location = "" } }: http.IncomingMessage, from: URL): URL | undefined {
  if ((statusCode !== 307 && statusCode !== 308) || !URL.canParse(location, from.href)) return undefined;
  const to = new URL(location, from);
  return to.host === from.host && to.protocol === from.protocol ? to : undefined;
}

/** A provider's refusal, with as much of its words as anybody reads. */
async function toRefusal(response: http.IncomingMessage, url: URL): Promise<APICallError> {
  const { statusCode, statusMessage = "", headers } = response;
  let words = "";
  try {
    response.setEncoding("utf8");
    for await (const piece of response) {
      words += piece as string;
      if (words.length > MOST_WORDS) break; // which hangs up
    }
  } catch {} // the status says enough
  const responseHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return new APICallError({
    message: statusMessage,
    url: url.href,
    requestBodyValues: undefined,
    ...(statusCode !== undefined && { statusCode }),
    responseHeaders,
    responseBody: words.slice(0, MOST_WORDS),
  });
}
