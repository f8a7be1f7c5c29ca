import { z } from "zod";
import type { Agent } from "../../src/agent/agent.ts";
import { chatAgent } from "../../src/agent/chat.ts";
import { END, goto, START } from "../../src/agent/graph/command.ts";
import { edge, join } from "../../src/agent/graph/edge.ts";
import { append, field } from "../../src/agent/graph/field.ts";
import { graph } from "../../src/agent/graph/graph.ts";
import { agentNode, graphNode, node, toolNode } from "../../src/agent/graph/node.ts";
import { tool } from "../../src/agent/tool.ts";
import { calls, type Rule, says, scriptedBy } from "../../src/model/scripted.ts";

/** What nodes did, in order: a test counts them. */
export type Journal = string[];

const log = field(z.array(z.string()), { reduce: append, default: () => [] });

export const CONFIRM = "Confirm continuing after the recipe amounts are calculated.";

/** Seed 003's recipe: plan → confirm → cook. */
export function recipe(done: Journal = []): Agent {
  const model = scriptedBy(() => says("Two ", "eggs."));
  return graph(
    { dish: field(z.string()), log },
    {
      input: ({ text }) => ({ dish: text }),
      nodes: {
        plan: agentNode(chatAgent({ model }), { input: (state) => `Plan ${state.dish}`, output: ({ text }) => ({ log: [text] }) }),
        confirm: node(
          async ({ interrupt }) => {
            done.push("confirm");
            return (await interrupt("confirm", CONFIRM, { schema: z.boolean() })) ? goto("cook") : goto(END, { log: ["stopped"] });
          },
          { to: ["cook", END] },
        ),
        cook: ({ state, text }) => {
          done.push("cook");
          text(`Here is your ${state.dish}.`);
          return { log: ["cooked"] };
        },
      },
      edges: [edge(START, "plan"), edge("plan", "confirm")],
    },
  );
}

/** Seed 003's external tool: a model that searches outside and answers with what was found. */
export function searching(): Agent {
  const rule: Rule = ({ history }) => {
    const last = history.at(-1);
    const found = last?.role === "assistant" ? last.parts.find((part) => part.type === "call")?.settlement?.output : undefined;
    return found === undefined ? calls("external_search", { q: "tea" }, { chunks: 2 }) : says("Found: ", String(found));
  };
  const search = tool({ name: "external_search", description: "Searches", input: z.object({ q: z.string() }) });
  return graph(
    { answer: field(z.string()) },
    {
      nodes: {
        assistant: agentNode(chatAgent({ model: scriptedBy(rule), tools: [search] }), { output: ({ text }) => ({ answer: text }) }),
      },
      edges: [edge(START, "assistant")],
    },
  );
}

/** Two questions at the same time, and what follows when both are answered. */
export function twoQuestions(done: Journal = []): Agent {
  const asks =
    (key: string) =>
    async ({ interrupt }: { interrupt: (key: string, prompt: string) => Promise<unknown> }) => {
      const said = await interrupt(key, `How about ${key}?`);
      done.push(key);
      return { log: [`${key}: ${said}`] };
    };
  return graph(
    { log },
    {
      nodes: {
        left: asks("salt"),
        right: asks("sugar"),
        serve: ({ state, text }) => {
          done.push("serve");
          text(state.log.join(", "));
        },
      },
      edges: [edge(START, "left"), edge(START, "right"), join(["left", "right"], "serve")],
    },
  );
}

/** A graph inside a node, which asks. */
export function nested(): Agent {
  const inner = graph(
    { amount: field(z.number()) },
    {
      nodes: { ask: async ({ interrupt }) => ({ amount: await interrupt("amount", "How many?", { schema: z.number() }) }) },
      edges: [edge(START, "ask")],
    },
  );
  return graph(
    { eggs: field(z.number()) },
    {
      nodes: {
        measure: graphNode(inner, { output: ({ amount }) => ({ eggs: amount }) }),
        report: ({ state, text }) => text(`${state.eggs} eggs.`),
      },
      edges: [edge(START, "measure"), edge("measure", "report")],
    },
  );
}

/** A node that fails as often as it is told to, and then does not. */
export function flaky(failures: number, attempts: number): Agent {
  let left = failures;
  return graph(
    { log },
    {
      nodes: {
        fetch: node(
          () => {
            left -= 1;
            if (left >= 0) throw new Error("no line");
            return { log: ["fetched"] };
          },
          { retry: { attempts, delay: 0 } },
        ),
      },
      edges: [edge(START, "fetch")],
    },
  );
}

/** Two agents that speak at the same time, and one who has the last word. */
export function sideBySide(): Agent {
  const speaker = (name: string) => {
    const model = scriptedBy(async function* () {
      for (const event of says(`${name} `, "one ", "two.")) {
        await new Promise((resolve) => setImmediate(resolve));
        yield event;
      }
    });
    return chatAgent({ model });
  };
  const told = { input: () => "go" };
  return graph(
    { log },
    {
      nodes: { left: agentNode(speaker("Left"), told), right: agentNode(speaker("Right"), told), whole: ({ text }) => text("Whole.") },
      edges: [edge(START, "left"), edge(START, "right"), join(["left", "right"], "whole")],
    },
  );
}

/** An agent in a node whose tool needs approval. */
export function approving(): Agent {
  const refund = tool({
    name: "refund",
    description: "Pays back",
    input: z.object({ amount: z.number() }),
    approval: true,
    execute: ({ amount }) => ({ paid: amount }),
  });
  const rule: Rule = ({ history }) => {
    const last = history.at(-1);
    const call = last?.role === "assistant" ? last.parts.find((part) => part.type === "call") : undefined;
    if (!call) return calls("refund", { amount: 5 });
    return says(call.settlement?.status === "completed" ? "Paid 5." : "Not paid.");
  };
  return graph(
    { log },
    { nodes: { clerk: agentNode(chatAgent({ model: scriptedBy(rule), tools: [refund] })) }, edges: [edge(START, "clerk")] },
  );
}

/** A tool of the server's whose result a person is asked about: the last step ends in a call that is settled. */
export function toolThenQuestion(): Agent {
  const add = tool({ name: "add", description: "Adds", input: z.object({ a: z.number() }), output: z.number(), execute: ({ a }) => a + 1 });
  return graph(
    { sum: field(z.number()) },
    {
      nodes: {
        add: toolNode(add, { input: () => ({ a: 1 }), output: (sum) => ({ sum }) }),
        ask: async ({ state, interrupt, text }) => {
          await interrupt("right", `Is it ${state.sum}?`);
          text("Good.");
        },
      },
      edges: [edge(START, "add"), edge("add", "ask")],
    },
  );
}
