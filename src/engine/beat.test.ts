import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fakeClock } from "../testing/fake-clock.ts";
import { beat } from "./beat.ts";

describe("beat", () => {
  it("comes for all at the same time, whenever they began to wait", async () => {
    const clock = fakeClock(1_000);
    const { next } = beat(clock, 25);
    const heard: [string, number, number][] = [];
    const wait = (who: string) => next((at) => heard.push([who, at, clock.now()]));
    wait("a");
    await clock.advance(10);
    wait("b");
    wait("c")();
    await clock.advance(14);
    assert.deepEqual(heard, []);
    await clock.advance(1);
    assert.deepEqual(heard, [
      ["a", 1_025, 1_025],
      ["b", 1_025, 1_025],
    ]);
    await clock.advance(3);
    wait("d");
    await clock.advance(22);
    assert.deepEqual(heard.at(-1), ["d", 1_050, 1_050]);
  });

  it("has one timer, and none while nobody waits", async () => {
    const clock = fakeClock();
    let timers = 0;
    const counted = {
      now: clock.now,
      after(ms: number, work: () => void) {
        timers += 1;
        return clock.after(ms, work);
      },
    };
    const { next } = beat(counted, 25);
    for (let i = 0; i < 5; i += 1) next(() => {})();
    for (let i = 0; i < 5; i += 1) next(() => {});
    await clock.advance(1_000);
    assert.equal(timers, 1);
  });

  it("says whether there was one", async () => {
    const clock = fakeClock(30);
    const { since } = beat(clock, 25);
    assert.equal(since(24), true);
    assert.equal(since(25), false);
    assert.equal(since(50), false); // one that a timer was early for
    await clock.advance(20);
    assert.equal(since(25), true);
    assert.equal(since(Number.NEGATIVE_INFINITY), true);
    assert.equal(beat(clock, 0).since(clock.now()), true);
  });

  it("is slower the more speak, up to four times, and at its own pace again when they are silent", async () => {
    const clock = fakeClock();
    const { hear, next } = beat(clock, 25);
    const interval = async () => {
      const times: number[] = [];
      next((first) => {
        times.push(first);
        next((second) => times.push(second));
      });
      await clock.advance(200);
      return (times[1] ?? 0) - (times[0] ?? 0);
    };
    const crowd = Array.from({ length: 5_000 }, () => ({}));
    for (const [speakers, expected] of [
      [1, 25],
      [249, 25],
      [250, 50],
      [500, 75],
      [750, 100],
      [5_000, 100],
    ] as const) {
      for (const speaker of crowd.slice(0, speakers)) for (let times = 0; times < 3; times += 1) hear(speaker);
      assert.equal(await interval(), expected, `${speakers} speakers`);
    }
    await clock.advance(2_000);
    hear({});
    assert.equal(await interval(), 25);
  });
});
