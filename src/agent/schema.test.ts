import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { fromJsonSchema, type StandardSchema, toSchema } from "./schema.ts";

const problem = async (schema: { check(value: unknown): Promise<object> }, value: unknown) => {
  const verdict = await schema.check(value);
  return "problem" in verdict ? String(verdict.problem) : undefined;
};

describe("a Standard Schema", () => {
  const schema = toSchema(z.object({ city: z.string(), days: z.number().int().default(3) }), "Tool weather");

  it("describes itself to models as what may be sent, not as what comes out", () => {
    assert.equal(schema.json["type"], "object");
    assert.deepEqual(schema.json["required"], ["city"]);
  });

  it("gives the value as its author wants it", async () => {
    assert.deepEqual(await schema.check({ city: "Rome" }), { value: { city: "Rome", days: 3 } });
  });

  it("says what is wrong in one line that a model can act on", async () => {
    assert.match((await problem(schema, { city: 7, days: 1.5 })) ?? "", /^city: .*; days: /);
    assert.doesNotMatch((await problem(schema, {})) ?? "", /\n/);
  });

  it("names no more than five of many problems", async () => {
    const strict = toSchema(z.array(z.string()), "Tool x");
    const said = await problem(
      strict,
      Array.from({ length: 50 }, (_, i) => i),
    );
    assert.match(said ?? "", /and 45 more$/);
    assert.ok((said ?? "").length < 500);
  });

  it("may take its time", async () => {
    const slow = toSchema(
      z.string().refine(async (text) => text === "yes"),
      "Tool x",
    );
    assert.deepEqual(await slow.check("yes"), { value: "yes" });
    assert.ok(await problem(slow, "no"));
  });

  it("that cannot describe itself is refused when the tool is made", () => {
    const mute: StandardSchema = { "~standard": { version: 1, vendor: "mute", validate: (value) => ({ value }) } };
    assert.throws(() => toSchema(mute, "Tool x"), { code: "invalid", message: /Tool x: mute schemas cannot describe themselves/ });
  });
});

describe("plain JSON Schema", () => {
  const json = {
    type: "object",
    properties: {
      colour: { enum: ["red", "blue"] },
      size: { type: "integer", minimum: 1 },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["colour"],
  };

  it("checks, and passes the value on as it was", async () => {
    const value = { colour: "red", extra: { deep: [1] } };
    const verdict = await fromJsonSchema(json).check(value);
    assert.ok("value" in verdict);
    assert.equal(verdict.value, value);
  });

  it("finds what does not fit", async () => {
    for (const wrong of [{}, { colour: "green" }, { colour: "red", size: 0 }, { colour: "red", tags: [7] }, [], "red", null]) {
      assert.ok(await problem(fromJsonSchema(json), wrong), JSON.stringify(wrong));
    }
  });

  it("is compiled once for each schema object", () => {
    assert.equal(fromJsonSchema(json), fromJsonSchema(json));
    assert.notEqual(fromJsonSchema(json), fromJsonSchema({ ...json }));
  });

  it("that we cannot compile lets objects pass, and nothing else", async () => {
    for (const odd of [{ $ref: "#/nowhere" }, { type: "hologram" }, { type: "object", if: { required: ["a"] } }]) {
      const schema = fromJsonSchema(odd);
      assert.equal(await problem(schema, { any: "thing" }), undefined, JSON.stringify(odd));
      assert.ok(await problem(schema, "text"), JSON.stringify(odd));
    }
  });

  it("that is empty or says only `object` takes any object", async () => {
    assert.equal(await problem(fromJsonSchema({ type: "object" }), { a: 1 }), undefined);
    assert.equal(await problem(fromJsonSchema({}), { a: 1 }), undefined);
  });
});
