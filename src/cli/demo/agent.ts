import type { Agent } from "../../agent/agent.ts";
import { browserJsEval } from "../../agent/browser-js-eval.ts";
import { chatAgent } from "../../agent/chat.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { AssistantEntry, CallPart, UserEntry } from "../../core/thread.ts";
import type { ModelEvent, ModelRequest } from "../../model/model.ts";
import { paced, scriptedBy } from "../../model/scripted.ts";
import { sceneFor } from "./scenes.ts";
import { TOOLS } from "./tools.ts";

/** How long it takes to say a word: slow enough to be seen. */
const PACE_MS = 30;

/** What answers when no model is configured: a script that shows each way a tool can run somewhere else. */
export function demoAgent({ pace = PACE_MS, clock = systemClock }: { pace?: number | undefined; clock?: Clock } = {}): Agent {
  const model = scriptedBy((request) => answer(request), { keep: 0 });
  return chatAgent({ model: pace > 0 ? paced(model, { clock, ms: pace }) : model, tools: [browserJsEval, ...TOOLS] });
}

/** Decides from the history alone, so that a restarted server goes on where it was. */
function answer({ history }: ModelRequest): readonly ModelEvent[] | AsyncIterable<ModelEvent> {
  const asked = history.findLast((entry): entry is UserEntry => entry.role === "user");
  const steps = history
    .slice(asked ? history.lastIndexOf(asked) + 1 : 0)
    .filter((entry): entry is AssistantEntry => entry.role === "assistant");
  const done = steps.flatMap(({ parts }) => parts.filter((part): part is CallPart => part.type === "call"));
  const text = textOf(asked);
  return sceneFor(text).play({ text, done, zh: /\p{sc=Han}/u.test(text) });
}

function textOf(entry: UserEntry | undefined): string {
  const content = entry?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}
