import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AppError } from "../../core/error.ts";
import { readResume } from "./resume.ts";

describe("readResume", () => {
  it("reads what seed 003's clients send, in snake case or camel case", () => {
    const wanted = { lineageId: "l", checkpointId: "c", answers: { confirm: true } };
    assert.deepEqual(readResume({ lineage_id: "l", checkpoint_id: "c", resume_map: { confirm: true } }), wanted);
    assert.deepEqual(readResume({ lineageId: "l", checkpointId: "c", resumeMap: { confirm: true }, userId: "alice" }), wanted);
  });

  it("reads a single answer, also where it is nothing", () => {
    assert.deepEqual(readResume({ lineage_id: "l", resume: false }), { lineageId: "l", value: false });
    assert.deepEqual(readResume({ lineage_id: "l", resume: null }), { lineageId: "l", value: null });
  });

  it("reads a lineage alone: results may come with it", () => {
    assert.deepEqual(readResume({ lineage_id: "l", checkpoint_id: "", resume_map: null }), { lineageId: "l" });
  });

  it("leaves the app's own props alone", () => {
    for (const props of [undefined, null, "x", [], {}, { userId: "alice" }, { resume: "my curriculum vitae" }, { lineage_id: "" }]) {
      assert.equal(readResume(props), undefined, JSON.stringify(props));
    }
  });

  it("names the field that is wrong", () => {
    const field = (props: object) => {
      try {
        return readResume(props as never);
      } catch (error) {
        return error instanceof AppError && error.field;
      }
    };
    assert.equal(field({ lineage_id: 7 }), "forwardedProps.lineage_id");
    assert.equal(field({ lineage_id: "l", resume_map: ["x"] }), "forwardedProps.resume_map");
    assert.equal(field({ checkpointId: {} }), "forwardedProps.checkpoint_id");
  });
});
