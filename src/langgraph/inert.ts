// LangGraph's serializer makes objects of whatever carries LangChain's mark, and what clients and models say may carry it too:
// an answer would come back as a system message. So the mark of plain data is written under another name.

const MARK = "lc";
const PREFIX = "handback:";

/** Data in which no mark means anything. Objects that write themselves are left to do so. */
export function inert(value: unknown): unknown {
  return renamed(value, (key) => (unprefixed(key) === MARK ? PREFIX + key : key), new Set());
}

/** The same data as it was. */
export function live(value: unknown): unknown {
  return renamed(value, (key) => (key.startsWith(PREFIX) && unprefixed(key) === MARK ? key.slice(PREFIX.length) : key), new Set());
}

function unprefixed(key: string): string {
  let from = 0;
  while (key.startsWith(PREFIX, from)) from += PREFIX.length;
  return key.slice(from);
}

/** Copies only where a key changes. `above` holds what we are inside of: a circle is the serializer's to refuse. */
function renamed(value: unknown, rename: (key: string) => string, above: Set<object>): unknown {
  if (typeof value !== "object" || value === null || above.has(value)) return value;
  above.add(value);
  try {
    if (Array.isArray(value)) {
      const items = value.map((item) => renamed(item, rename, above));
      return items.some((item, i) => item !== value[i]) ? items : value;
    }
    if (!isPlain(value)) return value;
    let changed = false;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
      const [name, inside] = [rename(key), renamed(item, rename, above)];
      changed ||= name !== key || inside !== item;
      return [name, inside];
    });
    return changed ? Object.fromEntries(entries) : value;
  } finally {
    above.delete(value);
  }
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in value);
}
