import { callSyntax } from "./call-syntax.ts";
import type { Calls } from "./calls.ts";
import { entityDecoder } from "./entities.ts";
import { frameEnd } from "./frame-end.ts";
import { frameHead, grammarAt } from "./frame-head.ts";
import { jsonCalls } from "./json-calls.ts";
import type { Opening } from "./openings.ts";
import type { Payload } from "./payload.ts";
import type { Frame, Grammar, Syntax, Tagged } from "./profile.ts";
import type { Source } from "./source.ts";
import { taggedCalls } from "./tagged-calls.ts";

/** Something that has been opened and may hold calls. */
export type OpenFrame = {
  push(text: string, from: number): number;
  end(cut: boolean): void;
  /** `text`: it was only text. `over`: it is closed, or as good as. */
  readonly state: "open" | "text" | "over";
  readonly committed: boolean;
  readonly forged: boolean;
  /** Where in the source something begins that belongs to the text again. */
  readonly rest: number | undefined;
  /** The next frame, which closed this one by opening. */
  readonly reopened: Opening | undefined;
  /** What ends it. */
  readonly close: string;
  foreign(): { depth: number; quoted: boolean } | undefined;
};

export type FrameOptions = {
  /** None: bare JSON, whose end is its last bracket. */
  frame?: Frame;
  opening: string;
  syntax: Syntax;
  calls: Calls;
  source: Source;
};

type Phase = "head" | "payload" | "tag" | "tail" | "discard" | "text" | "over";

const UNFINISHED = "the message ended in the middle of a call";

