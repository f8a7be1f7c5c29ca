import { AppError } from "../core/error.ts";
import type { Event, Owner, ToolSpec, Usage } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { ModelEvent } from "../model/model.ts";
import type { StepContext } from "./agent.ts";
import { fromJsonSchema, type Schema } from "./schema.ts";
import type { Tool } from "./tool.ts";

/** One step of a model, as it goes into the log. */
export type Speech = {
  name: string;
  stream: AsyncIterable<ModelEvent>;
  /** The agent's tools by name, in front of the request's. */
  tools: ReadonlyMap<string, Tool>;
  price?: ((usage: Usage) => number) | undefined;
};

/**
 * Turns what a model says into events: ids are minted, endings carry the whole, and every call is checked before
 * anybody could run it.
 */
export async function* speak(context: StepContext, { name, stream, tools, price }: Speech): AsyncGenerator<Event> {
  const { mint, thread } = context;
  const stepId = mint("step");
  const step = { stepId, messageId: mint("msg") };
  const said = new Map<string, { messageId: string; pieces: string[] }>();
  const callIds = new Map<string, { callId: string; owner: Owner }>();
  /** Arguments as far as they were told, of calls that are not finished. */
  const told = new Map<string, string>();
  let first = true;
  let finished: Extract<ModelEvent, { type: "finished" }> | undefined;
  const textOf = (id: string) => {
    const text = said.get(id);
    if (!text) throw new AppError("internal", `The model goes on with a text ${id}, which it never began`);
    return text;
  };

  /** A text begins with its first word: without one, clients would show an empty message. */
  const begin = (text: { messageId: string }): Event[] => {
    if (text.messageId !== "") return [];
    // The step's first text carries the step's message id, which its calls name as their parent.
    text.messageId = first ? step.messageId : mint("msg");
    first = false;
    return [{ type: "text.started", messageId: text.messageId, stepId }];
  };

  yield { type: "step.started", ...step, name, kind: "model" };
  for await (const event of stream) {
    switch (event.type) {
      case "text.started":
        said.set(event.id, { messageId: "", pieces: [] });
        break;
      case "reasoning.started": {
        const messageId = mint("msg");
        said.set(event.id, { messageId, pieces: [] });
        yield { type: event.type, messageId, stepId };
        break;
      }
      case "text.delta":
      case "reasoning.delta": {
        const text = textOf(event.id);
        if (event.delta === "") break; // some clients refuse an empty piece
        yield* begin(text);
        text.pieces.push(event.delta);
        yield { type: event.type, messageId: text.messageId, delta: event.delta };
        break;
      }
      case "text.ended":
      case "reasoning.ended": {
        const text = textOf(event.id);
        said.delete(event.id);
        if (text.messageId === "" && !event.provider) break;
        yield* begin(text);
        const { messageId, pieces } = text;
        yield { type: event.type, messageId, text: pieces.join(""), ...(event.provider && { provider: event.provider }) };
        break;
      }
      case "tool.started": {
        const callId = await context.callId(event.id);
        const { owner } = find(event.name, tools, context);
        callIds.set(event.id, { callId, owner });
        told.set(event.id, "");
        yield { type: "tool.started", callId, name: event.name, ...step, owner };
        break;
      }
      case "tool.delta": {
        const call = callIds.get(event.id);
        const before = told.get(event.id);
        if (!call || before === undefined || event.delta === "") break;
        told.set(event.id, before + event.delta);
        yield { type: "tool.delta", callId: call.callId, delta: event.delta };
        break;
      }
      case "tool.called": {
        const call = callIds.get(event.id);
        if (!call) throw new AppError("internal", `The model finished call ${event.id}, which it never began`);
        const before = told.get(event.id);
        if (before === undefined) break; // finished before: a provider that repeats itself makes no second call
        told.delete(event.id);
        // Wires that know arguments only in pieces get what is missing in one, or all of it from models that do not stream them.
        const whole = typeof event.input !== "string" ? JSON.stringify(event.input.value) : event.input.trim() === "" ? "{}" : event.input;
        if (whole.length > before.length && whole.startsWith(before)) {
          yield { type: "tool.delta", callId: call.callId, delta: whole.slice(before.length) };
        }
        yield { type: "tool.called", ...call, name: event.name, ...step, ...(await checkCall(event, tools, context)) };
        break;
      }
      case "file": {
        const blob = await context.saveBlob(event.mediaType, event.data);
        yield { type: "part.added", ...step, part: { type: "file", mediaType: event.mediaType, blob } };
        break;
      }
      case "source": {
        const { type, ...source } = event;
        yield { type: "part.added", ...step, part: { type, ...source } };
        break;
      }
      case "finished":
        finished = event;
        break;
      default:
        event satisfies never;
    }
  }
  if (!finished) throw new AppError("model", "The model stopped in the middle of its answer");
  const usage = finished.usage && { ...finished.usage, ...(price && { cost: price(finished.usage) }) };
  if (thread.run) yield { type: "step.ended", stepId, name, completed: true, finishReason: finished.reason, ...(usage && { usage }) };
}

