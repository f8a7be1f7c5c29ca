/** One frame of an event stream. */
export type Frame = { event: string; data: string; id: string | undefined };

/** Reads an event stream, however its bytes are cut into chunks. `alive` is called for each chunk, comments included. */
export async function* readFrames(body: ReadableStream<Uint8Array>, alive: () => void = () => {}): AsyncGenerator<Frame> {
  for await (const frames of readBatches(body, alive)) yield* frames;
}

/** The same, with those frames together that came together. */
export async function* readBatches(body: ReadableStream<Uint8Array>, alive: () => void = () => {}): AsyncGenerator<Frame[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /** A line that is not complete yet, in pieces: joining them for every chunk would be quadratic. */
  let begun: string[] = [];
  let frame = EMPTY;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return; // a frame without its blank line was cut off: it is sent again
      alive();
      const text = decoder.decode(value, { stream: true });
      let start = 0;
      const frames: Frame[] = [];
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
        begun.push(text.slice(start, end));
        const line = begun.join("").replace(/\r$/, "");
        begun = [];
        start = end + 1;
        if (line !== "") frame = take(frame, line);
        else {
          if (frame.data !== undefined) frames.push({ ...frame, data: frame.data });
          frame = EMPTY;
        }
      }
      begun.push(text.slice(start));
      if (frames.length > 0) yield frames;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

type Piece = { event: string; data: string | undefined; id: string | undefined };

const EMPTY: Piece = { event: "message", data: undefined, id: undefined };

function take(frame: Piece, line: string): Piece {
  const colon = line.indexOf(":");
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (field === "data") return { ...frame, data: frame.data === undefined ? value : `${frame.data}\n${value}` };
  return field === "event" || field === "id" ? { ...frame, [field]: value } : frame;
}
