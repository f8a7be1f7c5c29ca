import type { Contender } from "./contender.ts";

/** One line of the table. */
export type Row = {
  what: string;
  unit: string;
  values: Partial<Record<Contender["name"] | "langgraph", number>>;
  /** Handback over raw AI SDK, unless `of` names what is compared. */
  ratio?: number;
  of?: string;
  bar?: { text: string; holds: boolean };
};

/** How much is measured: enough to see a change, or enough to publish. */
export type Effort = { quick: boolean };

/** A line that compares Handback with raw AI SDK. */
export function compare(what: string, unit: string, values: Row["values"], most?: number): Row {
  const ratio = (values.handback ?? Number.NaN) / (values["ai-sdk"] ?? Number.NaN);
  return { what, unit, values, ratio, ...(most !== undefined && { bar: { text: `≤ ${most} ×`, holds: ratio <= most } }) };
}
