import { z } from "zod";
import { type Agent, chatAgent, tool } from "../../src/handback.ts";
import { calls, says, scriptedBy } from "../../src/model/scripted.ts";

/** The agent of the golden databases: what a release wrote with it, every later one must be able to finish. */
export function goldenAgent(): Agent {
  const menu = tool({ name: "get_menu", description: "The menu", input: z.object({ category: z.string() }) });
  const refund = tool({
    name: "refund",
    description: "Pays back",
    input: z.object({ amount: z.number() }),
    approval: true,
    execute: ({ amount }) => ({ amount }),
  });
  const model = scriptedBy(({ history }) => {
    const last = history.at(-1);
    if (last?.role === "assistant") return says("Done.");
    const text = String(last?.content);
    if (text.includes("menu"))
      return [...says("One moment."), ...calls("get_menu", { category: "coffee" }, { id: `menu-${history.length}-${text.length}` })];
    if (text.includes("refund")) return calls("refund", { amount: 25 }, { id: `refund-${history.length}` });
    return says(`You said: ${text}`);
  });
  return chatAgent({ model, tools: [menu, refund] });
}
