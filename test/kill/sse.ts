/** One frame of an event stream as it came over the wire. */
export type Frame = { id: number | undefined; data: string };

/** The frames of a stream until it ends or breaks. What was cut off in the middle of a frame was not seen. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const frame = toFrame(block);
      if (frame) yield frame;
    }
  }
}

function toFrame(block: string): Frame | undefined {
  const lines = block.split("\n");
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const id = field("id");
  const data = field("data");
  return data === undefined ? undefined : { id: id === undefined ? undefined : Number(id), data };
}
