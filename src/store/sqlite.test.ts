import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { after, describe, it } from "node:test";
import type { Worker } from "node:worker_threads";
import type { Event } from "../core/event.ts";
import { testStore } from "./conformance.ts";
import { sqliteStore } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "handback-"));
after(() => rmSync(root, { recursive: true, force: true }));
let directories = 0;
function directory(): string {
  directories += 1;
  return join(root, `${directories}`, "data");
}

testStore("sqlite", async () => {
  const path = directory();
  const store = await sqliteStore({ path });
  return {
    store,
    async reopen() {
      await store.close();
      return sqliteStore({ path });
    },
  };
});

const key = (threadId: string) => ({ app: "app", user: "alice", threadId });
const said = (value: string | number): Event => ({ type: "custom.emitted", name: "said", value });

describe("a data directory", () => {
  it("belongs to one store at a time, also within a process", async () => {
    const path = directory();
    const store = await sqliteStore({ path });
    await assert.rejects(sqliteStore({ path }), {
      code: "unavailable",
      message: `The data directory ${path} is in use by another Handback process (pid ${process.pid}); stop it first`,
    });
    await store.append(key("t"), { seq: 0 }, [said("still here")], 1);
    await store.close();
    await (await sqliteStore({ path })).close();
  });

  it("belongs to one process at a time, and is free as soon as that is gone", async () => {
    const path = directory();
    const child = writer(path);
    await once(child, "spawn");
    await lines(child, 1);
    await assert.rejects(sqliteStore({ path }), { code: "unavailable", message: new RegExp(`pid ${child.pid}\\)`) });
    await kill(child);
    await (await sqliteStore({ path })).close();
  });

  it("says in one sentence why it cannot be used", async () => {
    const [file, noDatabase] = [join(root, "file"), directory()];
    writeFileSync(file, "");
    await assert.rejects(sqliteStore({ path: file }), { code: "unavailable", message: /The data directory .*file cannot be used: / });
    mkdirSync(noDatabase, { recursive: true });
    writeFileSync(join(noDatabase, "handback.db"), "this is no database, and long enough for SQLite to see it".repeat(99));
    await assert.rejects(sqliteStore({ path: noDatabase }), { code: "unavailable", message: /cannot be used: file is not a database/ });
    rmSync(join(noDatabase, "handback.db"));
    await (await sqliteStore({ path: noDatabase })).close();
  });

  it("refuses the data of a newer release", async () => {
    const path = directory();
    await (await sqliteStore({ path })).close();
    const db = new DatabaseSync(join(path, "handback.db"));
    db.exec("PRAGMA user_version = 99");
    db.close();
    await assert.rejects(sqliteStore({ path }), {
      code: "unavailable",
      message: /newer release of Handback \(schema 99, this one knows \d+\)/,
    });
  });
});

