import { sameJson } from "../../core/json.ts";
import type { AssistantEntry, Call, CallPart, TextPart, Thread } from "../../core/thread.ts";
import { added, approvalRequest, type Chunk, closed, inputAvailable, metadata, outcome, question } from "./chunk.ts";
import { KNOWS, type Peer } from "./peer.ts";
import type { Shown } from "./shown.ts";

/** Whom a view of a turn is for. */
export type Viewer = {
  threadId: string;
  peer: Peer;
  shown: Shown;
  /** Whether somebody else is running this call: then it is shown, but not handed out once more. */
  taken: (call: Call) => boolean;
};

/**
 * Brings a client from what it shows of a turn to the present. Steps it has are not told again, only what became of their
 * calls; the others are told whole. A settled call is told without `tool-input-available`, so that nobody runs it again.
 */
export function prelude(thread: Thread, turnId: string, viewer: Viewer): Chunk[] {
  const { held } = viewer.shown;
  const current = thread.turn?.turnId === turnId;
  const runId = current ? (thread.run ?? thread.ended)?.runId : undefined;
  const about = { status: statusOf(thread, turnId), held, ...(runId !== undefined && { runId }) };
  const chunks: Chunk[] = [{ type: "start", messageId: turnId, messageMetadata: about }];
  let [steps, texts, speaking] = [0, 0, false];
  for (const step of stepsOf(thread, turnId)) {
    const node = step.kind === "node";
    const known = node ? texts < viewer.shown.texts : steps < viewer.shown.steps;
    chunks.push(...(known ? amend(thread, step, viewer) : replay(thread, step, viewer)));
    if (!node) steps += 1;
    texts += step.parts.filter(({ type }) => type === "text").length;
    speaking ||= step.state === "open";
    // Behind one that still speaks (in a graph, beside this one) the end of a step would cut it short in ai 5.
    if (!known && !node && !speaking) chunks.push({ type: "finish-step" });
  }
  chunks.push(...viewer.shown.answered.map(closed));
  if (!current) return chunks;
  for (const interrupt of thread.interrupts.values()) if (interrupt.callId === undefined) chunks.push(question(interrupt));
  return chunks;
}

/** What was said in a turn: the model's steps, and what nodes said themselves. */
export function stepsOf({ history }: Thread, turnId: string): AssistantEntry[] {
  return history.filter((entry): entry is AssistantEntry => entry.role === "assistant" && entry.turnId === turnId);
}

/**
 * Whether a client could take the turn's last step for one whose results it should send. Where nothing more is to come,
 * such a step must not be a client's last one, or it posts for ever.
 */
export function endsInCalls(thread: Thread, turnId: string): boolean {
  return (
    stepsOf(thread, turnId)
      .findLast(({ kind }) => kind !== "node")
      ?.parts.some((part) => part.type === "call") ?? false
  );
}

/** The end of a stream after which its client must do nothing. `held` counts the steps that are no step of the model. */
export function rest(status: string, held: number): Chunk[] {
  return [{ type: "start-step" }, metadata({ status, held: held + 1 }), { type: "finish-step" }];
}

/** How a turn is doing, as clients read it in the message's metadata. */
export function statusOf({ turn, run, ended }: Thread, turnId: string): string {
  if (turn?.turnId !== turnId) return "done";
  return run ? "running" : (ended?.outcome.type ?? "done");
}

/** What became of the calls in a step that the client shows. */
function amend(thread: Thread, step: AssistantEntry, viewer: Viewer): Chunk[] {
  return step.parts.flatMap((part) => {
    if (part.type !== "call") return [];
    const shown = viewer.shown.calls.get(part.callId);
    if (!shown) return replayCall(thread, part, viewer);
    const { settlement } = part;
    if (settlement) {
      const same = shown.settled && settlement.status === "completed" && sameJson(shown.output, settlement.output ?? null);
      return same || shown.state === "output-denied" ? [] : [...answeredElsewhere(part, viewer), outcome(part, settlement, viewer.peer)];
    }
    return shown.settled || shown.state === "approval-responded" ? present(thread, part, viewer) : edited(part);
  });
}

/** A step the client has not seen. */
function replay(thread: Thread, step: AssistantEntry, viewer: Viewer): Chunk[] {
  const chunks: Chunk[] = step.kind === "node" ? [] : [{ type: "start-step" }];
  for (const [i, part] of step.parts.entries()) {
    if (part.type === "call") chunks.push(...replayCall(thread, part, viewer));
    else if (part.type === "added") chunks.push(added(viewer.threadId, part.part, `${step.stepId}:${i}`));
    else chunks.push(...replayText(thread, part));
  }
  for (const call of thread.calls.values()) {
    if (call.stepId === step.stepId && call.phase === "started") chunks.push(...input(call.callId, call.name, call.said.join("")));
  }
  return chunks;
}

function replayText({ run }: Thread, { type, messageId: id, text }: TextPart): Chunk[] {
  const open = run?.speaking.get(id);
  const delta = open ? open.said.join("") : text;
  const said: Chunk[] = [{ type: `${type}-start`, id }];
  if (delta !== "") said.push({ type: `${type}-delta`, id, delta });
  return open ? said : [...said, { type: `${type}-end`, id }];
}

function replayCall(thread: Thread, part: CallPart, viewer: Viewer): Chunk[] {
  const { callId, name, settlement } = part;
  const begun = input(callId, name, JSON.stringify(part.edited ?? part.input));
  if (settlement) return [...begun, outcome(part, settlement, viewer.peer)];
  return [...begun, ...present(thread, part, viewer)];
}

function input(toolCallId: string, toolName: string, inputTextDelta: string): Chunk[] {
  const start: Chunk = { type: "tool-input-start", toolCallId, toolName };
  return inputTextDelta === "" ? [start] : [start, { type: "tool-input-delta", toolCallId, inputTextDelta }];
}

/** Where an open call stands: handed out, asked about, or still to be completed by the events that follow. */
function present(thread: Thread, part: CallPart, viewer: Viewer): Chunk[] {
  const call = thread.calls.get(part.callId);
  if (!call) return [];
  switch (call.phase) {
    case "offered":
      return call.owner === "client" && viewer.taken(call) ? [] : [inputAvailable(call)];
    case "asked": {
      const interrupt = [...thread.interrupts.values()].find(({ callId }) => callId === call.callId);
      if (!interrupt) return [];
      const own = KNOWS[viewer.peer].approvals ? [] : [inputAvailable(call)];
      return [...own, approvalRequest({ ...interrupt, callId: call.callId }, viewer.peer)];
    }
    case "ready":
      return [inputAvailable(call)];
    case "called":
      return call.owner === "server" && !call.approval && call.invalid === undefined ? [inputAvailable(call)] : [];
    case "started":
      return [];
    default:
      return call.phase satisfies never;
  }
}

/** A client of ai 5 shows the question as a call of its own, which must not stay open when somebody else has answered. */
function answeredElsewhere(part: CallPart, { peer, shown }: Viewer): Chunk[] {
  const callId = `${part.callId}:approval`;
  const asked = shown.calls.get(callId);
  if (KNOWS[peer].approvals || !asked || asked.settled) return edited(part);
  const approved = part.settlement?.status !== "rejected";
  return [outcome({ callId, owner: "client" }, { status: "completed", output: { approved } }, peer), ...edited(part)];
}

function edited(part: CallPart): Chunk[] {
  return part.edited === undefined ? [] : [metadata({ edited: { [part.callId]: part.edited } })];
}
