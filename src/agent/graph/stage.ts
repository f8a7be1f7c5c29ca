import type { Place } from "../../core/event.ts";
import type { Frame } from "../../core/graph.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Thread } from "../../core/thread.ts";
import type { StepContext } from "../agent.ts";
import type { Channel } from "./channel.ts";
import { freeze } from "./field.ts";
import type { Wish } from "./route.ts";

/** What one step of the outermost graph is played on. */
export type Stage = {
  context: StepContext;
  channel: Channel;
  /** Given answers that are on their way into the log as used. */
  used: Set<Frame>;
};

/** Where a graph is inside others: `key` names its frame, `path` the nodes around it. */
export type Scope = { key: string; path: readonly string[]; name: string; parentStepId: string | undefined };

export const OUTERMOST: Scope = { key: "", path: [], name: "", parentStepId: undefined };

/** The step a task runs in. */
export type TaskStep = { stepId: string; messageId: string; name: string; place: Place };

/** How a try of a task came out. A failure is thrown. */
export type Outcome = { type: "done"; wish: Wish } | { type: "suspended" };

/** The state of the graph with this frame. */
export function stateOf(thread: Thread, key: string): JsonObject {
  const state: Json | undefined = key === "" ? thread.state : thread.graph.frames[key]?.state;
  return freeze(isObject(state) ? state : {});
}

/** Where in the outermost graph something is: nested ones share its lineage and its checkpoint. */
export function placeOf(thread: Thread, path: readonly string[]): Place {
  const { lineageId = "", checkpointId = "" } = thread.graph.frames[""] ?? {};
  return { path: [...path], lineageId, checkpointId };
}
