import type { Key, Translate } from "../i18n/i18n.ts";
import type { JsonProblem } from "./check-json.ts";

const RULES: Record<string, Key> = {
  type: "ui.ruleType",
  enum: "ui.ruleEnum",
  const: "ui.ruleEnum",
  required: "ui.ruleRequired",
  minimum: "ui.ruleMinimum",
  exclusiveMinimum: "ui.ruleAbove",
  maximum: "ui.ruleMaximum",
  exclusiveMaximum: "ui.ruleBelow",
  minLength: "ui.ruleMinLength",
  maxLength: "ui.ruleMaxLength",
  minItems: "ui.ruleMinItems",
  maxItems: "ui.ruleMaxItems",
  pattern: "ui.rulePattern",
  false: "ui.ruleNotAllowed",
};

/** A problem as a sentence. Rules we have no words for are told in the validator's. */
export function problemText(t: Translate, problem: JsonProblem): string {
  if (problem.type === "syntax") {
    const { line, column, expected } = problem;
    return t("ui.invalidJson", { line: String(line), column: String(column), message: t(`ui.expected_${expected}`) });
  }
  const { path, rule, wanted, message } = problem;
  const words = RULES[rule];
  const value = Array.isArray(wanted) ? wanted.map((one) => JSON.stringify(one)).join(", ") : String(wanted);
  return t("ui.schemaProblem", { path, message: words ? t(words, { value }) : message });
}