describe("the writer", { concurrency: true }, () => {
  it("brings a thousand appends at once to a hundred threads, each in order", async () => {
    const store = await sqliteStore({ path: directory() });
    const appends: Promise<number>[] = [];
    for (let seq = 0; seq < 10; seq += 1) {
      for (let i = 0; i < 100; i += 1) appends.push(store.append(key(`t${i}`), { seq }, [said(seq + 1)], 1));
    }
    await Promise.all(appends);
    for (let i = 0; i < 100; i += 1) {
      const values = (await store.read(key(`t${i}`), { after: 0 })).map((event) => event.type === "custom.emitted" && event.value);
      assert.deepEqual(values, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
    await store.close();
  });

  it("fails while the database cannot be written, and goes on when it can", async () => {
    const path = directory();
    const store = await sqliteStore({ path });
    await store.append(key("a"), { seq: 0 }, [said("before")], 1);
    const other = new DatabaseSync(join(path, "handback.db"));
    other.exec("BEGIN IMMEDIATE");
    const refused = await Promise.allSettled([
      store.append(key("a"), { seq: 1 }, [said("x")], 1),
      store.append(key("b"), { seq: 0 }, [said("x")], 1),
    ]);
    for (const result of refused) assert.equal(result.status === "rejected" && result.reason.code, "unavailable");
    assert.equal((await store.read(key("a"), { after: 0 })).length, 1);
    other.exec("ROLLBACK");
    other.close();
    assert.equal(await store.append(key("a"), { seq: 1 }, [said("after")], 1), 2);
    await store.close();
  });

  it("refuses writes once its thread has died, and still reads", async () => {
    const path = directory();
    const started = channel("worker_threads");
    const workers: Worker[] = [];
    const collect = (message: unknown) => workers.push((message as { worker: Worker }).worker);
    started.subscribe(collect);
    const store = await sqliteStore({ path });
    started.unsubscribe(collect);
    await store.append(key("t"), { seq: 0 }, [said("before")], 1);
    const pending = store.append(key("t"), { seq: 1 }, [said("x".repeat(1e7))], 1);
    setImmediate(() => void workers[0]?.terminate());
    await assert.rejects(pending, { code: "unavailable", message: /writer has stopped/ });
    await assert.rejects(store.append(key("t"), { seq: 1 }, [said("later")], 1), { code: "unavailable", message: /writer has stopped/ });
    assert.equal((await store.read(key("t"), { after: 0 })).length, 1);
    await store.close();
    await (await sqliteStore({ path })).close();
  });

  // A limit on the size of files stands in for a full disk, because it can be lifted again.
  const canLimit = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0;
  it("survives a full disk without half an append", { skip: !canLimit && "needs prlimit" }, async () => {
    const path = directory();
    const child = writer(path, ["bash", "-c", 'trap "" XFSZ; ulimit -S -f 1024; exec "$@"', "bash"]);
    let acked = 0;
    let failedAt: number | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line !== "unavailable") acked = Number(line);
      else if (failedAt === undefined) {
        failedAt = acked;
        spawnSync("prlimit", [`--pid=${child.pid}`, "--fsize=unlimited:unlimited"]);
      }
      if (failedAt !== undefined && acked > failedAt + 300) break;
    }
    await kill(child);
    verify(path, acked);
    assert.ok(failedAt);
  });

  it("loses nothing it has acknowledged to kill -9", async () => {
    const crashes = async (rounds: number) => {
      const path = directory();
      for (let round = 0; round < rounds; round += 1) {
        const child = writer(path);
        const acks = lines(child, Number.POSITIVE_INFINITY);
        await lines(child, 1);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
        await kill(child);
        verify(path, Number((await acks).at(-1)));
      }
    };
    await Promise.all([crashes(10), crashes(10)]);
  });
});

type Child = ChildProcessByStdio<null, Readable, null>;

/** A process that appends three events at a time to a thread, several appends under way at once, and prints each acknowledged seq. */
function writer(path: string, prefix: string[] = []): Child {
  const script = `
    import { sqliteStore } from ${JSON.stringify(new URL("./sqlite.ts", import.meta.url).href)};
    const key = ${JSON.stringify(key("t"))};
    const store = await sqliteStore({ path: ${JSON.stringify(path)} });
    let seq = (await store.thread(key))?.seq ?? 0;
    const events = [1, 2, 3].map((value) => ({ type: "custom.emitted", name: "said", value: String(value).repeat(400) }));
    for (;;) {
      try {
        const first = await store.append(key, { seq }, events, 1);
        seq += 3;
        console.log(first + 2);
        void store.append({ ...key, threadId: "other" + seq }, { seq: 0 }, events, 1).catch(() => {});
      } catch (error) {
        console.log(error.code);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }`;
  const [command = "", ...args] = [...prefix, process.execPath, "--input-type=module", "--eval", script];
  return spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
}

/** The first lines a process prints, or all of them when it ends before. */
async function lines(child: Child, count: number): Promise<string[]> {
  let text = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.split("\n").length > count) resolve();
    });
    child.stdout.on("close", resolve);
  });
  return text.trim().split("\n");
}

async function kill(child: Child): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Looks at what a dead process left: whole, contiguous, in whole appends, and with everything it acknowledged. */
function verify(path: string, acked: number): void {
  const db = new DatabaseSync(join(path, "handback.db"));
  assert.deepEqual({ ...db.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
  const { thread, next } = { ...db.prepare("SELECT id AS thread, next_seq AS next FROM thread WHERE thread_id = 't'").get() };
  const seqs = db.prepare("SELECT seq FROM event WHERE thread = ? ORDER BY seq").all(thread ?? 0);
  db.close();
  assert.ok(seqs.length >= acked, `${acked} acknowledged, ${seqs.length} found`);
  assert.ok(seqs.every(({ seq }, i) => seq === i + 1));
  assert.equal(seqs.length % 3, 0);
  assert.equal(next, seqs.length + 1);
}
