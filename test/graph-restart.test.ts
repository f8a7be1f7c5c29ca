import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as path } from "node:path";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { START } from "../src/agent/graph/command.ts";
import { edge, join } from "../src/agent/graph/edge.ts";
import { append, field } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { agentNode, graphNode, node } from "../src/agent/graph/node.ts";
import { tool } from "../src/agent/tool.ts";
import type { StoredEvent } from "../src/core/event.ts";
import { calls, says, scriptedBy } from "../src/model/scripted.ts";
import { sqliteStore } from "../src/store/sqlite.ts";
import type { Store } from "../src/store/store.ts";
import { checkTasks, foldAll } from "./graph/judge.ts";
import { keyOf, message, startEngine } from "./support/engine.ts";

const log = field(z.array(z.string()), { reduce: append, default: () => [] });
const ext = tool({ name: "ext", description: "", input: z.object({}) });
const here = tool({ name: "here", description: "", input: z.object({}), idempotent: true, execute: () => "done" });

/** Everything at once: agents with tools here and outside, a graph inside, questions, a fan-out and a join. */
function everything(ran: { taskId: string; seq: number }[]) {
  const model = (outside: boolean) =>
    scriptedBy(({ history }) => (history.length < 2 ? calls(outside ? "ext" : "here", {}) : says("Answer", " given.")), { keep: 0 });
  const inner = graph(
    { log },
    {
      nodes: {
        ask: async ({ interrupt, taskId, thread }) => {
          ran.push({ taskId, seq: thread.seq });
          return { log: [`inner ${await interrupt("inner", "?")}`] };
        },
        agent: agentNode(chatAgent({ model: model(true), tools: [ext] }), { input: () => "go", output: ({ text }) => ({ log: [text] }) }),
      },
      edges: [edge(START, "ask"), edge("ask", "agent")],
    },
  );
  return graph(
    { log },
    {
      nodes: {
        sub: graphNode(inner, { output: ({ log }) => ({ log: [...log] }) }),
        agent: agentNode(chatAgent({ model: model(false), tools: [here] }), { input: () => "go", output: ({ text }) => ({ log: [text] }) }),
        ask: node(async ({ interrupt, text, taskId, thread }) => {
          ran.push({ taskId, seq: thread.seq });
          text("Let me ask.");
          const [a, b] = await Promise.all([interrupt("a", "?"), interrupt("b", "?")]);
          return { log: [`${a} ${b}`] };
        }),
        end: ({ state }) => ({ log: [`after ${state.log.length}`] }),
      },
      edges: [edge(START, "sub"), edge(START, "agent"), edge(START, "ask"), join(["sub", "agent", "ask"], "end")],
    },
  );
}

describe("a server that stops every few appends", () => {
  for (const most of [4, 5, 6]) {
    it(`comes to the same end with ${most} appends to each of its lives`, async () => {
      const data = mkdtempSync(path(tmpdir(), "handback-restart-"));
      const ran: { taskId: string; seq: number }[] = [];
      let lives = 0;
      let events: StoredEvent[] = [];
      for (; lives < 200; lives += 1) {
        const store = await sqliteStore({ path: data });
        const over = await oneLife(everything(ran), store, most);
        events = await store.read(keyOf(), { after: 0 });
        await store.close();
        if (over) break;
      }
      const { state, ended, history } = foldAll(events);
      assert.equal(ended?.outcome.type, "done");
      assert.deepEqual(state, { log: ["inner 1", "Answer given.", "Answer given.", "1 1", "after 4"] });
      assert.ok(lives > 5, "it did stop");
      checkTasks(events, ran);
      assert.ok(
        history.every((entry) => entry.role === "user" || entry.state !== "open"),
        "nothing stays open",
      );
      rmSync(data, { recursive: true });
    });
  }
});

async function oneLife(agent: ReturnType<typeof everything>, store: Store, most: number): Promise<boolean> {
  let left = most;
  const { promise: dead, resolve } = Promise.withResolvers<"dead">();
  const mortal: Store = {
    ...store,
    append: (...args) => {
      if (left-- > 0) return store.append(...args);
      resolve("dead");
      return new Promise(() => {});
    },
  };
  const started = startEngine({ agents: { default: agent }, store: mortal, coalesceMs: 0, sweeping: false });
  const adopted = started.submit({ answers: [] }).catch(() => {}); // whoever touches a thread takes its run over
  for (;;) {
    const state = await Promise.race([dead, Promise.all([adopted, started.clock.advance(1)])]);
    if (state === "dead") return false;
    if ((await store.thread(keyOf()))?.status === "running") continue;
    const thread = foldAll(await store.read(keyOf(), { after: 0 }));
    if (thread.ended?.outcome.type === "done") {
      await started.stop();
      return true;
    }
    const results = [...thread.calls.values()].filter(({ phase }) => phase === "offered").slice(0, 1);
    const [question] = thread.interrupts.values();
    const command = !thread.turn
      ? message("go", "m")
      : results.length > 0
        ? { results: results.map(({ callId }) => ({ callId, status: "completed" as const, output: "ok" })) }
        : { answers: [{ interruptId: question?.interruptId ?? "", status: "resolved" as const, value: 1 }] };
    if ((await Promise.race([dead, started.submit(command)])) === "dead") return false;
  }
}
