import { AppError } from "../core/error.ts";
import type { Json } from "../core/json.ts";

/** How much a request may ask us to read. `keys` counts keys of objects and items of arrays together. */
export type BodyLimits = { bytes: number; depth: number; keys: number };

/** What a body may be unless configured otherwise. */
export const BODY_LIMITS: BodyLimits = { bytes: 1024 * 1024, depth: 64, keys: 100_000 };

/** The body of a request as JSON, read no further than the limits and looked over before it is parsed. */
export async function readJson(request: Request, limits: BodyLimits = BODY_LIMITS): Promise<Json> {
  const text = await readText(request, "application/json", limits.bytes);
  if (text.trim() === "") throw new AppError("invalid", "The body is empty");
  return toJson(text, limits);
}

/** The body of a request as text, where it is of this content type and no longer than so many bytes. */
export async function readText(request: Request, type: "application/json" | "application/x-ndjson", bytes: number): Promise<string> {
  const { headers } = request;
  // Not only tidiness: a browser sends these types across origins only after a preflight, so forms of other sites cannot reach us.
  if (!TYPES[type].test(headers.get("content-type") ?? "")) throw new AppError("unsupported", `The content type must be ${type}`);
  if (!/^(identity)?$/i.test(headers.get("content-encoding") ?? "")) throw new AppError("unsupported", "The body must not be compressed");
  return decode(await readBytes(request, bytes));
}

/** The value of a JSON text, looked over before it is parsed. */
export function toJson(text: string, limits: BodyLimits): Json {
  scan(text, limits);
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const place = cause instanceof Error ? (/\(line \d+ column \d+\)/.exec(cause.message)?.[0] ?? "") : "";
    throw new AppError("invalid", `The body is not valid JSON ${place}`.trimEnd(), { cause });
  }
}

const TYPES = {
  "application/json": /^\s*application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i,
  "application/x-ndjson": /^\s*application\/x-ndjson\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i,
};

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  if (Number(length) > limit) throw tooLong(limit);
  try {
    // A declared length is kept by the HTTP parser, and reading at once spares a web stream.
    const bytes = length === null ? await readStream(request, limit) : new Uint8Array(await request.arrayBuffer());
    if (bytes.byteLength > limit) throw tooLong(limit);
    return bytes;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("invalid", "The body ended too early", { cause });
  }
}

async function readStream(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw tooLong(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function tooLong(limit: number): AppError {
  return new AppError("too_large", `The body is longer than ${limit} bytes`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new AppError("invalid", "The body is not valid UTF-8", { cause });
  }
}

/**
 * Refuses what JSON.parse would let through: depth, sheer number, keys given twice, keys that reach prototypes, numbers that become Infinity.
 * One pass; grammar is left to JSON.parse, so a malformed text may pass here.
 */
function scan(text: string, limits: BodyLimits): void {
  const path: (string | number)[] = []; // the key or index we are at, by depth
  const keys: (Set<string> | undefined)[] = []; // keys seen in the open object, by depth; undefined in an array
  let depth = 0;
  let count = 0;
  let atKey = false;
  const fail = (code: "invalid" | "too_large", reason: string, upTo = depth): never => {
    const field = path.slice(0, upTo).join(".").slice(0, 200);
    throw new AppError(code, field === "" ? `The body ${reason}` : `${field}: ${reason}`, field === "" ? {} : { field });
  };

  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) {
      const end = endOfString(text, i);
      if (atKey) {
        atKey = false;
        const key = keyAt(text, i, end);
        path[depth - 1] = key;
        if (FORBIDDEN.has(key)) fail("invalid", "is not allowed as a key");
        const seen = keys[depth - 1];
        const before = seen?.size;
        if (seen?.add(key).size === before) fail("invalid", "is given twice");
      }
      i = end;
    } else if (char === COMMA) {
      if (++count > limits.keys) fail("too_large", `has more than ${limits.keys} keys and items`, 0);
      if (depth === 0) continue;
      if (keys[depth - 1] === undefined) path[depth - 1] = (path[depth - 1] as number) + 1;
      else atKey = true;
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      if (++count > limits.keys) fail("too_large", `has more than ${limits.keys} keys and items`, 0);
      if (depth === limits.depth) fail("invalid", `is nested deeper than ${limits.depth} levels`, 0);
      atKey = char === OPEN_OBJECT;
      path[depth] = atKey ? "" : 0;
      keys[depth] = atKey ? new Set() : undefined;
      depth++;
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      depth = Math.max(0, depth - 1);
      atKey = false;
    } else if (char >= ZERO && char <= NINE) {
      const end = endOfNumber(text, i);
      if (end - i > 4 && Number(text.slice(i, end)) === Infinity) fail("invalid", "holds a number too large");
      i = end - 1;
    }
  }
}

const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45; // then . / 0 … 9
const ZERO = 48;
const NINE = 57;
const LARGE_E = 69;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const SMALL_E = 101;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/** Where the string that starts at `start` has its closing quote; the end of the text if it has none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

function keyAt(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end);
  if (!key.includes("\\")) return key;
  try {
    return JSON.parse(`"${key}"`) as string;
  } catch {
    return key; // a bad escape: JSON.parse of the whole will say so
  }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isNumeric(text.charCodeAt(end))) end++;
  return end;
}

function isNumeric(char: number): boolean {
  return (char >= MINUS && char <= NINE) || char === LARGE_E || char === SMALL_E || char === PLUS;
}
