import type { ToolSpec } from "../../core/event.ts";
import type { AssistantEntry, CallPart, Entry, UserEntry } from "../../core/thread.ts";
import { parse } from "./parse.ts";
import type { Profile } from "./profile.ts";
import { type ProfileName, toProfile } from "./profiles.ts";
import { resultOf } from "./results.ts";

type Part = AssistantEntry["parts"][number];

/** What a profile tells a model: the system prompt, past calls and their results as text. For one's own loop; `withProfile` uses the same. */
export class ToolContextBuilder {
  readonly profile: Profile;

  constructor(profile: Profile | ProfileName) {
    this.profile = toProfile(profile);
  }

  /** The system prompt: protocol and tools at the top, then the application's own instructions. */
  prompt(tools: readonly ToolSpec[], instructions?: string): string {
    const { intro, definitionTemplate, outro } = this.profile;
    const protocol = tools.length === 0 ? [] : [intro, ...tools.map(definitionTemplate), outro];
    return [...protocol, ...(instructions ? [instructions] : [])].join("\n\n");
  }

  /** Calls of one step as the model wrote them, if it wrote them in this profile's way; otherwise as this profile would have it. */
  calls(calls: readonly CallPart[]): string {
    const words = calls.map(({ source }) => source ?? "").join("");
    if (words !== "" && isOwn(this.profile, calls, words)) return words;
    return this.profile.callTemplate(calls.map(({ callId, name, input }) => ({ id: callId, name, input: input ?? {} })));
  }

  /** The result of one call, failures and refusals included. */
  result(call: CallPart): string {
    const { callId, name, edited } = call;
    return this.profile.resultTemplate(callId, resultOf(call), { name, ...(edited !== undefined && { edited }) });
  }

  /** A history in which calls and results are text: calls the assistant's, results the user's. */
  history(history: readonly Entry[]): Entry[] {
    const told: Entry[] = [];
    for (const entry of history) {
      if (entry.role === "user") {
        addUser(told, entry);
        continue;
      }
      if (entry.state !== "completed") continue;
      const calls = entry.parts.filter((part) => part.type === "call");
      told.push(calls.length === 0 ? entry : { ...entry, parts: this.#parts(entry) });
      if (calls.length === 0) continue;
      const content = calls.map((call) => this.result(call)).join("\n");
      addUser(told, { role: "user", seq: entry.seq, turnId: entry.turnId, id: `${entry.messageId}:results`, content });
    }
    return told;
  }

  /** Texts and calls that follow each other become one text. */
  #parts({ parts, messageId }: AssistantEntry): Part[] {
    const told: Part[] = [];
    let words: string[] = [];
    let calls: CallPart[] = [];
    const endCalls = () => {
      if (calls.length > 0) words.push(this.calls(calls));
      calls = [];
    };
    const endText = () => {
      endCalls();
      if (words.length > 0) told.push({ type: "text", messageId, text: words.join("\n\n") });
      words = [];
    };
    for (const part of parts) {
      if (part.type === "call") calls.push(part);
      else if (part.type === "text") {
        endCalls();
        if (part.text.trim() !== "") words.push(part.text.trim());
      } else {
        endText();
        told.push(part);
      }
    }
    endText();
    return told;
  }
}

const known = new WeakMap<CallPart, { profile: Profile; own: boolean }>();

/**
 * Whether the model's own words say these calls in this profile. They do not where another profile was on, where an
 * id had to be replaced, or where the words were not right.
 */
function isOwn(profile: Profile, calls: readonly CallPart[], words: string): boolean {
  const [first] = calls;
  const before = first && known.get(first);
  if (before?.profile === profile) return before.own;
  const tools = calls.map(({ name }) => ({ name, description: "", input: {} }));
  const read = parse(profile, words, { tools });
  const same = read.calls.map(({ id, name }, i) => name === calls[i]?.name && (!profile.syntax.ids || id === calls[i]?.callId));
  const own = read.text.trim() === "" && read.refused.length === 0 && same.length === calls.length && same.every(Boolean);
  if (first) known.set(first, { profile, own });
  return own;
}

/** Chat templates of the models that need profiles want roles to alternate. */
function addUser(told: Entry[], entry: UserEntry): void {
  const last = told.at(-1);
  if (last?.role !== "user") {
    told.push(entry);
    return;
  }
  const both = [last.content, entry.content].map((content) =>
    typeof content === "string" ? [{ type: "text" as const, text: content }] : content,
  );
  const [one, other] = [last.content, entry.content];
  const content = typeof one === "string" && typeof other === "string" ? `${one}\n\n${other}` : both.flat();
  told[told.length - 1] = { ...last, content };
}