type Found = { owner: Owner; schema?: Schema; tool?: Tool; declared?: ToolSpec };

/** A server's tool beats a request's of the same name; `mode: "outside"` sends every call outside. */
function find(name: string, tools: ReadonlyMap<string, Tool>, { thread }: StepContext): Found {
  const tool = tools.get(name);
  const outside = thread.options.toolExecution?.mode === "outside";
  if (tool) return { tool, schema: tool.input, owner: outside && tool.owner === "server" ? "external" : tool.owner };
  const allowed = thread.options.tools?.includes(name) ?? true;
  const declared = allowed ? thread.tools.find((spec) => spec.name === name) : undefined;
  if (declared) return { declared, schema: fromJsonSchema(declared.input), owner: outside ? "external" : "client" };
  return { owner: "server" };
}

type Called = Extract<Event, { type: "tool.called" }>;
type Checked = Pick<Called, "input" | "owner"> &
  Partial<Pick<Called, "approval" | "invalid" | "timeout" | "onTimeout" | "idempotent" | "provider" | "source">>;

/** What a call is worth before anybody could run it. */
export async function checkCall(
  event: Extract<ModelEvent, { type: "tool.called" }>,
  tools: ReadonlyMap<string, Tool>,
  context: StepContext,
): Promise<Checked> {
  const { owner, schema, tool } = find(event.name, tools, context);
  const origin = { ...(event.provider && { provider: event.provider }), ...(event.source !== undefined && { source: event.source }) };
  const read = toInput(event.input);
  if (event.invalid !== undefined) return { owner, ...origin, input: read.input, invalid: event.invalid };
  if ("problem" in read)
    return { owner, ...origin, input: read.input, invalid: `The arguments of ${event.name} cannot be read: ${read.problem}` };
  const { input } = read;
  if (!schema) return { owner, ...origin, input, invalid: `There is no tool ${event.name}` };
  const verdict = await schema.check(input);
  if ("problem" in verdict)
    return { owner, ...origin, input, invalid: `The arguments of ${event.name} do not fit its schema: ${verdict.problem}` };
  const approval = owner === "client" ? undefined : tool?.approval(verdict.value);
  const timeout = outsideTimeout(context) ?? (owner === "server" ? undefined : (tool?.timeout ?? defaultTimeout(context)));
  return {
    owner,
    ...origin,
    input,
    ...(approval && { approval }),
    ...(timeout !== undefined && { timeout }),
    ...(tool?.onTimeout && { onTimeout: tool.onTimeout }),
    ...(tool?.idempotent && { idempotent: true }),
  };
}

function outsideTimeout({ thread }: StepContext): number | undefined {
  const { toolExecution } = thread.options;
  return toolExecution?.mode === "outside" ? toolExecution.outsideConfig?.timeout : undefined;
}

/** A thread that came with a `toolExecutionConfig` has seed 002's deadline where nobody names another. */
function defaultTimeout({ thread }: StepContext): number | undefined {
  return thread.options.toolExecution ? 30_000 : undefined;
}

/** Deeper than any honest argument, and far from where `JSON.stringify` gives up. */
const DEEPEST = 64;

function toInput(input: string | { value: Json }): { input: Json } | { input: Json; problem: string } {
  if (typeof input !== "string") return { input: input.value };
  try {
    const value = input.trim() === "" ? {} : (JSON.parse(input) as Json);
    return depth(value) > DEEPEST ? { input: null, problem: `nested deeper than ${DEEPEST} levels` } : { input: value };
  } catch (error) {
    return { input: null, problem: error instanceof Error ? error.message : "not JSON" };
  }
}

function depth(value: Json, level = 0): number {
  if (typeof value !== "object" || value === null || level > DEEPEST) return level;
  let deepest = level + 1;
  for (const child of Array.isArray(value) ? value : Object.values(value)) deepest = Math.max(deepest, depth(child, level + 1));
  return deepest;
}
