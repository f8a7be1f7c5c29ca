/** Something that vanishes if a call follows: a code fence, or a tag by habit. `block`: a code block begins there, up to the next such `mark`. */
export type Fence = { text: string; mark: string; block: boolean };

/** The beginning of a code fence, as it comes. */
export type FenceReader = {
  /**
   * The next character, or nothing at the end. `more`: it may be part of it. `marks`: these were only backticks or tildes. `closed`: it is the
   * end of a fence. `fence`: behind its first line and blanks, this is the first character inside.
   */
  push(c: string): "more" | "marks" | "closed" | "fence";
  readonly text: string;
  readonly marks: number;
  /** What the code is said to be written in, if its line is over. */
  readonly language: string | undefined;
};

export type FenceOptions = {
  mark: string;
  /** It stands where a code block can begin. */
  block: boolean;
  /** A fence of these marks is open. */
  open: boolean;
  /** Whether a call may begin with this character. */
  isStart: (c: string) => boolean;
};

const LONGEST_LINE = 120;

export function fenceReader({ mark, block, open, isStart }: FenceOptions): FenceReader {
  let text = "";
  let marks = 0;
  let line = false;
  return {
    push(c) {
      if (!line && c === mark) marks += 1;
      else if (!line) {
        if (marks < 3 || (mark === "~" && !block)) return "marks";
        if (open && !/\w/.test(c)) return "closed"; // with a language it is the beginning of another one
        line = true;
      }
      if (line && !continues(c)) return "fence";
      text += c;
      return "more";
    },
    get text() {
      return text;
    },
    get marks() {
      return marks;
    },
    get language() {
      return text.includes("\n") ? text.slice(marks).trim().toLowerCase() : undefined;
    },
  };

  /** A language and blanks belong to it; in a code block all of its first line does, unless a call begins there. */
  function continues(c: string): boolean {
    if (/\s/.test(c)) return true;
    if (text.includes("\n") || text.length > LONGEST_LINE) return false;
    return /\s/.test(text) ? block && !isStart(c) && c !== "`" : /[\w+#.-]/.test(c);
  }
}
