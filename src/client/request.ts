import type { Clock } from "../core/clock.ts";
import type { Failure } from "../core/error.ts";
import { type Frame, readBatches } from "./frames.ts";
import { HandbackError, isTemporary } from "./handback-error.ts";
import { backoff, clock as machineClock, pause } from "./time.ts";

/** Where a server is and how to speak to it. */
export type ConnectOptions = {
  /** The server's root, such as `https://agents.example.com`. Default: the page's own origin. */
  url?: string;
  /** Sent with every request; a function is asked every time, so that tokens may change. */
  headers?: HeaderList | (() => HeaderList | Promise<HeaderList>);
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Time, for tests. */
  clock?: Clock;
};

export type HeaderList = Headers | Record<string, string> | [string, string][];

/** How requests reach one server. */
export type Wire = {
  clock: Clock;
  /** Sends a request and reads the answer as JSON. `again` tries again what does no harm when it arrives twice. */
  send<T>(method: string, path: string, options?: { body?: unknown; again?: boolean; signal?: AbortSignal | undefined }): Promise<T>;
  /** Sends a request and leaves the answer unread. */
  open(
    path: string,
    init?: { method?: string; headers?: Record<string, string>; body?: BodyInit; signal?: AbortSignal },
  ): Promise<Response>;
  /** Frames of a stream, which is opened again whenever it breaks off. `path` is asked each time: it says where to go on. */
  frames(path: () => string, signal: AbortSignal): AsyncGenerator<Frame>;
  /** Frames of a stream as they come in, until it breaks off; then it ends, or throws what the server said. */
  stream(path: string, signal: AbortSignal): AsyncGenerator<Frame[]>;
};

type BodyInit = string | Blob | ReadableStream<Uint8Array>;

const ATTEMPTS = 5;

/** A server sends a comment every 15 seconds. One that is silent for longer is gone, whatever the connection thinks. */
const SILENCE_MS = 45_000;

/** Speaks to one server. */
export function wire({ url = "", headers = {}, fetch = globalThis.fetch, clock = machineClock }: ConnectOptions): Wire {
  const root = `${url.replace(/\/+$/, "")}/v1`;

  const open: Wire["open"] = async (path, init = {}) => {
    const list = new Headers(typeof headers === "function" ? await headers() : headers);
    for (const [name, value] of Object.entries(init.headers ?? {})) list.set(name, value);
    let response: Response;
    try {
      response = await fetch(root + path, { ...init, headers: list } as RequestInit);
    } catch (cause) {
      init.signal?.throwIfAborted();
      throw new HandbackError("network", `Cannot reach ${root}`, { cause });
    }
    if (!response.ok) throw await toError(response);
    return response;
  };

  const once = async <T>(method: string, path: string, body: unknown, signal: AbortSignal | undefined): Promise<T> => {
    const json = body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await open(path, { method, ...json, ...(signal && { signal }) });
    try {
      return (response.status === 204 ? undefined : await response.json()) as T;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new HandbackError("network", `The answer of ${root}${path} broke off`, { cause });
    }
  };

  async function* stream(path: string, signal: AbortSignal): AsyncGenerator<Frame[]> {
    const cut = new AbortController();
    const silence = watchdog(clock, () => cut.abort());
    try {
      const response = await open(path, { headers: { accept: "text/event-stream" }, signal: AbortSignal.any([signal, cut.signal]) });
      const body = streamOf(response);
      yield []; // it is open, though perhaps nothing has happened yet
      yield* readBatches(body, silence.alive);
    } finally {
      silence.stop();
      cut.abort();
    }
  }

  return {
    clock,
    open,
    stream,
    async send(method, path, { body, again = method === "GET", signal } = {}) {
      for (let failures = 0; ; failures += 1) {
        try {
          return await once(method, path, body, signal);
        } catch (error) {
          if (!again || failures + 1 >= ATTEMPTS || !isTemporary(error)) throw error;
          await pause(clock, backoff(failures), signal);
          signal?.throwIfAborted();
        }
      }
    },
    async *frames(path, signal) {
      for (let failures = 0; !signal.aborted; failures += 1) {
        try {
          for await (const batch of stream(path(), signal)) {
            if (batch.length > 0) failures = -1;
            yield* batch;
          }
        } catch (error) {
          // What broke off, and whatever was not our server, is tried again; what the server refuses is not.
          if (!signal.aborted && error instanceof HandbackError && !isTemporary(error)) throw error;
        }
        await pause(clock, backoff(Math.max(0, failures)), signal);
      }
    },
  };
}

function streamOf({ body, headers }: Response): ReadableStream<Uint8Array> {
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream"))
    throw new HandbackError("network", "The answer is no event stream");
  return body as ReadableStream<Uint8Array>;
}

async function toError(response: Response): Promise<HandbackError> {
  const { status } = response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: Failure };
  const code = error?.code ?? (status >= 500 ? "unavailable" : "invalid");
  return new HandbackError(code, error?.message ?? `The server answered with ${status}`, { status, field: error?.field });
}

/** Calls `silent` when `alive` has not been called for too long. */
function watchdog(clock: Clock, silent: () => void): { alive(): void; stop(): void } {
  let heard = clock.now();
  const check = () => {
    if (clock.now() - heard >= SILENCE_MS) silent();
    else calledOff = clock.after(SILENCE_MS / 3, check);
  };
  let calledOff = clock.after(SILENCE_MS / 3, check);
  return {
    alive() {
      heard = clock.now();
    },
    stop: () => calledOff(),
  };
}
