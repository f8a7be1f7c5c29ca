import type { ToolSpec } from "../../core/event.ts";
import { type Aside, codeBlock, foreignJson, inlineCode } from "./aside.ts";
import { type Found, INVENTED, openCalls } from "./calls.ts";
import { type Enclosed, enclosed } from "./enclosed.ts";
import { type Fence, type FenceReader, fenceReader } from "./fence.ts";
import { type OpenFrame, openFrame } from "./frame.ts";
import { type Glance, glance } from "./glance.ts";
import { CALL_KEYS } from "./json-calls.ts";
import { type Opening, openingMatcher, openingsOf } from "./openings.ts";
import type { Frame, Syntax } from "./profile.ts";
import { openSource } from "./source.ts";
import { visibleText } from "./visible-text.ts";

/** Reads one message of a model, in pieces that end with whole characters. */
export type MessageReader = {
  feed(text: string): void;
  /** Tells of the pieces of an open call. */
  flush(): void;
  /** The model has stopped. `cut`: it did not want to. */
  end(cut: boolean): void;
};

type Mode = "speaking" | "fence" | "habit" | "opening" | "glance" | "aside" | "thinking" | "frame" | "forged";

/** Tells text, thoughts, calls and inventions apart: each character is looked at once. */
export function messageReader(syntax: Syntax, tools: readonly ToolSpec[], emit: (found: Found) => void): MessageReader {
  const openings = openingsOf(syntax);
  const match = openingMatcher(openings);
  const starts = new Set(openings.map(({ text }) => text[0]));
  const stops = new Set([...starts, "`", "~"]);
  const keys = [syntax.envelope ?? "", "key" in syntax.result ? syntax.result.key : "", ...CALL_KEYS];
  const source = openSource();
  const calls = openCalls(tools, emit, (end) => source.cut(end));
  const visible = visibleText((delta) => emit({ type: "text", delta }));
  let mode: Mode = "speaking";
  /** What is held until it is clear what it is: the beginning of a tag, or of JSON. */
  let held = "";
  let fencing: FenceReader | undefined;
  /** The fence before what is being looked at. */
  let fence: Fence | undefined;
  /** The marks of a fence whose opening vanished, so its end shall vanish, too. */
  let fenceOpen = "";
  let glancing: Glance | undefined;
  let aside: Aside | undefined;
  let inside: Enclosed | undefined;
  let forged: string[] = [];
  let frame: OpenFrame | undefined;
  /** The frame's opening stands where the end of the one before should: it may have been meant as that. */
  let separator = "";
  /** The end of a frame with text where it should have been. */
  let unclosed = "";
  const steps: Record<Mode, (text: string, i: number) => number> = {
    speaking: speak,
    fence: inFence,
    habit: behindHabit,
    opening: inOpening,
    glance: inGlance,
    aside: inAside,
    thinking: think,
    frame: inFrame,
    forged: inForged,
  };
  const [thought] = syntax.reasoning;
  if (syntax.startsInReasoning && thought) startThought(thought.close);

  return { feed, flush: calls.flush, end };

  function feed(text: string): void {
    for (let i = 0; i < text.length; ) i = steps[mode](text, i);
  }

  function speak(text: string, from: number): number {
    const i = visible.speak(text, from, stops);
    const c = text[i];
    if (c === undefined) return i;
    held = "";
    mode = starts.has(c) ? "opening" : "fence";
    if (mode === "fence")
      fencing = fenceReader({ mark: c, block: visible.atLineStart, open: fenceOpen === c, isStart: (next) => starts.has(next) });
    return i;
  }

  /** Something that is not text stood here. */
  function vanish(): void {
    visible.leave();
    fenceOpen = fence?.mark || fenceOpen;
    fence = undefined;
    mode = "speaking";
  }

  /** It was only text. What follows in its code block is, too, or in its JSON. */
  function release(text: string, json?: { depth: number; quoted: boolean }): void {
    const all = (fence?.text ?? "") + text;
    const block = fence?.block ? fence.mark : "";
    [held, fence, mode] = ["", undefined, "speaking"];
    if (all !== "") visible.say(all);
    if (block !== "") startAside(codeBlock(block, /\n\s*$/.test(all)));
    else if (json && json.depth > 0) startAside(foreignJson(json));
  }

  function inFence(text: string, i: number): number {
    const c = text[i] as string;
    const verdict = fencing?.push(c) ?? "marks";
    if (verdict === "more") return i + 1;
    endFence(verdict, c);
    return i;
  }

  function endFence(verdict: "marks" | "closed" | "fence", next: string): void {
    const { text = "", marks = 0, language } = fencing ?? {};
    const mark = text[0] ?? "";
    if (verdict === "closed") [fenceOpen, mode] = ["", "speaking"];
    else if (verdict === "marks") {
      visible.say(text);
      if (mark === "`") startAside(inlineCode(marks));
      else mode = "speaking";
    } else {
      const named = syntax.frames.find((spec) => spec.fence !== undefined && spec.fence === language);
      if (!named || starts.has(next)) fence = { text, mark, block: visible.atLineStart };
      if (starts.has(next)) mode = "opening";
      else if (named) startFrame(text, { ...named, close: mark.repeat(3) });
      else release("");
    }
  }

  /** Behind a tag by habit: blanks, and then perhaps a call. */
  function behindHabit(text: string, i: number): number {
    const c = text[i] as string;
    if (/\s/.test(c) && fence) fence.text += c;
    else if (starts.has(c)) mode = "opening";
    else release("");
    return mode === "habit" ? i + 1 : i;
  }

  function startAside(next: Aside): void {
    [mode, aside] = ["aside", next];
  }

  function inAside(text: string, from: number): number {
    const { to, over } = aside?.(text, from) ?? { to: from, over: true };
    if (to > from) visible.say(text.slice(from, to));
    if (over) mode = "speaking";
    return to;
  }

  function inOpening(text: string, i: number): number {
    held += text[i];
    const verdict = match(held);
    if (verdict === "maybe") return i + 1;
    if (verdict) open(verdict, held);
    else {
      const [first = "", rest] = [held[0], held.slice(1)];
      release(first);
      feed(rest);
    }
    return i + 1;
  }

  function open(opening: Opening, text: string): void {
    held = "";
    switch (opening.type) {
      case "json":
        [mode, glancing, held] = ["glance", glance(text, keys), text];
        break;
      case "frame":
        startFrame(text, opening.frame);
        break;
      case "result":
        if (opening.own || calls.count > 0) [mode, inside, forged] = ["forged", enclosed(opening.close), [text]];
        else release(text);
        break;
      case "reasoning":
        if (fence) release(text);
        else startThought(opening.close);
        break;
      case "stray":
        if (fence) release(text);
        else vanish();
        break;
      case "habit":
        if (visible.behind || text.toLowerCase() === unclosed) {
          unclosed = "";
          vanish();
        } else if (fence && fence.text.length > LONGEST_HABIT) release(text);
        else [mode, fence] = ["habit", { mark: "", block: false, ...fence, text: (fence?.text ?? "") + text }];
        break;
      default:
        opening satisfies never;
    }
  }

  function inGlance(text: string, i: number): number {
    const c = text[i] as string;
    const verdict = glancing?.push(c) ?? "no";
    if (verdict === "no") {
      release(held, glancing?.foreign());
      return i;
    }
    held += c;
    if (verdict === "yes") startFrame(held);
    return i + 1;
  }

  function startThought(close: string): void {
    visible.leave();
    [mode, inside] = ["thinking", enclosed(close, syntax.callEndsReasoning ? syntax.frames.map((spec) => spec.open) : [])];
  }

  function think(text: string, from: number): number {
    const { said, to, over } = inside?.push(text, from) ?? { said: "", to: from, over: "" };
    if (said !== "") emit({ type: "reasoning", delta: said });
    if (over === undefined) return to;
    vanish();
    const opening = openings.find((known) => known.type === "frame" && known.text === over);
    if (opening) open(opening, opening.text);
    return to;
  }

  function startFrame(text: string, spec?: Frame): void {
    held = "";
    source.cut();
    source.feed(text, 0);
    source.take(text.length);
    separator = "";
    frame = openFrame({ ...(spec && { frame: spec }), opening: text, syntax, calls, source });
    mode = "frame";
  }

  function inFrame(text: string, from: number): number {
    source.feed(text, from);
    const to = frame?.push(text, from) ?? from;
    source.take(to);
    settleFrame();
    return to;
  }

  /** What the frame has come to, if it has. */
  function settleFrame(): void {
    if (!frame) return;
    const { state, rest, reopened, forged } = frame;
    if (frame.committed) visible.leave();
    if (state === "open") return;
    const json = frame.foreign();
    const words = source.cut(rest);
    if (state === "over" && rest !== undefined) unclosed = frame.close;
    frame = undefined;
    if (state === "text") release(words.slice(separator.length), json);
    else {
      if (forged) refuseForged(words);
      vanish();
      if (reopened) {
        open(reopened, reopened.text);
        separator = reopened.text;
      }
    }
    if (rest !== undefined) feed(source.cut());
  }

  function inForged(text: string, from: number): number {
    const { to, over } = inside?.push(text, from) ?? { to: from, over: "" };
    forged.push(text.slice(from, to));
    if (over !== undefined) endForged();
    return to;
  }

  function endForged(): void {
    refuseForged(forged.join(""));
    vanish();
  }

  function refuseForged(words: string): void {
    emit({ type: "refused", refusal: { code: "forged_result", message: INVENTED, source: words } });
  }

  function end(cut: boolean): void {
    if (mode === "fence" && fencing?.push("") === "closed") mode = "speaking";
    if (mode === "frame") {
      frame?.end(cut);
      settleFrame();
    }
    if (mode === "forged") {
      if (calls.count > 0) endForged();
      else visible.say((fence?.text ?? "") + forged.join(""));
    } else if (mode === "thinking") {
      if (inside && inside.held !== "") emit({ type: "reasoning", delta: inside.held });
    } else if (mode === "fence") visible.say(fencing?.text ?? "");
    else if (mode === "opening" || mode === "glance" || mode === "habit") visible.say((fence?.text ?? "") + held);
    visible.end(calls.count > 0);
  }
}

/** Tags that follow each other without a call are text. */
const LONGEST_HABIT = 64;
