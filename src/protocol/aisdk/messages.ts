import type { Part } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { AssistantEntry, CallPart, Entry, Thread } from "../../core/thread.ts";
import { ASK_APPROVAL, added, elsewhere, fileUrl, question } from "./chunk.ts";
import { KNOWS, type Peer } from "./peer.ts";
import { statusOf } from "./prelude.ts";

/** A UI message, as `useChat({ messages })` takes it. */
export type UiMessage = { id: string; role: "user" | "assistant"; metadata?: JsonObject; parts: Json[] };

/** The thread as UI messages, one for each turn's answer. `active: false` leaves out the one that is not finished: a replay brings it. */
export function toMessages(thread: Thread, threadId: string, { peer, active }: { peer: Peer; active: boolean }): UiMessage[] {
  const messages: UiMessage[] = [];
  const unfinished = isUnfinished(thread) ? thread.turn?.turnId : undefined;
  for (const entry of thread.history) {
    if (entry.role === "user") {
      messages.push({ id: entry.id, role: "user", parts: toParts(threadId, entry.content) });
      continue;
    }
    if (!active && entry.turnId === unfinished) continue;
    const parts = stepParts(threadId, entry, peer, thread);
    const last = messages.at(-1);
    if (last?.id === entry.turnId) last.parts.push(...parts);
    else messages.push({ id: entry.turnId, role: "assistant", metadata: { status: statusOf(thread, entry.turnId) }, parts });
  }
  const asked = active ? questions(thread) : [];
  const last = messages.at(-1);
  if (asked.length > 0 && unfinished !== undefined) {
    if (last?.id === unfinished) last.parts.push(...asked);
    else messages.push({ id: unfinished, role: "assistant", metadata: { status: statusOf(thread, unfinished) }, parts: asked });
  }
  return messages;
}

/** Questions that are about no call, and so stand behind everything else. */
function questions({ interrupts }: Thread): Json[] {
  return [...interrupts.values()].flatMap((asked) => (asked.callId === undefined ? [question(asked) as Json] : []));
}

/** Whether the thread's last turn is running or waiting. */
export function isUnfinished({ run, ended }: Thread): boolean {
  return run !== undefined || ended?.outcome.type === "waiting";
}

function toParts(threadId: string, content: Extract<Entry, { role: "user" }>["content"]): Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part: Part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    const { mediaType, name } = part;
    return { type: "file", mediaType, url: fileUrl(threadId, part), ...(name !== undefined && { filename: name }) };
  });
}

function stepParts(threadId: string, entry: AssistantEntry, peer: Peer, { run, calls, interrupts }: Thread): Json[] {
  const parts: Json[] = entry.kind === "node" ? [] : [{ type: "step-start" }];
  for (const [i, part] of entry.parts.entries()) {
    if (part.type === "added") parts.push(added(threadId, part.part, `${entry.stepId}:${i}`) as Json);
    else if (part.type === "call") {
      parts.push(toolPart(part, peer));
      const asked = calls.get(part.callId)?.phase === "asked" && [...interrupts.values()].find(({ callId }) => callId === part.callId);
      if (!asked) continue;
      const input = { toolCallId: part.callId, toolName: part.name, input: part.input };
      if (KNOWS[peer].approvals)
        Object.assign(parts.at(-1) as JsonObject, { state: "approval-requested", approval: { id: asked.interruptId } });
      else parts.push({ type: `tool-${ASK_APPROVAL}`, toolCallId: asked.interruptId, state: "input-available", input });
    } else {
      const open = run?.speaking.get(part.messageId);
      parts.push({ type: part.type, text: open ? open.said.join("") : part.text, state: open ? "streaming" : "done" });
    }
  }
  return parts;
}

function toolPart(part: CallPart, peer: Peer): Json {
  const { callId, name, owner, settlement } = part;
  const base = { type: `tool-${name}`, toolCallId: callId, input: part.edited ?? part.input, ...elsewhere(owner) };
  if (!settlement) return { ...base, state: "input-available" };
  const { status, output, error } = settlement;
  if (status === "completed" || (status === "expired" && output !== undefined))
    return { ...base, state: "output-available", output: output ?? null };
  if (status === "rejected" && KNOWS[peer].approvals) {
    const approval = { id: `${callId}:approval`, approved: false, ...(error !== undefined && { reason: error }) };
    return { ...base, state: "output-denied", approval };
  }
  return { ...base, state: "output-error", errorText: error ?? status };
}
