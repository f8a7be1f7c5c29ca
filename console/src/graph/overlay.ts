import { type NodeView, nodesOf, pendingOf, type ThreadView } from "handback/client";
import type { Status } from "../ui/status-pill.tsx";

/** How a node of the drawing stands in a thread. */
export type NodeState = {
  status: Status;
  ms: number | undefined;
  startedAt: number | undefined;
  visits: number;
  error: string | undefined;
  waitsFor: string | undefined;
  /** Its latest visit, for whoever wants to see what it said. */
  stepId: string | undefined;
};

const STATES: Record<NodeView["state"], Status> = {
  running: "running",
  done: "done",
  failed: "failed",
  retrying: "running",
  waiting: "waiting",
  cut: "cancelled",
};

/** The nodes the latest turn has been to, by id. The loop's tools are known by the calls of the turn. */
export function overlayOf(view: ThreadView | undefined): Map<string, NodeState> {
  const states = new Map<string, NodeState>();
  if (!view) return states;
  for (const node of nodesOf(view)) {
    const { state, ms, startedAt, visits, error } = node;
    states.set(node.name, {
      status: STATES[state],
      ms,
      startedAt,
      visits,
      error,
      waitsFor: node.interruptId ?? node.callId,
      stepId: node.steps.at(-1)?.id,
    });
  }
  const turnId = view.turns.at(-1)?.id;
  const calls = view.calls.filter((call) => call.turnId === turnId);
  const last = calls.at(-1);
  if (last && !states.has("tools")) {
    const open = pendingOf(view)[0];
    const running = calls.some(({ phase }) => phase === "dispatched");
    const failed = calls.every(({ phase }) => phase === "failed" || phase === "rejected");
    states.set("tools", {
      status: open ? "waiting" : running ? "running" : failed ? "failed" : "done",
      ms: last.settledAt === undefined || last.calledAt === undefined ? undefined : last.settledAt - last.calledAt,
      startedAt: last.startedAt,
      visits: calls.length,
      error: failed ? last.error : undefined,
      waitsFor: open?.id,
      stepId: last.stepId,
    });
  }
  return states;
}
