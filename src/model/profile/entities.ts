const NAMED: Record<string, string> = { quot: '"', apos: "'", lt: "<", gt: ">", amp: "&" };
const LONGEST = 10;

/** Turns XML entities back into characters, one character at a time. What is none stays as it is. */
export function entityDecoder(): (c: string) => string {
  let held = "";
  return (c) => {
    if (held === "") {
      if (c !== "&") return c;
      held = c;
      return "";
    }
    held += c;
    if (c !== ";" && /^&[#\w]*$/.test(held) && held.length < LONGEST) return "";
    const entity = held;
    held = "";
    return c === ";" ? (unescapeOne(entity.slice(1, -1)) ?? entity) : entity;
  };
}

/** A text without its XML entities. */
export function unescapeXml(text: string): string {
  return text.replaceAll(/&([#\w]{1,8});/g, (entity, name: string) => unescapeOne(name) ?? entity);
}

function unescapeOne(name: string): string | undefined {
  const code = /^#(x?)([\da-f]+)$/i.exec(name);
  if (!code) return NAMED[name];
  const point = Number.parseInt(code[2] ?? "", code[1] ? 16 : 10);
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
