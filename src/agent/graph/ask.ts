import { AppError } from "../../core/error.ts";
import type { Event, Place } from "../../core/event.ts";
import { findGiven, frameOf, GIVEN } from "../../core/graph.ts";
import type { Json } from "../../core/json.ts";
import { toMs } from "../duration.ts";
import { fromJsonSchema, toSchema } from "../schema.ts";
import { toJson } from "./field.ts";
import type { InterruptOptions, NodeContext } from "./node.ts";
import type { Stage } from "./stage.ts";

/** What a try of a node asks. */
export type Asker = {
  interrupt: NodeContext["interrupt"];
  /** Whether it asked something that has no answer yet: then it is suspended, whatever its function does. */
  waits(): boolean;
  /** The questions nobody knows of yet. */
  questions(): Event[];
};

/** Thrown where a question has no answer yet. Catching it changes nothing. */
class Suspended extends Error {}

export function asker(
  { context, channel, used }: Stage,
  { taskId, place, signal }: { taskId: string; place: Place; signal: AbortSignal },
): Asker {
  const { thread, clock } = context;
  const asked = new Map<string, number>();
  const raised: Event[] = [];
  let open = 0;

  const ask = (key: string, prompt: Json, { schema, reason = "question", timeout }: InterruptOptions<never>) => {
    signal.throwIfAborted();
    if (typeof key !== "string" || key === "" || key.length > 100)
      throw new AppError("invalid", "A question's key is a text of 1 to 100 characters", { field: "key" });
    const n = (asked.get(key) ?? 0) + 1;
    asked.set(key, n);
    const interruptId = `${taskId}/${key}#${n}`;
    const known = frameOf(thread.graph, taskId)?.answers[interruptId];
    const question: Event = {
      type: "interrupt.raised",
      interruptId,
      reason,
      prompt: toJson(prompt),
      ...(schema && { schema: toSchema(schema, `The question ${key}`).json }),
      taskId,
      place: { ...place, key },
      ...(timeout !== undefined && { expiresAt: clock.now() + toMs(timeout, "timeout") }),
    };
    if (known?.status === "expired") throw new AppError("timeout", `Nobody answered ${key} in time`);
    if (known?.status === "cancelled") throw new AppError("gone", `The question ${key} was cancelled`);
    if (known) return known.value ?? null;
    const { given, holder } = findGiven(thread.graph, taskId, key);
    if (given !== undefined && holder && !thread.interrupts.has(interruptId) && !used.has(holder)) {
      used.add(holder);
      const answered: Event = { type: "interrupt.answered", interruptId, status: "resolved", value: given, by: "handback", via: GIVEN };
      // In one append with what follows: the log has no answer without its question.
      void channel.commit([question, answered]).then(() => used.delete(holder));
      return given;
    }
    open += 1;
    if (!thread.interrupts.has(interruptId)) raised.push(question);
    throw new Suspended(`Waits for an answer to ${key}`);
  };

  return {
    interrupt<T>(key: string, prompt: Json, options: InterruptOptions<T> = {}): Promise<T> {
      // Asked before anything is awaited, so that questions side by side are all asked.
      const answer = new Promise<Json>((resolve) => resolve(ask(key, prompt, options as InterruptOptions<never>)));
      const fitting = answer.then((value) => fit(key, value, options));
      fitting.catch(() => {}); // a node that does not wait for its question is suspended all the same
      return fitting;
    },
    waits: () => open > 0,
    questions: () => raised,
  };
}

async function fit<T>(key: string, value: Json, { schema }: InterruptOptions<T>): Promise<T> {
  if (!schema) return value as T;
  const { check } = "~standard" in schema ? toSchema<T>(schema, `The question ${key}`) : fromJsonSchema(schema);
  const verdict = await check(value);
  if ("problem" in verdict) throw new AppError("unprocessable", `The answer to ${key} does not fit its schema: ${verdict.problem}`);
  return verdict.value as T;
}
