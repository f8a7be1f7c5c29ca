import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { AssistantEntry, CallPart } from "../../src/core/thread.ts";
import { type Agent, chatAgent, handBack, type ModelEvent, type ModelRequest, type ToolContext, tool } from "../../src/handback.ts";
import { calls, scriptedBy } from "../../src/model/scripted.ts";
import { type Plan, RUSH_MS } from "./plan.ts";

/** One line of the trace: a server tool has begun or ended an execution. */
export type Trace = { callId: string; name: string; input: Input; at: "begin" | "end" };
type Input = { n: number };

/** An agent whose model follows the plan in the user's message. Its server tools write down each execution where a crash cannot take it back. */
export function plannedAgent(trace: string): Agent {
  const input = z.object({ n: z.number() });
  const note = (line: Trace) => appendFileSync(trace, `${JSON.stringify(line)}\n`);
  const executed =
    (name: string) =>
    async (given: Input, { callId, progress }: ToolContext) => {
      note({ callId, name, input: given, at: "begin" });
      progress({ half: true });
      await sleep(Math.random() * 30);
      note({ callId, name, input: given, at: "end" });
      return { did: given.n };
    };
  return chatAgent({
    model: scriptedBy(perform, { keep: 0 }),
    maxSteps: 10_000, // attempts that a kill cut off count too
    tools: [
      tool({ name: "look", description: "Outside", input }),
      tool({ name: "rush", description: "Outside, soon", input, timeout: RUSH_MS }),
      tool({ name: "click", description: "In the browser", input, owner: "client" }),
      tool({ name: "note", description: "Here, as often as you like", input, idempotent: true, execute: executed("note") }),
      tool({ name: "charge", description: "Here, once", input, execute: executed("charge") }),
      tool({ name: "refund", description: "Here, once, with approval", input, approval: true, execute: executed("refund") }),
      tool({ name: "ship", description: "Outside, with approval", input, approval: true }),
      tool({ name: "defer", description: "Here, but handed back", input, execute: () => handBack() }),
    ],
  });
}

/** Decides from the history alone: the plan, and how many of its steps are done. The last step tells what the model was told. */
async function* perform({ history }: ModelRequest): AsyncGenerator<ModelEvent> {
  const asked = history.findLastIndex(({ role }) => role === "user");
  const { words, steps } = JSON.parse(String((history[asked] as { content?: unknown } | undefined)?.content)) as Plan;
  const done = history.slice(asked + 1) as AssistantEntry[];
  const wanted = steps[done.length];
  const id = "text";
  yield { type: "text.started", id };
  for (let i = 0; i < words; i += 1) {
    if (Math.random() < 0.5) await sleep(1);
    yield { type: "text.delta", id, delta: `w${i} ` };
  }
  if (!wanted) yield { type: "text.delta", id, delta: JSON.stringify(heard(done)) };
  yield { type: "text.ended", id };
  for (const [i, name] of (wanted ?? []).entries()) {
    yield* calls(name, { n: done.length * 10 + i }, { chunks: 2 });
  }
}

/** What the model was told about each call of the turn. */
export type Heard = { callId: string; status: string | undefined; output: unknown; error: string | undefined };

function heard(entries: AssistantEntry[]): Heard[] {
  return entries
    .flatMap(({ parts }) => parts.filter((part): part is CallPart => part.type === "call"))
    .map(({ callId, settlement }) => ({ callId, status: settlement?.status, output: settlement?.output, error: settlement?.error }));
}
