import type { Json } from "../../core/json.ts";

/** A text stays as it is; anything else is shown as JSON. */
export function toText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
