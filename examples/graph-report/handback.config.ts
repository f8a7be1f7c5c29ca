// Seed 003's document panel in a graph: one node collects, an agent writes. What it says between open_report_document and
// close_report_document belongs into the panel; examples/agui/report.ts is the page's side of it.
import { agentNode, append, chatAgent, defineConfig, edge, field, graph, START, tool } from "handback";
import { calls, says, scriptedBy } from "handback/testing";
import { z } from "zod";

const openReport = tool({
  name: "open_report_document",
  description: "Opens the document panel. Call it right before the report.",
  input: z.object({ title: z.string().default("Auto generated report") }),
  execute: ({ title }, { callId }) => ({ title, documentId: `doc-${callId}`, createdAt: new Date().toISOString() }),
});
const closeReport = tool({
  name: "close_report_document",
  description: "Closes the document panel. Call it right after the report.",
  input: z.object({ reason: z.string().default("report_completed") }),
  execute: ({ reason }) => ({ closed: true, message: `document box closed: ${reason}`, closedAt: new Date().toISOString() }),
});

/** A model that does as it is told below: how many steps it has made says what is next. */
const model = scriptedBy(({ history }) => {
  const steps = history.filter(({ role }) => role === "assistant").length;
  if (steps === 0) return [...says("Here comes the report."), ...calls("open_report_document", { title: "Tea" })];
  if (steps === 1)
    return [...says("# Tea\n\n", "Green, black and white."), ...calls("close_report_document", { reason: "report_completed" })];
  return says("The report is complete.");
});

const writer = chatAgent({
  model,
  instructions:
    "When you are asked for a report: say one sentence, call open_report_document, write the report, call close_report_document, close with one line.",
  tools: [openReport, closeReport],
});

const report = graph(
  {
    topic: field(z.string()),
    facts: field(z.array(z.string()), { reduce: append, default: () => [] }),
  },
  {
    input: ({ text }) => ({ topic: text }),
    nodes: {
      collect: ({ state }) => ({ facts: [`${state.topic}: there are many kinds`] }),
      write: agentNode(writer, { input: ({ topic, facts }) => `A report on ${topic}. What we know: ${facts.join("; ")}` }),
    },
    edges: [edge(START, "collect"), edge("collect", "write")],
  },
);

export default defineConfig({ agents: { default: report } });
