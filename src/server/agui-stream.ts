import { type AppError, toFailure } from "../core/error.ts";
import type { Batch } from "../engine/live.ts";
import { encode, type Frame } from "../protocol/agui/encode.ts";
import type { GraphView } from "../protocol/agui/graph.ts";
import type { Peer } from "../protocol/agui/peer.ts";
import { HookFailed } from "./agui-receive.ts";
import { frame } from "./sse.ts";

/** A frame and, where it is the last of its event, the event's place in the log. */
export type Numbered = { frame: Frame; seq?: number };

/** What one client is told at once: frames of its own, or a batch of the log that everyone of its kind reads alike. */
export type Piece = { frames: readonly Numbered[] } | { batch: Batch };

/** An answer on its way to one client. Nothing is read from the log before it is opened. */
export type AguiStream = { threadId: string; peer: Peer; graphs: GraphView; open(signal: AbortSignal): AsyncIterable<Piece> };

/** A stream for any transport: one AG-UI event after the other. */
export async function* eventsOf({ threadId, peer, graphs, open }: AguiStream, signal: AbortSignal): AsyncGenerator<Frame> {
  for await (const piece of open(signal)) {
    if ("frames" in piece) for (const told of piece.frames) yield told.frame;
    else for (const event of piece.batch.events) yield* encode(threadId, event, peer, graphs);
  }
}

/** A stream as SSE. What everyone of a kind reads alike is encoded once. */
export async function* bytesOf({ open, ...stream }: AguiStream, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of open(signal)) {
    const bytes = "frames" in piece ? written(piece.frames) : shared(piece.batch, stream);
    if (bytes.length > 0) yield bytes;
  }
}

/** A stream that has only an error to tell, for those who are owed one in the protocol's own words. */
export function failed(stream: Omit<AguiStream, "open">, error: AppError): AguiStream {
  return {
    ...stream,
    async *open() {
      yield { frames: [{ frame: errorFrame(error) }] };
    },
  };
}

export function errorFrame(error: unknown): Frame {
  const { code, message } = toFailure(error instanceof HookFailed ? error.failure : error);
  return { type: "RUN_ERROR", message, code };
}

/** The frames of a batch, made once for each kind of peer: what is told of graphs is the same for a whole server. */
function shared(batch: Batch, { threadId, peer, graphs }: Omit<AguiStream, "open">): Uint8Array {
  let bytes = batch.frames.get(peer);
  if (!bytes) {
    bytes = written(
      batch.events.flatMap((event) =>
        encode(threadId, event, peer, graphs).map((frame, i, { length }) => (i === length - 1 ? { frame, seq: event.seq } : { frame })),
      ),
    );
    batch.frames.set(peer, bytes);
  }
  return bytes;
}

function written(frames: readonly Numbered[]): Uint8Array {
  return Buffer.from(frames.map(({ frame: data, seq }) => frame(JSON.stringify(data), seq)).join(""));
}
