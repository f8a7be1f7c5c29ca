import type { Frame } from "../../core/graph.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { AssistantEntry, Entry, Thread } from "../../core/thread.ts";
import type { Node } from "./node.ts";

export type AgentNode = Extract<Node, { kind: "agent" | "tool" }>;

/** The thread as the agent in this task may see it: it cannot tell that it is inside a graph. */
export function viewOf(thread: Thread, node: AgentNode, taskId: string, frame: Frame, state: JsonObject): Thread {
  const own = ownEntries(thread, node, taskId, frame);
  const steps = own.filter((entry) => entry.state === "completed").length;
  return {
    ...thread,
    turn: thread.turn && { ...thread.turn, steps, misses: misses(own) },
    calls: new Map([...thread.calls].filter(([, call]) => call.taskId === taskId)),
    interrupts: new Map([...thread.interrupts].filter(([, interrupt]) => interrupt.taskId === taskId)),
    history: [...around(thread, node, taskId, frame, state), ...own],
    state: state as Json,
  };
}

/** What this task has said so far. A tool node that failed begins anew: its call is over. */
export function ownEntries({ graph, history }: Thread, { kind }: AgentNode, taskId: string, { failed }: Frame): AssistantEntry[] {
  const since = kind === "tool" ? (failed[taskId] ?? 0) : 0;
  const entries = (graph.tasks[taskId]?.entries ?? []).map((at) => history[at]);
  return entries.filter((entry): entry is AssistantEntry => entry?.role === "assistant" && entry.seq > since);
}

function around({ history, turn }: Thread, node: AgentNode, taskId: string, { seq }: Frame, state: JsonObject): Entry[] {
  const turnId = turn?.turnId ?? "";
  const entries: Entry[] = [];
  if (node.kind === "agent" && node.sees !== "nothing") {
    for (const entry of history) {
      if (entry.role === "user" || entry.turnId !== turnId) entries.push(entry);
      // Under another turn's name: an agent must not take what others said for its own answer.
      else if (node.sees === "all" && entry.seq < seq && entry.state === "completed")
        entries.push({ ...entry, turnId: `${turnId}:before` });
    }
  }
  const said = node.kind === "agent" ? node.input?.(state as never) : undefined;
  if (said !== undefined) entries.push({ role: "user", seq, turnId, id: `${taskId}:input`, content: said });
  return entries;
}

/** Steps in a row in which the model called nothing rightly. */
function misses(own: readonly AssistantEntry[]): number {
  let missed = 0;
  for (const { state, parts } of own.toReversed()) {
    if (state !== "completed") continue;
    const calls = parts.filter((part) => part.type === "call");
    if (calls.length === 0 || calls.some(({ invalid }) => invalid === undefined)) break;
    missed += 1;
  }
  return missed;
}
