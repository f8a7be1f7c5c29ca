import type { Json } from "../../core/json.ts";

/** What came of a run: the value of the code, or why there is none. */
export type Evaluation = { ok: true; value: Json } | { ok: false; error: EvaluationError };

/**
 * What the code threw; or `TimeoutError`, `ResultError` (not JSON, or too much of it), `AbortError` (stopped from here),
 * `SandboxError` (the sandbox could not be reached, or died).
 */
export type EvaluationError = { name: string; message: string };

const LONGEST_NAME = 100;
const LONGEST_MESSAGE = 2_000;
/** What an evaluation is longer than its value, errors included. */
const SLACK = 16_384;
/** A server takes 64 levels, and puts some around a result itself. */
const DEEPEST = 50;

/** Reads what a frame said. It ran code that nobody has read, so all of it is checked again: type, length, depth, shape. */
export function readEvaluation(said: unknown, maxOutput: number): Evaluation {
  if (typeof said !== "string") return NONSENSE;
  if (said.length > maxOutput + SLACK) return failed("ResultError", `The result is longer than ${maxOutput} characters`);
  if (isDeeperThan(said, DEEPEST + 1)) return failed("ResultError", `The result is nested deeper than ${DEEPEST} levels`);
  let given: Partial<{ ok: unknown; value: Json; error: Partial<Record<keyof EvaluationError, unknown>> | null }> | null;
  try {
    given = JSON.parse(said);
  } catch {
    return NONSENSE;
  }
  if (given?.ok === true && given.value !== undefined) return { ok: true, value: given.value };
  const { name, message } = given?.error ?? {};
  return typeof name === "string" && typeof message === "string" ? failed(name, message) : NONSENSE;
}

export function failed(name: string, message: string): Evaluation {
  return { ok: false, error: { name: name.slice(0, LONGEST_NAME), message: message.slice(0, LONGEST_MESSAGE) } };
}

const NONSENSE = failed("SandboxError", "The sandbox said something that is no result");

/** Counted before it is parsed: whoever writes such a value again would run out of stack. */
function isDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (quoted && unit === 0x5c) i += 1;
    else if (unit === 0x22) quoted = !quoted;
    else if (quoted) continue;
    else if (unit === 0x5b || unit === 0x7b) depth += 1;
    else if (unit === 0x5d || unit === 0x7d) depth -= 1;
    if (depth > most) return true;
  }
  return false;
}
