import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/error.ts";
import type { Usage } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Model, ModelEvent, ModelRequest } from "./model.ts";
import { pause } from "./pause.ts";
import { ProviderFailure, type ProviderTrouble } from "./provider-failure.ts";
import { checkHistory } from "./strict.ts";

/** One answer: its events, or a function that makes them. `finished` is added where it is missing. */
export type ScriptedTurn = readonly ModelEvent[] | Rule;
export type Rule = (request: ModelRequest, signal: AbortSignal) => readonly ModelEvent[] | AsyncIterable<ModelEvent>;
export type ScriptedModel = Model & {
  /** What it was asked, oldest first; copies, since a thread's history changes in place. */
  readonly requests: ModelRequest[];
};

/** A model that says what it is told, one turn per request, and refuses what a strict provider would. */
export function scripted(...turns: ScriptedTurn[]): ScriptedModel {
  let next = 0;
  return scriptedBy(
    (request, signal) => {
      const turn = turns[next++];
      if (!turn) throw new AppError("model", "The script has no more turns");
      return typeof turn === "function" ? turn(request, signal) : turn;
    },
    { keep: Number.POSITIVE_INFINITY },
  );
}

/** A scripted model that decides from the request alone, so that a restarted server goes on where it was. Keeps the last `keep` requests. */
export function scriptedBy(rule: Rule, { keep = 100 }: { keep?: number } = {}): ScriptedModel {
  const requests: ModelRequest[] = [];
  const model: Model = async function* (request, signal) {
    signal.throwIfAborted();
    checkHistory(request.history);
    const { history, tools, options } = request;
    if (keep > 0) requests.push({ ...request, ...structuredClone({ history, tools, options }) });
    if (requests.length > keep) requests.shift();
    let reason = "stop";
    for await (const event of rule(request, signal)) {
      signal.throwIfAborted();
      yield event;
      if (event.type === "finished") return;
      if (event.type === "tool.called") reason = "tool-calls";
    }
    yield { type: "finished", reason };
  };
  return Object.assign(model, { requests });
}

/** The same model at a human pace: `ms` before every piece it says. */
export function paced(model: Model, { clock, ms }: { clock: Clock; ms: number }): Model {
  return async function* (request, signal) {
    for await (const event of model(request, signal)) {
      if (event.type.endsWith(".delta")) await pause(clock, ms, signal);
      yield event;
    }
  };
}

let ids = 0;

/** A text, one delta per word. */
export function says(...words: string[]): ModelEvent[] {
  const id = `text-${++ids}`;
  return [{ type: "text.started", id }, ...words.map((delta) => ({ type: "text.delta" as const, id, delta })), { type: "text.ended", id }];
}

/** A thought, one delta per word. */
export function thinks(...words: string[]): ModelEvent[] {
  const id = `reasoning-${++ids}`;
  const deltas = words.map((delta) => ({ type: "reasoning.delta" as const, id, delta }));
  return [{ type: "reasoning.started", id }, ...deltas, { type: "reasoning.ended", id }];
}

/** A call with its arguments in so many chunks. `text` replaces them, valid or not. */
export function calls(name: string, input: Json, options: { id?: string; chunks?: number; text?: string } = {}): ModelEvent[] {
  const { id = `call_${++ids}`, chunks = 1, text = JSON.stringify(input) } = options;
  const length = Math.max(1, Math.ceil(text.length / chunks));
  const deltas: ModelEvent[] = [];
  for (let from = 0; from < text.length; from += length) deltas.push({ type: "tool.delta", id, delta: text.slice(from, from + length) });
  return [{ type: "tool.started", id, name }, ...deltas, { type: "tool.called", id, name, input: text }];
}

/** The end of an answer, where the script should name usage or reason. */
export function finishes(usage?: Usage, reason = "stop"): ModelEvent[] {
  return [usage ? { type: "finished", reason, usage } : { type: "finished", reason }];
}

/** A turn that fails, after it has said `after`. */
export function fails(
  message: string,
  { after = [], trouble = "refused", retryAfter }: { after?: readonly ModelEvent[]; trouble?: ProviderTrouble; retryAfter?: number } = {},
): Rule {
  return async function* () {
    yield* after;
    const cause = new ProviderFailure(trouble, message, retryAfter === undefined ? {} : { retryAfter });
    throw new AppError("model", message, { cause });
  };
}

/** A turn that says `after` and then nothing more, until it is aborted. */
export function hangs(...after: ModelEvent[]): Rule {
  return async function* (_request, signal) {
    yield* after;
    signal.throwIfAborted();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  };
}
