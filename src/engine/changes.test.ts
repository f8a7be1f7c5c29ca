import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ThreadKey } from "../core/ids.ts";
import { localBus } from "../store/bus.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { changes } from "./changes.ts";

const key = (threadId: string): ThreadKey => ({ app: "a", user: "u", threadId });
const ids = ({ value }: IteratorResult<ThreadKey[]>) => (value as ThreadKey[] | undefined)?.map(({ threadId }) => threadId);

function setUp(everyMs: number) {
  const [bus, clock, abort] = [localBus(), fakeClock(), new AbortController()];
  const wanted = ({ threadId }: ThreadKey) => threadId !== "other";
  const news = changes({ bus, clock }, { wanted, everyMs, signal: abort.signal });
  return { bus, clock, abort, news };
}

describe("changes", () => {
  it("tells of a thread at once, and then no more often than asked", async () => {
    const { bus, clock, news } = setUp(100);
    for (const name of ["x", "other", "x", "y", "x"]) bus.publish(key(name));
    assert.deepEqual(ids(await news.next()), ["x", "y"]);
    const next = news.next();
    await clock.advance(99);
    bus.publish(key("z"));
    assert.deepEqual(ids(await next), ["z"]);
    await clock.advance(1);
    assert.deepEqual(ids(await news.next()), ["x"]);
    await news.return(undefined);
  });

  it("hears what happened between the call and the first look, and gathers while nobody looks", async () => {
    const { bus, news } = setUp(0);
    for (let i = 0; i < 1000; i += 1) bus.publish(key(`t${i % 3}`));
    assert.deepEqual(ids(await news.next()), ["t0", "t1", "t2"]);
    bus.publish(key("t0"));
    assert.deepEqual(ids(await news.next()), ["t0"]);
  });

  it("ends when it is stopped, and when its reader is too far behind", async () => {
    const stopped = setUp(100);
    const next = stopped.news.next();
    stopped.abort.abort();
    assert.equal((await next).done, true);

    const slow = setUp(0);
    for (let i = 0; i <= 10_000; i += 1) slow.bus.publish(key(`t${i}`));
    assert.equal((await slow.news.next()).done, true);
  });
});
