import { type Decision, facts, over, started, tried } from "./begin.ts";
import type { Answer, Checkpoint, Known, Result, Resume, RunCommand } from "./command.ts";
import { AppError } from "./error.ts";
import type { Event } from "./event.ts";
import { isObject, type Json, type JsonObject, sameJson } from "./json.ts";
import { cancelOpen } from "./settle.ts";
import { type Entry, type Interrupt, type Thread, waits } from "./thread.ts";

/** A request that says what a graph goes on with, as answers to its questions or as a place to go back to. */
export type Resumed = { command: RunCommand; back?: { checkpoint: Checkpoint | undefined; resume: Resume } };

/** Finds the questions that `resume` answers by key, and whether it goes back. Throws what its sender should hear. */
export function resumed(thread: Thread, command: RunCommand, known: Known): Resumed {
  const { resume, ...plain } = command;
  if (!resume) return { command };
  const { lineageId, checkpointId, answers, value } = resume;
  const speaks = answers !== undefined || value !== undefined;
  const says = command.messages.some(({ id }) => !known.messages.has(id));
  const frame = thread.graph.frames[""];
  const here = frame?.turnId === thread.turn?.turnId ? frame : undefined;
  // A message is a new turn, whatever lineage its client remembers; and where no graph is, a lineage is nobody's.
  if (!speaks && checkpointId === undefined && (says || !here)) return { command: plain };
  const isHere = checkpointId === undefined || checkpointId === here?.checkpointId;
  const checkpoint = isHere ? undefined : known.checkpoint;
  if (!isHere && !checkpoint)
    throw new AppError("not_found", `There is no checkpoint ${checkpointId} in this thread`, { field: "checkpoint_id" });
  const lineage = checkpoint?.lineageId ?? here?.lineageId ?? thread.turn?.turnId;
  if (lineageId !== undefined && lineageId !== lineage)
    throw new AppError("not_found", `The lineage ${lineageId} is not where this thread is; name a checkpoint to go back to`, {
      field: "lineage_id",
    });
  // The message some clients send along is only there to carry the answer.
  const quiet = { ...plain, messages: command.messages.filter(({ id }) => known.messages.has(id)) };
  const outcome = thread.ended?.outcome.type;
  const stands = isHere && (thread.run !== undefined || outcome === "waiting" || (outcome === "failed" && !speaks));
  // Another state means doing over what was done on the one that was there.
  if (checkpointId !== undefined && (!stands || resume.state)) return { command: { ...quiet, messages: [] }, back: { checkpoint, resume } };
  if (!speaks) return { command: quiet };
  // The same request again finds its questions answered, and follows the run it led to.
  if (known.run !== undefined && thread.interrupts.size === 0) return { command: quiet };
  const { results, rest } = toResults(thread, answers);
  const said = [...command.answers, ...toAnswers(thread, rest, value)];
  return { command: { ...quiet, answers: said, results: [...command.results, ...results] } };
}

/** The key of a call that was handed out is its id, and what answers it is its result. */
function toResults({ calls }: Thread, answers: JsonObject | undefined): { results: Result[]; rest: JsonObject | undefined } {
  if (!answers) return { results: [], rest: answers };
  const given = Object.entries(answers);
  const isCall = ([key]: [string, Json]) => calls.get(key)?.phase === "offered";
  return {
    results: given.filter(isCall).map(([callId, output]) => ({ callId, status: "completed", output })),
    rest: Object.fromEntries(given.filter((entry) => !isCall(entry))),
  };
}

/** What a question is called by those who answer by key: an approval is called like its call. */
function keyOf({ place, callId, interruptId }: Interrupt): string {
  return place?.key ?? callId ?? interruptId;
}

function toAnswers({ interrupts }: Thread, answers: JsonObject | undefined, value: Json | undefined): Answer[] {
  const open = [...interrupts.values()].sort(byPlace);
  const keys = () => open.map(keyOf).join(", ");
  if (answers === undefined) {
    const [only, another] = open;
    if (!only) throw new AppError("not_found", "Nothing in this thread waits for an answer", { field: "resume" });
    if (another) throw new AppError("invalid", `Several questions are open (${keys()}): answer them by key`, { field: "resume_map" });
    return [{ interruptId: only.interruptId, status: "resolved", value: value ?? null }];
  }
  const taken = new Set<string>();
  return Object.entries(answers).map(([key, value]): Answer => {
    const named =
      open.find(({ interruptId }) => interruptId === key) ??
      open.find((interrupt) => keyOf(interrupt) === key && !taken.has(interrupt.interruptId));
    if (!named) {
      const what = open.length > 0 ? `open are ${keys()}` : "no question is open";
      const said = key.slice(0, 200);
      throw new AppError("not_found", `Nothing in this thread asks ${said}; ${what}`, { field: `resume_map.${said}` });
    }
    taken.add(named.interruptId);
    return { interruptId: named.interruptId, status: "resolved", value };
  });
}

