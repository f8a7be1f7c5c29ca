import { readFileSync } from "node:fs";

/** One object type: its `type` literals and the names of its fields, optional ones with a question mark. */
export type Shape = { types: string[]; fields: string[] };

/** The object types that a declaration such as `export type Config = …;` is made of, read from the source: types are gone when code runs. */
export function shapesOf(file: string, name: string): Shape[] {
  const source = readFileSync(file, "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "$1");
  const start = source.indexOf(`type ${name} =`);
  if (start < 0) throw new Error(`${file} has no type ${name}`);
  return objects(source.slice(start, source.indexOf("\n\n", start)));
}

function objects(text: string): Shape[] {
  const found: Shape[] = [];
  for (let at = text.indexOf("{"); at >= 0; at = text.indexOf("{", at)) {
    const end = closing(text, at);
    const members = atTop(text.slice(at + 1, end));
    const types = members.flatMap((member) =>
      /^type:/.test(member) ? [...member.matchAll(/"([^"]+)"/g)].map(([, type = ""]) => type) : [],
    );
    const fields = members.flatMap((member) => /^(\w+\??)\s*[:(]/.exec(member)?.[1] ?? []).filter((field) => field !== "type");
    if (/^\s*& Source/.test(text.slice(end + 1))) fields.push("by", "via");
    found.push({ types, fields });
    at = end;
  }
  return found;
}

/** The members of an object type, whatever is nested in them. */
function atTop(body: string): string[] {
  const members: string[] = [];
  let depth = 0;
  let member = "";
  for (const char of body) {
    if ("{[(<".includes(char)) depth += 1;
    if ("}])".includes(char) || (char === ">" && !member.endsWith("="))) depth -= 1;
    if (depth === 0 && char === ";") {
      members.push(member.trim());
      member = "";
    } else member += char;
  }
  return [...members, member.trim()].filter((text) => text !== "");
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`a brace is never closed: ${text.slice(open, open + 40)}`);
}
