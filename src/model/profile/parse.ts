import type { ToolSpec } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import type { Found, Refusal } from "./calls.ts";
import { profileMachine } from "./machine.ts";
import type { Profile } from "./profile.ts";

/** What a profile makes of a whole message. */
export type Parsed = {
  text: string;
  reasoning: string;
  /** Calls in order. One with a `refusal` is told to the model and run by nobody. */
  calls: { id: string; name: string; input: Json; source: string; refusal?: Refusal }[];
  /** Everything that was refused, calls included. */
  refused: Refusal[];
};

/** Reads a whole message at once, or in the given pieces. `cut`: the model was stopped by its length limit. */
export function parse(
  profile: Profile,
  text: string | readonly string[],
  { tools, cut = false }: { tools: readonly ToolSpec[]; cut?: boolean },
): Parsed {
  const machine = profileMachine(profile, tools);
  const found: Found[] = [];
  for (const piece of typeof text === "string" ? [text] : text) found.push(...machine.push(piece));
  found.push(...machine.finish({ cut }));
  const parsed: Parsed = { text: "", reasoning: "", calls: [], refused: [] };
  for (const event of found) {
    if (event.type === "text" || event.type === "reasoning") parsed[event.type] += event.delta;
    else if (event.type === "refused") parsed.refused.push(event.refusal);
    else if (event.type === "called") {
      const { type, ...call } = event;
      parsed.calls.push(call);
      if (call.refusal) parsed.refused.push(call.refusal);
    }
  }
  return parsed;
}
