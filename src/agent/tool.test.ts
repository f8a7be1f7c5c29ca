import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { handBack, isHandBack, type ToolDefinition, tool } from "./tool.ts";

const base = { name: "x", description: "", input: z.object({ n: z.number().default(1) }) };
const run = () => "ok";

describe("tool", () => {
  it("belongs to the server where it can be executed, to anyone outside where it cannot", () => {
    assert.equal(tool({ ...base, execute: run }).owner, "server");
    assert.equal(tool(base).owner, "external");
    assert.equal(tool({ ...base, owner: "client" }).owner, "client");
  });

  it("reads durations and policies once, when it is made", () => {
    const { timeout, onTimeout, cacheTtl } = tool({
      ...base,
      execute: run,
      timeout: "2m",
      cache: { ttl: "1h" },
      onTimeout: { default: null },
    });
    assert.deepEqual([timeout, onTimeout, cacheTtl], [120_000, { type: "default", output: null }, 3_600_000]);
    assert.deepEqual(tool({ ...base, onTimeout: "cancel" }).onTimeout, { type: "cancel" });
    assert.equal(tool(base).onTimeout, undefined);
  });

  it("asks for approval always, by input, or with a deadline", () => {
    const asks = (approval: ToolDefinition<{ n: number }, unknown>["approval"], n = 1) =>
      tool({ ...base, ...(approval !== undefined && { approval }) }).approval({ n });
    assert.equal(asks(undefined), undefined);
    assert.equal(asks(false), undefined);
    assert.deepEqual(asks(true), {});
    assert.deepEqual(asks({ timeout: "1m" }), { timeout: 60_000 });
    assert.equal(
      asks(({ n }) => n > 5, 3),
      undefined,
    );
    assert.deepEqual(
      asks(({ n }) => n > 5, 7),
      {},
    );
  });

  it("refuses what cannot work, naming the tool and the field", () => {
    const cases: [field: string, definition: object][] = [
      ["name", { name: "" }],
      ["name", { name: "a b" }],
      ["name", { name: "x".repeat(65) }],
      ["owner", { execute: run, owner: "client" }],
      ["approval", { owner: "client", approval: true }],
      ["execute", { retries: 1 }],
      ["execute", { cache: { ttl: "1s" } }],
      ["execute", { idempotent: true }],
      ["x.timeout", { timeout: "soon" }],
      ["x.cache.ttl", { execute: run, cache: { ttl: "soon" } }],
      ["x.approval.timeout", { approval: { timeout: "soon" } }],
    ];
    for (const [field, definition] of cases) {
      assert.throws(() => tool({ ...base, ...definition }), { code: "invalid", field }, JSON.stringify(definition));
    }
  });
});

describe("handBack", () => {
  it("is known by nothing but itself", () => {
    assert.ok(isHandBack(handBack()));
    assert.equal(handBack({ timeout: "1s" }).timeout, 1_000);
    for (const other of [undefined, null, "handBack", {}, { timeout: 1 }, [], () => 1]) assert.ok(!isHandBack(other));
    assert.ok(!isHandBack(JSON.parse(JSON.stringify(handBack()))));
  });
});
