import { type Hub, type Replay, replayOf, type Store, type ThreadSnapshot, type ThreadView } from "handback/client";
import { type Files, isFile } from "./files.ts";
import { type Value, value } from "./value.ts";

/** Where in its past a thread is shown; `seq` is undefined while it is live. */
export type Playing = { seq: number | undefined; playing: boolean; speed: number };

/** One thread as its panels show it: live, or at one moment of its past. */
export type Shown = Store<ThreadView> & {
  live: Store<ThreadSnapshot>;
  playing: Store<Playing>;
  seek(seq: number | "live"): void;
  play(speed?: number): void;
  pause(): void;
};

export type Replays = { of(threadId: string): Shown; close(): void };

const LIVE: Playing = { seq: undefined, playing: false, speed: 1 };
/** The longest a replay stands still, before its speed is counted in. */
const LONGEST_MS = 1_000;
const FRAME_MS = 16;

/** Every panel of a thread shows the same moment, so where that is belongs to the thread. */
export function replays(hub: Hub, files: Files): Replays {
  const threads = new Map<string, Shown & { stop(): void }>();
  return {
    of(threadId) {
      let shown = threads.get(threadId);
      if (!shown) {
        shown = show(isFile(threadId) ? value(files.snapshotOf(threadId)) : hub.thread(threadId));
        threads.set(threadId, shown);
      }
      return shown;
    },
    close() {
      for (const shown of threads.values()) shown.stop();
      threads.clear();
    },
  };
}

function show(live: Store<ThreadSnapshot>): Shown & { stop(): void } {
  const playing: Value<Playing> = value(LIVE);
  let past: { replay: Replay; upTo: number } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const log = () => live.getSnapshot().view.events;
  const at = (seq: number): ThreadView => {
    if (!past || past.upTo < seq) past = { replay: replayOf(log()), upTo: live.getSnapshot().view.seq };
    return past.replay.at(seq);
  };
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const step = () => {
    const { seq = 0, speed } = playing.getSnapshot();
    const events = log();
    let i = indexBehind(events, seq);
    if (i >= events.length) return playing.set(LIVE);
    // As many as happened within one frame at this speed.
    const until = (events.at(i)?.at ?? 0) + FRAME_MS * speed;
    while (i + 1 < events.length && (events.at(i + 1)?.at ?? 0) <= until) i += 1;
    const next = events.at(i + 1);
    playing.set({ seq: events.at(i)?.seq ?? seq, playing: true, speed });
    const pause = Math.min(LONGEST_MS, Math.max(0, (next?.at ?? 0) - (events.at(i)?.at ?? 0))) / speed;
    timer = setTimeout(step, Math.max(FRAME_MS, pause));
  };

  return {
    live,
    playing,
    getSnapshot() {
      const { seq } = playing.getSnapshot();
      return seq === undefined ? live.getSnapshot().view : at(seq);
    },
    subscribe(listener) {
      const [one, two] = [live.subscribe(listener), playing.subscribe(listener)];
      return () => {
        one();
        two();
      };
    },
    seek(seq) {
      stop();
      playing.set(seq === "live" ? LIVE : { ...playing.getSnapshot(), seq, playing: false });
      if (seq === "live") past = undefined;
    },
    play(speed = 1) {
      stop();
      const { seq } = playing.getSnapshot();
      playing.set({ seq: seq ?? 0, playing: true, speed });
      step();
    },
    pause() {
      stop();
      playing.set({ ...playing.getSnapshot(), playing: false });
    },
    stop,
  };
}

/** The first event behind a seq. */
function indexBehind(events: ThreadView["events"], seq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events.at(middle)?.seq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
