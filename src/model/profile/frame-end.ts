import { type Opening, openingMatcher } from "./openings.ts";
import type { Frame } from "./profile.ts";

/**
 * Whether a tag is the end of a frame, may become it (`maybe`), or is another tag. Models also close with another closing tag,
 * or by opening the next frame.
 */
export function frameEnd(close: string, frame: Frame | undefined): (tag: string) => "end" | "maybe" | "no" | Opening {
  const reopening = openingMatcher(frame ? [{ type: "frame", text: frame.open, frame }] : []);
  return (tag) => {
    const seen = tag.toLowerCase();
    if (seen === close || /^<\/\w+\s*>$/.test(seen)) return "end";
    const opening = reopening(tag);
    if (opening !== undefined) return opening;
    return close.startsWith(seen) || /^<\/\w*\s*$/.test(seen) ? "maybe" : "no";
  };
}
