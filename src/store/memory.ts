import { committer, unwrap } from "./sqlite/commit.ts";
import { reads } from "./sqlite/reads.ts";
import { migrate, openDatabase } from "./sqlite/schema.ts";
import { writes } from "./sqlite/write.ts";
import type { Store } from "./store.ts";

/** A store that ends with its process: the SQLite one without its directory and its worker, so the rules are the same. */
export function memoryStore(): Store {
  const db = openDatabase(":memory:");
  migrate(db);
  const commit = committer(db);
  return {
    ...reads(db),
    ...writes(async (write) => commit([write]).map(unwrap)[0]),
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
