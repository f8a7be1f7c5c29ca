import type { Frame, Syntax } from "./profile.ts";

/** Something that begins in the middle of a text. */
export type Opening =
  | { type: "frame"; text: string; frame: Frame }
  | { type: "json"; text: string }
  | { type: "result"; text: string; close: string }
  | { type: "reasoning"; text: string; close: string }
  /** The end of a thought whose beginning we never saw. */
  | { type: "stray"; text: string };

/** Attributes in a tag that should have none. */
const LONGEST_TAG = 200;

/** What to look for in a text. Tags may be written in any case, with blanks or attributes. */
export function openingsOf({ frames, envelope, result, reasoning }: Syntax): Opening[] {
  const openings: Opening[] = frames.map((frame) => ({ type: "frame", text: frame.open, frame }));
  for (const { open, close } of reasoning) openings.push({ type: "reasoning", text: open, close }, { type: "stray", text: close });
  if ("open" in result) openings.push({ type: "result", text: result.open, close: result.close });
  if (envelope !== undefined) openings.push({ type: "json", text: "{" }, { type: "json", text: "[" });
  return openings;
}

/** Whether this is an opening, may become one (`maybe`), or will never be. */
export function match(openings: readonly Opening[], seen: string): Opening | "maybe" | undefined {
  const lower = seen.toLowerCase();
  let maybe: "maybe" | undefined;
  for (const opening of openings) {
    const verdict = matchOne(opening.text.toLowerCase(), lower);
    if (verdict === "whole") return opening;
    maybe ??= verdict;
  }
  return maybe;
}

function matchOne(text: string, seen: string): "whole" | "maybe" | undefined {
  if (seen === text) return "whole";
  if (text.startsWith(seen)) return "maybe";
  const tag = /^<\/?\w+>$/.test(text) ? text.slice(0, -1) : undefined;
  if (tag === undefined || !seen.startsWith(tag) || seen.length > LONGEST_TAG) return undefined;
  if (!/^\s[^<>]*>?$/.test(seen.slice(tag.length))) return undefined;
  return seen.endsWith(">") ? "whole" : "maybe";
}
