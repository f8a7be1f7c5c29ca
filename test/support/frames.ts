import assert from "node:assert/strict";

/** One frame of an event stream, with the SSE id it came with. */
export type Frame = { type: string; id?: string; [field: string]: unknown };

export function framesIn(text: string): Frame[] {
  return text.split("\n\n").flatMap((block) => toFrame(block) ?? []);
}

function toFrame(block: string): Frame | undefined {
  let id: string | undefined;
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (data === "" || data === "[DONE]") return undefined;
  return { ...(JSON.parse(data) as Frame), ...(id !== undefined && { id }) };
}

/** The order of a stream, as the seeds print it: how many deltas a text came in is a matter of timing. */
export function types(frames: readonly { type: string }[]): string[] {
  return frames.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1] || !/(CONTENT|ARGS|[.]delta)$/.test(type));
}

/** What an assistant said over a stream. */
export function textOf(frames: readonly Frame[]): string {
  return frames
    .filter(({ type }) => type === "TEXT_MESSAGE_CONTENT")
    .map(({ delta }) => delta)
    .join("");
}

export function last(frames: readonly Frame[]): Frame {
  const frame = frames.at(-1);
  assert.ok(frame, "the stream was empty");
  return frame;
}

/** A stream that is still being written. */
export type Open = {
  status: number;
  /** What has been read so far. */
  frames: Frame[];
  /** Reads on to the next frame of this type. */
  until(type: string): Promise<Frame>;
  /** Reads to the end. */
  rest(): Promise<Frame[]>;
  /** Hangs up. */
  abort(): void;
};

export function openStream(response: Response, abort: AbortController): Open {
  assert.equal(response.status, 200);
  const frames: Frame[] = [];
  const text = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  const more = async () => {
    const { done, value = "" } = (await text?.read()) ?? { done: true };
    buffer += value;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) frames.push(...framesIn(block));
    return !done;
  };
  return {
    status: response.status,
    frames,
    async until(type) {
      for (let looked = 0; ; ) {
        for (; looked < frames.length; looked += 1) {
          const frame = frames[looked];
          if (frame?.type === type) return frame;
        }
        assert.ok(await more(), `the stream ended without ${type}`);
      }
    },
    async rest() {
      while (await more());
      return frames;
    },
    abort: () => abort.abort(),
  };
}
