import { z } from "zod";
import { browserJsEval } from "../../src/agent/browser-js-eval.ts";
import { chatAgent } from "../../src/agent/chat.ts";
import { tool } from "../../src/agent/tool.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Entry } from "../../src/core/thread.ts";
import type { ModelEvent, ModelRequest } from "../../src/model/model.ts";
import { calls, fails, paced, says, scriptedBy } from "../../src/model/scripted.ts";

const orders = tool({
  name: "delete_orders",
  description: "Deletes draft orders",
  input: z.object({ table: z.string(), limit: z.number().int().max(200) }),
  approval: true,
  execute: ({ limit }) => ({ deleted: limit }),
});
const menu = tool({ name: "get_menu", description: "The coffee menu", input: z.object({ category: z.string() }) });
const stock = tool({ name: "get_stock", description: "What is in stock", input: z.object({}) });
const hurried = tool({ name: "get_price", description: "A price, soon", input: z.object({}), timeout: "2s" });
const delivery = tool({ name: "get_delivery", description: "When it comes", input: z.object({}), timeout: "5m" });
const background = tool({
  name: "change_background",
  description: "Changes the page",
  input: z.object({ color: z.string() }),
  owner: "client",
});
const opens = tool({
  name: "open_report_document",
  description: "Opens a document",
  input: z.object({ title: z.string() }),
  execute: () => "open",
});
const closes = tool({ name: "close_report_document", description: "Closes it", input: z.object({}), execute: () => "closed" });

export const PRIMES =
  "(function () { let sum = 0; for (let i = 2; i < 1000; i++) { let p = true; for (let j = 2; j * j <= i; j++) if (i % j === 0) p = false; if (p) sum += i; } return sum; })()";

/** What the first words of a message make the agent do; once the calls are answered it says what came of them. */
const FIRST: Record<string, (rest: string) => ModelEvent[]> = {
  primes: () => [...says("Let me compute. "), ...calls("browser_js_eval", { code: PRIMES }, { chunks: 12 })],
  code: (code) => calls("browser_js_eval", { code }),
  orders: () => [...says("This needs you. "), ...calls("delete_orders", { table: "orders", limit: 120 })],
  menu: () => calls("get_menu", { category: "coffee" }),
  price: () => calls("get_price", {}),
  deadline: () => calls("get_delivery", {}),
  two: () => [...calls("get_menu", { category: "tea" }), ...calls("get_stock", {})],
  blue: () => calls("change_background", { color: "rgb(10, 20, 200)" }),
  report: () => calls("open_report_document", { title: "Weekly report" }),
  say: (words) => says(words),
  long: () => says(...Array.from({ length: 60 }, (_, i) => `word${i} `)),
};

const REPORT = ["# Weekly report\n\n", "All **nine** shops ", "opened on time.\n\n", "| shop | cups |\n|---|---|\n", "| north | 120 |\n"];

function answer({ history }: ModelRequest, signal: AbortSignal): readonly ModelEvent[] | AsyncIterable<ModelEvent> {
  const last = history.at(-1);
  if (last?.role !== "assistant") {
    const [word = "", ...rest] = textOf(last).split(" ");
    if (word === "fail") return fails("The provider is out of coffee")({} as ModelRequest, signal);
    return FIRST[word]?.(rest.join(" ")) ?? says("Say primes, orders, menu, two, report or long.");
  }
  const made = last.parts.flatMap((part) => (part.type === "call" ? [part] : []));
  if (made[0]?.name === "open_report_document") return [...says(...REPORT), ...calls("close_report_document", {})];
  if (made[0]?.name === "close_report_document") return says("The report is done.");
  const told = made.map(({ name, settlement, edited, input }) => {
    const came = settlement?.error ?? JSON.stringify(settlement?.output);
    return `${name}: ${settlement?.status} ${came}${edited === undefined ? "" : ` with ${JSON.stringify(edited)} for ${JSON.stringify(input)}`}`;
  });
  return says(...told.join("; ").split(/(?<= )/));
}

function textOf(entry: Entry | undefined): string {
  if (entry?.role !== "user") return "";
  return typeof entry.content === "string" ? entry.content : entry.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** An agent for the console's tests. `ms` before each piece it says. */
export function actor(ms = 0) {
  const model = scriptedBy(answer, { keep: 0 });
  const tools = [browserJsEval, orders, menu, stock, hurried, delivery, background, opens, closes];
  return chatAgent({ model: ms > 0 ? paced(model, { clock: systemClock, ms }) : model, tools });
}
