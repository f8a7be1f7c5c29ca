import { closingQuote } from "./string-reader.ts";

/** A look at the first key behind a bracket, so that most brackets in a text cost next to nothing. */
export type Glance = {
  /** `maybe`: go on. `yes`: it begins like a call. `no`: it does not, and this character is not part of what was looked at. */
  push(c: string): "maybe" | "yes" | "no";
  /** What was looked at is JSON, as far as it goes. */
  foreign(): { depth: number; quoted: boolean } | undefined;
};

/** Looks behind `{` or `[` for one of these keys. */
export function glance(opening: string, keys: readonly string[]): Glance {
  let depth = opening === "[" ? 0 : 1;
  let quote: string | undefined;
  let key = "";
  return {
    push(c) {
      if (depth === 0) {
        if (/\s/.test(c)) return "maybe";
        depth = c === "{" ? 2 : 0;
        return depth === 2 ? "maybe" : "no";
      }
      if (key === "" && quote === undefined) {
        if (/\s/.test(c)) return "maybe";
        quote = c === "`" ? undefined : closingQuote(c);
        if (quote !== undefined) return "maybe";
      } else if (quote === undefined ? /[\s:：]/.test(c) : c === quote) return keys.includes(key) ? "yes" : "no";
      if (!keys.some((known) => known.startsWith(key + c))) return "no";
      key += c;
      return "maybe";
    },
    foreign: () => (quote === '"' ? { depth, quoted: true } : undefined),
  };
}
