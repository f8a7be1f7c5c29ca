import { AppError } from "../../core/error.ts";
import type { Event } from "../../core/event.ts";
import type { Frame } from "../../core/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import { type AssistantEntry, readyCalls } from "../../core/thread.ts";
import type { ToolFailure } from "./node.ts";
import { toWish } from "./run-function.ts";
import type { Outcome, Stage, TaskStep } from "./stage.ts";
import { lastCall } from "./tool-agent.ts";
import { type AgentNode, ownEntries, viewOf } from "./view.ts";

type Given = { taskId: string; frame: Frame; state: JsonObject; signal: AbortSignal; step: TaskStep };

/** Lets the agent in a node go on until it is done, or waits for somebody outside. */
export async function runAgent({ context, channel }: Stage, node: AgentNode, given: Given): Promise<Outcome> {
  const { taskId, frame, state, signal, step } = given;
  const { thread } = context;
  for (;;) {
    signal.throwIfAborted();
    if (readyCalls(thread).some((call) => call.taskId === taskId)) {
      await context.runCalls((call) => call.taskId === taskId);
      continue;
    }
    const view = viewOf(thread, node, taskId, frame, state);
    const next = node.agent.next(view);
    if (next.type === "wait") return { type: "suspended" };
    if (next.type === "fail") throw new AppError(next.error.code, next.error.message);
    if (next.type === "done") return { type: "done", wish: toWish(outcomeOf(node, given, thread), step.name) };
    for await (const said of node.agent.step({ ...context, thread: view, signal })) {
      signal.throwIfAborted(); // a model that does not heed it must not speak in a step that is over
      if (isBatch(said)) await channel.commit(said.map((event) => placed(event, taskId, step)));
      else await channel.say(placed(said, taskId, step));
    }
    await channel.commit([]); // what it said is folded before it is asked again
  }
}

/** An event of the agent's own, as part of its task. */
function placed(event: Event, taskId: string, { name, stepId, place }: TaskStep): Event {
  switch (event.type) {
    case "step.started":
      return { ...event, name: `${name}/${event.name}`, taskId, parentStepId: event.parentStepId ?? stepId };
    case "step.ended":
      return { ...event, name: `${name}/${event.name}`, parentStepId: event.parentStepId ?? stepId };
    case "tool.called":
      return { ...event, taskId, place };
    case "interrupt.raised":
      return { ...event, taskId, place: { ...place, key: event.place?.key ?? event.interruptId } };
    case "state.patched":
    case "checkpoint.reached":
      throw new AppError(
        "unsupported",
        `The agent in ${name} keeps its state in the thread, which is the graph's; run it as an agent of its own`,
      );
    default:
      return event;
  }
}

function outcomeOf(node: AgentNode, { taskId, frame, state }: Given, thread: Stage["context"]["thread"]): unknown {
  const entries = ownEntries(thread, node, taskId, frame).filter((entry) => entry.state === "completed");
  if (node.kind === "agent") return node.output?.({ text: textOf(entries.at(-1)), entries }, state as never);
  const {
    status,
    output = null,
    error = "",
  } = lastCall(entries)?.settlement ?? { status: "failed" as const, error: "It was never called" };
  if (status === "completed") return node.output?.(output as never, state as never);
  if (node.failed) return node.failed({ status, error } satisfies ToolFailure, state as never);
  throw new AppError("unprocessable", `${node.tool.spec.name}: ${error || status}`);
}

function textOf(entry: AssistantEntry | undefined): string {
  return (entry?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

function isBatch(said: Event | readonly Event[]): said is readonly Event[] {
  return Array.isArray(said);
}
