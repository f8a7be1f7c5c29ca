import { AIMessage, AIMessageChunk, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { StepContext } from "../agent/agent.ts";
import type { Tool } from "../agent/tool.ts";
import type { Event, Place, Task } from "../core/event.ts";
import { isObject, type Json } from "../core/json.ts";
import { callNamed, returned } from "./calls.ts";
import type { Standing } from "./memory.ts";
import { type SpokenCall, type SpokenMessage, spokenMessage } from "./spoken-message.ts";

/** One piece of what `stream` yields with `subgraphs: true` and these modes. */
export type Chunk = [namespace: string[], mode: "tasks" | "messages" | "custom", payload: unknown];

/** A question of a node, and where it is asked. */
export type Asked = { namespace: string; taskId: string; path: string[]; id: string; value: unknown; schema: unknown };

/** Tasks that began at a barrier. */
export type Begun = { at: Standing; tasks: Task[] };

/** What a graph says while it runs, as events. */
export type Speech = {
  /** `at`: where the outermost graph stood when it said this. */
  take(chunk: Chunk, at: Standing): Promise<Event[]>;
  /** Ends what is open. Messages with calls for others are ended by `handing`, one by one: that hands them out. */
  finish(): Promise<{ events: Event[]; handing: Event[]; calls: { [callId: string]: string } }>;
  /** By LangGraph's id. */
  asked: ReadonlyMap<string, Asked>;
  /** Tasks of the outermost graph that have begun since this was asked last, and where. */
  begun(): Begun | undefined;
};

/** `failed` says what a task threw: the stream tells it like one that finished. */
export function speech(context: StepContext, tools: ReadonlyMap<string, Tool>, failed: (taskId: string) => string | undefined): Speech {
  const { mint, thread } = context;
  const lineageId = thread.turn?.turnId ?? "";
  const steps = new Map<string, { stepId: string; name: string; parentStepId?: string; place: Place }>();
  let begun: Begun | undefined;
  const messages = new Map<string, { message: SpokenMessage; taskId: string }>();
  const calls = new Map<string, SpokenCall>();
  const ending: SpokenMessage[] = [];
  const asked = new Map<string, Asked>();

  const close = async (id: string, { message }: { message: SpokenMessage }): Promise<Event[]> => {
    messages.delete(id);
    const events = await message.close();
    for (const call of message.calls) calls.set(call.toolCallId, call);
    if (message.calls.some(({ inside }) => !inside)) ending.push(message);
    else events.push(message.end());
    return events;
  };
  const closeAll = async (which: (taskId: string) => boolean): Promise<Event[]> => {
    const events: Event[] = [];
    for (const [id, spoken] of messages) if (which(spoken.taskId)) events.push(...(await close(id, spoken)));
    return events;
  };

  /** Unique among the steps that are open, as clients want it: nodes inside others carry their names, and each further task of a node its number. */
  const free = (name: string): string => {
    const names = new Set([...steps.values()].map((step) => step.name));
    let n = 1;
    while (names.has(n === 1 ? name : `${name}#${n}`)) n += 1;
    return n === 1 ? name : `${name}#${n}`;
  };
  const node = async (namespace: string[], task: TaskPayload, at: Standing): Promise<Event[]> => {
    const { id: taskId, name } = task;
    if (!("result" in task)) {
      const parent = steps.get(taskIdIn(namespace));
      const place = { path: [...namespace.map(nameIn), name], lineageId, checkpointId: at.checkpointId };
      const full = free(parent ? `${parent.name}/${name}` : name);
      const step = { stepId: mint("step"), name: full, ...(parent && { parentStepId: parent.stepId }), place };
      steps.set(taskId, step);
      if (namespace.length === 0) {
        const same = begun?.at.checkpointId === at.checkpointId;
        begun = { at, tasks: [...(same ? (begun?.tasks ?? []) : []), { taskId, node: name }] };
      }
      return [{ type: "step.started", ...step, kind: "node", messageId: mint("msg") }];
    }
    const step = steps.get(taskId);
    steps.delete(taskId);
    for (const interrupt of task.interrupts) {
      const { id, value, response_schema: schema } = interrupt;
      // A question inside a sub-graph is asked again by every graph around it; the first one said whose it is.
      if (id === undefined || asked.has(id)) continue;
      asked.set(id, { id, value, schema, taskId, namespace: namespace.join("|"), path: [...namespace.map(nameIn), name] });
    }
    const events = await closeAll((speaker) => speaker === taskId);
    const message = failed(taskId);
    const error = message !== undefined && { error: { code: "internal" as const, message } };
    const completed = task.interrupts.length === 0 && !error;
    return step ? [...events, { type: "step.ended", ...step, completed, ...error }] : events;
  };

  const message = async (said: BaseMessage, metadata: Record<string, unknown>): Promise<Event[]> => {
    if (ToolMessage.isInstance(said)) {
      const events: Event[] = [];
      for (const [id, spoken] of messages) {
        if (spoken.message.calls.some(({ toolCallId }) => toolCallId === said.tool_call_id)) events.push(...(await close(id, spoken)));
      }
      const call = calls.get(said.tool_call_id) ?? callNamed(thread, said.tool_call_id);
      calls.delete(said.tool_call_id);
      return call ? [...events, returned(call, said)] : events;
    }
    if (!AIMessage.isInstance(said) && !AIMessageChunk.isInstance(said)) return [];
    const taskId = taskIdIn(String(metadata["langgraph_checkpoint_ns"] ?? "").split("|"));
    const whole = !AIMessageChunk.isInstance(said);
    const id = whole ? mint("whole") : `${taskId}/${said.id}`;
    const events: Event[] = [];
    let spoken = messages.get(id);
    if (!spoken) {
      spoken = { message: spokenMessage(context, { tools, parentStepId: steps.get(taskId)?.stepId }), taskId };
      messages.set(id, spoken);
    }
    events.push(...(await spoken.message.take(said)));
    if (whole) events.push(...(await close(id, spoken)));
    return events;
  };

  return {
    asked,
    begun() {
      const since = begun;
      begun = undefined;
      return since;
    },
    async take([namespace, mode, payload], at) {
      if (mode === "tasks") return node(namespace, payload as TaskPayload, at);
      if (mode === "messages") return message(...(payload as [BaseMessage, Record<string, unknown>]));
      return [custom(payload as Json)];
    },
    async finish() {
      const events = await closeAll(() => true);
      const handed = ending.flatMap((message) => message.calls).filter(({ inside }) => !inside);
      return {
        events,
        handing: ending.map((message) => message.end()),
        calls: Object.fromEntries(handed.map(({ callId, toolCallId }) => [callId, toolCallId])),
      };
    },
  };
}

type TaskPayload = { id: string; name: string; interrupts: Interrupt[]; result?: unknown };
type Interrupt = { id?: string; value: unknown; response_schema?: unknown };

/** What a node writes with its `writer`. A name and a value are that; anything else is a value. */
function custom(payload: Json): Event {
  const { name, value } = isObject(payload) ? payload : {};
  if (typeof name === "string" && value !== undefined) return { type: "custom.emitted", name, value };
  return { type: "custom.emitted", name: "langgraph", value: payload ?? null };
}

/** Namespaces are `node:task` from the outside in. */
function taskIdIn(namespace: readonly string[]): string {
  return namespace.at(-1)?.split(":")[1] ?? "";
}

function nameIn(segment: string): string {
  return segment.split(":")[0] ?? segment;
}
