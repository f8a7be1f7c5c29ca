import type { ToolSpec } from "../../core/event.ts";
import { type Aside, codeBlock, foreignJson, inlineCode } from "./aside.ts";
import { type Found, openCalls } from "./calls.ts";
import { type OpenFrame, openFrame } from "./frame.ts";
import { type Glance, glance } from "./glance.ts";
import { CALL_KEYS } from "./json-calls.ts";
import { type Opening, match, openingsOf } from "./openings.ts";
import type { Frame, Profile } from "./profile.ts";
import { openSource } from "./source.ts";

/** Finds calls, thoughts and inventions in what a model writes, in pieces of any size: each character is looked at once. */
export type Machine = {
  push(text: string): Found[];
  /** The model has stopped. `cut`: it did not want to. */
  finish(options?: { cut?: boolean }): Found[];
};

type Mode = "speaking" | "ticks" | "fence" | "opening" | "glance" | "aside" | "thinking" | "frame" | "forged";

const SPACE = /\s/;

/** A machine for one message. */
export function profileMachine({ syntax }: Profile, tools: readonly ToolSpec[]): Machine {
  const openings = openingsOf(syntax);
  const keys = [syntax.envelope ?? "", "key" in syntax.result ? syntax.result.key : "", ...CALL_KEYS];
  const starts = new Set(openings.map(({ text }) => text[0]));
  const source = openSource();
  let found: Found[] = [];
  const calls = openCalls(tools, emit, (end) => source.cut(end));
  let mode: Mode = "speaking";
  /** Half of a character whose other half comes with the next piece. */
  let carry = "";
  /** Blanks that are shown only if text follows; behind a call also the commas and semicolons between calls. */
  let gap = "";
  let gapBefore = "";
  let spoken = false;
  let afterFrame = false;
  /** A fence whose opening vanished, so its end shall vanish, too. */
  let fenceOpen = false;
  /** What is held until it is clear what it is: backticks, a fence's first line, the beginning of a tag. */
  let held = "";
  /** The fence before what is being looked at. */
  let prefix: { text: string; block: boolean } | undefined;
  let glancing: Glance | undefined;
  let aside: Aside | undefined;
  let thinking = syntax.startsInReasoning ? syntax.reasoning[0]?.close : undefined;
  let forgedEnd = "";
  let forged: string[] = [];
  let frame: OpenFrame | undefined;
  if (thinking !== undefined) mode = "thinking";

  return {
    push(text) {
      read(text);
      return flush();
    },
    finish({ cut = false } = {}) {
      const rest = carry;
      carry = "";
      if (rest !== "") feed(rest);
      end(cut);
      return flush();
    },
  };

  function read(chunk: string): void {
    let text = carry === "" ? chunk : carry + chunk;
    const last = text.charCodeAt(text.length - 1);
    carry = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : "";
    if (carry !== "") text = text.slice(0, -1);
    feed(text);
  }

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
      if (c === "`" || starts.has(c) || SPACE.test(c)) break;
      if (afterFrame && ";,}]".includes(c)) break;
    }
    if (i > from) say(text.slice(from, i));
    if (i === text.length || i > from) return i;
    const c = text[i] as string;
    if (c === "`") [mode, held] = ["ticks", ""];
    else if (starts.has(c)) [mode, held, prefix] = ["opening", "", undefined];
    else {
      gap += c;
      return i + 1;
    }
    return i;
  }

  /** Text for the user, with the blanks before it. Those around a call count once, and not at all at the beginning. */
  function say(text: string): void {
    const between = afterFrame && gap.trim() === "" ? (spoken ? gapBefore || gap : "") : gap;
    emit({ type: "text", delta: between + text });
    gap = "";
    spoken = true;
    afterFrame = false;
  }

  /** Something that is not text stood here. */
  function vanish(): void {
    if (!afterFrame) gapBefore = gap;
    gap = "";
    afterFrame = true;
    if (prefix) fenceOpen = true;
    prefix = undefined;
    mode = "speaking";
  }

  function atLineStart(): boolean {
    return !spoken || afterFrame || gap.includes("\n");
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
    if (ticks >= 3 && fenceOpen) {
      fenceOpen = false;
      held = "";
      mode = "speaking";
    } else if (ticks >= 3) mode = "fence";
    else {
      say(held);
      held = "";
      startAside(inlineCode(ticks));
    }
  }

  function startAside(next: Aside): void {
    [mode, aside] = ["aside", next];
  }

  function inAside(text: string, from: number): number {
    const { to, over } = aside?.(text, from) ?? { to: from, over: true };
    if (to > from) say(text.slice(from, to));
    if (over) mode = "speaking";
    return to;
  }

  /** Behind the backticks: a language, blanks, and then perhaps a call. */
  function inFenceLine(text: string, i: number): number {
    const c = text[i] as string;
    const blank = /\s/.test(held);
    if (SPACE.test(c)) {
      held += c;
      const language = held.replace(/^`+/, "").trim().toLowerCase();
      const named = c === "\n" && syntax.frames.find(({ fence }) => fence !== undefined && fence === language);
      if (named) {
        startFrame(held, { ...named, close: "```" });
      }
      return i + 1;
    }
    if (!blank && /[\w+#.-]/.test(c) && held.length < 40) {
      held += c;
      return i + 1;
    }
    if (starts.has(c)) {
      prefix = { text: held, block: atLineStart() };
      [mode, held] = ["opening", ""];
      return i;
    }
    release(held, { block: atLineStart() });
    return i;
  }

  /** It was only text; inside a code block that opened with it, all that follows is, too. */
  function release(text: string, fence: { block: boolean } | undefined, json?: { depth: number; quoted: boolean }): void {
    const start = /\n\s*$/.test(text);
    held = "";
    prefix = undefined;
    if (text !== "") say(text);
    if (fence?.block) startAside(codeBlock(start));
    else if (json && json.depth > 0) startAside(foreignJson(json));
    else mode = "speaking";
  }

  function inOpening(text: string, i: number): number {
    held += text[i];
    const verdict = match(openings, held);
    if (verdict === "maybe") return i + 1;
    if (verdict) {
      open(verdict, held);
      return i + 1;
    }
    if (held.length === 1) {
      release((prefix?.text ?? "") + held, prefix);
      return i + 1;
    }
    const [first = "", rest] = [held[0], held.slice(1)];
    release((prefix?.text ?? "") + first, prefix);
    feed(rest);
    return i + 1;
  }

  function open(opening: Opening, text: string): void {
    held = "";
    switch (opening.type) {
      case "reasoning":
        if (prefix) return release(prefix.text + text, prefix);
        vanish();
        [mode, thinking] = ["thinking", opening.close];
        return;
      case "stray":
        if (prefix) return release(prefix.text + text, prefix);
        return vanish();
      case "result":
        [mode, forgedEnd, forged] = ["forged", opening.close, [text]];
        return;
      case "json":
        [mode, glancing, held] = ["glance", glance(text, keys), text];
        return;
      case "frame":
        return startFrame(text, opening.frame);
      default:
        opening satisfies never;
    }
  }

  function startFrame(text: string, spec?: Frame): void {
    held = "";
    source.cut();
    source.feed(text, 0);
    source.take(text.length);
    frame = openFrame({ ...(spec && { frame: spec }), opening: text, syntax, calls, source });
    mode = "frame";
  }

  function inGlance(text: string, i: number): number {
    const c = text[i] as string;
    const verdict = glancing?.push(c) ?? "no";
    if (verdict === "no") {
      release((prefix?.text ?? "") + held, prefix, glancing?.foreign());
      return i;
    }
    held += c;
    if (verdict === "yes") startFrame(held);
    return i + 1;
  }

  function think(text: string, from: number): number {
    const close = thinking ?? "";
    let i = from;
    if (held === "") while (i < text.length && text[i] !== close[0] && !endsThought(text[i] as string)) i += 1;
    if (i > from) {
      emit({ type: "reasoning", delta: text.slice(from, i) });
      return i;
    }
    held += text[i];
    if (held.toLowerCase() === close.toLowerCase()) {
      [held, thinking] = ["", undefined];
      vanish();
      return i + 1;
    }
    if (syntax.callEndsReasoning) {
      const frames = openings.filter(({ type }) => type === "frame");
      const verdict = match(frames, held);
      if (verdict === "maybe") return i + 1;
      if (verdict) {
        thinking = undefined;
        open(verdict, held);
        return i + 1;
      }
    }
    if (close.toLowerCase().startsWith(held.toLowerCase())) return i + 1;
    const [first = "", rest] = [held[0], held.slice(1)];
    held = "";
    emit({ type: "reasoning", delta: first });
    feed(rest);
    return i + 1;
  }

  function endsThought(c: string): boolean {
    return syntax.callEndsReasoning === true && starts.has(c);
  }

  function inFrame(text: string, from: number): number {
    if (!frame) return from;
    source.feed(text, from);
    const to = frame.push(text, from);
    source.take(to);
    settleFrame();
    return to;
  }

  /** What the frame has come to, if it has. */
  function settleFrame(): void {
    if (!frame) return;
    const { state } = frame;
    if (frame.committed) begin();
    switch (state) {
      case "open":
        return;
      case "text": {
        const json = frame.foreign();
        const text = source.cut(frame.rest);
        frame = undefined;
        release((prefix?.text ?? "") + text, prefix, json);
        return feed(source.cut());
      }
      case "over": {
        const { rest, reopened, forged } = frame;
        frame = undefined;
        const words = source.cut(rest);
        if (forged) refuseForged(words);
        vanish();
        if (reopened) return open(reopened, reopened.text);
        return feed(rest === undefined ? "" : source.cut());
      }
      default:
        state satisfies never;
    }
  }

  /** The text before a call is closed as soon as it is certain that it is one. */
  function begin(): void {
    if (afterFrame && gap === "") return;
    if (!afterFrame) gapBefore = gap;
    gap = "";
    afterFrame = true;
  }

  function inForged(text: string, from: number): number {
    const c = forgedEnd.at(-1) as string;
    let i = text.indexOf(c, from);
    i = i < 0 ? text.length : i + 1;
    forged.push(text.slice(from, i));
    held = (held + text.slice(Math.max(from, i - forgedEnd.length), i)).slice(-forgedEnd.length);
    if (held.toLowerCase() === forgedEnd.toLowerCase()) endForged();
    return i;
  }

  function endForged(): void {
    held = "";
    calls.confirm();
    refuseForged(forged.join(""));
    forged = [];
    vanish();
  }

  function refuseForged(source: string): void {
    emit({ type: "refused", refusal: { code: "forged_result", message: "the model invented a result", source } });
  }

  function end(cut: boolean): void {
    if (mode === "ticks") endTicks();
    if (mode === "frame") endFrame(cut);
    if (mode === "forged") {
      if (calls.count > 0) endForged();
      else release((prefix?.text ?? "") + forged.join(""), undefined);
    }
    if (mode === "thinking" && held !== "") emit({ type: "reasoning", delta: held });
    else if (mode === "opening" || mode === "glance" || mode === "fence") say((prefix?.text ?? "") + held);
    calls.confirm();
    if (gap !== "" && (!afterFrame || (calls.count === 0 && gap.trim() !== ""))) emit({ type: "text", delta: gap });
  }

  function endFrame(cut: boolean): void {
    frame?.end(cut);
    settleFrame();
  }
}
