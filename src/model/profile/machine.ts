import type { ToolSpec } from "../../core/event.ts";
import { type Aside, codeBlock, foreignJson, inlineCode } from "./aside.ts";
import { type Found, INVENTED, openCalls } from "./calls.ts";
import { type Enclosed, enclosed } from "./enclosed.ts";
import { type OpenFrame, openFrame } from "./frame.ts";
import { type Glance, glance } from "./glance.ts";
import { CALL_KEYS } from "./json-calls.ts";
import { match, type Opening, openingsOf } from "./openings.ts";
import type { Frame, Profile } from "./profile.ts";
import { openSource } from "./source.ts";
import { visibleText } from "./visible-text.ts";

/** Finds calls, thoughts and inventions in what a model writes, in pieces of any size: each character is looked at once. */
export type Machine = {
  push(text: string): Found[];
  /** The model has stopped. `cut`: it did not want to. */
  finish(options?: { cut?: boolean }): Found[];
};

type Mode = "speaking" | "ticks" | "fence" | "opening" | "glance" | "aside" | "thinking" | "frame" | "forged";

/** A code fence that vanishes if a call follows. `block`: it stands where one can begin. */
type Fence = { text: string; block: boolean };

/** A machine for one message. */
export function profileMachine({ syntax }: Profile, tools: readonly ToolSpec[]): Machine {
  const openings = openingsOf(syntax);
  const starts = new Set(openings.map(({ text }) => text[0]));
  const keys = [syntax.envelope ?? "", "key" in syntax.result ? syntax.result.key : "", ...CALL_KEYS];
  const source = openSource();
  const calls = openCalls(tools, emit, (end) => source.cut(end));
  const visible = visibleText((delta) => emit({ type: "text", delta }));
  let found: Found[] = [];
  let mode: Mode = "speaking";
  /** Half of a character whose other half comes with the next piece. */
  let carry = "";
  /** What is held until it is clear what it is: backticks, a fence's first line, the beginning of a tag. */
  let held = "";
  /** The fence before what is being looked at. */
  let fence: Fence | undefined;
  /** A fence whose opening vanished, so its end shall vanish, too. */
  let fenceOpen = false;
  let glancing: Glance | undefined;
  let aside: Aside | undefined;
  let inside: Enclosed | undefined;
  let forged: string[] = [];
  let frame: OpenFrame | undefined;
  const [thought] = syntax.reasoning;
  if (syntax.startsInReasoning && thought) startThought(thought.close);

  return {
    push(text) {
      const all = carry + text;
      const last = all.charCodeAt(all.length - 1);
      carry = last >= 0xd800 && last <= 0xdbff ? all.slice(-1) : "";
      feed(carry === "" ? all : all.slice(0, -1));
      return flush();
    },
    finish({ cut = false } = {}) {
      feed(carry);
      end(cut);
      return flush();
    },
  };

  function feed(text: string): void {
    for (let i = 0; i < text.length; ) i = step(text, i);
  }

  function flush(): Found[] {
    calls.flush();
    const all = found;
    found = [];
    return all;
  }

  function emit(event: Found): void {
    const last = found.at(-1);
    if ((event.type === "text" || event.type === "reasoning") && last?.type === event.type) last.delta += event.delta;
    else found.push(event);
  }

  function step(text: string, i: number): number {
    switch (mode) {
      case "speaking":
        return speak(text, i);
      case "ticks":
        return countTicks(text, i);
      case "fence":
        return inFenceLine(text, i);
      case "opening":
        return inOpening(text, i);
      case "glance":
        return inGlance(text, i);
      case "aside":
        return inAside(text, i);
      case "thinking":
        return think(text, i);
      case "frame":
        return inFrame(text, i);
      case "forged":
        return inForged(text, i);
      default:
        return mode satisfies never;
    }
  }

  function speak(text: string, from: number): number {
    let i = from;
    for (; i < text.length; i += 1) {
      const c = text[i] as string;
      if (c === "`" || starts.has(c) || /\s/.test(c) || visible.separates(c)) break;
    }
    if (i > from) visible.say(text.slice(from, i));
    if (i > from || i === text.length) return i;
    const c = text[i] as string;
    held = "";
    if (c === "`") mode = "ticks";
    else if (starts.has(c)) mode = "opening";
    else {
      visible.hold(c);
      return i + 1;
    }
    return i;
  }

  /** Something that is not text stood here. */
  function vanish(): void {
    visible.leave();
    if (fence) fenceOpen = true;
    fence = undefined;
    mode = "speaking";
  }

  /** It was only text. What follows in its code block is, too, or in its JSON. */
  function release(text: string, json?: { depth: number; quoted: boolean }): void {
    const all = (fence?.text ?? "") + text;
    const block = fence?.block;
    [held, fence, mode] = ["", undefined, "speaking"];
    if (all !== "") visible.say(all);
    if (block) startAside(codeBlock(/\n\s*$/.test(all)));
    else if (json && json.depth > 0) startAside(foreignJson(json));
  }

  function countTicks(text: string, i: number): number {
    if (text[i] === "`") {
      held += "`";
      return i + 1;
    }
    endTicks();
    return i;
  }

  function endTicks(): void {
    const ticks = held.length;
    if (ticks >= 3 && fenceOpen) [fenceOpen, mode] = [false, "speaking"];
    else if (ticks >= 3) mode = "fence";
    else {
      visible.say(held);
      startAside(inlineCode(ticks));
    }
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

  /** Behind the backticks: a language, blanks, and then perhaps a call. */
  function inFenceLine(text: string, i: number): number {
    const c = text[i] as string;
    if (/\s/.test(c)) {
      held += c;
      const language = held.replace(/^`+/, "").trim().toLowerCase();
      const named = c === "\n" ? syntax.frames.find((spec) => spec.fence !== undefined && spec.fence === language) : undefined;
      if (named) startFrame(held, { ...named, close: "```" });
      return i + 1;
    }
    if (!/\s/.test(held) && /[\w+#.-]/.test(c) && held.length < LONGEST_FENCE) {
      held += c;
      return i + 1;
    }
    fence = { text: held, block: visible.atLineStart };
    held = "";
    if (starts.has(c)) mode = "opening";
    else release("");
    return i;
  }

  function inOpening(text: string, i: number): number {
    held += text[i];
    const verdict = match(openings, held);
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
        [mode, inside, forged] = ["forged", enclosed(opening.close), [text]];
        break;
      case "reasoning":
        if (fence) release(text);
        else startThought(opening.close);
        break;
      case "stray":
        if (fence) release(text);
        else vanish();
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
    frame = undefined;
    if (state === "text") release(words, json);
    else {
      if (forged) refuseForged(words);
      vanish();
      if (reopened) open(reopened, reopened.text);
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
    if (mode === "ticks") endTicks();
    if (mode === "frame") {
      frame?.end(cut);
      settleFrame();
    }
    if (mode === "forged") {
      if (calls.count > 0) endForged();
      else visible.say((fence?.text ?? "") + forged.join(""));
    } else if (mode === "thinking") {
      if (inside && inside.held !== "") emit({ type: "reasoning", delta: inside.held });
    } else if (mode === "opening" || mode === "glance" || mode === "fence") visible.say((fence?.text ?? "") + held);
    visible.end(calls.count > 0);
  }
}

const LONGEST_FENCE = 40;
