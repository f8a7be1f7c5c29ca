import type { Random } from "./random.ts";

/** Every way a call can be run: outside, in the browser, here (once or more often), after a person's yes. */
export const TOOLS = ["look", "rush", "click", "note", "charge", "refund", "ship", "defer"] as const;
export type ToolName = (typeof TOOLS)[number];

/** Milliseconds the outside has for a call of `rush`. */
export const RUSH_MS = 400;

/** What the model does in a turn. It is the user's message, so that a restarted model reads it again and goes on. */
export type Plan = { words: number; steps: ToolName[][] };

export function somePlan(chance: Random): Plan {
  const steps = Array.from({ length: chance.between(0, 4) }, () => Array.from({ length: chance.between(1, 3) }, () => chance.pick(TOOLS)));
  return { words: chance.chance(0.2) ? chance.between(30, 80) : chance.between(1, 8), steps };
}
