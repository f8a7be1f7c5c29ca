import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Every document of this repo, from its root. */
export function documents(): string[] {
  return globSync(["*.md", "docs/**/*.md", "examples/*.md", "bench/*.md"]).sort();
}

export function read(file: string): string {
  return readFileSync(file, "utf8");
}

/** What a document links to inside this repo: the file, and the heading if it names one. */
export function linksOf(file: string): { to: string; heading: string | undefined }[] {
  const links = prose(read(file)).matchAll(/\]\((?<href>[^)\s]+)\)/g);
  return [...links].flatMap(({ groups }) => {
    const href = groups?.["href"] ?? "";
    if (/^[a-z]+:/.test(href)) return [];
    const [path = "", heading] = href.split("#");
    return [{ to: path === "" ? file : join(dirname(file), path), heading }];
  });
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(file: string): string[] {
  return [...prose(read(file)).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** The fenced blocks of one language, in their order. */
export function blocksOf(file: string, language: string): string[] {
  return [...read(file).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, code = ""]) => (name === language ? [code] : []));
}

/** What stands in `code` in a text. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** The part below a heading, up to the next one of any level. */
export function section(file: string, heading: string): string {
  const [, part] = read(file).split(`\n${heading}\n`);
  if (part === undefined) throw new Error(`${file} has no ${heading}`);
  return part.split(/\n#+ /)[0] ?? "";
}

function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "");
}
