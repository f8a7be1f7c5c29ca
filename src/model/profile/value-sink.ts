/** Where the pieces of a value go, in the order they were written. Between `startText` and `endText` comes a string, decoded. */
export type ValueSink = {
  open(kind: "{" | "["): void;
  close(): void;
  key(name: string): void;
  startText(): void;
  text(piece: string): void;
  endText(): void;
  scalar(value: number | boolean | null): void;
  /** Whether nothing is missing but brackets, so that anything else is no longer part of the value. */
  satisfied?(): boolean;
  /** Whether strings must come character by character. */
  careful?(): boolean;
  /** Whether the string that seems to end here would then be cut off in the middle of what it holds. */
  unfinished?(): boolean;
};
