import { Validator } from "@cfworker/json-schema";
import { type JsonProblem, provideSchemaCheck } from "./check-json.ts";

provideSchemaCheck(schemaProblems);

/** Where a schema does not hold: only the places themselves, not every object around them. */
function schemaProblems(value: unknown, schema: object): JsonProblem[] {
  const { valid, errors } = new Validator(schema as never, "2020-12", false).validate(value);
  if (valid) return [];
  const leaves = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
  const problems = (leaves.length > 0 ? leaves : errors).map(({ instanceLocation, keyword, keywordLocation, error }): JsonProblem => {
    const path = instanceLocation.replace(/^#/, "") || "/";
    return { type: "schema", path, rule: keyword, wanted: at(schema, keywordLocation), message: error };
  });
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

/** Keywords that only say that something inside them is wrong. */
const WRAPPERS = new Set([
  "properties",
  "items",
  "prefixItems",
  "allOf",
  "anyOf",
  "oneOf",
  "$ref",
  "additionalProperties",
  "patternProperties",
]);

/** What a pointer such as `#/properties/limit/maximum` points at. */
function at(schema: object, pointer: string): unknown {
  let here: unknown = schema;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    here = typeof here === "object" && here !== null ? (here as Record<string, unknown>)[name] : undefined;
  }
  return here;
}
