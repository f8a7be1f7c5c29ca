import { AppError } from "../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { segment } from "../../core/patch.ts";
import { fromJsonSchema, type StandardSchema } from "../schema.ts";

/** One field of a graph's state: what it looks like, and how a write changes it. */
export type Field<T = unknown, U = T> = {
  check(value: unknown): Promise<string | undefined>;
  reduce?(old: T | undefined, update: U): T;
  default?(): T;
  /** Only types: nothing is there at run time. */
  readonly types?: { value: T; update: U };
};

export type Fields = Record<string, Field>;

/** The state as nodes see it. A field without a default is undefined until somebody writes it. */
export type StateOf<F> = { readonly [K in keyof F]: F[K] extends { readonly types?: { value: infer T } } ? T : never };

/** What a node may write: some of the fields, each as its reducer takes it. */
export type UpdateOf<F> = { [K in keyof F]?: F[K] extends { readonly types?: { update: infer U } } ? U : never };

/**
 * Declares a field. Its schema checks what is written and converts nothing; without `reduce` a write replaces the value.
 *
 * @example
 * field(z.array(z.string()), { reduce: append, default: () => [] })
 */
export function field<T extends object>(
  schema: StandardSchema<T> | JsonObject,
  options: { reduce: typeof merge; default?: () => NoInfer<T> },
): Field<T, Partial<T>>;
export function field<T>(
  schema: StandardSchema<T> | JsonObject,
  options?: { reduce?: (old: T | undefined, update: T) => T; default?: () => NoInfer<T> },
): Field<T, T>;
export function field<T, U>(
  schema: StandardSchema<T> | JsonObject,
  options: { reduce: (old: T | undefined, update: U) => T; default?: () => NoInfer<T> },
): Field<T, U>;
export function field(schema: StandardSchema | JsonObject, options: Partial<Pick<Field, "reduce" | "default">> = {}): Field {
  return { check: checker(schema), ...options };
}

/** A reducer that puts what is written behind what is there. The schema is held against what is added. */
export function append<T>(old: T[] | undefined, update: T[]): T[] {
  return [...(old ?? []), ...update];
}

/** A reducer that sets the keys that are written and leaves the others. */
export function merge<T extends object>(old: T | undefined, update: Partial<T>): T {
  return { ...old, ...update } as T;
}

/** What tasks write, in their order. */
export type Write = { node: string; update: JsonObject };

/** The state after these writes, and the patch that leads there. Throws for what does not fit, naming node and field. */
export async function reduce(fields: Fields, state: JsonObject, writes: readonly Write[]): Promise<{ state: JsonObject; ops: Json[] }> {
  const next = { ...state };
  const ops: Json[] = [];
  const mine = new Set<Json>(); // arrays made here, which may still grow
  for (const { node, update } of writes) {
    for (const [key, value] of Object.entries(update)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      const wrong = (why: string, cause?: unknown) => new AppError("invalid", `${node} writes ${key}: ${why}`, { field: key, cause });
      if (!field) throw wrong(`the state has no such field, only ${Object.keys(fields).join(", ")}`);
      const path = `/${segment(key)}`;
      const old = next[key];
      if ((field.reduce as unknown) === append) {
        if (!Array.isArray(value)) throw wrong("it takes a list, to put behind what is there");
        const problem = await field.check(value);
        if (problem !== undefined) throw wrong(problem);
        if (old === undefined) ops.push({ op: "add", path, value });
        else for (const item of value) ops.push({ op: "add", path: `${path}/-`, value: item });
        const grown = old !== undefined && mine.has(old) ? (old as Json[]) : [...((old ?? []) as Json[])];
        for (const item of value) grown.push(item);
        mine.add(grown);
        next[key] = grown;
        continue;
      }
      const reduced = field.reduce ? attempt(() => toJson(field.reduce?.(old, value)), wrong) : value;
      const problem = await field.check(reduced);
      if (problem !== undefined) throw wrong(problem);
      if ((field.reduce as unknown) === merge && isObject(old) && isObject(value)) {
        for (const [inner, item] of Object.entries(value)) ops.push({ op: "add", path: `${path}/${segment(inner)}`, value: item });
      } else if (reduced !== old) ops.push({ op: Object.hasOwn(next, key) ? "replace" : "add", path, value: reduced });
      next[key] = reduced;
    }
  }
  return { state: next, ops };
}

/** The state a graph begins with: what is there, and the defaults of what is not. */
export async function initial(fields: Fields, before: Json): Promise<{ state: JsonObject; ops: Json[] }> {
  const there = isObject(before) ? before : undefined;
  const state: JsonObject = { ...there };
  const ops: Json[] = there ? [] : [{ op: "replace", path: "", value: {} }];
  for (const [key, field] of Object.entries(fields)) {
    if (!Object.hasOwn(state, key) && field.default) {
      const value = toJson(field.default());
      state[key] = value;
      ops.push({ op: "add", path: `/${segment(key)}`, value });
    }
    const problem = Object.hasOwn(state, key) ? await field.check(state[key]) : undefined;
    if (problem !== undefined) throw new AppError("invalid", `The state's field ${key}: ${problem}`, { field: key });
  }
  return { state, ops };
}

/** A value as the log will have it. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  const text = JSON.stringify(value);
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/** Forbids changes, in whatever depth; what is frozen already is passed by, so that only news cost anything. */
export function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Array.isArray(value) ? value : Object.values(value)) freeze(child);
  return value;
}

function attempt<T>(work: () => T, wrong: (why: string, cause: unknown) => AppError): T {
  try {
    return work();
  } catch (error) {
    throw wrong("its reducer failed", error);
  }
}

function checker(schema: StandardSchema | JsonObject): Field["check"] {
  if (!("~standard" in schema)) {
    const { check } = fromJsonSchema(schema as JsonObject);
    return async (value) => {
      const verdict = await check(value);
      return "problem" in verdict ? verdict.problem : undefined;
    };
  }
  const standard = (schema as StandardSchema)["~standard"];
  return async (value) => {
    const { issues } = await standard.validate(value);
    return issues?.map(({ message }) => message).join("; ");
  };
}
