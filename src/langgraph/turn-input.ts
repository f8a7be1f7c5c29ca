import { HumanMessage, type MessageContent, ToolMessage } from "@langchain/core/messages";
import type { StepContext } from "../agent/agent.ts";
import { toBase64 } from "../core/base64.ts";
import type { FilePart, Part, UserMessage } from "../core/event.ts";
import type { Thread, UserEntry } from "../core/thread.ts";
import { resultsFor } from "./calls.ts";

/** The user messages that began this turn. */
export function saidIn({ history, turn }: Thread): UserMessage[] {
  const said = history.filter((entry): entry is UserEntry => entry.role === "user" && entry.turnId === turn?.turnId);
  return said.map(({ id, content, name }) => ({ id, content, ...(name !== undefined && { name }) }));
}

/** A user message in LangChain's words, under the id it has here. */
export async function toHuman({ id, content, name }: UserMessage, blob: StepContext["blob"]): Promise<HumanMessage> {
  const blocks = typeof content === "string" ? content : await Promise.all(content.map((part) => toBlock(part, blob)));
  return new HumanMessage({ id, content: blocks as MessageContent, ...(name !== undefined && { name }) });
}

/** What others handed back for the calls of the graph's model, once all of it is there. */
export function toResults(thread: Thread, calls: { [callId: string]: string }): ToolMessage[] {
  return resultsFor(thread, calls).map(({ toolCallId, name, settled: { status, output, error, messageId } }) => {
    const failed = status !== "completed";
    const content = failed ? (error ?? status) : typeof output === "string" ? output : JSON.stringify(output ?? null);
    return new ToolMessage({ id: messageId, tool_call_id: toolCallId, name, content, status: failed ? "error" : "success" });
  });
}

async function toBlock(part: Part, blob: StepContext["blob"]): Promise<object> {
  if (part.type === "text") return part;
  const { mediaType: mimeType, name } = part;
  const file = { type: kindOf(part), mimeType, ...(name !== undefined && { metadata: { filename: name } }) };
  return "blob" in part ? { ...file, data: toBase64((await blob(part.blob)).data) } : { ...file, url: part.url };
}

/** LangChain's standard blocks. */
function kindOf({ mediaType }: FilePart): string {
  const [kind = ""] = mediaType.split("/");
  return ["image", "audio", "video"].includes(kind) ? kind : "file";
}
