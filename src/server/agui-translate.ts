import type { StoredEvent } from "../core/event.ts";
import type { Frame } from "../protocol/agui/encode.ts";
import type { Peer } from "../protocol/agui/peer.ts";
import type { AguiOptions } from "./agui-options.ts";
import { HookFailed } from "./agui-receive.ts";
import type { Numbered } from "./agui-stream.ts";

/** Turns an event of the log into what one client is told. */
export type Translate = (event: StoredEvent) => readonly Frame[] | Promise<readonly Frame[]>;

/** Makes a translation for one stream, around ours or in its place. */
export type Translator = (inner: Translate, about: { threadId: string; runId: string; peer: Peer }) => Translate;

// biome-ignore lint/suspicious/noConfusingVoidType: a callback that only looks returns nothing at all
type Instead<T> = (given: T) => T | undefined | void | Promise<T | undefined | void>;
export type BeforeTranslate = Instead<StoredEvent>;
export type AfterTranslate = Instead<Frame>;

/** Tells one client of events and frames, with the app's own say in it. */
export type Teller = {
  /** Nobody has a say: what is told is the same for everyone of this kind. */
  plain: boolean;
  events(events: readonly StoredEvent[]): Promise<Numbered[]>;
  /** Frames of our own making; the last of them carries the seq. */
  frames(frames: readonly Frame[], seq?: number): Promise<Numbered[]>;
};

export function teller(
  { translator, beforeTranslate = [], afterTranslate = [] }: AguiOptions,
  about: { threadId: string; runId: string; peer: Peer },
  inner: Translate,
): Teller {
  const plain = !translator && beforeTranslate.length + afterTranslate.length === 0;
  // Copies for those who have a say: a frame may hold what the thread itself holds, and is theirs to change.
  const own: Translate = plain ? inner : async (event) => structuredClone(await inner(event));
  let translate = translator ? undefined : own;
  const frames: Teller["frames"] = async (given, seq) => {
    const told: Numbered[] = [];
    // Only the last frame of an event carries its id: a client cut off in between must not miss the rest.
    for (const [i, frame] of given.entries()) {
      const last = i === given.length - 1 && seq !== undefined;
      told.push({ frame: await instead(afterTranslate, frame), ...(last && { seq }) });
    }
    return told;
  };
  return {
    plain,
    frames: (given, seq) => ownCode(() => frames(plain ? given : structuredClone(given), seq)),
    events: (events) =>
      ownCode(async () => {
        translate ??= translator?.(own, about) ?? own;
        const told: Numbered[] = [];
        for (const event of events) {
          // A copy: the event itself is everyone's.
          const given = plain ? event : await instead(beforeTranslate, structuredClone(event));
          told.push(...(await frames(await translate(given), event.seq)));
        }
        return told;
      }),
  };
}

/** What the app's own code throws is told apart from a log that cannot be read. */
async function ownCode<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new HookFailed("translate", error);
  }
}

/** What the first callback that answers puts in place of the given. */
async function instead<T>(callbacks: readonly Instead<T>[], given: T): Promise<T> {
  for (const callback of callbacks) {
    const other = await callback(given);
    if (other !== undefined) return other;
  }
  return given;
}
