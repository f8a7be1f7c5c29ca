/** A stretch of text in which nothing is a call: how far it reaches in this piece, and whether it ends there. */
export type Aside = (text: string, from: number) => { to: number; over: boolean };

/** Inline code, up to as many backticks as opened it or the end of the line. */
export function inlineCode(ticks: number): Aside {
  let run = 0;
  return (text, from) => {
    for (let i = from; i < text.length; i += 1) {
      const c = text[i];
      if (c === "`") run += 1;
      else if (run === ticks || c === "\n") return { to: i, over: true };
      else run = 0;
    }
    return { to: text.length, over: false };
  };
}

/** A code block, up to the fence that closes it, of these marks. `atStart`: the next character is the first of a line. */
export function codeBlock(mark: string, atStart: boolean): Aside {
  let start = atStart;
  let run = 0;
  return (text, from) => {
    for (let i = from; i < text.length; i += 1) {
      const c = text[i] as string;
      if (c === mark && (start || run > 0)) {
        run += 1;
        start = false;
        if (run === 3) return { to: i + 1, over: true };
        continue;
      }
      run = 0;
      start = c === "\n" || (start && /\s/.test(c));
    }
    return { to: text.length, over: false };
  };
}

/** JSON that is no call, up to its last bracket, or to where it turns out to be no JSON. Starts `depth` brackets deep, perhaps in a string. */
export function foreignJson({ depth, quoted }: { depth: number; quoted: boolean }): Aside {
  let deep = depth;
  let inString = quoted;
  let escaped = false;
  /** The last character that was no blank; a string counts as its quote. */
  let last = "";
  return (text, from) => {
    for (let i = from; i < text.length; i += 1) {
      const c = text[i] as string;
      if (inString) {
        if (c === "\n") return { to: i, over: true };
        if (escaped) escaped = false;
        else if (c === "\\") escaped = true;
        else if (c === '"') [inString, last] = [false, c];
        continue;
      }
      if (/\s/.test(c)) continue;
      if (c === '"') {
        if (last === '"') return { to: i, over: true };
        inString = true;
        continue;
      }
      if (c === "{" || c === "[") {
        if (!":,[".includes(last)) return { to: i, over: true };
        deep += 1;
      } else if (c === "}" || c === "]") {
        deep -= 1;
        if (deep <= 0) return { to: i + 1, over: true };
      } else if (!/[:,\w.+-]/.test(c)) return { to: i, over: true };
      last = c;
    }
    return { to: text.length, over: false };
  };
}
