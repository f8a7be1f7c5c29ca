import { AppError } from "../core/error.ts";
import type { Event, RunOptions, ToolSpec, Usage } from "../core/event.ts";
import type { Next } from "../core/step.ts";
import { type AssistantEntry, type Thread, waits } from "../core/thread.ts";
import { aiSdkModel, type LanguageModel } from "../model/ai-sdk.ts";
import type { Model } from "../model/model.ts";
import type { Profile } from "../model/profile/profile.ts";
import { type ProfileName, profileNamed, toProfile } from "../model/profile/profiles.ts";
import { JSON_Strict } from "../model/profile/seed-profiles.ts";
import { withProfile } from "../model/profile/with-profile.ts";
import type { Agent, StepContext } from "./agent.ts";
import { completed } from "./completed.ts";
import { speak } from "./speak.ts";
import type { Tool } from "./tool.ts";

/** A model: its name at the configured provider, an AI SDK provider's object, or a function of your own. */
export type ModelLike = string | Model | LanguageModel;

export type ChatOptions = {
  model: ModelLike;
  /** Further models a request may choose by name; any other name is refused. */
  models?: Record<string, ModelLike>;
  instructions?: string | ((thread: Thread) => string);
  tools?: readonly Tool[];
  /** Tools by prompt, for models without calls of their own. A request may choose another one by name, or `"native"` calls. */
  profile?: Profile | ProfileName;
  /** Model calls in one turn. Default 50. */
  maxSteps?: number;
  /** What one run may spend; reaching it fails the run. */
  limits?: { tokens?: number; cost?: number };
  /** Cost of one model call, for `limits.cost` and the usage that clients see. */
  price?: (usage: Usage) => number;
  /** Ends the turn after a step, although the model has called tools. */
  stopWhen?: (thread: Thread) => boolean;
  /** What a new message does to calls that wait: cancel them (default), or be refused. */
  whilePending?: "cancel" | "reject";
};

/** An agent whose step is one answer of a model, told as it comes. */
export interface ChatAgent extends Agent {
  step(context: StepContext): AsyncIterable<Event>;
}

const MAX_STEPS = 50;

/** How often in a row a model may call tools that do not exist, or wrongly, before the run fails. */
const MAX_MISSES = 3;

/**
 * An agent that talks to a model and lets it call tools until it has nothing more to call.
 *
 * @example
 * chatAgent({ model: "gpt-4o-mini", instructions: "You run a coffee shop.", tools: [getMenu] })
 */
export function chatAgent(options: ChatOptions): ChatAgent {
  const { maxSteps = MAX_STEPS, limits, stopWhen, whilePending } = options;
  const tools = byName(options.tools ?? []);
  return {
    tools,
    models: [...new Set([nameOf(options.model) ?? [], Object.keys(options.models ?? {})].flat())],
    ...(whilePending && { whilePending }),
    check(asked: RunOptions) {
      const { model } = asked;
      if (model !== undefined && !Object.hasOwn(options.models ?? {}, model) && model !== nameOf(options.model)) {
        throw new AppError("invalid", `model: this agent does not offer ${model}`, { field: "model" });
      }
      profileOf(options, asked);
    },
    profile: (asked) => profileOf(options, asked),
    next(thread): Next {
      if (waits(thread).length > 0) return { type: "wait" };
      const last = lastOfTurn(thread);
      if (last?.parts.every((part) => part.type !== "call")) return { type: "done" };
      if (last && stopWhen?.(thread)) return { type: "done" };
      return overBudget(thread, thread.options.maxSteps ?? maxSteps, limits) ?? { type: "step" };
    },
    step(context) {
      const own = context.thread.options.tools ? new Map([...tools].filter(([name]) => allowed(context.thread, name))) : tools;
      return speak(context, { name: "model", stream: ask(options, own, context), tools: own, price: options.price });
    },
  };
}

/** The last step the model completed in this turn. */
function lastOfTurn({ history, turn }: Thread): AssistantEntry | undefined {
  for (let i = history.length - 1; i >= 0; i -= 1) {
    const entry = history[i];
    if (!entry || entry.role === "user" || entry.turnId !== turn?.turnId) return undefined;
    if (entry.state === "completed") return entry;
  }
  return undefined;
}

function overBudget({ turn, run }: Thread, maxSteps: number, limits: ChatOptions["limits"]): Next | undefined {
  const fail = (message: string): Next => ({ type: "fail", error: { code: "limit", message } });
  if (!turn) return undefined;
  if (turn.steps >= maxSteps) return fail(`The turn took ${maxSteps} steps and was not done`);
  if (turn.misses >= MAX_MISSES) return fail(`The model called tools wrongly ${MAX_MISSES} times in a row`);
  const spent = (of: (usage: Usage) => number | undefined) => (run?.usage ?? []).reduce((sum, usage) => sum + (of(usage) ?? 0), 0);
  const tokens = spent((usage) => usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  if (limits?.tokens !== undefined && tokens >= limits.tokens) return fail(`The run used ${tokens} tokens; its limit is ${limits.tokens}`);
  const cost = spent((usage) => usage.cost);
  if (limits?.cost !== undefined && cost >= limits.cost) return fail(`The run cost ${cost}; its limit is ${limits.cost}`);
  return undefined;
}

function ask(options: ChatOptions, tools: ReadonlyMap<string, Tool>, context: StepContext) {
  const { thread, signal, blob } = context;
  const { instructions } = options;
  const chosen = thread.options.model === undefined ? options.model : (options.models?.[thread.options.model] ?? options.model);
  const specs: ToolSpec[] = [...tools.values()].map(({ spec }) => spec);
  for (const spec of thread.tools) if (!tools.has(spec.name) && allowed(thread, spec.name)) specs.push(spec);
  const profile = profileOf(options, thread.options);
  const model = toModel(chosen, context);
  return (profile ? withProfile(profile, model, { raw: thread.options.toolCalls === "raw" }) : model)(
    {
      instructions: thread.options.instructions ?? (typeof instructions === "function" ? instructions(thread) : instructions),
      history: completed(thread.history),
      tools: specs,
      options: thread.options,
      blob,
    },
    signal,
  );
}

/** Whether this turn's options let the model call a tool. */
function allowed({ options }: Thread, name: string): boolean {
  return options.tools?.includes(name) ?? true;
}

/** The profile of a turn; none is native calls. */
function profileOf({ profile }: ChatOptions, { profile: asked, toolCalls }: RunOptions): Profile | undefined {
  const raw = toolCalls === "raw";
  const own = profile ? toProfile(profile) : raw ? JSON_Strict : undefined;
  if (asked === "native" && raw) {
    throw new AppError("invalid", "toolCalls: native calls are never in the text; choose a profile, or parsed", { field: "toolCalls" });
  }
  if (asked === "native") return undefined;
  return asked === undefined || asked === own?.name ? own : profileNamed(asked);
}

/** What a model is called; a function has no name. */
function nameOf(model: ModelLike): string | undefined {
  if (typeof model === "string") return model;
  return typeof model === "function" ? undefined : model.modelId;
}

function toModel(model: ModelLike, context: StepContext): Model {
  if (typeof model === "string") return context.model(model);
  return typeof model === "function" ? model : aiSdkModel(model);
}

function byName(tools: readonly Tool[]): Map<string, Tool> {
  const map = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool.spec;
    if (map.has(name)) throw new AppError("invalid", `Two tools are called ${name}`, { field: "tools" });
    map.set(name, tool);
  }
  return map;
}
