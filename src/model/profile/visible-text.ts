/** The visible text of a message. Blanks are shown only where text follows; those around a call count once, and not at all at the beginning. */
export type VisibleText = {
  say(text: string): void;
  /** Says what is surely text, up to one of the `stops`, and gives its place. */
  speak(text: string, from: number, stops: ReadonlySet<string | undefined>): number;
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
    say,
    speak(text, from, stops) {
      let start = from;
      let i = from;
      for (; i < text.length; i += 1) {
        const c = text[i] as string;
        const stop = stops.has(c);
        if (!stop && !/\s/.test(c) && !(i === start && separates(c))) continue;
        if (i > start) say(text.slice(start, i));
        if (stop) return i;
        gap += c;
        start = i + 1;
      }
      if (i > start) say(text.slice(start, i));
      return i;
    },
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
  function say(text: string): void {
    if (left) gap = gap.replace(SPARE, "");
    const blank = left && gap.trim() === "" ? (spoken ? gapBefore || gap : "") : gap;
    emit(blank + text);
    gap = "";
    [spoken, left] = [true, false];
  }

  /** Whether this character, too, may only stand between two calls. */
  function separates(c: string): boolean {
    return left && ";,}]".includes(c);
  }
}
