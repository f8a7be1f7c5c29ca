import type { ToolSpec } from "../../src/core/event.ts";
import type { Json } from "../../src/core/json.ts";

/** The tools of the profile cases. */
export const TOOLS: readonly ToolSpec[] = [
  spec("browser_js_eval", { code: { type: "string" } }),
  spec("get_weather", { city: { type: "string" }, unit: { type: "string" } }),
  spec("search", { query: { type: "string" }, limit: { type: "integer" } }),
  spec("get_time", { tz: { type: "string" } }),
  spec("ping", {}),
  spec("write_file", { path: { type: "string" }, content: { type: "string" } }),
  spec("set_config", { config: {} }),
];

function spec(name: string, properties: Record<string, Json>): ToolSpec {
  return { name, description: `The tool ${name}`, input: { type: "object", properties } };
}

/** A text in pieces: of 1, 2, 3 and 7 units, and five times at random. */
export function* chunked(text: string): Generator<string[]> {
  for (const size of [1, 2, 3, 7]) yield cutInto(text, () => size);
  let seed = text.length + 1;
  for (let i = 0; i < 5; i += 1) {
    yield cutInto(text, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return 1 + (seed % 13);
    });
  }
}

export function cutInto(text: string, size: () => number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = from + size();
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
