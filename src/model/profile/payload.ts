import type { ReaderState } from "./value.ts";

/** Calls being read in one of the grammars. */
export type Payload = {
  /** Reads on from `from`; gives the place of the first character that is not part of it. */
  push(text: string, from: number): number;
  /** No more comes. */
  end(): void;
  /** `rejected`: all of it is text after all. Only while it is not `committed`. */
  readonly state: ReaderState | "rejected";
  /** It is certain that this is a call. */
  readonly committed: boolean;
  /** It is a result, which no model can know. */
  readonly forged?: boolean;
  /** The end of its frame was part of it. */
  readonly closed?: boolean;
  /** It cannot be read, and neither can what follows in its frame. */
  readonly failed?: boolean;
  /** It was meant to be a call, even if it breaks off before that is certain. */
  readonly attempted: boolean;
  /** Rejected, it is ordinary JSON: how deep inside it we are, and whether in a string. */
  foreign?(): { depth: number; quoted: boolean } | undefined;
};
