import type { GraphInfo } from "handback/client";

/** What every agent is that is no graph: a model that calls tools until it has nothing more to call. */
export const LOOP: GraphInfo = {
  nodes: [
    { id: "model", kind: "agent" },
    { id: "tools", kind: "tool" },
  ],
  edges: [
    { from: "START", to: "model", kind: "edge" },
    { from: "model", to: "tools", kind: "when" },
    { from: "tools", to: "model", kind: "edge" },
    { from: "model", to: "END", kind: "when" },
  ],
};
