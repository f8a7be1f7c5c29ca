import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { merge } from "./merge.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

async function* never(): AsyncGenerator<never> {
  await new Promise(() => {});
}

describe("merge", () => {
  it("gives what comes, in its order for each source, and ends with the first that ends", async () => {
    async function* count(name: string, to: number) {
      for (let i = 1; i <= to; i += 1) {
        await tick();
        yield `${name}${i}`;
      }
    }
    const seen = await Array.fromAsync(merge([count("a", 3), count("b", 100), never()]));
    assert.deepEqual(
      seen.filter((item) => item.startsWith("a")),
      ["a1", "a2", "a3"],
    );
    assert.ok(seen.length < 10);
  });

  it("asks a source for more only when its last item was taken", async () => {
    let asked = 0;
    async function* eager() {
      for (;;) yield ++asked;
    }
    const items = merge([eager(), never()]);
    await items.next();
    for (let i = 0; i < 5; i += 1) await tick();
    assert.ok(asked <= 2, `asked ${asked} times`);
    assert.equal((await items.next()).value, 2);
    await items.return(undefined);
  });

  it("fails with the first source that fails", async () => {
    async function* broken() {
      yield 1;
      throw new Error("broken");
    }
    await assert.rejects(Array.fromAsync(merge([never(), broken()])), /broken/);
  });
});
