import { List, Table, type ThreadView } from "../../src/client/client.ts";

/** A view as plain data, without the log it was made of. */
export function plain({ events: _, ...view }: ThreadView): unknown {
  return toPlain(view);
}

function toPlain(value: unknown): unknown {
  if (value instanceof List || value instanceof Table) return value.map(toPlain);
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([key, part]) => [key, toPlain(part)]),
  );
}
