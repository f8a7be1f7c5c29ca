import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Duration, toMs } from "./duration.ts";

describe("toMs", () => {
  it("takes milliseconds and numbers with a unit", () => {
    assert.deepEqual(
      ([0, 250, "250ms", "30s", "1.5m", "2h", "7d"] as Duration[]).map((duration) => toMs(duration, "timeout")),
      [0, 250, 250, 30_000, 90_000, 7_200_000, 604_800_000],
    );
  });

  it("refuses everything else, and says where it stood", () => {
    for (const duration of ["", "30", "30 s", "s", "-1s", "1w", "1e3s", -1, Number.NaN, Number.POSITIVE_INFINITY, null, {}]) {
      assert.throws(() => toMs(duration as Duration, "menu.timeout"), {
        code: "invalid",
        field: "menu.timeout",
        message: /^menu.timeout: /,
      });
    }
  });
});
