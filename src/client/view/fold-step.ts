import type { SpeechEvent, StepEvent, StoredEvent } from "../../core/event.ts";
import { List } from "./list.ts";
import { type AssistantMessageView, EMPTY_VIEW, type PartView, type SpeechView, type StepView, type ThreadView } from "./view.ts";

type Stored<E> = E & Pick<StoredEvent, "seq" | "at" | "v">;

/** A model call or a node begins and ends. */
export function foldStep(view: ThreadView, event: Stored<StepEvent>): ThreadView {
  const { stepId: id, seq, at } = event;
  if (event.type === "step.ended") return stepEnded(view, event);
  const { name, kind, parentStepId: parent, taskId, attempt = 1, messageId } = event;
  const { seq: run = 0, turnId = "" } = view.runs.at(-1) ?? {};
  const step: StepView = { ...NEW_STEP, id, name, kind, run, turnId, seq, parent, taskId, attempt, startedAt: at, calls: List.empty() };
  const steps = view.steps.set(id, step);
  if (kind !== "model") return { ...view, steps };
  const message: AssistantMessageView = { ...NEW_MESSAGE, id, messageId, seq, at, turnId, run, parts: List.empty() };
  return { ...view, steps, messages: view.messages.set(id, message) };
}

const NEW_STEP = {
  state: "running",
  endedAt: undefined,
  error: undefined,
  finishReason: undefined,
  usage: undefined,
  writes: undefined,
} as const;

const NEW_MESSAGE = { role: "assistant", state: "open", endedAt: undefined, error: undefined } as const;

function stepEnded(view: ThreadView, event: Stored<Extract<StepEvent, { type: "step.ended" }>>): ThreadView {
  const { stepId: id, at, completed, error, finishReason, usage, writes } = event;
  const step = view.steps.get(id);
  const message = view.messages.get(id);
  return {
    ...view,
    ...(step && {
      steps: view.steps.set(id, { ...step, state: stateOf(view, step, event), endedAt: at, error, finishReason, usage, writes }),
    }),
    ...(message?.role === "assistant" && {
      messages: view.messages.set(id, {
        ...message,
        state: completed ? "done" : "cut",
        endedAt: at,
        error,
        parts: completed ? message.parts : cutOff(message.parts),
      }),
    }),
  };
}

function stateOf(view: ThreadView, { taskId }: StepView, event: Stored<Extract<StepEvent, { type: "step.ended" }>>): StepView["state"] {
  if (event.completed) return "done";
  if (event.retrying) return "retrying";
  if (event.error) return "failed";
  const asks = taskId !== undefined && view.pending > 0 && waitsFor(view, taskId);
  return asks ? "waiting" : "cut";
}

function waitsFor(view: ThreadView, taskId: string): boolean {
  const asked = view.interrupts.findLast((interrupt) => interrupt.taskId === taskId);
  if (asked?.status === "open") return true;
  const called = view.calls.findLast((call) => call.taskId === taskId);
  return called?.phase === "waiting" || called?.phase === "claimed";
}

/** The log ends every text; the last one of a step that died was not ended by the model. */
function cutOff(parts: List<PartView>): List<PartView> {
  const last = parts.at(-1);
  return last?.type === "text" || last?.type === "reasoning" ? parts.set(parts.length - 1, { ...last, state: "cut" }) : parts;
}

/** What a model says, piece by piece. While a document is open, texts go there. */
export function foldSpeech(view: ThreadView, event: Stored<SpeechEvent>): ThreadView {
  switch (event.type) {
    case "text.started":
    case "reasoning.started":
      return begin(view, event);
    case "text.delta":
    case "reasoning.delta":
      return speak(view, event.messageId, (text) => text + event.delta, undefined);
    case "text.ended":
    case "reasoning.ended":
      return speak(view, event.messageId, (text, from) => text.slice(0, from) + event.text, event.at);
    case "part.added": {
      const { stepId, seq, part } = event;
      return addPart(spokenBy(view, event), stepId, { id: `part:${seq}`, seq, ...partOf(part) });
    }
    default:
      return event satisfies never;
  }
}

