import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AppError } from "../../core/error.ts";
import { decodeOffset, decodeVector, encodeVector, type Watched } from "./offset.ts";

const refuses = (work: () => unknown) =>
  assert.throws(work, (error) => error instanceof AppError && error.code === "invalid" && error.field === "watch");

describe("decodeOffset", () => {
  it("takes the seq of an event, and nothing for the beginning", () => {
    assert.deepEqual(
      [decodeOffset("12", "watch"), decodeOffset("0", "watch"), decodeOffset(undefined, "watch"), decodeOffset("", "watch")],
      [12, 0, 0, 0],
    );
  });

  it("refuses everything else", () => {
    for (const text of ["-1", "abc", "1e30", "1.5", " 1", "0x1", "1".repeat(16), "Infinity"]) refuses(() => decodeOffset(text, "watch"));
  });
});

describe("a vector", () => {
  it("reads what it writes, whatever threads and users are called", () => {
    const watched: Watched[] = [
      { threadId: "a", after: 12 },
      { threadId: "x:y:3", after: 0 },
      { threadId: "t", user: "a,b~c:d/é%", after: 40 },
      { threadId: "a@b|c/d+e=f", user: "", after: 999_999_999_999_999 },
    ];
    const text = encodeVector(watched);
    assert.match(text, /^[\x20-\x7e]*$/);
    assert.deepEqual(decodeVector(text, "watch"), watched);
    assert.deepEqual(decodeVector("", "watch"), []);
  });

  it("refuses what is none", () => {
    for (const text of ["a", "a:", ":1", "a:-1", "a:1,", "a b:1", "%~a:1", Array(101).fill("a:1").join(",")])
      refuses(() => decodeVector(text, "watch"));
  });
});
