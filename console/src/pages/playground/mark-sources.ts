import type { Parsed } from "handback/profiles";

/** A stretch of a model's text and what it was taken for. */
export type Stretch = { kind: "text" | "call" | "refused"; text: string };

/** The text with its calls, and what was refused, marked where they stand. */
export function markSources(text: string, { calls, refused }: Parsed): Stretch[] {
  const marks = [
    ...calls.map(({ source, refusal }) => ({ source, kind: refusal ? ("refused" as const) : ("call" as const) })),
    ...refused.map(({ source }) => ({ source, kind: "refused" as const })),
  ].filter(({ source }) => source.trim() !== "");
  const places: { from: number; to: number; kind: "call" | "refused" }[] = [];
  for (const { source, kind } of marks) {
    const wanted = source.trim();
    let from = text.indexOf(wanted);
    while (from >= 0 && places.some((place) => from < place.to && from + wanted.length > place.from)) from = text.indexOf(wanted, from + 1);
    if (from >= 0) places.push({ from, to: from + wanted.length, kind });
  }
  places.sort((a, b) => a.from - b.from);
  const stretches: Stretch[] = [];
  let end = 0;
  for (const { from, to, kind } of places) {
    if (from > end) stretches.push({ kind: "text", text: text.slice(end, from) });
    stretches.push({ kind, text: text.slice(from, to) });
    end = to;
  }
  if (end < text.length) stretches.push({ kind: "text", text: text.slice(end) });
  return stretches;
}
