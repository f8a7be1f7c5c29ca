import { join } from "node:path";
import { AppError } from "../core/error.ts";
import { toStoreError } from "./sqlite/error.ts";
import { lockDirectory } from "./sqlite/lock.ts";
import { reads } from "./sqlite/reads.ts";
import { migrate, openDatabase } from "./sqlite/schema.ts";
import { startWriter } from "./sqlite/start-writer.ts";
import { writes } from "./sqlite/write.ts";
import type { Store } from "./store.ts";

/** A store in a directory that belongs to this process alone. One worker writes; reads run here, over a connection of their own. */
export async function sqliteStore({ path }: { path: string }): Promise<Store> {
  const release: (() => void)[] = [];
  const releaseAll = () => {
    for (const step of release.splice(0).reverse()) step();
  };
  try {
    release.push(lockDirectory(path));
    const file = join(path, "handback.db");
    const db = openDatabase(file);
    release.push(() => db.close());
    migrate(db);
    db.exec("PRAGMA query_only = ON");
    const writer = await startWriter(file);
    return {
      ...reads(db),
      ...writes(writer.send),
      async close() {
        await writer.close();
        releaseAll();
      },
    };
  } catch (error) {
    releaseAll();
    throw unusable(path, error);
  }
}

function unusable(path: string, thrown: unknown): AppError {
  const error = toStoreError(thrown);
  if (error instanceof AppError && error.cause === undefined) return error;
  const cause = thrown as Error & { errstr?: string };
  return new AppError("unavailable", `The data directory ${path} cannot be used: ${cause.errstr ?? cause.message}`, { cause });
}
