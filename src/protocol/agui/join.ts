import { isObject } from "../../core/json.ts";
import { type Thread, waits } from "../../core/thread.ts";
import { type Frame, PROTOCOL_VERSION, toOutcome } from "./encode.ts";
import { type GraphView, interrupts, isInside, nodeStarted } from "./graph.ts";
import { type Message, openCalls } from "./messages.ts";
import type { Peer } from "./peer.ts";

/** Somebody who joins a thread without having seen any of it. */
export type Joiner = {
  threadId: string;
  peer: Peer;
  now: number;
  /** What to call this stream where no run of the thread gives it a name. */
  runId: string;
  messages: readonly Message[];
  graphs: GraphView;
};

/**
 * Brings a client that shows nothing to the present: state and messages, what is being said as far as it was said, then once more
 * the beginnings of what is still open. Behind them the log's own events follow as they come.
 */
export function join(thread: Thread, joiner: Joiner): Frame[] {
  const { threadId, now, messages } = joiner;
  const frames: Frame[] = [
    { type: "RUN_STARTED", threadId, runId: labelOf(thread, joiner), protocolVersion: PROTOCOL_VERSION },
    ...(isEmpty(thread.state) ? [] : [{ type: "STATE_SNAPSHOT", snapshot: thread.state }]),
    { type: "MESSAGES_SNAPSHOT", messages },
    ...reopened(thread, joiner),
  ];
  return frames.map((frame) => ({ ...frame, timestamp: now }));
}

/** The end of a joined stream on a thread in which nothing runs. What it waits for is told again, so that a client can ask again. */
export function leave(thread: Thread, joiner: Joiner): Frame[] {
  const { threadId, peer, now, graphs } = joiner;
  const open = waits(thread);
  // Run 0: no call began in this stream, so none of them is pending in it.
  const { outcome } = toOutcome(open.length > 0 ? { type: "waiting", for: open } : { type: "done" }, 0, peer);
  const frames: Frame[] = [
    ...(graphs.interrupts ? interrupts(open, graphs) : []),
    { type: "RUN_FINISHED", threadId, runId: labelOf(thread, joiner), ...(outcome !== undefined && { outcome }) },
  ];
  return frames.map((frame) => ({ ...frame, timestamp: now }));
}

/** A run that goes on keeps its own name: its ending will say it. */
function labelOf({ run }: Thread, { runId }: Joiner): string {
  return run?.runId ?? runId;
}

function isEmpty(state: Thread["state"]): boolean {
  return state === null || (isObject(state) && Object.keys(state).length === 0);
}

/** Clients go on with a message they know when it begins once more. */
function reopened(thread: Thread, { graphs }: Joiner): Frame[] {
  if (!thread.run) return [];
  const steps = [...thread.run.steps.values()].filter((step) => !isInside(step));
  const frames: Frame[] = steps.flatMap(({ name, place }) => [
    { type: "STEP_STARTED", stepName: name },
    ...(place && graphs.lifecycle ? nodeStarted(place) : []),
  ]);
  for (const [messageId, { type }] of thread.run.speaking) {
    if (type === "text") frames.push({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    else frames.push({ type: "REASONING_START", messageId }, { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" });
  }
  for (const { callId, name, messageId } of openCalls(thread)) {
    frames.push({ type: "TOOL_CALL_START", toolCallId: callId, toolCallName: name, parentMessageId: messageId });
  }
  return frames;
}
