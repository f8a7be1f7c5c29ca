import { type Expected, scanJson } from "./scan-json.ts";

/**
 * What is wrong with a text that should be JSON of a certain shape: where it stops being JSON (lines and columns begin at 1),
 * or which rule of the schema does not hold at which path.
 */
export type JsonProblem =
  | { type: "syntax"; expected: Expected; line: number; column: number; from: number }
  | { type: "schema"; path: string; rule: string; wanted: unknown; message: string };
export type CheckedJson = { value: unknown; problems: JsonProblem[] };

/** Reads a text as JSON and holds it against a schema. Numbers stay numbers: nothing is turned into a string on the way. */
export function checkJson(text: string, schema?: object): CheckedJson {
  const broken = scanJson(text);
  if (broken) {
    const before = text.slice(0, broken.from).split("\n");
    return {
      value: undefined,
      problems: [{ type: "syntax", ...broken, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }],
    };
  }
  const value: unknown = JSON.parse(text);
  return { value, problems: (schema && checkSchema?.(value, schema)) || [] };
}

let checkSchema: ((value: unknown, schema: object) => JsonProblem[]) | undefined;

/** Schemas are checked by code that comes with the editor: before anybody can change a value there is nothing to check. */
export function provideSchemaCheck(check: (value: unknown, schema: object) => JsonProblem[]): void {
  checkSchema = check;
}
