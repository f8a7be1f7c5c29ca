/** The panels beside a thread. */
export const dock = {
  events: "Events",
  timeline: "Timeline",
  graph: "Graph",
  state: "State",
  document: "Document",
  filter: "Filter events",
  noEvents: "Nothing has happened yet",
  nothingFits: "No event fits this filter",
  noState: "No state",
  noStateHint: "Graphs and agents that keep something show it here.",
  noDocument: "No document",
  noDocumentHint: "When the agent writes a report, it appears here while the conversation stays short.",
} as const;
