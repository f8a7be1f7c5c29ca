import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fakeClock } from "./fake-clock.ts";

describe("fakeClock", () => {
  it("fires what is due in order, lets promises settle between, and stops in time", async () => {
    const clock = fakeClock(1000);
    const log: string[] = [];
    const note = (name: string) => () => void Promise.resolve().then(() => log.push(`${name}@${clock.now()}`));
    clock.after(20, note("late"));
    clock.after(10, note("first"));
    clock.after(10, () => clock.after(5, note("nested")));
    clock.after(21, note("never"));
    clock.after(15, note("dropped"))();
    await clock.advance(20);
    assert.deepEqual(log, ["first@1010", "nested@1015", "late@1020"]);
    assert.equal(clock.now(), 1020);
  });
});
