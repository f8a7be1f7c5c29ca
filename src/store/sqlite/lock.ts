import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AppError } from "../../core/error.ts";

/**
 * Makes the directory and takes it for this process until the returned function is called.
 * The lock is one of the operating system's, so it dies with the process, however that dies.
 */
export function lockDirectory(path: string): () => void {
  const pidFile = join(path, "handback.pid");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(join(path, "lock.db"), { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new AppError("unavailable", `The data directory ${path} is in use by another Handback process${pidIn(pidFile)}; stop it first`);
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return () => {
    rmSync(pidFile, { force: true });
    db.close();
  };
}

const SQLITE_BUSY = 5;

/** The lock's owner, for the message only: the lock itself cannot be asked. */
function pidIn(file: string): string {
  try {
    return ` (pid ${readFileSync(file, "utf8").trim()})`;
  } catch {
    return "";
  }
}
