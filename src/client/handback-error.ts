import type { ErrorCode } from "../core/error.ts";

/**
 * What a server refused, or that it could not be reached (`network`, status 0).
 *
 * @example
 * try { await handback.calls.result(id, 42) } catch (error) { if (error instanceof HandbackError && error.code === "gone") return; throw error }
 */
export class HandbackError extends Error {
  readonly code: ErrorCode | "network";
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** The field of the request that is wrong. */
  readonly field: string | undefined;

  constructor(code: ErrorCode | "network", message: string, options: ErrorOptions & { status?: number; field?: string | undefined } = {}) {
    super(message, options);
    this.name = "HandbackError";
    this.code = code;
    this.status = options.status ?? 0;
    this.field = options.field;
  }
}

/** Whether the same request may do better in a moment. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof HandbackError)) return false;
  const { status } = error;
  return status === 0 || status >= 500 || status === 408 || status === 425 || status === 429;
}
