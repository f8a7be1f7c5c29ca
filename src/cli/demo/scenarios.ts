import type { Scenario } from "../../server/native.ts";

/** What a configuration needs around the code below. */
const CONFIG = (tools: string, body: string, model = "gpt-4o-mini") => `import { chatAgent, defineConfig, tool } from "handback";
import { z } from "zod";

${body}

export default defineConfig({
  agents: { default: chatAgent({ model: "${model}", tools: [${tools}] }) },
});
`;

/** The cards on an empty chat: something to see in the first two minutes, and the code that would do the same with a model. */
export const SCENARIOS: readonly Scenario[] = [
  {
    id: "primes",
    title: { en: "Sum of primes", zh: "素数之和" },
    text: { en: "The model writes code, your browser runs it in a sandbox.", zh: "模型写代码，你的浏览器在沙箱里运行。" },
    prompt: { en: "What is the sum of all primes up to 1000?", zh: "1000 以内所有素数之和是多少？" },
    code: `import { browserJsEval, chatAgent, defineConfig } from "handback";

// browserJsEval has no execute: the call is handed to the page, which runs
// it in an opaque-origin sandbox and hands the value back.
export default defineConfig({
  agents: { default: chatAgent({ model: "gpt-4o-mini", tools: [browserJsEval] }) },
});
`,
  },
  {
    id: "approval",
    title: { en: "Clean up draft orders", zh: "清理草稿订单" },
    text: { en: "A person must agree, and may change the arguments: 120 → 10.", zh: "需要一个人同意，参数也可以改：120 → 10。" },
    prompt: { en: "Delete the old draft orders", zh: "清理旧的草稿订单" },
    code: CONFIG(
      "deleteOrders",
      `const deleteOrders = tool({
  name: "delete_orders",
  description: "Deletes old orders, a limited number at a time",
  input: z.object({ status: z.enum(["draft", "cancelled"]), limit: z.int().min(1).max(500) }),
  approval: true, // asked first; an edited input is checked against the schema again
  execute: ({ status, limit }) => ({ deleted: limit, status }),
});`,
    ),
  },
  {
    id: "menu",
    title: { en: "The coffee menu", zh: "查咖啡菜单" },
    text: {
      en: "Another system owes the result: paste a curl and be that system.",
      zh: "结果由别的系统提供：粘贴一条 curl,你就是那个系统。",
    },
    prompt: { en: "The coffee menu, please", zh: "查一下咖啡菜单" },
    code: CONFIG(
      "getMenu",
      `const getMenu = tool({
  name: "get_menu",
  description: "The coffee menu, kept by another system",
  input: z.object({ category: z.string() }),
  timeout: "1h", // no execute: POST /v1/calls/<id>/result hands it back
});`,
    ),
  },
  {
    id: "plug",
    title: { en: "Pull the plug", zh: "拔掉网线" },
    text: {
      en: "The stream is cut for five seconds in the middle of an answer. Nothing is missing.",
      zh: "回答到一半断线五秒，什么也不会丢。",
    },
    prompt: { en: "Count to 50 while I pull the plug", zh: "数到 50，我来断网" },
    code: `import { connect } from "handback/client";

// Every event has a number, so a reader that was cut off asks for what lies behind its last one.
const handback = connect({ url: "http://127.0.0.1:4242" });
const { seq } = await handback.run("t1", "Count to 50");
for await (const event of handback.follow("t1", { after: seq, until: "turn" })) {
  if (event.type === "text.delta") process.stdout.write(event.delta);
}
`,
  },
  {
    id: "report",
    title: { en: "Write a report", zh: "写周报" },
    text: { en: "A document opens beside the chat and fills while it is written.", zh: "对话旁边打开一份文档，边写边显示。" },
    prompt: { en: "Write the weekly report", zh: "写一份周报" },
    code: CONFIG(
      "openReport, closeReport",
      `// What the model says between these two calls goes into the document panel.
const openReport = tool({
  name: "open_report_document",
  description: "Opens the document panel",
  input: z.object({ title: z.string() }),
  execute: ({ title }) => ({ opened: title }),
});
const closeReport = tool({
  name: "close_report_document",
  description: "Closes the document panel",
  input: z.object({}),
  execute: () => ({ closed: true }),
});`,
    ),
  },
];
