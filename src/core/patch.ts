import { AppError } from "./error.ts";
import { isObject, type Json, type JsonObject, sameJson } from "./json.ts";

/** Applies RFC 6902 operations and returns the new document; the old one is left as it was. */
export function patch(document: Json, ops: readonly Json[]): Json {
  // Only what a path touches is copied, so unchanged branches are shared with the old document; and it is copied once.
  const mine = new Set<Json>();
  const write = (before: Json, path: string[], op: "add" | "replace" | "remove", value: Json) => written(before, path, op, value, mine);
  return ops.reduce<Json>((before, op) => {
    if (!isObject(op)) throw bad("a patch operation must be an object");
    const path = pointer(op["path"]);
    switch (op["op"]) {
      case "add":
        return write(before, path, "add", operand(op));
      case "replace":
        return write(before, path, "replace", operand(op));
      case "remove":
        return write(before, path, "remove", null);
      case "copy":
        mine.clear(); // from here on it may be in two places
        return write(before, path, "add", read(before, pointer(op["from"])));
      case "move": {
        mine.clear();
        const from = pointer(op["from"]);
        if (from.length < path.length && from.every((key, i) => key === path[i]))
          throw bad(`${String(op["from"])} cannot move into itself`);
        return write(write(before, from, "remove", null), path, "add", read(before, from));
      }
      case "test":
        if (!sameJson(read(before, path), operand(op))) throw bad(`test failed at ${String(op["path"])}`);
        return before;
      default:
        throw bad(`unknown patch operation ${JSON.stringify(op["op"])}`);
    }
  }, document);
}

/** A key as one segment of a JSON pointer. */
export function segment(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function operand({ value }: JsonObject): Json {
  if (value === undefined) throw bad("an operation lacks its value");
  return value;
}

function pointer(path: Json | undefined): string[] {
  if (path === "") return [];
  if (typeof path !== "string" || !path.startsWith("/") || /~(?![01])/.test(path))
    throw bad(`${JSON.stringify(path ?? null)} is no JSON pointer`);
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function read(document: Json, [key, ...rest]: string[]): Json {
  if (key === undefined) return document;
  if (Array.isArray(document)) return read(document[index(document, key, false)] ?? null, rest);
  if (!isObject(document) || !Object.hasOwn(document, key)) throw bad(`nothing at ${key}`);
  return read(document[key] ?? null, rest);
}

function written(document: Json, [key, ...rest]: string[], op: "add" | "replace" | "remove", value: Json, mine: Set<Json>): Json {
  if (key === undefined) return op === "remove" ? null : value;
  if (key === "__proto__") throw bad("the key __proto__ is not allowed");
  const last = rest.length === 0;
  if (Array.isArray(document)) {
    const at = index(document, key, last && op === "add");
    const copy = mine.has(document) ? document : [...document];
    mine.add(copy);
    if (!last) copy[at] = written(copy[at] ?? null, rest, op, value, mine);
    else if (op === "add") copy.splice(at, 0, value);
    else if (op === "replace") copy[at] = value;
    else copy.splice(at, 1);
    return copy;
  }
  if (!isObject(document)) throw bad(`nothing at ${key}`);
  if (!Object.hasOwn(document, key) && !(last && op === "add")) throw bad(`nothing at ${key}`);
  const copy = mine.has(document) ? document : { ...document };
  mine.add(copy);
  if (!last) copy[key] = written(copy[key] ?? null, rest, op, value, mine);
  else if (op === "remove") delete copy[key];
  else copy[key] = value;
  return copy;
}

function index(array: Json[], key: string, end: boolean): number {
  if (key === "-" && end) return array.length;
  const at = Number(key);
  if (!/^(0|[1-9]\d*)$/.test(key) || at > array.length - (end ? 0 : 1)) throw bad(`no index ${key}`);
  return at;
}

function bad(message: string): AppError {
  return new AppError("invalid", `Bad state patch: ${message}`);
}
