import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event, StoredEvent } from "../../core/event.ts";
import { encode } from "./encode.ts";

const place = { path: ["cook"], lineageId: "turn", checkpointId: "k" };
const started: Event = { type: "step.started", stepId: "s", name: "cook", kind: "node", messageId: "m", taskId: "t", place };
const ended: Event = { type: "step.ended", stepId: "s", name: "cook", completed: true, place };

describe("a node on the AI SDK's wire", () => {
  const told = (...events: Event[]) =>
    events.flatMap((event, i) => encode("t", { ...event, seq: i + 1, at: 0, v: 1 } as StoredEvent, "aisdk:7"));
  const phases = (...events: Event[]) =>
    told(...events).map((chunk) => {
      assert.equal(chunk.type, "data-node");
      const { data, transient } = chunk as { data?: { nodeId?: string; phase?: string }; transient?: boolean };
      assert.equal(transient, true, "no part of the message");
      return `${data?.nodeId} ${data?.phase}`;
    });

  it("starts and completes", () => {
    assert.deepEqual(phases(started, ended), ["cook start", "cook complete"]);
  });

  it("fails once it is not tried again", () => {
    const error = { code: "internal" as const, message: "No gas" };
    assert.deepEqual(phases({ ...ended, completed: false, error }), ["cook error"]);
    assert.deepEqual(phases({ ...ended, completed: false, error, retrying: true }), []);
  });

  it("says nothing when it only waits", () => {
    assert.deepEqual(phases({ ...ended, completed: false }), []);
  });
});
