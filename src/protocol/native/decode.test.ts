import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AppError } from "../../core/error.ts";
import { decodeAnswer, decodeClaim, decodeResult, decodeRun } from "./decode.ts";

const mint = (prefix: string) => `${prefix}_1`;

function refuses(work: () => unknown, field?: string): void {
  assert.throws(work, (error) => error instanceof AppError && error.code === "invalid" && error.field === field);
}

describe("decodeRun", () => {
  it("names what the client left nameless", () => {
    assert.deepEqual(decodeRun({ message: "hi" }, mint), { runId: "run_1", message: { id: "msg_1", content: "hi" } });
    const named = { runId: "r", message: { id: "m", content: [{ type: "text", text: "hi" }], name: "Ann" } };
    assert.deepEqual(decodeRun(named, mint), named);
  });

  it("takes tools with their schema under either name, and files as bytes", () => {
    const { tools, message } = decodeRun(
      {
        message: { content: [{ type: "file", mediaType: "text/plain", data: "aGk=" }] },
        tools: [
          { name: "a", parameters: { x: 1 } },
          { name: "b", description: "B", input: { y: 1 } },
        ],
      },
      mint,
    );
    assert.deepEqual(tools, [
      { name: "a", description: "", input: { x: 1 } },
      { name: "b", description: "B", input: { y: 1 } },
    ]);
    assert.deepEqual(message?.content, [{ type: "file", mediaType: "text/plain", data: new Uint8Array([104, 105]) }]);
  });

  it("needs something to answer", () => {
    refuses(() => decodeRun({}, mint), "message");
    assert.deepEqual(decodeRun({ rewindTo: "m" }, mint), { runId: "run_1", rewindTo: "m" });
    refuses(() => decodeRun({ message: null }, mint), "message");
    refuses(() => decodeRun("hi", mint));
  });

  it("leaves instructions to the agent", () => {
    assert.deepEqual(decodeRun({ message: "hi", options: { instructions: "x", toolExecution: {}, maxSteps: 2 } }, mint).options, {
      maxSteps: 2,
    });
  });
});

describe("decodeResult", () => {
  it("takes an output, also null, or an error", () => {
    assert.deepEqual(decodeResult({ output: null }, "c"), { callId: "c", status: "completed", output: null });
    assert.deepEqual(decodeResult({ error: "no", claim: 2, metadata: { a: 1 } }, "c"), {
      callId: "c",
      status: "failed",
      error: "no",
      claim: 2,
      metadata: { a: 1 },
    });
  });

  it("refuses both, neither and what it does not know", () => {
    refuses(() => decodeResult({}, "c"), "output");
    refuses(() => decodeResult({ output: 1, error: "x" }, "c"));
    refuses(() => decodeResult({ output: 1, is_error: true }, "c"));
    refuses(() => decodeResult({ output: 1, claim: "1" }, "c"), "claim");
  });
});

describe("decodeAnswer and decodeClaim", () => {
  it("read what they should", () => {
    assert.deepEqual(decodeAnswer({ value: false }, "i"), { interruptId: "i", status: "resolved", value: false });
    assert.deepEqual(decodeAnswer({ status: "cancelled" }, "i"), { interruptId: "i", status: "cancelled" });
    refuses(() => decodeAnswer({ status: "resolved" }, "i"), "value");
    assert.deepEqual(decodeClaim({}), { seconds: 30 });
    refuses(() => decodeClaim({ seconds: 0.5 }), "seconds");
  });
});