function begin(view: ThreadView, event: Stored<Extract<SpeechEvent, { type: "text.started" | "reasoning.started" }>>): ThreadView {
  const { messageId, stepId, seq, at } = event;
  const type = event.type === "text.started" ? "text" : "reasoning";
  const document = type === "text" && view.writing !== undefined ? view.documents.get(view.writing) : undefined;
  if (document) {
    // What was written before stands apart from what comes now.
    const text = document.text === "" ? "" : `${document.text}\n\n`;
    const speaking = [...view.speaking, { messageId, stepId, part: -1, documentId: document.id, from: text.length }];
    return { ...view, speaking, documents: view.documents.set(document.id, { ...document, text }) };
  }
  const told = spokenBy(view, event);
  const message = told.messages.get(stepId);
  if (message?.role !== "assistant") return view;
  const part: SpeechView = { type, id: messageId, seq, text: "", state: "streaming", startedAt: at, endedAt: undefined };
  const speaking = [...view.speaking, { messageId, stepId, part: message.parts.length, documentId: undefined, from: 0 }];
  return addPart({ ...told, speaking }, stepId, part);
}

function speak(
  view: ThreadView,
  messageId: string,
  write: (text: string, from: number) => string,
  endedAt: number | undefined,
): ThreadView {
  const open = view.speaking.find((speaking) => speaking.messageId === messageId);
  if (!open) return view;
  const speaking = endedAt === undefined ? view.speaking : without(view.speaking, open);
  const document = open.documentId === undefined ? undefined : view.documents.get(open.documentId);
  if (document)
    return { ...view, speaking, documents: view.documents.set(document.id, { ...document, text: write(document.text, open.from) }) };
  const message = view.messages.get(open.stepId);
  const part = message?.role === "assistant" ? message.parts.at(open.part) : undefined;
  if (message?.role !== "assistant" || !part || (part.type !== "text" && part.type !== "reasoning")) return { ...view, speaking };
  const said: SpeechView = { ...part, text: write(part.text, 0), ...(endedAt !== undefined && { state: "done", endedAt }) };
  return { ...view, speaking, messages: view.messages.set(open.stepId, { ...message, parts: message.parts.set(open.part, said) }) };
}

function without<T>(items: readonly T[], item: T): readonly T[] {
  return items.length === 1 ? (EMPTY_VIEW.speaking as readonly T[]) : items.filter((other) => other !== item);
}

/** With a message for what a step says. A model has one from its start; a node of a graph has one once it says something. */
export function spokenBy(
  view: ThreadView,
  { stepId: id, messageId, seq, at }: { stepId: string; messageId: string; seq: number; at: number },
): ThreadView {
  const step = view.steps.get(id);
  if (!step || view.messages.has(id)) return view;
  const { turnId, run } = step;
  const message: AssistantMessageView = { ...NEW_MESSAGE, id, messageId, seq, at, turnId, run, parts: List.empty() };
  return { ...view, messages: view.messages.set(id, message) };
}

/** Puts a part behind the others of a step's message. */
export function addPart(view: ThreadView, stepId: string, part: PartView): ThreadView {
  const message = view.messages.get(stepId);
  if (message?.role !== "assistant") return view;
  return { ...view, messages: view.messages.set(stepId, { ...message, parts: message.parts.push(part) }) };
}

function partOf(part: Extract<SpeechEvent, { type: "part.added" }>["part"]) {
  switch (part.type) {
    case "file":
      return { type: "file" as const, file: part };
    case "source":
      return { type: "source" as const, url: part.url, title: part.title };
    case "data":
      return { type: "data" as const, name: part.name, value: part.value };
    default:
      return part satisfies never;
  }
}
