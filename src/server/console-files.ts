import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** One file as one browser gets it. */
export type Packed = { bytes: Uint8Array<ArrayBuffer>; type: string; encoding?: "br" | "gzip"; etag: string; immutable: boolean };

/** The built console. Only files that were there when it was built have a name; a path is never put together from a request. */
export type ConsoleFiles = {
  /** The page, or nothing where the console is not built. */
  page(): string | undefined;
  /** A file in the best form the browser accepts. */
  file(name: string, acceptEncoding: string): Packed | undefined;
};

/** Beside the library: `dist/console`, seen from `src/server` and from `dist/server`. */
const BUILT = fileURLToPath(new URL("../../dist/console", import.meta.url));

/** Files are read when they are first asked for and kept; a new build is noticed by its page. */
export function consoleFiles(folder: string = BUILT): ConsoleFiles {
  let built = 0;
  let page: string | undefined;
  let names = new Set<string>();
  let kept = new Map<string, Packed>();

  const look = () => {
    const path = join(folder, "index.html");
    const now = existsSync(path) ? statSync(path).mtimeMs : 0;
    if (now === built) return;
    [built, kept] = [now, new Map()];
    page = now === 0 ? undefined : readFileSync(path, "utf8");
    names = new Set(now === 0 ? [] : readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/")));
  };

  return {
    page() {
      look();
      return page;
    },
    file(name, acceptEncoding) {
      look();
      const form = FORMS.find(({ encoding, ending }) => accepts(acceptEncoding, encoding) && names.has(name + ending));
      const type = TYPES[extname(name)];
      if (!type || !(form || names.has(name))) return undefined;
      const { encoding, ending } = form ?? { ending: "" };
      const key = name + ending;
      const packed =
        kept.get(key) ?? pack(join(folder, key), { type, immutable: name.startsWith("assets/"), ...(encoding && { encoding }) });
      kept.set(key, packed);
      return packed;
    },
  };
}

const FORMS = [
  { encoding: "br", ending: ".br" },
  { encoding: "gzip", ending: ".gz" },
] as const;

const TYPES: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".md": "text/markdown; charset=utf-8",
};

function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((part) => {
    const [name, ...parameters] = part.trim().split(/\s*;\s*/);
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function pack(path: string, about: Omit<Packed, "bytes" | "etag">): Packed {
  const bytes = new Uint8Array(readFileSync(path));
  return { ...about, bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"` };
}
