import { isObject, type Json } from "../core/json.ts";
import { segment } from "../core/patch.ts";

/** The RFC 6902 operations that make `after` of `before`: none for what they share, and an array that grew costs what it grew by. */
export function difference(before: Json | undefined, after: Json, path = ""): Json[] {
  if (before === after) return [];
  if (before === undefined) return [{ op: "add", path, value: after }];
  if (Array.isArray(before) && Array.isArray(after)) return ofArrays(before, after, path);
  if (!isObject(before) || !isObject(after)) return [{ op: "replace", path, value: after }];
  const ops: Json[] = [];
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) ops.push({ op: "remove", path: `${path}/${segment(key)}` });
  for (const [key, value] of Object.entries(after)) {
    ops.push(...difference(Object.hasOwn(before, key) ? before[key] : undefined, value, `${path}/${segment(key)}`));
  }
  return ops;
}

function ofArrays(before: Json[], after: Json[], path: string): Json[] {
  const ops = before.slice(0, after.length).flatMap((item, i) => difference(item, after[i] as Json, `${path}/${i}`));
  // A list whose front was cut differs everywhere: then the whole is shorter than its differences.
  if (ops.length > after.length) return [{ op: "replace", path, value: after }];
  for (let i = before.length - 1; i >= after.length; i -= 1) ops.push({ op: "remove", path: `${path}/${i}` });
  for (const item of after.slice(before.length)) ops.push({ op: "add", path: `${path}/-`, value: item });
  return ops;
}
