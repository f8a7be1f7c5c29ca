import { parentPort, workerData } from "node:worker_threads";
import { committer } from "./commit.ts";
import { openDatabase } from "./schema.ts";
import type { Write } from "./write.ts";

// The worker that alone writes to the database: a message is a group of writes, and each gets one message back.

const IDLE_MS = 500;

const db = openDatabase(String(workerData));
const commit = committer(db);

/** Empties the write-ahead log while nobody waits for it. Left alone, a busy commit would have to. */
const tidy: NodeJS.Timeout = setTimeout(() => {
  try {
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {} // a full disk is the next write's to report
}, IDLE_MS).unref();

parentPort?.on("message", (group: Write[] | "close") => {
  if (group === "close") {
    clearTimeout(tidy);
    db.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(commit(group));
  tidy.refresh();
});

parentPort?.postMessage("ready");
