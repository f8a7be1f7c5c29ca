import assert from "node:assert/strict";
import { before, describe, it, mock } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { calls, fails, says, scripted, thinks } from "../src/model/scripted.ts";
import { serve } from "./support/serve.ts";
import { type Chat, type ChatEngine, type Content, loadEngine, openChat } from "./tdesign/engine.ts";

const search = tool({ name: "external_search", description: "Searches", input: z.object({ q: z.string() }) });
const refund = tool({
  name: "refund",
  description: "Pays back",
  input: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ amount }) => ({ paid: amount }),
});
const openReport = tool({
  name: "open_report_document",
  description: "Opens the panel",
  input: z.object({ title: z.string() }),
  execute: ({ title }) => ({ title, documentId: "doc-1" }),
});
const closeReport = tool({
  name: "close_report_document",
  description: "Closes the panel",
  input: z.object({ reason: z.string() }),
  execute: ({ reason }) => ({ closed: true, message: `document box closed: ${reason}` }),
});

type ToolCall = { toolCallName: string; result?: string };
const asText = ({ type, data }: Content) =>
  type.startsWith("toolcall-") ? `${(data as ToolCall).toolCallName}: ${(data as ToolCall).result ?? "…"}` : String(data);
const shown = (messages: ChatEngine["messages"]) => messages.map(({ content = [] }) => content.map(asText));
const ok = ({ engine, errors }: Chat) => assert.deepEqual([errors, engine.status], [[], "complete"]);

describe("TDesign Chat's engine and AG-UI mapper", () => {
  let module: Awaited<ReturnType<typeof loadEngine>>;
  before(async () => {
    module = await loadEngine();
    for (const told of ["info", "log"] as const) mock.method(console, told, () => {});
  });
  const start = (model: ReturnType<typeof scripted>) =>
    serve({ agents: { default: chatAgent({ model, tools: [search, refund, openReport, closeReport] }) } });

  it("completes the external tool of the seed, in two requests", async () => {
    const look = [...thinks("Hm."), ...says("Let me look."), ...calls("external_search", { q: "tea" }, { id: "c1", chunks: 3 })];
    await using server = await start(scripted(look, says("Found ", "it.")));
    const chat = await openChat(server.url, module);
    await chat.say("tea?");
    ok(chat);
    assert.deepEqual(shown(chat.engine.messages), [["tea?"], ["Let me look.", "external_search: …"]]);
    const { toolCallId, args } = chat.engine.getToolcallByName("external_search") ?? {};
    assert.deepEqual([toolCallId, args], ["c1", '{"q":"tea"}']);
    await chat.goOn({ messages: [{ id: "result-c1", role: "tool", toolCallId, content: "green" }] });
    ok(chat);
    assert.deepEqual(shown(chat.engine.messages).at(-1), ["external_search: green", "Found it."]);
  });

  it("completes an approval: the app finds the question in what the run ended with", async () => {
    for (const [payload, result] of [
      [{ approved: true }, '{"paid":5}'],
      [{ approved: false, reason: "too much" }, "too much"],
    ] as const) {
      await using server = await start(scripted(calls("refund", { amount: 5 }, { id: "c1" }), says("As you wish.")));
      const chat = await openChat(server.url, module);
      await chat.say("money back");
      ok(chat);
      const [question] = chat.ended?.outcome?.interrupts ?? [];
      assert.deepEqual([question?.toolCallId, question?.message], ["c1", "May refund be called?"]);
      await chat.goOn({ resume: [{ interruptId: question?.id, status: "resolved", payload }] });
      ok(chat);
      assert.deepEqual(shown(chat.engine.messages).at(-1), [`refund: ${result}`, "As you wish."]);
      assert.equal(chat.ended?.outcome, undefined);
    }
  });

  it("shows a report between its opening and its closing, in this order", async () => {
    const model = scripted(
      [...says("Here it comes."), ...calls("open_report_document", { title: "Tea" }, { id: "o1" })],
      [...says("# Tea\n", "Green."), ...calls("close_report_document", { reason: "done" }, { id: "x1" })],
      says("That was it."),
    );
    await using server = await start(model);
    const chat = await openChat(server.url, module);
    await chat.say("a report");
    ok(chat);
    assert.deepEqual(shown(chat.engine.messages).at(-1), [
      "Here it comes.",
      'open_report_document: {"title":"Tea","documentId":"doc-1"}',
      "# Tea\nGreen.",
      'close_report_document: {"closed":true,"message":"document box closed: done"}',
      "That was it.",
    ]);
    const { frames } = await server.post({ threadId: "t" }, "/agui/history");
    const snapshot = frames.find(({ type }) => type === "MESSAGES_SNAPSHOT")?.["messages"] as object[];
    assert.deepEqual(shown(module.AGUIAdapter.convertHistoryMessages(snapshot)), shown(chat.engine.messages));
  });

  it("shows what went wrong", async () => {
    await using server = await start(scripted(fails("The model is away")));
    const chat = await openChat(server.url, module);
    await chat.say("hello");
    assert.equal(chat.engine.status, "error");
    assert.match(JSON.stringify(chat.errors), /The model is away/);
  });
});
