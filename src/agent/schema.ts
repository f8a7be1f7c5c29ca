import { z } from "zod";
import { AppError } from "../core/error.ts";
import type { Json, JsonObject } from "../core/json.ts";

/** The part of Standard Schema that zod, valibot, arktype and others share. */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Verdict<T> | Promise<Verdict<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

type Verdict<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly Issue[] };
type Issue = { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined };

/** What values must look like: as JSON Schema for models and clients, and as a check. */
export type Schema<T = unknown> = {
  json: JsonObject;
  /** The value as its owner wants it, or what is wrong with it in one line. */
  check(value: unknown): Promise<{ value: T } | { problem: string }>;
};

/** Takes any Standard Schema that can describe itself, or plain JSON Schema. */
export function toSchema<T>(schema: StandardSchema<T> | JsonObject, owner: string): Schema<T> {
  if (!isStandard<T>(schema)) return fromJsonSchema(schema) as Schema<T>;
  const standard = schema["~standard"];
  if (!standard.jsonSchema) {
    throw new AppError(
      "invalid",
      `${owner}: ${standard.vendor} schemas cannot describe themselves as JSON Schema; pass JSON Schema instead`,
    );
  }
  return {
    json: standard.jsonSchema.input({ target: "draft-2020-12" }) as JsonObject,
    async check(value) {
      const verdict = await standard.validate(value);
      return verdict.issues ? { problem: problems(verdict.issues) } : { value: verdict.value };
    },
  };
}

const compiled = new WeakMap<JsonObject, Schema<Json>>();

/** A check for plain JSON Schema, made once for each schema object. */
export function fromJsonSchema(json: JsonObject): Schema<Json> {
  const known = compiled.get(json);
  if (known) return known;
  let validator: z.ZodType | undefined;
  const schema: Schema<Json> = {
    json,
    async check(value) {
      validator ??= compile(json);
      const verdict = validator.safeParse(value);
      // The value itself goes on, not a copy: JSON Schema checks, it does not convert.
      return verdict.success ? { value: value as Json } : { problem: problems(verdict.error.issues) };
    },
  };
  compiled.set(json, schema);
  return schema;
}

/** A client may send a schema we cannot compile; then its calls are checked to be objects and no more. */
function compile(json: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(json as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.record(z.string(), z.unknown());
  }
}

function isStandard<T>(schema: StandardSchema<T> | JsonObject): schema is StandardSchema<T> {
  return "~standard" in schema;
}

function problems(issues: readonly Issue[]): string {
  const lines = issues.slice(0, 5).map(({ message, path = [] }) => {
    const where = path.map((key) => String(typeof key === "object" ? key.key : key)).join(".");
    return where === "" ? message : `${where}: ${message}`;
  });
  return issues.length > lines.length ? `${lines.join("; ")}; and ${issues.length - lines.length} more` : lines.join("; ");
}
