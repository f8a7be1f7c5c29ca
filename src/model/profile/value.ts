/** Where the pieces of a value go, in the order they were written. Between `startText` and `endText` comes a string, decoded. */
export type ValueSink = {
  open(kind: "{" | "["): void;
  close(): void;
  key(name: string): void;
  startText(): void;
  text(piece: string): void;
  endText(): void;
  scalar(value: number | boolean | null): void;
  /** Whether nothing is missing but brackets, so that this character, which is none, is no longer part of the value. */
  satisfied?(c: string): boolean;
  /** Whether strings must come character by character. */
  careful?(): boolean;
  /** Whether the string that seems to end here would then be cut off in the middle of what it holds. */
  unfinished?(): boolean;
};

export type ValueReader = {
  /** Reads on from `from`, at most up to `to`; gives the place of the first character that is not part of the value. Stops at a mistake. */
  push(text: string, from: number, to?: number): number;
  /** No more comes: closes open brackets, if that is all that is missing. */
  end(): void;
  /** Makes `push` return behind the present character. */
  halt(): void;
  /** The present character, for a sink that wants to know where it is. */
  readonly at: number;
  readonly state: ReaderState;
  /** Why it is not a value after all. It is then read to its outermost bracket without a word to the sink. */
  readonly problem: string | undefined;
  readonly depth: number;
  /** It breaks off where more was to come, or may have been: behind a comma, an opening bracket, in a number. */
  readonly dangling: boolean;
  /** Inside a string in double quotes: where strict JSON would be, too. */
  readonly quoted: boolean;
  /** Its keys so far are those of strict JSON. */
  readonly strict: boolean;
};

/** `paused`: behind its place stands one of the `until` characters, outside of any string. */
export type ReaderState = "open" | "paused" | "done" | "cut";
