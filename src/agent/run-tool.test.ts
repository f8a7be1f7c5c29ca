import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import type { Json } from "../core/json.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type InternalConfig, runTool, toolCache } from "./run-tool.ts";
import { handBack, type ToolContext, type ToolDefinition, tool } from "./tool.ts";

type Definition = Partial<ToolDefinition<unknown, unknown>>;

/** A bench for one tool: what it returns, and the time it takes. */
function bench(definition: Definition, { internal = {} as InternalConfig, cache = toolCache() } = {}) {
  const clock = fakeClock();
  const stop = new AbortController();
  const shown: Json[] = [];
  const made = tool({ name: "x", description: "", input: z.looseObject({}), ...definition } as ToolDefinition<unknown, unknown>);
  const context = { callId: "c", threadId: "t", user: "u", values: {}, progress: (output: Json) => void shown.push(output) };
  const run = (input: Json = {}) => runTool(made, { input, context, signal: stop.signal, internal, clock, cache, scope: "u" });
  return { run, clock, stop, shown };
}

const failing =
  (times: number) =>
  (_: unknown, { attempt }: ToolContext) => {
    if (attempt <= times) throw new Error(`no ${attempt}`);
    return attempt;
  };

describe("runTool", () => {
  it("never throws: what goes wrong is an answer for the model", async () => {
    const thrown: unknown[] = [new Error("broken"), "text", undefined, new Error(""), { message: "odd" }];
    for (const error of thrown) {
      const { run } = bench({
        execute: () => {
          throw error;
        },
      });
      const execution = await run();
      assert.equal(execution.type, "failed");
      assert.ok(execution.type === "failed" && execution.error.length > 0);
    }
  });

  it("keeps a long error message short", async () => {
    const { run } = bench({ execute: () => Promise.reject(new Error("x".repeat(100_000))) });
    const execution = await run();
    assert.ok(execution.type === "failed" && execution.error.length <= 2_000);
  });

  it("hands back with the time it was given", async () => {
    assert.deepEqual(await bench({ execute: () => handBack({ timeout: "5s" }) }).run(), { type: "handed-back", timeout: 5_000 });
  });

  it("does not try a second time what was handed back, nor what succeeded", async () => {
    let ran = 0;
    const { run } = bench({ execute: () => (++ran ? handBack() : null), retries: 3 });
    await run();
    assert.equal(ran, 1);
  });

  it("waits twice as long before each further attempt", async () => {
    const { run, clock } = bench({ execute: failing(3), retries: 3 });
    const running = run();
    let at: number | undefined;
    void running.then(() => (at = clock.now()));
    for (let i = 0; i < 200; i += 1) await clock.advance(10);
    assert.deepEqual(await running, { type: "completed", output: 4 });
    assert.equal(at, 200 + 400 + 800);
  });

  it("answers with the last failure when all attempts fail", async () => {
    const { run, clock } = bench({ execute: failing(9), retries: 1 });
    const running = run();
    await clock.advance(1_000);
    assert.deepEqual(await running, { type: "failed", error: "no 2" });
  });

  it("stops trying when the run is over", async () => {
    const { run, stop, clock } = bench({ execute: failing(9), retries: 5 });
    const running = run();
    await clock.advance(10);
    stop.abort();
    assert.deepEqual(await running, { type: "failed", error: "The run ended first" });
  });

  it("gives each attempt its own time, and no timer outlives it", async () => {
    const { run, clock } = bench({ execute: () => new Promise(() => {}), timeout: "1s", retries: 1 });
    const running = run();
    await clock.advance(1_000);
    await clock.advance(200);
    await clock.advance(1_000);
    assert.deepEqual(await running, { type: "failed", error: "Timed out after 1000 ms" });
  });

  it("shows progress of an attempt that goes on, and not of one that is over", async () => {
    let late: ToolContext["progress"] = () => {};
    const { run, shown } = bench({
      execute: (_, { progress }) => {
        late = progress;
        progress({ done: 1 });
        return "ok";
      },
    });
    await run();
    late({ done: 2 });
    assert.deepEqual(shown, [{ done: 1 }]);
  });

  it("checks the input again: a person may have edited it since", async () => {
    const { run } = bench({ input: z.object({ n: z.number() }), execute: () => "ran" } as Definition);
    const execution = await run({ n: "many" });
    assert.ok(execution.type === "failed" && /schema: n/.test(execution.error));
  });
});

describe("toolCache", () => {
  it("forgets in time, and the oldest first when it is full", () => {
    const cache = toolCache(2);
    cache.set("a", 1, 100);
    cache.set("b", 2, 100);
    assert.equal(cache.get("a", 99), 1);
    assert.equal(cache.get("a", 100), undefined);
    cache.set("c", 3, 100);
    cache.set("d", 4, 100);
    assert.deepEqual([cache.get("b", 0), cache.get("c", 0), cache.get("d", 0)], [undefined, 3, 4]);
  });

  it("keeps an output of null apart from no output", async () => {
    let ran = 0;
    const { run } = bench({ execute: () => (++ran ? null : "never"), cache: { ttl: "1m" } });
    await run();
    assert.deepEqual([await run(), ran], [{ type: "completed", output: null }, 1]);
  });
});
