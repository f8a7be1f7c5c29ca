import type { StepContext } from "../agent/agent.ts";
import type { Event, Task } from "../core/event.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { type Kept, type Question, taken } from "./memory.ts";
import type { Asked } from "./speech.ts";

/** The questions a graph has stopped at: those that are open already keep their ids, and only the new ones are events. */
export function raise(
  { thread, mint }: StepContext,
  kept: Kept,
  asked: readonly Asked[],
  { next, tasks }: { next: readonly string[]; tasks: readonly Task[] },
): { questions: Kept["questions"]; events: Event[] } {
  const lineageId = thread.turn?.turnId ?? "";
  const checkpointId = kept.checkpoints[""]?.id ?? "";
  const questions: Kept["questions"] = {};
  const events: Event[] = [];
  const add = (question: Question, path: string[], raised: { reason: string; prompt: Json; schema?: JsonObject }) => {
    const open = Object.entries(kept.questions).find(([id, other]) => thread.interrupts.has(id) && same(other, question))?.[0];
    const interruptId = open ?? mint("int");
    questions[interruptId] = question;
    if (open !== undefined) return;
    const task = tasks.find(({ taskId }) => taskId === question.taskId) ?? tasks.find(({ node }) => node === path[0]) ?? tasks[0];
    const place = { path, key: question.id ?? path.join("/"), lineageId, checkpointId };
    events.push({ type: "interrupt.raised", interruptId, ...raised, ...(task && { taskId: task.taskId }), place });
  };
  for (const { namespace, taskId, id, path, value, schema } of asked) {
    const checkpoint = kept.checkpoints[namespace]?.id ?? "";
    const question = { namespace, checkpoint, taskId, id, answers: taken(kept, namespace, taskId) };
    const prompt = (JSON.parse(JSON.stringify(value ?? null)) ?? null) as Json;
    add(question, path, { reason: "langgraph", prompt, ...(isObject(schema) && { schema }) });
  }
  // Stopped without a question: LangGraph's `interruptBefore` and `interruptAfter`.
  if (asked.length === 0)
    add({ namespace: "", checkpoint: checkpointId, answers: 0 }, [...next], { reason: "breakpoint", prompt: { next: [...next] } });
  return { questions, events };
}

function same(a: Question, b: Question): boolean {
  return a.namespace === b.namespace && a.checkpoint === b.checkpoint && a.taskId === b.taskId && a.answers === b.answers;
}
