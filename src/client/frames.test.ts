import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Frame, readFrames } from "./frames.ts";

const TEXT =
  ': open\n\nid: 1\ndata: {"a":"ü😀"}\n\nevent: head\nid: a:1,b:2\ndata: x\n\n: hb\n\ndata:y\nretry: 5\ndata\ndata:  z\n\nevent: empty\n\ndata: cut off';
const FRAMES: Frame[] = [
  { event: "message", id: "1", data: '{"a":"ü😀"}' },
  { event: "head", id: "a:1,b:2", data: "x" },
  { event: "message", id: undefined, data: "y\n\n z" },
];

describe("readFrames", () => {
  it("reads the same frames however the bytes are cut", async () => {
    const bytes = new TextEncoder().encode(TEXT);
    for (let size = 1; size <= bytes.length; size += 1) assert.deepEqual(await read(bytes, size), FRAMES, `chunks of ${size}`);
  });

  it("takes line ends of other servers too", async () => {
    const bytes = new TextEncoder().encode(TEXT.replaceAll("\n", "\r\n"));
    for (const size of [1, 2, 3, 7, 1000]) assert.deepEqual(await read(bytes, size), FRAMES);
  });

  it("reports every chunk, and lets go of the stream when nobody reads on", async () => {
    let heard = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(": hb\n\ndata: 1\n\n")),
      cancel() {
        cancelled = true;
      },
    });
    for await (const { data } of readFrames(body, () => heard++)) {
      assert.equal(data, "1");
      if (heard === 3) break;
    }
    assert.ok(cancelled);
  });

  it("reads one long frame in small chunks in linear time", async () => {
    const bytes = new TextEncoder().encode(`data: ${"x".repeat(4_000_000)}\n\n`);
    const start = performance.now();
    const [frame] = await read(bytes, 1000);
    assert.equal(frame?.data.length, 4_000_000);
    assert.ok(performance.now() - start < 2000);
  });
});

async function read(bytes: Uint8Array, size: number): Promise<Frame[]> {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
  return Array.fromAsync(readFrames(body));
}
