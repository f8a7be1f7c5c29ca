// Seed 003's document panel: two tools say when a document begins and ends, and what is said between them belongs into the panel.
import assert from "node:assert/strict";
import { HttpAgent } from "@ag-ui/client";
import { chatAgent, createHandback, tool } from "handback";
import { calls, says, scripted } from "handback/testing";
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
const instructions =
  "When you are asked for a report: say one sentence, call open_report_document, write the report, call close_report_document, close with one line.";
const model = scripted(
  [...says("Here it comes."), ...calls("open_report_document", { title: "Tea" }, { id: "open-1" })],
  [...says("# Tea\n", "Green and black."), ...calls("close_report_document", {}, { id: "close-1" })],
  says("That was it."),
);
const handback = await createHandback({
  data: ":memory:",
  agents: { default: chatAgent({ model, instructions, tools: [openReport, closeReport] }) },
});
const { url } = await handback.listen({ port: 0 });

// --- the page: text goes into the panel while one is open ---
const chat: string[] = [];
const panels: { id: string; title: string; text: string; open: boolean }[] = [];
const order: string[] = [];
const names = new Map<string, string>();
const agent = new HttpAgent({ url: `${url}/agui`, threadId: "demo" });
agent.addMessage({ id: "u1", role: "user", content: "A report on tea, please." });
await agent.runAgent(
  {},
  {
    onEvent({ event }) {
      if (!/^(TEXT_MESSAGE|TOOL_CALL)/.test(event.type) || event.type === order.at(-1)) return;
      order.push(event.type);
    },
    onTextMessageStartEvent() {
      if (!panels.at(-1)?.open) chat.push("");
    },
    onTextMessageContentEvent({ event }) {
      const panel = panels.at(-1);
      if (panel?.open) panel.text += event.delta;
      else chat[chat.length - 1] += event.delta;
    },
    onToolCallStartEvent({ event }) {
      names.set(event.toolCallId, event.toolCallName);
    },
    onToolCallResultEvent({ event }) {
      const result = JSON.parse(String(event.content));
      const panel = panels.at(-1);
      if (names.get(event.toolCallId) === "open_report_document")
        panels.push({ id: result.documentId, title: result.title, text: "", open: true });
      else if (panel) panel.open = false;
    },
  },
);

const TEXT = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
const CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"];
assert.deepEqual(order, [...TEXT, ...CALL, ...TEXT, ...CALL, ...TEXT]);
assert.deepEqual(chat, ["Here it comes.", "That was it."]);
assert.deepEqual(panels, [{ id: "doc-open-1", title: "Tea", text: "# Tea\nGreen and black.", open: false }]);
console.log("report:", panels[0]?.title);
await handback.close({ grace: 0 });
