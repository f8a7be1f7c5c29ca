import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromBase64, toBase64 } from "./base64.ts";

describe("base64", () => {
  it("brings bytes there and back, however many", () => {
    for (const length of [0, 1, 2, 3, 8191, 8192, 8193, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) % 256);
      assert.equal(toBase64(bytes), Buffer.from(bytes).toString("base64"));
      assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
    }
  });

  it("knows what it is not", () => {
    for (const text of ["%", "a", "ä", "aGk=x"]) assert.equal(fromBase64(text), undefined);
  });
});
