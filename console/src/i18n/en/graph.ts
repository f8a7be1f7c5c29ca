export const graph = {
  title: "Graph",
  drawing: "The graph as a drawing; the list of nodes says the same",
  nodes: "Nodes",
  next: "then {names}",
  kind_node: "function",
  kind_agent: "agent",
  kind_tool: "tool",
  kind_graph: "graph",
  agent: "Agent",
  thread: "Thread",
  noThread: "No thread yet",
  implicit: "This agent is no graph: its model calls tools until it has nothing more to call.",
} as const;