/** Where the same key is asked twice, the first by its place and then by its name is meant. */
function byPlace(a: Interrupt, b: Interrupt): number {
  const [left, right] = [a, b].map(({ place, interruptId }) => `${place?.path.join("/") ?? ""}\n${interruptId}`) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What a run is told to go on with, by key; two tasks that asked the same key are told apart by their questions. */
export function resumeOf(
  answered: readonly (readonly [Interrupt, Answer])[],
): NonNullable<Extract<Event, { type: "run.started" }>["resume"]> | undefined {
  const placed = answered.filter(([{ place }]) => place !== undefined);
  const place = placed[0]?.[0].place;
  if (!place) return undefined;
  const answers: JsonObject = {};
  for (const [interrupt, { value = null }] of placed) {
    const key = keyOf(interrupt);
    answers[Object.hasOwn(answers, key) ? interrupt.interruptId : key] = value;
  }
  return { lineageId: place.lineageId, checkpointId: place.checkpointId, answers };
}

/**
 * Goes back to a barrier, in the same thread: what came after it leaves the context, not the log. Its tasks are new ones, so they ask
 * anew, unless the answer is given. What waits is closed first, in a run of its own.
 */
export function goBack(thread: Thread, command: RunCommand, { checkpoint, resume }: NonNullable<Resumed["back"]>): Decision {
  if (thread.run) throw new AppError("conflict", "The thread is running; wait until it has ended, or cancel it");
  const frame = thread.graph.frames[""];
  const to =
    checkpoint ??
    (frame && {
      ...frame,
      state: thread.state,
      memory: thread.memory,
      agent: thread.turn?.agent ?? "",
      tools: thread.tools,
      options: thread.options,
    });
  if (!to) throw new AppError("not_found", "There is nothing to go back to", { field: "checkpoint_id" });
  const { checkpointId, lineageId, superstep, arrived } = to;
  const events: Event[] = [];
  let { epoch } = thread;
  if (waits(thread).length > 0) {
    const reason = `Went back to checkpoint ${checkpointId}`;
    const opening = started(thread, { ...command, tools: [], options: {} }, "cancel");
    events.push(
      opening,
      ...cancelOpen(tried(thread, [opening]), command, reason),
      over(thread, command.runId, { type: "cancelled", reason }),
    );
    epoch += 1;
  }
  const answers = resume.answers ?? (resume.value === undefined ? undefined : { [onlyKey(thread)]: resume.value });
  const state = edited(to.state, resume.state);
  events.push({
    type: "thread.rewound",
    to: to.seq + 1,
    removed: behind(thread.history, to.seq),
    ...(!sameJson(state, thread.state) && { state }),
    ...(!sameJson(to.memory, thread.memory) && { memory: to.memory }),
    checkpoint: {
      checkpointId,
      lineageId,
      superstep,
      tasks: to.tasks.map((task) => ({ ...task, taskId: again(task.taskId, thread.seq) })),
      ...(Object.keys(arrived).length > 0 && { arrived }),
    },
    ...(answers && { answers }),
  });
  const after = thread.seq + events.length;
  const { runId, parentRunId, by, via } = command;
  const options = { ...to.options, ...command.options };
  events.push({
    type: "run.started",
    runId,
    turnId: lineageId,
    epoch: epoch + 1,
    cause: "retry",
    agent: to.agent,
    messages: [],
    ...(!sameJson(to.tools, thread.tools) && { tools: to.tools }),
    ...(!sameJson(options, thread.options) && { options }),
    ...(parentRunId !== undefined && { parentRunId }),
    resume: { lineageId, checkpointId, answers: answers ?? {} },
    by,
    via,
  });
  return facts(thread, events, after);
}

/** A single value answers the question that waits now, asked again; without one, which it is for cannot be known. */
function onlyKey({ interrupts }: Thread): string {
  const keys = new Set([...interrupts.values()].flatMap(({ place }) => place?.key ?? []));
  const [only] = keys;
  if (only === undefined || keys.size > 1)
    throw new AppError("invalid", "Which question is meant? Answer by key when you go back", { field: "resume_map" });
  return only;
}

function edited(state: Json, change: JsonObject | undefined): Json {
  return change ? { ...(isObject(state) ? state : {}), ...change } : state;
}

function behind(history: readonly Entry[], seq: number): string[] {
  const first = history.findLastIndex((entry) => entry.seq <= seq) + 1;
  return history.slice(first).map((entry) => (entry.role === "user" ? entry.id : entry.messageId));
}

/** The name of a task that is done over: its own questions and calls, told from the first time's. */
function again(taskId: string, seq: number): string {
  return `${taskId.replace(/~\d+$/, "")}~${seq}`;
}
