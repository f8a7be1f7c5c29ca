import { AppError } from "../../core/error.ts";
import type { ToolSpec } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";

/** How tools are described to a model by prompt, and how its calls are found in what it writes. All of it is data and templates. */
export type Profile = {
  name: string;
  /** Stands at the top of the system prompt. */
  intro: string;
  /** One tool, behind the introduction. */
  definitionTemplate: (tool: ToolSpec) => string;
  /** What closes the prompt: how a call looks, and what results are. */
  outro: string;
  /** Calls of one step, as a model that follows the prompt writes them. */
  callTemplate: (calls: readonly WrittenCall[]) => string;
  /** The result of a call, as the user hands it back. It must not be able to close its own frame. */
  resultTemplate: (id: string, result: Json, about: ResultAbout) => string;
  syntax: Syntax;
  /** Where the model must stop: it would go on with results of its own invention. */
  stop: readonly string[];
};

export type WrittenCall = { id: string; name: string; input: Json };

/** What a result template may say besides the result. */
export type ResultAbout = { name: string /** The input a person put in place of the model's. */; edited?: Json };

/** What in a model's text is a call, a thought or an invented result. */
export type Syntax = {
  /** Where calls stand between an opening and a closing text. */
  frames: readonly Frame[];
  /** Calls as JSON without a frame: under this key, or bare where they name a tool there is. */
  envelope?: string;
  /** Tags that models put around calls by habit, though nobody asked for them. Beside a call they vanish. */
  habits?: readonly string[];
  /** The model's ids are part of its calls. */
  ids: boolean;
  /** A result as the model would invent it: a key of the envelope's kind, or a frame. */
  result: { key: string } | { open: string; close: string };
  /** Thoughts inside the text. Nothing in them is a call. */
  reasoning: readonly { open: string; close: string }[];
  /** The chat template has opened the first thought already. */
  startsInReasoning?: boolean;
  /** The opening of a frame ends a thought that was left open (GLM, Ling and Mistral in vLLM). Off: such a call is only a draft. */
  callEndsReasoning?: boolean;
};

export type Frame = {
  open: string;
  close: string;
  grammars: readonly Grammar[];
  /** The opening is the beginning of the call itself. */
  partOfCall?: boolean;
  /** Only a tool there is makes it a call: the opening is common in ordinary text. */
  known?: boolean;
  /** A code fence of this language opens it, too. */
  fence?: string;
};

/** How calls are written inside a frame: as JSON, as `name(key="value")`, or with a tag around each argument. */
export type Grammar = "json" | "call" | Tagged;

/** A call of tags: name, then keys and values as they are, without quotes. */
export type Tagged = {
  name: { open: string; close: string };
  key: { open: string; close: string };
  value: { open: string; close: string };
  /** Behind the last argument. */
  end: string;
};

/** A profile of one's own: what is left out is taken from `base`. */
export type ProfileDefinition = { name: string; base: Profile } & Partial<Omit<Profile, "name">>;

const LONGEST_OPENING = 64;

/**
 * Makes a profile out of another.
 *
 * @example
 * const german = defineProfile({ name: "JSON_German", base: JSON_Strict, intro: "### WERKZEUGE …" });
 */
export function defineProfile({ base, ...own }: ProfileDefinition): Profile {
  const profile: Profile = { ...base, ...own };
  const wrong = (field: string, message: string) => new AppError("invalid", `Profile ${profile.name}: ${message}`, { field });
  if (!/^[\w-]{1,64}$/.test(profile.name)) throw wrong("name", "a name has 1 to 64 letters, digits, _ or -");
  if (profile.name === "native") throw wrong("name", "native is the name for no profile at all");
  const { frames, reasoning, result, envelope } = profile.syntax;
  for (const { open, close } of [...frames, ...reasoning, ...("open" in result ? [result] : [])]) {
    if (open.trim() !== open || open === "" || close.trim() === "") throw wrong("syntax", "an opening and a closing text cannot be blank");
    if (open.length > LONGEST_OPENING) throw wrong("syntax", `an opening text has at most ${LONGEST_OPENING} characters`);
  }
  if (frames.length === 0 && envelope === undefined) throw wrong("syntax", "it knows no calls: give it frames or an envelope");
  return profile;
}
