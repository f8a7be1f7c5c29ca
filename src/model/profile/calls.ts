import type { ToolSpec } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { coerce } from "./coerce.ts";
import { type ArgumentsRead, type ArgumentsSink, inputOf, readArguments } from "./read-arguments.ts";

/** What is wrong with something that looked like a call or a result. */
export type Refusal = { code: RefusalCode; message: string; source: string };
export type RefusalCode =
  | "unfinished_tool_call"
  | "malformed_tool_call"
  | "invalid_arguments"
  | "unknown_tool"
  | "too_many_calls"
  | "forged_result";

/** What a profile finds in a model's text. The pieces of a call's arguments add up to strict JSON. */
export type Found =
  | { type: "text"; delta: string }
  | { type: "reasoning"; delta: string }
  | { type: "started"; id: string; name: string }
  | { type: "arguments"; id: string; delta: string }
  /** A call that is whole. With `refusal` nobody may run it, but the model shall hear of it. */
  | { type: "called"; id: string; name: string; input: Json; source: string; refusal?: Refusal }
  /** Neither text nor call. With `id` it had begun as a call. */
  | { type: "refused"; refusal: Refusal; id?: string; name?: string };

/** What is wrong with a result in a model's words. */
export const INVENTED = "the model invented a result";

const MOST_CALLS = 64;
const ID = /^[A-Za-z0-9][\w.:-]{0,63}$/;

/** The calls of one message, as they are being written. At most one is open, and one waits for its frame to close. */
export type Calls = {
  /** What the tools are called, without what models like to put before it. */
  nameOf(written: string): { name: string; known: boolean };
  parametersOf(name: string): string[];
  /** A call begins; what the sink is given are its arguments. */
  begin(name: string, id?: string): ArgumentsSink;
  /** A call whose arguments were there before its name. */
  whole(name: string, id: string | undefined, read: ArgumentsRead): void;
  /** Its arguments are complete, up to this place in the source, or to where it ends. */
  complete(at: number | undefined): void;
  /** What is being written cannot be read. */
  spoil(problem: string): void;
  /** Something in the frame is not even half a call. */
  report(code: RefusalCode, message: string): void;
  /** What was complete is a call; its words reach up to this place. */
  confirm(end?: number): void;
  /** The same at the end of a frame; all that was wrong in it is reported. */
  close(end?: number): void;
  /** What is open or unconfirmed is none; without one, something else was refused. */
  refuse(code: RefusalCode, message: string, end?: number): void;
  /** Sends the pieces written so far. */
  flush(): void;
  /** Whether one of the calls has this id. */
  has(id: string): boolean;
  readonly count: number;
  readonly open: boolean;
};

type Open = {
  id: string;
  name: string;
  sink: ArgumentsSink | undefined;
  read: ArgumentsRead | undefined;
  end: number | undefined;
  pieces: string[];
};

/** Gives ids, passes arguments on and says at last what became of each call. `source` cuts the model's words up to a place. */
export function openCalls(tools: readonly ToolSpec[], emit: (found: Found) => void, source: (end?: number) => string): Calls {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const used = new Set<string>();
  let count = 0;
  let call: Open | undefined;
  const reports: Pick<Refusal, "code" | "message">[] = [];

  return {
    nameOf(written) {
      const name = byName.has(written) ? written : written.replace(/^(?:functions?|tools?|default_api)[.:]/, "").replace(/:\d+$/, "");
      return { name, known: byName.has(name) };
    },
    parametersOf: (name) => Object.keys((byName.get(name)?.input["properties"] as JsonObject | undefined) ?? {}),
    begin(name, id) {
      const begun = open(name, id);
      begun.sink = readArguments(byName.get(name)?.input, (piece) => void begun.pieces.push(piece));
      return begun.sink;
    },
    whole(name, id, read) {
      const begun = open(name, id);
      begun.read = "value" in read ? { value: coerce(read.value, byName.get(name)?.input) as JsonObject } : read;
      if ("value" in begun.read) begun.pieces.push(JSON.stringify(begun.read.value));
    },
    complete(at) {
      if (!call) return;
      call.read ??= call.sink?.result() ?? { value: {} };
      call.end ??= at;
    },
    spoil(problem) {
      if (call && !call.read) call.read = { problem: `the arguments cannot be read: ${problem}` };
      else report("malformed_tool_call", `a call cannot be read: ${problem}`);
    },
    confirm,
    report,
    close(end) {
      confirm(end);
      for (const { code, message } of reports.splice(0)) emit({ type: "refused", refusal: { code, message, source: source(end) } });
    },
    refuse(code, message, end) {
      flush();
      const begun = call && { id: call.id, name: call.name };
      call = undefined;
      emit({ type: "refused", ...begun, refusal: { code, message, source: source(end) } });
    },
    flush,
    has: (id) => used.has(id),
    get count() {
      return count;
    },
    get open() {
      return call !== undefined;
    },
  };

  function report(code: RefusalCode, message: string): void {
    reports.push({ code, message });
  }

  function open(name: string, wanted: string | undefined): Open {
    confirm();
    count += 1;
    const id = wanted !== undefined && isId(wanted) && !used.has(wanted) ? wanted : mint();
    used.add(id);
    call = { id, name, sink: undefined, read: undefined, end: undefined, pieces: [] };
    emit({ type: "started", id, name });
    return call;
  }

  function mint(): string {
    let id = `call_auto_${count}`; // not what a model would call its next one
    for (let i = count + 1; used.has(id); i += 1) id = `call_auto_${i}`;
    return id;
  }

  function confirm(end?: number): void {
    if (!call?.read) return;
    flush();
    const { id, name, read } = call;
    const words = source(end ?? call.end);
    call = undefined;
    const refusal = verdict(name, read, words);
    emit({ type: "called", id, name, input: inputOf(read), source: words, ...(refusal && { refusal }) });
  }

  function verdict(name: string, read: ArgumentsRead, words: string): Refusal | undefined {
    const refusal = (code: RefusalCode, message: string) => ({ code, message, source: words });
    if (count > MOST_CALLS) return refusal("too_many_calls", `more than ${MOST_CALLS} calls in one message`);
    if (!byName.has(name)) return refusal("unknown_tool", `there is no tool ${name}`);
    return "problem" in read ? refusal("invalid_arguments", read.problem) : undefined;
  }

  function flush(): void {
    if (!call || call.pieces.length === 0) return;
    emit({ type: "arguments", id: call.id, delta: call.pieces.join("") });
    call.pieces = [];
  }
}

/** A name of something every object has would do harm in a careless client. */
function isId(word: string): boolean {
  return ID.test(word) && !(word in Object.prototype);
}
