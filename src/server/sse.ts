import { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { Clock } from "../core/clock.ts";
import { AppError, toFailure } from "../core/error.ts";
import { type Log, silentLog } from "./log.ts";

/** Chunks of an event stream: whole frames, as many joined as are there. They end when the signal aborts. */
export type Frames = AsyncIterable<Uint8Array>;

/** One event as it goes over the wire. `data` is JSON on one line: a line break in it would forge a frame. */
export function frame(data: string, id?: number | string): string {
  if (BREAK.test(data) || (typeof id === "string" && BREAK.test(id))) throw new AppError("internal", "A frame must not hold line breaks");
  return id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`;
}

/**
 * Answers with an event stream. The next chunk is pulled only when the reader has taken the last one, so a slow reader
 * costs one chunk and a socket buffer, and nothing is lost: the log is the buffer. `open` sends a comment at once, for
 * streams that may stay silent at first behind proxies that hold back headers without a body.
 */
export function sse(c: Context, frames: Pull, streams: Streams, { open = false }: { open?: boolean } = {}): Response {
  if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
  return respond(c, frames, streams, { headers: HEADERS, ...(open && { first: OPEN }) });
}

/** Answers with text as it comes. Nothing else has a place in it: what goes wrong breaks the connection off. */
export function plainText(c: Context, frames: Pull, streams: Streams): Response {
  return respond(c, frames, streams, { headers: { ...HEADERS, "content-type": "text/plain; charset=utf-8" }, bare: true });
}

function respond(c: Context, frames: Pull, streams: Streams, { headers, ...how }: How & { headers: Record<string, string> }): Response {
  const outgoing: unknown = c.env?.outgoing;
  const send = (sink: Sink) => streams.open(frames, sink, how);
  if (!(outgoing instanceof ServerResponse)) return c.body(readable(send), 200, headers);
  // By way of the context, so that headers set before us (CORS) are sent too.
  outgoing.setHeaders(c.body(null, 200, headers).headers);
  if (!outgoing.destroyed) writeRaw(outgoing, send);
  return RESPONSE_ALREADY_SENT;
}

/** The open streams of a server. */
export type Streams = {
  readonly size: number;
  /** Ends every stream as if its frames had ended; what was written is still delivered. */
  endAll(): void;
  /** Moves frames into a sink until one of the two ends. */
  open(frames: Pull, sink: Sink, how?: How): Reader;
};

type Pull = (signal: AbortSignal) => Frames;

/** How a stream is sent: `first` at once. A `bare` one has no comments in it, and is broken off where it does not come to its end. */
type How = { first?: Uint8Array; bare?: boolean };

/** Where a stream writes to. `write` says whether there is room for more; if not, `drained` is called when there is. */
type Sink = { write(chunk: Uint8Array): boolean; end(): void; destroy(): void };

/** What a sink reports of its reader. */
type Reader = { drained(): void; closed(): void };

/** How patient streams are. */
export type StreamsOptions = {
  clock: Clock;
  log?: Log;
  /** After so long without a word a comment is sent, so that nothing between us and the reader hangs up. */
  heartbeatMs?: number;
  /** A reader that takes nothing for so long is cut off. */
  stallMs?: number;
};

/** A set of streams that share one timer for heartbeats and stalled readers. */
export function openStreams({ clock, log = silentLog, heartbeatMs = 15_000, stallMs = 30_000 }: StreamsOptions): Streams {
  const streams = new Set<{ check(now: number): void; cut(): void }>();
  let ticking = false;

  const tick = () => {
    const now = clock.now();
    for (const stream of streams) stream.check(now);
    ticking = streams.size > 0;
    if (ticking) clock.after(Math.min(1000, heartbeatMs, stallMs), tick);
  };

  const open: Streams["open"] = (frames, sink, { first, bare = false } = {}) => {
    const abort = new AbortController();
    let wroteAt = clock.now();
    let full = false;
    let wake = () => {};

    const write = (chunk: Uint8Array) => {
      wroteAt = clock.now();
      full = !sink.write(chunk);
    };
    const stop = () => {
      if (!streams.delete(stream)) return false;
      abort.abort();
      wake();
      return true;
    };
    const stream = {
      end() {
        if (stop()) sink.end();
      },
      cut() {
        if (!bare) stream.end();
        else if (stop()) sink.destroy();
      },
      check(now: number) {
        if (!full && !bare && now - wroteAt >= heartbeatMs) write(HEARTBEAT);
        if (!full || now - wroteAt < stallMs) return;
        stop();
        sink.destroy();
        log({ event: "stream.stalled", ms: now - wroteAt });
      },
    };
    const run = async () => {
      // What the same turn of the loop still has to do comes first, above all the request to the model.
      await new Promise(setImmediate);
      try {
        for await (const chunk of frames(abort.signal)) {
          if (abort.signal.aborted) break;
          write(chunk);
          if (full) await new Promise<void>((resolve) => (wake = resolve));
          if (abort.signal.aborted) break;
        }
      } catch (error) {
        // Headers are out, so it is too late for a status. What the reader is owed is in the log and can be followed again.
        const name = error instanceof Error ? error.name : typeof error;
        if (!abort.signal.aborted) log({ event: "stream.failed", code: toFailure(error).code, error: name });
        stream.cut();
      }
      stream.end();
    };

    streams.add(stream);
    if (first) write(first);
    if (!ticking) tick();
    void run();
    return {
      drained() {
        full = false;
        wake();
      },
      closed() {
        stop();
      },
    };
  };

  return {
    get size() {
      return streams.size;
    },
    endAll() {
      for (const stream of streams) stream.cut();
    },
    open,
  };
}

const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };
const OPEN = new TextEncoder().encode(": open\n\n");
const HEARTBEAT = new TextEncoder().encode(": hb\n\n");
const BREAK = /[\r\n]/;

/** Straight onto the socket: a web stream takes twice the memory and more CPU, Hono's helper four times the CPU. */
function writeRaw(outgoing: ServerResponse, send: (sink: Sink) => Reader): void {
  outgoing.writeHead(outgoing.statusCode);
  let silent = true;
  const sink = {
    write(chunk: Uint8Array) {
      silent = false;
      return outgoing.write(chunk);
    },
    end: () => void outgoing.end(),
    destroy: () => void outgoing.destroy(),
  };
  const { drained, closed } = send(sink);
  // In one packet with the first frames, where these are there at once.
  setImmediate(() => {
    if (silent && !outgoing.writableEnded) outgoing.flushHeaders();
  });
  // The response's close: the request's comes as soon as its body has been read.
  outgoing.on("drain", drained).on("close", closed).on("error", closed);
}

function readable(send: (sink: Sink) => Reader): ReadableStream<Uint8Array> {
  let reader: Reader | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const sink = {
        write(chunk: Uint8Array) {
          controller.enqueue(chunk);
          return (controller.desiredSize ?? 0) > 0;
        },
        end: () => controller.close(),
        destroy: () => controller.error(new AppError("timeout", "The reader stopped reading")),
      };
      reader = send(sink);
    },
    pull: () => reader?.drained(),
    cancel: () => reader?.closed(),
  });
}