/** Reads the inside of a frame: blanks, code fences and CDATA that models put around calls, one or more calls, and the end in its many forms. */
export function openFrame({ frame, opening, syntax, calls, source }: FrameOptions): OpenFrame {
  const grammars = frame?.grammars ?? ["json"];
  const close = frame?.close.toLowerCase() ?? "";
  const verdictOn = frameEnd(close, frame);
  const head = frameHead(grammars, { comments: !frame?.known });
  const decode = entityDecoder();
  let phase: Phase = "head";
  let payload: Payload | undefined;
  let committed = false;
  let forged = false;
  /** Blanks, commas and tags behind a call: not its own if text follows. */
  let tailStart = 0;
  let start = 0;
  let held = "";
  let comment = false;
  let escaped = false;
  let index = 0;
  let rest: number | undefined;
  let reopened: Opening | undefined;
  if (!frame) startPayload("json", opening);
  else if (frame.partOfCall) startPayload(grammars.find((grammar) => typeof grammar === "object") ?? "json");

  return {
    push(text, from) {
      let i = from;
      while (i < text.length && phase !== "text" && phase !== "over") i = step(text, i);
      return i;
    },
    end,
    get state() {
      return phase === "text" || phase === "over" ? phase : "open";
    },
    get committed() {
      return committed || (payload?.committed ?? false);
    },
    get forged() {
      return forged;
    },
    get rest() {
      return rest;
    },
    get reopened() {
      return reopened;
    },
    close,
    foreign: () => payload?.foreign?.(),
  };

  function at(i: number): number {
    return source.at(escaped ? index + 1 : i);
  }

  function step(text: string, i: number): number {
    const c = text[i] as string;
    switch (phase) {
      case "head":
        return inHead(c, i);
      case "payload":
        return escaped ? inEscaped(c, i) : inPayload(text, i);
      case "tag":
        return inTag(c, i);
      case "tail":
        return inTail(c, i);
      default:
        held = (held + c.toLowerCase()).slice(-close.length);
        if (held === close) over(source.at(i + 1));
        return i + 1;
    }
  }

  function inHead(c: string, i: number): number {
    const found = head.push(c);
    if (found === "more") return i + 1;
    if (found === "text") {
      phase = "text";
      if (head.tag === "") return i;
      rest = source.at(i + 1) - head.tag.length;
      return i + 1;
    }
    startPayload(found.grammar, found.first);
    return found.taken ? i + 1 : i;
  }

  function startPayload(grammar: Grammar, first = ""): void {
    payload = toPayload(grammar);
    held = "";
    phase = "payload";
    if (first !== "") payload.push(first, 0);
  }

  function toPayload(grammar: Grammar): Payload {
    if (grammar === "call") return callSyntax({ calls, known: frame?.known ?? false, at });
    if (grammar !== "json") return taggedCalls({ calls, tags: grammar satisfies Tagged, at });
    const { envelope = "tool_calls", result } = syntax;
    return jsonCalls({ calls, framed: frame !== undefined, envelope, result: "key" in result ? result.key : undefined, at });
  }

  function inPayload(text: string, i: number): number {
    const to = payload?.push(text, i) ?? i;
    settle(to, text[to]);
    return to;
  }

  /** A payload whose quotes are entities is decoded character by character. */
  function inEscaped(c: string, i: number): number {
    index = i;
    if (c === "<") {
      [phase, held, start] = ["tag", "", source.at(i)];
      return i;
    }
    for (const decoded of decode(c)) {
      if (phase !== "payload") break;
      payload?.push(decoded, 0);
      settle(i + 1, undefined);
    }
    return i + 1;
  }

  function settle(to: number, next: string | undefined): void {
    if (!payload) return;
    switch (payload.state) {
      case "open":
        return;
      case "paused":
        if (next === "&") escaped = true;
        else if (next === "<") [phase, held, start] = ["tag", "", source.at(to)];
        else spoil();
        return;
      case "rejected":
        if (committed) [phase, rest] = ["over", tailStart];
        else phase = "text";
        calls.close(committed ? tailStart : undefined);
        return;
      default:
        finishPayload(to);
    }
  }

  function finishPayload(to: number): void {
    if (!payload) return;
    forged = payload.forged ?? false;
    if (!frame || payload.closed) {
      over(source.at(to));
      return;
    }
    if (!payload.committed) calls.report("malformed_tool_call", "there is no call in the frame");
    committed = true;
    if (!payload.committed || payload.failed) {
      [phase, held] = ["discard", ""];
      return;
    }
    [phase, held, tailStart] = ["tail", "", source.at(to)];
    calls.complete(tailStart);
  }

  /** Something stands where nothing can: the call is spoilt, or it was never meant to be one. */
  function spoil(textFrom?: number): void {
    if (!committed && !payload?.attempted) {
      [phase, rest] = ["text", textFrom];
      return;
    }
    calls.spoil("an unexpected tag");
    committed = true;
    [phase, held] = ["discard", ""];
  }

  /** A tag in the middle of a payload: its end, if it is one. */
  function inTag(c: string, i: number): number {
    held += c;
    const verdict = verdictOn(held);
    if (verdict === "maybe") return i + 1;
    if (verdict === "no") {
      spoil(start);
      return i + 1;
    }
    payload?.end();
    if (payload?.state === "rejected" && !committed) [phase, rest] = ["text", start];
    else if (payload?.state === "done" && payload.committed) over(source.at(i + 1), verdict);
    else {
      calls.refuse("unfinished_tool_call", UNFINISHED, verdict === "end" ? source.at(i + 1) : start);
      over(undefined, verdict);
    }
    return i + 1;
  }

  /** Between calls stand blanks, commas, what is left of a fence or of CDATA, comments, and brackets that were one too many. */
  function inTail(c: string, i: number): number {
    comment = (comment || (c === "#" && held === "" && !frame?.known)) && c !== "\n";
    if (comment) return i + 1;
    if (held !== "" || c === "<" || c.toLowerCase() === close[0]) return inTailTag(c, i);
    if (/[\s,;`\]})>]/.test(c)) return i + 1;
    const grammar = grammarAt(grammars, c);
    if (grammar && grammar !== "json") committed = true;
    if (grammar) startPayload(grammar);
    else leave();
    return i;
  }

  function inTailTag(c: string, i: number): number {
    if (held === "") start = source.at(i);
    held += c;
    const verdict = verdictOn(held);
    if (verdict === "maybe") return i + 1;
    if (verdict === "no") leave();
    else over(source.at(i + 1), verdict);
    return i + 1;
  }

  /** Text follows although the frame is not closed. */
  function leave(): void {
    [phase, rest] = ["over", tailStart];
    calls.close(tailStart);
  }

  function over(to?: number, verdict: "end" | Opening = "end"): void {
    phase = "over";
    if (verdict !== "end") reopened = verdict;
    calls.close(verdict === "end" ? to : start);
  }

  function end(cut: boolean): void {
    if (phase === "tail") {
      if (cut) calls.refuse("unfinished_tool_call", UNFINISHED);
      over();
    } else if (phase === "head") {
      if (cut && !frame?.known) refuse();
      else phase = "text";
    } else if (phase === "payload" || phase === "tag") endPayload(cut);
    else if (phase === "discard") over();
  }

  function endPayload(cut: boolean): void {
    if (!payload) return;
    const partOfEnd = phase === "payload" || verdictOn(held) === "maybe";
    if (!cut) payload.end();
    forged = payload.forged ?? false;
    if (forged) phase = "over";
    else if (!cut && partOfEnd && payload.state === "done" && payload.committed) over();
    else if (committed && !payload.committed) {
      if (cut) refuse();
      else leave();
    } else if (payload.state === "rejected" || !(payload.committed || payload.attempted)) phase = "text";
    else if (!cut && payload.state === "done" && !frame) phase = "over";
    else refuse();
  }

  function refuse(): void {
    calls.refuse("unfinished_tool_call", UNFINISHED);
    over();
  }
}
