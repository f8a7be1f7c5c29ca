import { short } from "./numbers.ts";
import type { Row } from "./row.ts";

const HEAD = ["what", "unit", "Handback", "AI SDK", "relay", "LangGraph", "ratio", "bar"];

/** The rows as cells, for people. */
function toCells({ what, unit, values, ratio, of, bar }: Row): string[] {
  const value = (name: keyof Row["values"]) => (values[name] === undefined ? "" : short(values[name]));
  const compared = ratio === undefined || !Number.isFinite(ratio) ? "" : `${short(ratio)} ×${of ? ` ${of}` : ""}`;
  const verdict = bar ? `${bar.text} ${bar.holds ? "✓" : "✗"}` : "";
  return [what, unit, value("handback"), value("ai-sdk"), value("relay"), value("langgraph"), compared, verdict];
}

export function printTable(rows: Row[]): void {
  const table = [HEAD, ...rows.map(toCells)];
  const widths = HEAD.map((_, i) => Math.max(...table.map((cells) => cells[i]?.length ?? 0)));
  for (const cells of table) console.log(cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  "));
  console.log();
}

export function toMarkdown(rows: Row[]): string {
  const lines = [HEAD, HEAD.map(() => "---"), ...rows.map(toCells)];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
