import { AppError, type ErrorCode } from "../../core/error.ts";

/** What went wrong in the database, for users: the medium's fault, unless it can only be ours. */
export function toStoreError(error: unknown): unknown {
  const { code, errcode, errstr } = error as { code?: string; errcode?: number; errstr?: string };
  if (error instanceof AppError || code === undefined) return error;
  if (code === "ERR_INVALID_STATE") return new AppError("unavailable", "The store is closed", { cause: error });
  if (code !== "ERR_SQLITE_ERROR") return error;
  const meaning: ErrorCode | undefined = CODES[(errcode ?? 0) & 0xff];
  return new AppError(meaning ?? "unavailable", `The store cannot do this now: ${errstr}`, { cause: error });
}

/** SQLite's primary result codes that do not mean a sick disk, a lock or a broken file: wrong SQL, too big, constraint, misuse. */
const CODES: Record<number, ErrorCode> = { 1: "internal", 18: "too_large", 19: "internal", 20: "internal", 21: "internal", 25: "internal" };
