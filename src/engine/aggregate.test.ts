import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event } from "../core/event.ts";
import { joinDeltas } from "./aggregate.ts";

const text = (delta: string, messageId = "m"): Event => ({ type: "text.delta", messageId, delta });
const thought = (delta: string, messageId = "m"): Event => ({ type: "reasoning.delta", messageId, delta });
const call = (delta: string, callId = "m"): Event => ({ type: "tool.delta", callId, delta });
const ended: Event = { type: "text.ended", messageId: "m", text: "" };

/** Everything that comes out, in order. */
function joined(...events: Event[]): Event[] {
  const { append, flush } = joinDeltas();
  return [...events.flatMap((event) => append(event)), ...flush()];
}

describe("joinDeltas", () => {
  it("joins deltas of one text that follow each other", () => {
    assert.deepEqual(joined(text("a"), text("b"), text("c")), [text("abc")]);
  });

  it("keeps texts, thoughts and calls apart, whatever their ids", () => {
    const mixed = [text("a"), text("b", "n"), thought("c"), call("d"), text("e")];
    assert.deepEqual(joined(...mixed), mixed);
  });

  it("lets nothing overtake a delta", () => {
    assert.deepEqual(joined(text("a"), text("b"), ended, text("c", "n")), [text("ab"), ended, text("c", "n")]);
  });

  it("does not join progress: each one replaces the last", () => {
    const progress = (output: number): Event => ({ type: "tool.progressed", callId: "c", output });
    assert.deepEqual(joined(progress(1), progress(2)), [progress(1), progress(2)]);
  });

  it("leaves the events it was given as they were", () => {
    const first = text("a");
    joined(first, text("b"));
    assert.deepEqual(first, text("a"));
  });

  it("has nothing left after a flush", () => {
    const { append, flush } = joinDeltas();
    append(text("a"));
    assert.deepEqual([flush(), flush()], [[text("a")], []]);
  });
});
