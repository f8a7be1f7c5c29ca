/** Every way a request or a run can fail. The server maps codes to HTTP, protocols map them to their wire. */
export type ErrorCode =
  | "invalid" // 400: the request is malformed; `field` says where
  | "unauthorized" // 401
  | "forbidden" // 403
  | "not_found" // 404: also what a stranger gets
  | "conflict" // 409: the thread is busy, or the call has another result
  | "gone" // 410: expired or cancelled
  | "too_large" // 413
  | "unsupported" // 415
  | "unprocessable" // 422: well-formed, but breaks the tool's schema
  | "limit" // 429: a budget is spent
  | "model" // 502: the provider failed
  | "unavailable" // 503: shutting down, or the store cannot be written
  | "timeout" // 504
  | "internal"; // 500

/** An error as data: what goes into the log and over the wire. */
export type Failure = { code: ErrorCode; message: string; field?: string };

/** The only error this code throws on purpose. Its message is fit for users. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** The field of the request that is wrong, as a path: `messages.0.role`. */
  readonly field: string | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { field?: string }) {
    super(message, options);
    this.name = "AppError";
    this.code = code;
    this.field = options?.field;
  }
}

/** Unknown errors become `internal`: their text may hold secrets, so it stays in the cause. */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof AppError)) return { code: "internal", message: "Internal error" };
  const { code, message, field } = error;
  return field === undefined ? { code, message } : { code, message, field };
}
