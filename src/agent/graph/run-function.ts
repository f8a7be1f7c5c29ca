import { AppError } from "../../core/error.ts";
import { isObject, type Json } from "../../core/json.ts";
import { asker } from "./ask.ts";
import { isCommand, type Target } from "./command.ts";
import { toJson } from "./field.ts";
import type { Node, NodeContext } from "./node.ts";
import type { Wish } from "./route.ts";
import type { Outcome, Stage, TaskStep } from "./stage.ts";

type Given = { taskId: string; input: Json | undefined; state: NodeContext["state"]; attempt: number; signal: AbortSignal; step: TaskStep };

/** One try of a node that is a function: it completes, is suspended by its questions, or throws. */
export async function runFunction(
  stage: Stage,
  { run }: Extract<Node, { kind: "node" }>,
  { taskId, input, state, attempt, signal, step }: Given,
): Promise<Outcome> {
  const { channel, context } = stage;
  const { stepId, messageId, place } = step;
  const node = place.path.at(-1) ?? "";
  const questions = asker(stage, { taskId, place, signal });
  const said: string[] = [];
  let over = false;
  const say = (event: Parameters<typeof channel.say>[0]) => {
    if (!over && !signal.aborted) void channel.say(event);
  };
  const given: NodeContext = {
    state,
    input,
    node,
    taskId,
    thread: context.thread,
    attempt,
    signal,
    interrupt: questions.interrupt,
    text(delta) {
      if (delta === "") return;
      if (said.length === 0) say({ type: "text.started", messageId, stepId });
      said.push(delta);
      say({ type: "text.delta", messageId, delta });
    },
    progress: (progress, message) =>
      say({
        type: "custom.emitted",
        name: "node.progress",
        value: { nodeId: node, progress: toJson(progress), ...(message !== undefined && { message }) },
        transient: true,
      }),
    emit: (name, value) => say({ type: "custom.emitted", name, value: toJson(value) }),
    activity: (activityType, ops, id = `${taskId}:${activityType}`) => say({ type: "activity.changed", messageId: id, activityType, ops }),
  };
  let failure: { error: unknown } | undefined;
  let result: unknown;
  try {
    result = await run(given as never);
  } catch (error) {
    failure = { error };
  }
  if (said.length > 0) say({ type: "text.ended", messageId, text: said.join("") });
  over = true;
  signal.throwIfAborted();
  if (questions.waits()) {
    await channel.commit(questions.questions());
    return { type: "suspended" };
  }
  if (failure) throw failure.error;
  return { type: "done", wish: toWish(result, node) };
}

/** What a node returned, as the log keeps it until the barrier. */
export function toWish(result: unknown, node: string): Wish {
  if (result === undefined || result === null) return {};
  const { update, goto } = isCommand(result) ? result : { update: result, goto: undefined };
  const written = update === undefined ? undefined : toJson(update);
  if (written !== undefined && !isObject(written))
    throw new AppError(
      "invalid",
      `${node} returned ${JSON.stringify(written)?.slice(0, 100)}, which is neither fields of the state nor a command`,
    );
  return {
    ...(written && Object.keys(written).length > 0 && { update: written }),
    ...(goto && { goto: toJson(goto) as Target[] }),
  };
}
