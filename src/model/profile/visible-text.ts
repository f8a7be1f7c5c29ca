/** The visible text of a message. Blanks are shown only where text follows; those around a call count once, and not at all at the beginning. */
export type VisibleText = {
  say(text: string): void;
  /** A blank; behind a call also what models put between calls. */
  hold(c: string): void;
  /** Whether this character, too, may only stand between two calls. */
  separates(c: string): boolean;
  /** Something that is not text stands here. */
  leave(): void;
  /** No more comes. `called`: what only stands between calls is not worth showing. */
  end(called: boolean): void;
  readonly atLineStart: boolean;
  /** Nothing but blanks stands between here and something that was not text. */
  readonly behind: boolean;
};

/** Brackets behind a call that were one too many. */
const SPARE = /^[\s\]}]*\}/;

export function visibleText(emit: (delta: string) => void): VisibleText {
  let gap = "";
  let gapBefore = "";
  let spoken = false;
  let left = false;
  return {
    say(text) {
      if (left) gap = gap.replace(SPARE, "");
      const blank = left && gap.trim() === "" ? (spoken ? gapBefore || gap : "") : gap;
      emit(blank + text);
      gap = "";
      [spoken, left] = [true, false];
    },
    hold(c) {
      gap += c;
    },
    separates: (c) => left && ";,}]".includes(c),
    leave() {
      if (!left) gapBefore = gap;
      gap = "";
      left = true;
    },
    end(called) {
      if (gap !== "" && (!left || (!called && gap.trim() !== ""))) emit(gap);
    },
    get atLineStart() {
      return !spoken || left || gap.includes("\n");
    },
    get behind() {
      return left;
    },
  };
}
