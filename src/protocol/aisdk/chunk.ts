import type { CallStatus, FilePart, Owner, Place, StoredEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { KNOWS, type Peer } from "./peer.ts";

/** A chunk of a UI message stream. The `ai` package's own releases are the judges of it in the tests. */
export type Chunk = { type: string; [field: string]: unknown };

/** The client tool by which clients without approvals of their own (ai 5) are asked. Its call id is the question's. */
export const ASK_APPROVAL = "ask_approval";

/** What clients keep beside the message; it is merged, so each chunk brings only what changed. */
export function metadata(values: JsonObject): Chunk {
  return { type: "message-metadata", messageMetadata: values };
}

/** Marks what the client has neither to run nor to wait for. */
export function elsewhere(owner: Owner): { providerExecuted?: true } {
  return owner === "client" ? {} : { providerExecuted: true };
}

/** The input of a call that may be run now; a client runs its own when it sees this. */
export function inputAvailable(call: { callId: string; name: string; owner: Owner; input: Json }): Chunk {
  return { type: "tool-input-available", toolCallId: call.callId, toolName: call.name, input: call.input, ...elsewhere(call.owner) };
}

/** How a call was settled. */
export function outcome(
  { callId: toolCallId, owner }: { callId: string; owner: Owner },
  { status, output, error }: { status: CallStatus; output?: Json; error?: string },
  peer: Peer,
): Chunk {
  if (status === "rejected" && KNOWS[peer].approvals) return { type: "tool-output-denied", toolCallId };
  const given = status === "completed" || (status === "expired" && output !== undefined);
  if (given) return { type: "tool-output-available", toolCallId, output: output ?? null, ...elsewhere(owner) };
  return { type: "tool-output-error", toolCallId, errorText: error ?? status, ...elsewhere(owner) };
}

/** A question about a call, in the words this client has for it. */
export function approvalRequest(question: { interruptId: string; callId: string; prompt: Json }, peer: Peer): Chunk {
  const { interruptId, callId, prompt } = question;
  if (KNOWS[peer].approvals) return { type: "tool-approval-request", approvalId: interruptId, toolCallId: callId };
  const about = prompt as { tool?: Json; input?: Json };
  const input = { toolCallId: callId, toolName: about.tool ?? null, input: about.input ?? null };
  return { type: "tool-input-available", toolCallId: interruptId, toolName: ASK_APPROVAL, input };
}

type Question = { interruptId: string; reason: string; prompt: Json; schema?: JsonObject; place?: Place };

/** A question that is not about a call: shown as data, answered with `answers` in the body of a request. */
export function question({ interruptId, reason, prompt, schema, place }: Question): Chunk & { id: string } {
  const data = { interruptId, status: "open", reason, prompt, ...(schema && { schema }), ...(place && { place }) };
  return { type: "data-interrupt", id: interruptId, data };
}

/** A question that has its answer, in the place where it was asked. */
export function closed({ interruptId, status, value = null }: { interruptId: string; status: string; value?: Json }): Chunk {
  return { type: "data-interrupt", id: interruptId, data: { interruptId, status, value } };
}

type Added = Extract<StoredEvent, { type: "part.added" }>["part"];

/** A file, a source or data of the model's. `at` makes a source's id unique in its message. */
export function added(threadId: string, part: Added, at: string): Chunk {
  switch (part.type) {
    case "file":
      return { type: "file", mediaType: part.mediaType, url: fileUrl(threadId, part) };
    case "source": {
      const { url, title, id = at } = part;
      if (url !== undefined) return { type: "source-url", sourceId: id, url, ...(title !== undefined && { title }) };
      return { type: "source-document", sourceId: id, mediaType: "text/plain", title: title ?? id };
    }
    case "data":
      return { type: `data-${part.name}`, data: part.value };
    default:
      return part satisfies never;
  }
}

/** Where a file can be read: its own link, or this server's native door. */
export function fileUrl(threadId: string, part: FilePart): string {
  return "url" in part ? part.url : `/v1/threads/${encodeURIComponent(threadId)}/blobs/${part.blob}`;
}
