import type { Grammar } from "./profile.ts";

/** What stands in a frame before its first call: blanks, a code fence, comments, CDATA, the bracket of a list. */
export type FrameHead = {
  /** `more`: go on. `text`: there is no call. Otherwise a call begins: behind this character, if it was `taken`, or with it. */
  push(c: string): "more" | "text" | CallStart;
  /** The tag that is being read. */
  readonly tag: string;
};

/** `first`: what of the call was read already. */
export type CallStart = { grammar: Grammar; first: string; taken: boolean };

const CDATA = "<![cdata[";

/** `comments`: these may be there, too. */
export function frameHead(grammars: readonly Grammar[], { comments }: { comments: boolean }): FrameHead {
  let tag = "";
  let ticks = 0;
  let line: "fence" | "comment" | undefined;
  let slash = false;
  let list = false;
  return {
    push(c) {
      if (line && c !== "\n" && !(line === "fence" && /[{[]/.test(c))) return "more";
      line = undefined;
      if (tag !== "" || (c === "<" && !list)) return inTag(c);
      if (c === "`") {
        ticks += 1;
        return "more";
      }
      if (ticks >= 3 && !/[\n{[]/.test(c)) line = "fence";
      ticks = 0;
      if (line || /\s/.test(c)) return "more";
      return startsComment(c) ? "more" : inCall(c);
    },
    get tag() {
      return tag;
    },
  };

  /** CDATA, or the first tag of a call of tags. */
  function inTag(c: string): "more" | "text" | CallStart {
    tag += c.toLowerCase();
    const opens = grammars.filter((grammar) => typeof grammar === "object");
    const grammar = opens.find(({ name }) => name.open.toLowerCase() === tag);
    if (grammar) return { grammar, first: "", taken: true };
    if (tag === CDATA) tag = "";
    return [CDATA, ...opens.map(({ name }) => name.open.toLowerCase())].some((open) => open.startsWith(tag)) ? "more" : "text";
  }

  function startsComment(c: string): boolean {
    if (!comments || (c !== "#" && c !== "/") || (slash && c === "#")) return false;
    if (c === "#" || slash) line = "comment";
    slash = line === undefined;
    return true;
  }

  function inCall(c: string): "more" | "text" | CallStart {
    if (slash) return "text";
    if (list) return /[A-Za-z_]/.test(c) ? { grammar: "call", first: "", taken: false } : { grammar: "json", first: "[", taken: false };
    list = c === "[" && grammars.includes("json") && grammars.includes("call");
    if (list) return "more";
    const grammar = grammarAt(grammars, c);
    return grammar === undefined ? "text" : { grammar, first: "", taken: false };
  }
}

/** How a call is written that begins with this character. */
export function grammarAt(grammars: readonly Grammar[], c: string): Grammar | undefined {
  if (c === "{" || c === "[") return grammars.find((grammar) => grammar === "json");
  if (!/[A-Za-z_]/.test(c)) return undefined;
  return grammars.find((grammar) => grammar === "call" || (typeof grammar === "object" && grammar.name.open === ""));
}
