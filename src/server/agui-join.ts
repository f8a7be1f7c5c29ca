import { AppError } from "../core/error.ts";
import type { StoredEvent } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Thread } from "../core/thread.ts";
import { follow } from "../engine/follow.ts";
import { queued, using } from "../engine/live.ts";
import { adopt } from "../engine/submit.ts";
import { encode, type Frame } from "../protocol/agui/encode.ts";
import { join, leave } from "../protocol/agui/join.ts";
import { filesIn, toMessages } from "../protocol/agui/messages.ts";
import type { Peer } from "../protocol/agui/peer.ts";
import type { AguiOptions } from "./agui-options.ts";
import { type AguiStream, errorFrame, type Piece } from "./agui-stream.ts";
import { teller } from "./agui-translate.ts";
import type { Door } from "./door.ts";

/** How somebody joins a thread. */
export type Joining = {
  key: ThreadKey;
  peer: Peer;
  /** What to call the stream where nothing runs. */
  runId: string;
  /** `run`: to the end of the run that goes on. `forever`: over all runs to come, and over rewinds. `false`: only what is there now. */
  follow: "run" | "forever" | false;
  /** Longest to follow, in milliseconds; 0 is for ever. */
  followMs: number;
  /** Where a raw reader was cut off: it gets what lies behind, and nothing it has. */
  after?: number;
};

/**
 * A thread for somebody who shows nothing of it: history and `connect`. RUN_STARTED, state and messages as they are now, the
 * beginnings of what is still open, then the log as it grows, and an ending. It never hangs: where nothing runs it ends at once.
 */
export function joinStream(door: Door, options: AguiOptions, joining: Joining): AguiStream {
  const { key, peer } = joining;
  return { threadId: key.threadId, peer, graphs: options.graphs, open: (signal) => pieces(door, options, joining, signal) };
}

async function* pieces(door: Door, options: AguiOptions, joining: Joining, signal: AbortSignal): AsyncGenerator<Piece> {
  const { engine } = door;
  const { key, peer, runId, followMs } = joining;
  const { threadId } = key;
  const tell = teller(options, { threadId, runId, peer }, (event) => encode(threadId, event, peer, options.graphs));
  const until = joining.follow === "forever" ? "forever" : "run";
  const patience = new AbortController();
  const giveUp = followMs > 0 ? engine.clock.after(followMs, () => patience.abort()) : () => {};
  let { after } = joining;
  let running = after !== undefined;
  try {
    // A run whose process died is taken over now: nobody else may be there to end it.
    if (!engine.stopping) await using(engine, key, (live) => queued(live, () => adopt(engine, live)));
    for (;;) {
      let told = after === undefined;
      if (after === undefined) {
        const now = await present(door, options, joining);
        running = now.running && joining.follow !== false;
        yield { frames: await tell.frames(running ? now.frames : [...now.opening, ...now.ending], now.seq) };
        if (!running && until === "run") return;
        after = now.seq;
      }
      let rewound = false;
      for await (const batch of follow(engine, key, { after, until, signal: AbortSignal.any([signal, patience.signal]) })) {
        told = true;
        const at = batch.events.findIndex(({ type }) => type === "thread.rewound");
        rewound = at >= 0;
        const events = rewound ? batch.events.slice(0, at) : batch.events;
        running = runningAfter(running, events);
        yield tell.plain && !rewound ? { batch } : { frames: await tell.events(events) };
        if (rewound) break; // clients cannot take messages back: they are shown all of it anew
      }
      if (told && !rewound) break;
      after = undefined; // also where nothing lay behind: an empty answer would tell a reader nothing
    }
    if (!running || signal.aborted) return;
    const why = patience.signal.aborted
      ? new AppError("timeout", `Followed for ${followMs} ms, which is the longest; join again`)
      : new AppError("gone", "The thread was deleted");
    yield { frames: await tell.frames([errorFrame(why)]) };
  } catch (error) {
    if (!signal.aborted) yield { frames: [{ frame: errorFrame(error) }] };
  } finally {
    giveUp();
  }
}

function runningAfter(before: boolean, events: readonly StoredEvent[]): boolean {
  const last = events.findLast(({ type }) => type === "run.started" || type === "run.ended");
  return last ? last.type === "run.started" : before;
}

type Present = { opening: Frame[]; frames: Frame[]; ending: Frame[]; seq: number; running: boolean };

/** Everything up to one moment, taken without a pause, so that the log can go on exactly behind it. */
async function present({ engine }: Door, { graphs }: AguiOptions, { key, peer, runId }: Joining): Promise<Present> {
  return using(engine, key, async ({ thread }) => {
    const files = await filesOf(engine, key, thread);
    const messages = toMessages(thread, { peer, files });
    const joiner = { threadId: key.threadId, peer, now: engine.clock.now(), runId, messages, graphs };
    const frames = join(thread, joiner);
    const opening = frames.filter(({ type }) => type === "RUN_STARTED" || type === "STATE_SNAPSHOT" || type === "MESSAGES_SNAPSHOT");
    return { opening, frames, ending: leave(thread, joiner), seq: thread.seq, running: thread.run !== undefined };
  });
}

/** Bytes of files that one snapshot may carry; the rest is named. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The files of a thread's messages as base64. */
export async function filesOf({ store }: Door["engine"], key: ThreadKey, thread: Thread, upTo?: number): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  let left = MOST_BYTES;
  for (const id of filesIn(thread, upTo)) {
    const blob = await store.blob(key, id);
    if (!blob || blob.data.length > left) continue;
    left -= blob.data.length;
    files.set(id, Buffer.from(blob.data).toString("base64"));
  }
  return files;
}
