import type { z } from "zod";
import { AppError } from "../core/error.ts";

/** The value as the schema reads it, or `invalid` naming the first wrong field. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, prefix?: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = firstIssue(result.error.issues, prefix === undefined ? [] : [prefix]);
  const field = path.map(String).join(".").slice(0, 200);
  const reason = message.slice(0, 300);
  throw field === "" ? new AppError("invalid", reason) : new AppError("invalid", `${field}: ${reason}`, { field });
}

type Issue = z.core.$ZodIssue;

/** A union reports one list of issues per branch; the one with the fewest wrong literals (type, role) is the one that was meant. */
function firstIssue(issues: readonly Issue[], at: PropertyKey[]): { path: PropertyKey[]; message: string } {
  const [issue] = issues;
  if (issue === undefined) return { path: at, message: "Invalid input" };
  const path = [...at, ...issue.path];
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return { path, message: issue.message };
  const wrongKind = (branch: Issue[]) => branch.filter(({ code }) => code === "invalid_value").length;
  return firstIssue(issue.errors.toSorted((a, b) => wrongKind(a) - wrongKind(b))[0] ?? [], path);
}
