import { AppError } from "../core/error.ts";
import type { Event, Outcome, Task, Wait } from "../core/event.ts";
import type { Ids } from "../core/ids.ts";
import type { Thread } from "../core/thread.ts";

/** What an event's names become in another log. */
export type Places = {
  call(id: string): string;
  interrupt(id: string, callId: string | undefined): string;
  task(id: string): string;
  /** Where the run that began at `seq` begins now. */
  run(seq: number): number;
  /** Where what was at `seq`, or the first thing behind it, is now. */
  seq(seq: number): number;
  epoch(): number;
};

/** An event as it reads in another log: ids the whole app shares, places and epochs are that log's own. */
export function relocate(event: Event, to: Places): Event {
  switch (event.type) {
    case "run.started":
    case "run.recovered":
      return { ...event, epoch: to.epoch() };
    case "run.ended":
      return { ...event, run: to.run(event.run), outcome: relocateOutcome(event.outcome, to) };
    case "thread.rewound": {
      const { checkpoint } = event;
      if (!checkpoint) return { ...event, to: to.run(event.to) };
      return { ...event, to: to.seq(event.to), checkpoint: { ...checkpoint, tasks: relocateTasks(checkpoint.tasks, to) } };
    }
    case "step.started":
      return { ...event, ...relocateTask(event, to) };
    case "checkpoint.reached": {
      const { parentTaskId, tasks } = event;
      return { ...event, tasks: relocateTasks(tasks, to), ...(parentTaskId !== undefined && { parentTaskId: to.task(parentTaskId) }) };
    }
    case "tool.called":
      return { ...event, callId: to.call(event.callId), ...relocateTask(event, to) };
    case "tool.started":
    case "tool.delta":
    case "call.offered":
    case "call.claimed":
    case "call.released":
    case "tool.progressed":
      return { ...event, callId: to.call(event.callId) };
    case "tool.returned": {
      const callId = to.call(event.callId);
      // A result nobody named has the name of its call.
      return { ...event, callId, messageId: event.messageId === `${event.callId}:result` ? `${callId}:result` : event.messageId };
    }
    case "interrupt.raised":
      return { ...event, ...relocateQuestion(event, to), ...relocateTask(event, to) };
    case "interrupt.answered":
      return { ...event, ...relocateQuestion(event, to) };
    default:
      return event;
  }
}

function relocateOutcome(outcome: Outcome, to: Places): Outcome {
  if (outcome.type !== "waiting") return outcome;
  const moved = (wait: Wait): Wait =>
    wait.type === "call" ? { ...wait, callId: to.call(wait.callId), run: to.run(wait.run) } : { ...wait, ...relocateQuestion(wait, to) };
  return { type: "waiting", for: outcome.for.map(moved) };
}

function relocateQuestion(
  { interruptId, callId }: { interruptId: string; callId?: string },
  to: Places,
): { interruptId: string; callId?: string } {
  return { interruptId: to.interrupt(interruptId, callId), ...(callId !== undefined && { callId: to.call(callId) }) };
}

function relocateTasks(tasks: readonly Task[], to: Places): Task[] {
  return tasks.map((task) => ({ ...task, taskId: to.task(task.taskId) }));
}

function relocateTask({ taskId }: { taskId?: string }, to: Places): { taskId?: string } {
  return taskId === undefined ? {} : { taskId: to.task(taskId) };
}

/** Ids the whole app shares are minted; places follow the events as they are written to `thread`. */
export function renaming(ids: Ids, thread: Thread) {
  const names = new Map<string, string>();
  const tasks = new Map<string, string>();
  const runs = new Map<number, number>();
  const seqs: [old: number, now: number][] = [];
  /** Calls that have begun: a second beginning would take the same id twice. */
  const started = new Set<string>();
  const call = (id: string) => named(names, `call ${id}`, () => ids("call"));
  const task = (id: string) => named(tasks, id, () => ids("task"));
  const question = (id: string, callId: string | undefined) => {
    if (callId !== undefined && id === `${callId}:approval`) return `${call(callId)}:approval`;
    const owner = id.slice(0, Math.max(0, id.indexOf("/")));
    return tasks.has(owner) ? `${task(owner)}${id.slice(owner.length)}` : ids("interrupt");
  };
  return {
    started,
    call,
    task,
    interrupt: (id: string, callId: string | undefined) => named(names, `question ${id}`, () => question(id, callId)),
    run(seq: number) {
      const place = runs.get(seq);
      if (place === undefined) throw new AppError("invalid", `there is no run at ${seq}`);
      return place;
    },
    seq: (seq: number) => seqs.find(([old]) => old >= seq)?.[1] ?? thread.seq + 1,
    epoch: () => thread.epoch + 1,
    /** The event that was at `old` comes next. */
    moves(old: number, event: Event) {
      const now = thread.seq + 1;
      seqs.push([old, now]);
      if (event.type === "run.started") runs.set(old, now);
      if (event.type === "tool.started") started.add(event.callId);
    },
  };
}

function named(names: Map<string, string>, id: string, mint: () => string): string {
  const name = names.get(id) ?? mint();
  names.set(id, name);
  return name;
}
