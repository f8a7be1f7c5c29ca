import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bind, slots } from "./bind.ts";
import type { Nameless } from "./command.ts";
import { ended, given, type Log, returned, run, runStarted, waitingFor } from "./given.ts";

const says = (output: string): Nameless => ({ status: "completed", output });
const known = (log: Log) => log.known(run({ results: log.thread.offers.map(({ callId }) => ({ callId, ...says("") })) }));
const bound = (log: Log, ...results: Nameless[]) => bind(log.thread, results, known(log)).map(({ callId }) => callId);

describe("nameless results", () => {
  it("answer the offered calls of the step in their order, several in one request too", () => {
    const log = given(...waitingFor("a1", "b2", "c3"));
    assert.deepEqual(bound(log, says("x")), ["a1"]);
    assert.deepEqual(bound(log, says("x"), says("y")), ["a1", "b2"]);
    assert.deepEqual(bind(log.thread, [says("x")], known(log))[0]?.via, "ordinal");
  });

  it("go on behind the ones that came before, and over those that were named", () => {
    const log = given(...waitingFor("a1", "b2", "c3"), runStarted("r2"), { ...returned("a1", 1), via: "ordinal" } as never);
    assert.deepEqual(slots(log.thread), ["b2", "c3"]);
    log.append({ seq: log.events.length }, [returned("b2", 2)]);
    assert.deepEqual(slots(log.thread), ["c3"]);
  });

  it("find the place of a lost call taken by itself", () => {
    // 1.22: a plain "oldest pending" would shift the late result of one call onto its neighbour.
    for (const status of ["expired", "cancelled"] as const) {
      const log = given(...waitingFor("a1", "b2"), runStarted("r2"), { ...returned("a1", 1), status } as never);
      assert.deepEqual(slots(log.thread), ["a1", "b2"]);
    }
  });

  it("are the last ones again when every place is taken and they say the same", () => {
    const settled = (id: string, output: string) => ({ ...returned(id, output), via: "ordinal" }) as never;
    const log = given(...waitingFor("a1", "b2"), runStarted("r2"), settled("a1", "x"), settled("b2", "y"), ended("done", { runId: "r2" }));
    assert.deepEqual(bound(log, says("y")), ["b2"]);
    assert.deepEqual(bound(log, says("x"), says("y")), ["a1", "b2"]);
    for (const wrong of [[says("x")], [says("y"), says("x")], [says("z")], [says("x"), says("y"), says("z")]]) {
      assert.throws(() => bound(log, ...wrong), { code: "conflict" });
    }
  });

  it("have nothing to answer in a thread that offered nothing", () => {
    assert.throws(() => bound(given(), says("x")), { code: "conflict" });
  });
});
