import type { StepContext } from "../agent/agent.ts";
import type { Event, Task } from "../core/event.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { segment } from "../core/patch.ts";
import { difference } from "./difference.ts";
import { type Kept, type Standing, standingAt } from "./memory.ts";
import type { Begun } from "./speech.ts";

/** What a graph keeps and where it stands, as events: only what has changed since the last time. */
export type GraphLog = {
  kept(kept: Kept): Event[];
  /** A barrier, once, as soon as it is known what comes next: by the tasks that begin there. */
  begun(begun: Begun | undefined): Event[];
  /** The same at the end of a run, where nothing begins. */
  stopped(kept: Kept, next: readonly string[]): Event[];
  /** The tasks of the last barrier. */
  tasks(): readonly Task[];
};

export function graphLog({ thread, mint }: StepContext, show: (values: JsonObject) => JsonObject = plain): GraphLog {
  const { turnId = "", agent = "" } = thread.turn ?? {};
  const frame = thread.graph.frames[""];
  let tasks: readonly Task[] = frame?.turnId === turnId ? frame.tasks : [];
  let reached = frame?.turnId === turnId ? frame.checkpointId : undefined;
  let written = isObject(thread.memory) ? thread.memory[agent] : undefined;
  let state: JsonObject = isObject(thread.state) ? thread.state : {};
  let shown: Json | undefined;

  const reach = ({ checkpointId, superstep }: Standing, begun: Task[]): Event[] => {
    if (checkpointId === reached) return [];
    reached = checkpointId;
    tasks = begun;
    return [{ type: "checkpoint.reached", checkpointId, lineageId: turnId, superstep, tasks: begun }];
  };

  return {
    tasks: () => tasks,
    begun: (begun) => (begun ? reach(begun.at, begun.tasks) : []),
    stopped(kept, next) {
      const at = standingAt(kept);
      return at.checkpointId === reached
        ? []
        : reach(
            at,
            next.map((node) => ({ taskId: mint("task"), node })),
          );
    },
    kept(kept) {
      const events: Event[] = [];
      const after = kept as unknown as JsonObject;
      const ops = difference(written, after, `/${segment(agent)}`);
      written = after;
      if (ops.length > 0) events.push({ type: "memory.patched", ops });
      const { checkpoint } = kept.checkpoints[""] ?? {};
      if (isObject(checkpoint) && checkpoint !== shown) {
        shown = checkpoint;
        const values = isObject(checkpoint["channel_values"]) ? show(ownValues(checkpoint["channel_values"])) : {};
        const changes = Object.entries(values).flatMap(([key, value]) => difference(state[key], value, `/${segment(key)}`));
        state = { ...state, ...values };
        if (changes.length > 0) events.push({ type: "state.patched", ops: changes });
      }
      return events;
    },
  };
}

/** The state's own values: LangGraph keeps where it goes next among them. */
function ownValues(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !/^(?:__|branch:|join:)/.test(name)));
}

/** Values that are plain JSON. LangChain's objects are no client's business: what messages say is in the history. */
function plain(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => name !== "messages" && isPlain(value)));
}

function isPlain(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (!isObject(value)) return true;
  return !("lc" in value && "type" in value) && Object.values(value).every(isPlain);
}
