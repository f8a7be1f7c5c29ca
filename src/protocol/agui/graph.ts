import type { Place, StoredEvent, Wait } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import type { Frame } from "./encode.ts";

/** Which activities of graphs a door tells. */
export type GraphView = {
  /** `graph.node.lifecycle`: nodes as they start, complete and fail. */
  lifecycle: boolean;
  /** `graph.node.interrupt`: what a graph waits for, and what it goes on with. */
  interrupts: boolean;
  /** Of what a graph inside a graph waits for, only the outermost node. */
  topLevelOnly: boolean;
};

export const ALL_OF_GRAPHS: GraphView = { lifecycle: true, interrupts: true, topLevelOnly: false };

type Started = Extract<StoredEvent, { type: "step.started" }>;
type Ended = Extract<StoredEvent, { type: "step.ended" }>;

/**
 * A model's step inside a node, which is told as the node's: clients know steps by their names and refuse a second one of the same
 * name, and a node may be called like the model in it.
 */
export function isInside({ parentStepId, place }: { parentStepId?: string; place?: Place }): boolean {
  return parentStepId !== undefined && !place;
}

/** Seed 003's node phases. A node that asks, is cancelled or is tried again has neither completed nor failed. */
export function lifecycle(step: Started | Ended): Frame[] {
  const { place } = step;
  if (!place) return [];
  if (step.type === "step.started") return nodeStarted(place, step.attempt);
  if (step.completed) return phase(place, { phase: "complete" });
  if (!step.error || step.retrying) return [];
  return phase(place, { phase: "error", error: step.error.message });
}

/** A node that runs. */
export function nodeStarted(place: Place, attempt?: number): Frame[] {
  return phase(place, { phase: "start", ...(attempt !== undefined && { attempt }) });
}

function phase(place: Place, told: { phase: string; [field: string]: Json }): Frame[] {
  return activity(place.lineageId, LIFECYCLE, [{ op: "add", path: "/node", value: { nodeId: nodeOf(place.path), ...told } }]);
}

/**
 * What a graph waits for, as seed 003 announces it: the node that asks, then each node around it under the same key.
 * The last one is the outermost, which is where a client that keeps one document ends up.
 */
export function interrupts(waits: readonly Wait[], { topLevelOnly }: GraphView): Frame[] {
  return waits.flatMap((wait) => {
    const { place } = wait;
    if (!place) return [];
    const { path, lineageId, checkpointId } = place;
    const key = place.key ?? wait.callId ?? null;
    const prompt: Json = wait.type === "call" ? { tool: wait.name, toolCallId: wait.callId } : wait.prompt;
    const nodes = topLevelOnly ? path.slice(0, 1) : path.toReversed();
    return nodes.flatMap((nodeId) =>
      activity(lineageId, INTERRUPT, [{ op: "add", path: "/interrupt", value: { nodeId, key, prompt, checkpointId, lineageId } }]),
    );
  });
}

type Resume = NonNullable<Extract<StoredEvent, { type: "run.started" }>["resume"]>;

/** Acknowledges what a graph goes on with, before any of its nodes starts. */
export function resumed({ lineageId, checkpointId, answers }: Resume): Frame[] {
  return activity(lineageId, INTERRUPT, [
    { op: "add", path: "/interrupt", value: null },
    { op: "add", path: "/resume", value: { checkpointId, lineageId, resumeMap: answers } },
  ]);
}

const LIFECYCLE = "graph.node.lifecycle";
const INTERRUPT = "graph.node.interrupt";

/** One document for each turn and kind. A delta without its snapshot is lost on clients; an empty one that replaces nothing costs nothing. */
function activity(lineageId: string, activityType: string, patch: Json[]): Frame[] {
  const messageId = `${lineageId}:${activityType}`;
  return [
    { type: "ACTIVITY_SNAPSHOT", messageId, activityType, content: {}, replace: false },
    { type: "ACTIVITY_DELTA", messageId, activityType, patch },
  ];
}

function nodeOf(path: readonly string[]): string {
  return path.at(-1) ?? "";
}
