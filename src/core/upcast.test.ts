import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decide } from "./decide.ts";
import { EVENT_VERSION } from "./event.ts";
import { asked, given, run } from "./given.ts";
import { emptyThread, fold } from "./thread.ts";
import { type Upcaster, upcast } from "./upcast.ts";

/** Version 1 said `words`, version 2 nothing new, version 3 has `text` and a language. */
const made: (Upcaster | undefined)[] = [
  undefined,
  ({ words, ...event }) => ({ ...event, text: words }),
  undefined,
  (event) => ({ ...event, language: "en" }),
];

describe("an event of an older release", () => {
  it("is lifted version by version, one event in and one out, at the same place", () => {
    const old = { type: "text.ended", seq: 7, at: 3, words: "hi" };
    assert.deepEqual(upcast(old, 1, made, 4), { type: "text.ended", seq: 7, at: 3, text: "hi", language: "en", v: 4 });
    assert.deepEqual(upcast({ type: "text.ended", seq: 7, at: 3, text: "hi" }, 2, made, 4), {
      type: "text.ended",
      seq: 7,
      at: 3,
      text: "hi",
      language: "en",
      v: 4,
    });
    assert.deepEqual(old, { type: "text.ended", seq: 7, at: 3, words: "hi" }, "the stored one stays as it is");
  });

  it("needs no lifting when it is of this one", () => {
    const event = { ...asked(), seq: 1, at: 0 };
    assert.deepEqual(upcast(event, EVENT_VERSION), { ...event, v: EVENT_VERSION });
  });
});

describe("an event of a newer release", () => {
  it("passes through as it is, and keeps this release from deciding", () => {
    // 1.19: during a rolling upgrade readers skip what they do not know, but nobody decides on it: 503.
    const later = upcast({ type: "tea.brewed", seq: 2, at: 0, leaves: 3 }, EVENT_VERSION + 1);
    assert.deepEqual(later, { type: "tea.brewed", seq: 2, at: 0, leaves: 3, v: EVENT_VERSION + 1 });
    const { thread } = given(asked());
    fold(thread, later);
    assert.throws(() => decide(thread, run()), { code: "unavailable" });
    assert.deepEqual(fold(emptyThread(), later).history, []);
  });
});
