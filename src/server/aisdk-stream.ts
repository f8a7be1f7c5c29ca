import type { Wait } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { type Call, type Thread, waits } from "../core/thread.ts";
import { follow } from "../engine/follow.ts";
import { type Batch, using } from "../engine/live.ts";
import type { Chunk } from "../protocol/aisdk/chunk.ts";
import { encode } from "../protocol/aisdk/encode.ts";
import type { Peer } from "../protocol/aisdk/peer.ts";
import { endsInCalls, prelude, rest, statusOf } from "../protocol/aisdk/prelude.ts";
import type { Shown } from "../protocol/aisdk/shown.ts";
import type { Door } from "./door.ts";
import { frame } from "./sse.ts";

/** One client's view of one turn. */
export type View = {
  key: ThreadKey;
  turnId: string;
  peer: Peer;
  shown: Shown;
  /** The calls of this turn that somebody else is running. */
  taken: ReadonlySet<string>;
  /** Goes on although this client has something to do: what it waits for comes by another door. */
  hold: boolean;
  /** Longest to stay open while nothing happens, in milliseconds. */
  holdMs: number;
};

/**
 * The assistant message of a turn, from what the client shows to where there is something for it to do or the turn is over.
 * It ends in a way that never makes `sendAutomaticallyWhen` send the same again.
 */
export async function* uiStream({ engine }: Door, view: View, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { key, turnId, peer, shown, holdMs } = view;
  const { threadId } = key;
  const taken = (call: Call) => view.taken.has(call.callId);
  const mine = (wait: Wait) => wait.type === "interrupt" || (wait.owner === "client" && !view.taken.has(wait.callId));
  const look = <T>(at: (thread: Thread) => T) => using(engine, key, async ({ thread }) => at(thread));
  const start = await look((thread) => ({
    chunks: prelude(thread, turnId, { threadId, peer, shown, taken }),
    seq: thread.seq,
    open: thread.turn?.turnId === turnId && (thread.run !== undefined || waits(thread).length > 0),
    waiting: thread.run === undefined,
  }));
  yield bytes(start.chunks);

  let stepped = start.chunks.some(({ type }) => type === "start-step");
  let status: string | undefined;
  if (start.open) {
    const patience = new AbortController();
    const give = () => engine.clock.after(holdMs, () => patience.abort());
    let hang = start.waiting ? give() : undefined;
    const until = view.hold ? "turn" : { mine };
    try {
      for await (const batch of follow(engine, key, { after: start.seq, until, signal: AbortSignal.any([signal, patience.signal]) })) {
        hang?.();
        hang = undefined;
        for (const event of batch.events) {
          if (event.type === "step.started" && event.kind === "model") stepped = true;
          if (event.type === "run.ended") status = event.outcome.type;
        }
        if (batch.events.at(-1)?.type === "run.ended") hang = give();
        const frames = shared(threadId, batch, peer);
        if (frames.length > 0) yield frames;
      }
    } finally {
      hang?.();
    }
  }
  if (signal.aborted) return;

  const end = await look((thread) => ({
    // A plain question is no reason to leave the last step as it is: where that one ends in calls, clients would send for ever.
    mine: thread.turn?.turnId === turnId && !thread.run && waits(thread).some((wait) => mine(wait) && wait.callId !== undefined),
    status: status ?? statusOf(thread, turnId),
    calls: endsInCalls(thread, turnId),
    error: thread.turn?.turnId === turnId && thread.ended?.outcome.type === "failed" ? thread.ended.outcome.error.message : undefined,
  }));
  const ending =
    end.error === undefined ? { type: "finish", messageMetadata: { status: end.status } } : { type: "error", errorText: end.error };
  // A run may be over before anybody could follow it.
  const over = start.open || end.status === "waiting" ? [] : [ending];
  const idle = end.mine || (stepped && !end.calls) ? [] : rest(end.status, shown.held);
  yield bytes([...over, ...idle], "data: [DONE]\n\n");
}

function bytes(chunks: readonly Chunk[], more = ""): Uint8Array {
  return Buffer.from(chunks.map((chunk) => frame(JSON.stringify(chunk))).join("") + more);
}

/** The frames of a batch, made once for each kind of peer. */
function shared(threadId: string, batch: Batch, peer: Peer): Uint8Array {
  let frames = batch.frames.get(peer);
  if (!frames) {
    frames = bytes(batch.events.flatMap((event) => encode(threadId, event, peer)));
    batch.frames.set(peer, frames);
  }
  return frames;
}
