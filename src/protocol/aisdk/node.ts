import type { StoredEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Chunk } from "./chunk.ts";

type Step = Extract<StoredEvent, { type: "step.started" | "step.ended" }>;

/** A node of a graph as it starts, completes and fails: for the page's `onData`, and no part of the message. */
export function node(step: Step): Chunk[] {
  const { place, name } = step;
  const told = phase(step);
  if (!told) return [];
  const { path, lineageId, checkpointId } = place ?? { path: [name] };
  const where = { nodeId: path.at(-1) ?? name, path, ...(lineageId !== undefined && { lineageId, checkpointId }) };
  return [{ type: "data-node", data: { ...where, ...told }, transient: true }];
}

/** A node that asks, is cancelled or is tried again has neither completed nor failed. */
function phase(step: Step): JsonObject | undefined {
  if (step.type === "step.started") return { phase: "start", ...(step.attempt !== undefined && { attempt: step.attempt }) };
  if (step.completed) return { phase: "complete" };
  return step.error && !step.retrying ? { phase: "error", error: step.error.message } : undefined;
}
