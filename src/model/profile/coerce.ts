import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { parseLoosely } from "./parse-loosely.ts";

/**
 * The value as its schema wants it, where there is only one way to read it: "5" for a number, "True" for a boolean, JSON
 * in a string for an object. What does not fit is left for the check to complain about.
 */
export function coerce(value: Json, schema: Json | undefined, root: Json | undefined = schema, depth = 0): Json {
  const wanted = resolve(schema, root);
  if (!wanted || depth > 64) return value;
  const branches = branchesOf(wanted);
  if (branches) return coerceToBranch(value, branches, root, depth);
  const types = typesOf(wanted);
  if (Array.isArray(wanted["enum"]) && typeof value === "string") return coerceToEnum(value, wanted["enum"]);
  if (!types || types.some((type) => isOf(value, type))) return coerceInside(value, wanted, root, depth);
  for (const type of types) {
    const converted = convert(value, type);
    if (converted !== undefined) return coerceInside(converted, wanted, root, depth);
  }
  return value;
}

/** A schema with its references followed, if it says anything. */
export function resolve(schema: Json | undefined, root: Json | undefined): JsonObject | undefined {
  let found: Json | undefined = schema;
  for (let hops = 0; isObject(found) && typeof found["$ref"] === "string"; hops += 1) {
    if (hops > 8) return undefined;
    let target: Json | undefined = root;
    for (const step of found["$ref"].replace(/^#\/?/, "").split("/").filter(Boolean)) target = isObject(target) ? target[step] : undefined;
    found = target;
  }
  return isObject(found) ? found : undefined;
}

/** The schema of a property. */
export function propertyOf(schema: JsonObject | undefined, key: string): Json | undefined {
  const properties = schema?.["properties"];
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  return schema?.["additionalProperties"];
}

/** Whether values of this kind can be written down as they come, without a look at the whole. */
export function flows(schema: JsonObject | undefined, kind: "string" | "object" | "array"): boolean {
  if (!schema) return true;
  if (branchesOf(schema) || (kind === "string" && Array.isArray(schema["enum"]))) return false;
  return typesOf(schema)?.includes(kind) ?? true;
}

function branchesOf(schema: JsonObject): Json[] | undefined {
  return ["anyOf", "oneOf", "allOf"].map((key) => schema[key]).find((branches) => Array.isArray(branches));
}

function typesOf({ type }: JsonObject): string[] | undefined {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === "string") : undefined;
}

function isOf(value: Json, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function coerceToBranch(value: Json, branches: Json[], root: Json | undefined, depth: number): Json {
  const fits = (candidate: Json, branch: Json) => {
    const schema = resolve(branch, root);
    const types = schema && typesOf(schema);
    return !types || types.some((type) => isOf(candidate, type));
  };
  const as = branches.find((branch) => fits(value, branch));
  if (as !== undefined) return coerce(value, as, root, depth + 1);
  for (const branch of branches) {
    const converted = coerce(value, branch, root, depth + 1);
    if (fits(converted, branch)) return converted;
  }
  return value;
}

function coerceToEnum(value: string, choices: Json[]): Json {
  if (choices.includes(value)) return value;
  const same = (choice: Json) => String(choice).toLowerCase() === value.trim().toLowerCase();
  const close = choices.filter((choice) => typeof choice !== "object" && same(choice));
  return close.length === 1 ? (close[0] as Json) : value;
}

function coerceInside(value: Json, schema: JsonObject, root: Json | undefined, depth: number): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item) => coerce(item, items, root, depth + 1)) : value;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coerce(item, propertyOf(schema, key), root, depth + 1)]));
}

function convert(value: Json, type: string): Json | undefined {
  if (type === "string") return typeof value === "object" ? undefined : String(value);
  if (typeof value !== "string" || value.length > LONGEST) return undefined;
  const read = parseLoosely(value.trim());
  return read && isOf(read.value, type) ? read.value : undefined;
}

/** Longer strings are texts, whatever the schema hopes. */
const LONGEST = 1_000_000;
