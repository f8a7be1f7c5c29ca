import type { ExpireCommand, RunCommand } from "./command.ts";
import { type Cause, EVENT_VERSION, type Event, type Outcome, type StoredEvent } from "./event.ts";
import { sameJson } from "./json.ts";
import { fold, preview, readyCalls, type Thread, waits } from "./thread.ts";

/** The facts that follow from a command, and where its sender should follow the log from. */
export type Decision = {
  events: Event[];
  /** The requester follows what lies behind this seq. */
  after: number;
  /** Inputs of a history door that were stale, forged or none of its business. */
  ignored: number;
};

type RunStarted = Extract<Event, { type: "run.started" }>;

/** Events that are decided, and where to follow from. */
export function facts(thread: Thread, events: Event[], after: number = thread.seq): Decision {
  return { events, after, ignored: 0 };
}

/** Starts a run that continues the turn, unless what is still open keeps it from going anywhere. */
export function begin(
  thread: Thread,
  command: RunCommand | ExpireCommand,
  inputs: Event[],
  how: { cause: Cause; askAgent?: boolean; resume?: RunStarted["resume"] | undefined },
): Decision {
  const { resume } = how;
  const events: Event[] = [{ ...started(thread, command, how.cause), ...(resume && { resume }) }, ...inputs];
  const after = tried(thread, events);
  const missing = waits(after);
  if (missing.length > 0 && readyCalls(after).length === 0 && !how.askAgent) {
    events.push(over(thread, command.runId, { type: "waiting", for: missing }));
  }
  return facts(thread, events);
}

/** The end of a run that this same append began. */
export function over(thread: Thread, runId: string, outcome: Outcome): Event {
  return { type: "run.ended", runId, turnId: thread.turn?.turnId ?? "", run: thread.seq + 1, outcome };
}

/** The beginning of a run that continues the turn. */
export function started(thread: Thread, command: RunCommand | ExpireCommand, cause: Cause): RunStarted {
  const { runId, by, via } = command;
  const { tools, options, parentRunId } = command.type === "run" ? command : ({} as Partial<RunCommand>);
  const merged = options && { ...thread.options, ...options };
  return {
    type: "run.started",
    runId,
    turnId: thread.turn?.turnId ?? "",
    epoch: thread.epoch + 1,
    cause,
    agent: thread.turn?.agent ?? "",
    messages: [],
    // What is absent is the turn's: a result that comes by another door has no tools to declare.
    ...(tools && tools.length > 0 && !sameJson(tools, thread.tools) && { tools }),
    ...(merged && !sameJson(merged, thread.options) && { options: merged }),
    ...(parentRunId !== undefined && { parentRunId }),
    by,
    via,
  };
}

/** The head as it would be after these events. */
export function tried(thread: Thread, events: Event[]): Thread {
  const copy = preview(thread);
  for (const [i, event] of events.entries()) fold(copy, { ...event, seq: thread.seq + 1 + i, at: 0, v: EVENT_VERSION } as StoredEvent);
  return copy;
}
