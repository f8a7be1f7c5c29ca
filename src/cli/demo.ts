import { z } from "zod";
import type { Agent } from "../agent/agent.ts";
import { chatAgent } from "../agent/chat.ts";
import { tool } from "../agent/tool.ts";
import { systemClock } from "../core/clock.ts";
import type { AssistantEntry, CallPart, UserEntry } from "../core/thread.ts";
import type { ModelEvent, ModelRequest } from "../model/model.ts";
import { calls, paced, says, scriptedBy } from "../model/scripted.ts";

const browser = tool({
  name: "browser_js_eval",
  description: "Runs JavaScript in the user's browser and returns its value",
  input: z.object({ code: z.string() }),
  owner: "client",
});
const menu = tool({
  name: "get_menu",
  description: "The coffee menu, kept by another system",
  input: z.object({ category: z.string() }),
  timeout: "1h",
});
const refund = tool({
  name: "refund",
  description: "Pays money back",
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  approval: true,
  execute: ({ order, amount }, { callId }) => ({ order, amount, receipt: callId }),
});
const time = tool({
  name: "get_time",
  description: "The time now",
  input: z.object({}),
  execute: () => new Date(systemClock.now()).toISOString(),
});
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
});

/** What answers when no model is configured: a script that shows each way a tool can run somewhere else. */
export function demoAgent(): Agent {
  return chatAgent({
    model: paced(
      scriptedBy((request) => answer(request)),
      { clock: systemClock, ms: 12 },
    ),
    tools: [browser, menu, refund, time, openReport, closeReport],
  });
}

const PRIMES = `(function sumPrimes(limit) {
  let sum = 0;
  for (let n = 2; n <= limit; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) sum += n;
  }
  return sum;
})(1000);`;

/** Decides from the history alone, so that a restarted server goes on where it was. */
function answer({ history }: ModelRequest): ModelEvent[] {
  const asked = history.findLast((entry): entry is UserEntry => entry.role === "user");
  const steps = history
    .slice(asked ? history.lastIndexOf(asked) + 1 : 0)
    .filter((entry): entry is AssistantEntry => entry.role === "assistant");
  const done = steps.flatMap(({ parts }) => parts.filter((part): part is CallPart => part.type === "call"));
  const scene = SCENES.find(({ words }) => words.test(textOf(asked))) ?? HELLO;
  return scene.play(done);
}

type Scene = { words: RegExp; play: (done: CallPart[]) => ModelEvent[] };

const SCENES: Scene[] = [
  {
    words: /prime|素数|质数/i,
    play: ([call]) =>
      call
        ? words(`The sum of all primes up to 1000 is ${show(call)}.`)
        : [...words("I will compute it in your browser."), ...calls("browser_js_eval", { code: PRIMES }, { id: fresh(), chunks: 8 })],
  },
  {
    words: /menu|coffee|咖啡|菜单/i,
    play: ([call]) =>
      call
        ? words(`Here is the menu: ${show(call)}`)
        : [...words("Let me ask for the menu."), ...calls("get_menu", { category: "coffee" }, { id: fresh() })],
  },
  {
    words: /refund|pay back|退款/i,
    play: ([call]) =>
      call
        ? words(
            call.settlement?.status === "completed"
              ? `Done: ${show(call)}`
              : `I did not refund it: ${call.settlement?.error ?? "no reason was given"}.`,
          )
        : [...words("A person has to agree to that."), ...calls("refund", { order: "A-17", amount: 25 }, { id: fresh() })],
  },
  {
    words: /report|document|报告|文档/i,
    play: (done) => {
      if (done.length === 0)
        return [...words("I will write it down."), ...calls("open_report_document", { title: "State of the shop" }, { id: fresh() })];
      if (done.length === 1) return [...words(REPORT), ...calls("close_report_document", {}, { id: fresh() })];
      return words("The report is finished.");
    },
  },
  {
    words: /time|clock|时间|几点/i,
    play: ([call]) => (call ? words(`It is ${show(call)}.`) : calls("get_time", {}, { id: fresh() })),
  },
];

const HELLO: Scene = {
  words: /./,
  play: () =>
    words(
      "Hello! I am a script, so no key is needed. Ask me for the sum of all primes up to 1000 (runs in your browser), the coffee menu (somebody else hands it back), a refund (a person must agree), a report, or the time.",
    ),
};

const REPORT = `# State of the shop

Every call below was handed out, waited without costing anything, and came back exactly once.

${["Espresso", "Filter", "Cold brew", "Tea", "Pastry"].map((name, i) => `## ${name}\n\n${name} sold ${40 + i * 7} times this week, ${i % 2 ? "more" : "less"} than the week before. Nothing was lost, nothing ran twice.`).join("\n\n")}
`;

function words(text: string): ModelEvent[] {
  return says(...(text.match(/\S+\s*/g) ?? []));
}

function show({ settlement }: CallPart): string {
  const output = settlement?.output;
  if (output === undefined) return `not known (${settlement?.error ?? "no result"})`;
  return typeof output === "string" ? output : JSON.stringify(output);
}

function textOf(entry: UserEntry | undefined): string {
  const content = entry?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

/** A counter would begin again after a restart. */
function fresh(): string {
  return `call_${crypto.randomUUID().slice(0, 8)}`;
}
