import { lookup as dnsLookup } from "node:dns/promises";
import { type IncomingMessage, request } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { connect as secure } from "node:tls";
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/error.ts";
import { isPublic } from "./public-address.ts";

/** All addresses of a name. */
export type Lookup = (host: string) => Promise<string[]>;

/** What came back: no more of the body than was allowed. */
export type Reply = { status: number; headers: IncomingMessage["headers"]; body: string };

export type PostOptions = {
  headers: Record<string, string>;
  body: string;
  /** May lead anywhere: the operator has named it. */
  trusted: boolean;
  lookup?: Lookup;
  clock: Clock;
  signal: AbortSignal;
  /** For all of it, from the name to the last byte. */
  timeoutMs?: number;
  maxBytes?: number;
};

/** The system's resolver. */
const systemLookup: Lookup = async (host) => (await dnsLookup(host, { all: true })).map(({ address }) => address);

/**
 * Posts to somebody else's server. The name is resolved here, every address it has is looked at, and what is dialled is such an
 * address and never the name again, so that a resolver has no second chance. Redirects are not followed.
 */
export async function safePost(url: URL, options: PostOptions): Promise<Reply> {
  const { clock, signal, timeoutMs = 10_000 } = options;
  const abort = new AbortController();
  const stop = AbortSignal.any([abort.signal, signal]);
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  stop.addEventListener("abort", () => failed.reject(new AppError("timeout", `No answer within ${timeoutMs} ms`)), { once: true });
  const cancel = clock.after(timeoutMs, () => abort.abort());
  try {
    return await Promise.race([exchange(url, options, stop), failed.promise]);
  } finally {
    cancel();
    abort.abort(); // whatever is still open
  }
}

async function exchange(url: URL, options: PostOptions, stop: AbortSignal): Promise<Reply> {
  const socket = await dial(url, options, stop);
  stop.addEventListener("abort", () => socket.destroy(), { once: true });
  if (stop.aborted) socket.destroy();
  return send(url, socket, options);
}

async function dial(url: URL, { trusted, lookup = systemLookup }: PostOptions, stop: AbortSignal): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) ? [host] : await lookup(host);
  if (addresses.length === 0) throw new AppError("unavailable", `${host} has no address`);
  if (!trusted && !addresses.every(isPublic)) throw new AppError("forbidden", `${host} does not lie on the public internet`);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  let failure: unknown;
  for (const address of addresses) {
    if (stop.aborted) break;
    try {
      return await opened(url, host, address, port);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function opened({ protocol }: URL, host: string, address: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const plain = connect({ host: address, port });
  const name = isIP(host) ? {} : { servername: host };
  const socket = protocol === "https:" ? secure({ socket: plain, host, ...name }) : plain;
  socket.once(protocol === "https:" ? "secureConnect" : "connect", () => resolve(socket));
  for (const end of new Set([plain, socket])) end.once("error", reject);
  socket.once("close", () => reject(new AppError("unavailable", "The connection was closed")));
  return promise;
}

function send(url: URL, socket: Socket, { headers, body, maxBytes = 64 * 1024 }: PostOptions): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const outgoing = request({
    method: "POST",
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, connection: "close", "content-length": Buffer.byteLength(body), ...headers },
    createConnection: () => socket,
  });
  outgoing.once("error", reject);
  outgoing.once("response", (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else socket.destroy(new AppError("too_large", `The answer is longer than ${maxBytes} bytes`));
    });
    response.once("error", reject);
    response.once("aborted", () => reject(socket.errored ?? new AppError("unavailable", "The answer was cut off")));
    response.once("end", () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
    );
  });
  outgoing.end(body);
  return promise;
}
