import type { Frame, Syntax } from "./profile.ts";

/** Something that begins in the middle of a text. */
export type Opening =
  | { type: "frame"; text: string; frame: Frame }
  | { type: "json"; text: string }
  /** `own`: what this profile calls one. Others are taken for one only behind a call. */
  | { type: "result"; text: string; close: string; own: boolean }
  | { type: "reasoning"; text: string; close: string }
  /** The end of a thought whose beginning we never saw. */
  | { type: "stray"; text: string }
  | { type: "habit"; text: string };

/** Attributes in a tag that should have none. */
const LONGEST_TAG = 200;
/** What results are called in what models were trained on. */
const RESULT_TAGS = ["tool_result", "tool_response"];

/** What to look for in a text. Tags may be written in any case, with blanks or attributes. */
export function openingsOf({ frames, envelope, result, reasoning, habits = [] }: Syntax): Opening[] {
  const openings: Opening[] = frames.map((frame) => ({ type: "frame", text: frame.open, frame }));
  for (const { open, close } of reasoning) openings.push({ type: "reasoning", text: open, close }, { type: "stray", text: close });
  if ("open" in result) openings.push({ type: "result", text: result.open, close: result.close, own: true });
  for (const tag of RESULT_TAGS) openings.push({ type: "result", text: `<${tag}>`, close: `</${tag}>`, own: false });
  const closings = frames.map(({ close }) => close).filter((close) => close.startsWith("<"));
  for (const text of [...habits, ...closings]) openings.push({ type: "habit", text });
  if (envelope !== undefined) openings.push({ type: "json", text: "{" }, { type: "json", text: "[" });
  return openings;
}

/** Whether what was seen is one of these openings, may become one (`maybe`), or will never be. */
export function openingMatcher(openings: readonly Opening[]): (seen: string) => Opening | "maybe" | undefined {
  const byStart = new Map<string, { opening: Opening; lower: string; tag: string | undefined }[]>();
  for (const opening of openings) {
    const lower = opening.text.toLowerCase();
    const tag = /^<\/?\w+>$/.test(lower) ? lower.slice(0, -1) : undefined;
    byStart.set(lower[0] ?? "", [...(byStart.get(lower[0] ?? "") ?? []), { opening, lower, tag }]);
  }
  return (seen) => {
    const said = seen.toLowerCase();
    let maybe: "maybe" | undefined;
    for (const { opening, lower, tag } of byStart.get(said[0] ?? "") ?? []) {
      if (said === lower) return opening;
      const verdict = lower.startsWith(said) ? "maybe" : withAttributes(tag, said);
      if (verdict === "whole") return opening;
      maybe ??= verdict;
    }
    return maybe;
  };
}

function withAttributes(tag: string | undefined, seen: string): "whole" | "maybe" | undefined {
  if (tag === undefined || !seen.startsWith(tag) || seen.length > LONGEST_TAG) return undefined;
  if (!/^\s[^<>]*>?$/.test(seen.slice(tag.length))) return undefined;
  return seen.endsWith(">") ? "whole" : "maybe";
}
