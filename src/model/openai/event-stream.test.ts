import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventStream } from "./event-stream.ts";

function read(pieces: Iterable<string>): string[] {
  const found: string[] = [];
  const { push, end } = eventStream((data) => found.push(data));
  for (const piece of pieces) push(piece);
  end();
  return found;
}

describe("eventStream", () => {
  it("finds the same events wherever the text is cut", () => {
    const text = '\uFEFF: hello\r\n\r\ndata: {"a":1}\r\n\r\nevent: x\ndata:{"b":2}\nid: 7\n\ndata: one\ndata: two\n\n\n\ndata: last';
    const expected = ['{"a":1}', '{"b":2}', "one\ntwo", "last"];
    assert.deepEqual(read([text]), expected);
    assert.deepEqual(read(text), expected);
    for (let cut = 1; cut < text.length; cut += 1) assert.deepEqual(read([text.slice(0, cut), text.slice(cut)]), expected);
  });

  it("refuses a line, or an event of many lines, that would fill the memory", () => {
    const megabyte = "x".repeat(1024 * 1024);
    assert.throws(() => read(["data: ", ...Array<string>(40).fill(megabyte)]), { name: "AppError", code: "model" });
    assert.throws(() => read(Array<string>(40).fill(`data: ${megabyte}\n`)), { name: "AppError", code: "model" });
  });

  it("takes about four times as long for a line of four times the length, and not sixteen times", () => {
    const time = (pieces: number) => {
      const { push, end } = eventStream(() => {});
      const start = performance.now();
      push("data: ");
      for (let i = 0; i < pieces; i += 1) push("four");
      push("\n\n");
      end();
      return performance.now() - start;
    };
    const best = (pieces: number) => Math.min(...Array.from({ length: 5 }, () => time(pieces)));
    const [short, long] = [best(400_000), best(1_600_000)];
    assert.ok(long < 12 * short, `${short} ms and ${long} ms`);
  });
});
