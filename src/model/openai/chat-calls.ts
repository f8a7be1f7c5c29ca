import { AppError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import type { ModelEvent } from "../model.ts";

/**
 * Puts calls together from their pieces. By the book a piece names its call by `index`, and the first one brings id and name.
 * Not everybody keeps to the book: ids, names and indices are left out, come late, come again, or are the same for two calls.
 */
export function chatCalls(say: (event: ModelEvent) => void, mint: () => string) {
  const calls: Call[] = [];
  const ids = new Set<string>();

  const begin = (id: string | undefined, index: number | undefined): Call => {
    if (calls.length === MOST) throw new AppError("model", `The model made more than ${MOST} calls at once`);
    const call: Call = { wireId: id, index, id: "", name: undefined, pieces: [], reading: START, provider: undefined };
    calls.push(call);
    return call;
  };
  const name = (call: Call, given: string) => {
    call.name = given;
    const wanted = call.wireId ?? mint();
    call.id = ids.has(wanted) ? mint() : wanted; // two calls with one id are two calls
    ids.add(call.id);
    say({ type: "tool.started", id: call.id, name: given });
    const delta = call.pieces.join(""); // what came before the name
    if (delta !== "") say({ type: "tool.delta", id: call.id, delta });
  };

  return {
    take(piece: unknown): void {
      if (!isObject(piece)) return;
      const { id, name: called, index, input } = readPiece(piece);
      const call = find(calls, { id, name: called, index, input }) ?? begin(id, index);
      call.wireId ??= id;
      call.index ??= index;
      call.provider ??= signature(piece);
      if (input !== "") {
        call.pieces.push(input);
        call.reading = read(call.reading, input);
      }
      if (call.name === undefined) {
        if (called !== undefined) name(call, called);
      } else if (input !== "") say({ type: "tool.delta", id: call.id, delta: input });
    },
    /** Nothing more comes: the calls are what they are, in the provider's order where it gave one. */
    end(): void {
      const ordered = calls.every(({ index }) => index !== undefined) ? calls.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : calls;
      for (const { id, name, pieces, provider } of ordered) {
        if (name === undefined) throw new Error("a call has no name");
        const text = pieces.join("");
        const input = text.trim() === "" ? "{}" : text; // how many providers write a call without arguments
        say({ type: "tool.called", id, name, input, ...(provider && { provider }) });
      }
    },
  };
}

/** More than anybody means: each piece looks for its call among all of them. */
const MOST = 1_000;

type Call = {
  wireId: string | undefined;
  index: number | undefined;
  /** Ours, unique in this answer; there is one as soon as there is a name. */
  id: string;
  name: string | undefined;
  pieces: string[];
  reading: Reading;
  provider: JsonObject | undefined;
};

type Piece = { id: string | undefined; name: string | undefined; index: number | undefined; input: string };

function readPiece({ id, index, function: called }: JsonObject): Piece {
  const { name, arguments: input } = isObject(called) ? called : {};
  return { id: filled(id), name: filled(name), index: typeof index === "number" ? index : undefined, input: toText(input) };
}

function filled(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Arguments are a text; Ollama's native shape, an object, is taken too. */
function toText(input: unknown): string {
  if (typeof input === "string") return input;
  return isObject(input) ? JSON.stringify(input) : "";
}

/** The call a piece goes on with; none where it begins one. */
function find(calls: readonly Call[], { id, name, index, input }: Piece): Call | undefined {
  const byId = id === undefined ? undefined : calls.findLast(({ wireId }) => wireId === id);
  const byIndex = index === undefined ? undefined : calls.findLast((call) => call.index === index);
  const open = byId ?? byIndex ?? (id === undefined && index === undefined && name === undefined ? calls.at(-1) : undefined);
  if (!open || name === undefined || open.name === undefined) return open;
  // A name again: most repeat it with every piece, some begin the next call under the same index or id.
  if (name !== open.name) return undefined;
  if (byId && index !== undefined && open.index !== undefined && index !== open.index) return undefined;
  const starts = /^\s*[[{]/.test(input);
  const another = id !== undefined && open.wireId !== undefined && id !== open.wireId;
  const complete = open.reading.depth === 0 && open.reading.opened;
  return (starts && (another || complete)) || (another && complete) ? undefined : open;
}

/** How far into its arguments a call is: enough to tell whether they are complete, piece by piece. */
type Reading = { depth: number; opened: boolean; quoted: boolean; escaped: boolean };

const START: Reading = { depth: 0, opened: false, quoted: false, escaped: false };

function read({ depth, opened, quoted, escaped }: Reading, text: string): Reading {
  for (const sign of text) {
    if (escaped) escaped = false;
    else if (quoted) {
      if (sign === "\\") escaped = true;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === "{" || sign === "[") {
      depth += 1;
      opened = true;
    } else if (sign === "}" || sign === "]") depth -= 1;
  }
  return { depth, opened, quoted, escaped };
}

/** Gemini wants its thought signature back with the call. */
function signature({ extra_content: extra }: JsonObject): JsonObject | undefined {
  const google = isObject(extra) ? extra["google"] : undefined;
  const thoughtSignature = isObject(google) ? filled(google["thought_signature"]) : undefined;
  return thoughtSignature === undefined ? undefined : { [PROVIDER]: { thoughtSignature } };
}

/** Keys what a provider said about a part in the log, so it must never change. */
export const PROVIDER = "handback";
