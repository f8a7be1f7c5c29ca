import { AppError } from "../core/error.ts";
import type { Owner } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Engine } from "../engine/engine.ts";
import type { Submitted } from "../engine/submit.ts";
import type { Grant, ThreadRow, ThreadStatus, WaitRow } from "../store/store.ts";
import type { Principal } from "./principal.ts";

/** A thread on the wire. Only operators are told whose it is. */
export type ThreadJson = {
  threadId: string;
  user?: string;
  title?: string;
  status: ThreadStatus;
  agent?: string;
  pending: number;
  seq: number;
  metadata: JsonObject;
  createdAt: string;
  updatedAt: string;
};

/** A thread as it changes: small, and the same however often it is told. */
export type HeadJson = Pick<ThreadJson, "threadId" | "user" | "seq" | "status" | "pending" | "title" | "updatedAt">;

/** A call or question on the wire. `claim` is there as long as somebody's lease runs. */
export type CallJson = {
  id: string;
  threadId: string;
  user?: string;
  kind: "call" | "interrupt";
  name: string;
  input: Json;
  owner?: Owner;
  callId?: string;
  schema?: JsonObject;
  status: string;
  createdAt: string;
  expiresAt?: string;
  settledAt?: string;
  claim?: { claim: number; by: string; until: string };
};

/** A standing permission on the wire. */
export type GrantJson = { id: string; user?: string; tool: string; threadId?: string; createdAt: string; by: string };

/** A thread's row as this principal may see it. */
export function threadJson(row: ThreadRow, { kind }: Principal): ThreadJson {
  const { threadId, user, title, status, agent, pending, seq, metadata, createdAt, updatedAt } = row;
  return {
    threadId,
    ...(kind === "operator" && { user }),
    ...(title !== undefined && { title }),
    status,
    ...(agent !== undefined && { agent }),
    pending,
    seq,
    metadata,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

/** The part of a thread's row that lists are made of. */
export function headJson(row: ThreadRow, principal: Principal): HeadJson {
  const { agent, metadata, createdAt, ...head } = threadJson(row, principal);
  return head;
}

/** A call's row as this principal may see it at this time. */
export function callJson(row: WaitRow, { kind: who }: Principal, now: number): CallJson {
  const { id, threadId, user, kind, name, input, owner, callId, schema, status, createdAt, expiresAt, settledAt, claim } = row;
  return {
    id,
    threadId,
    ...(who === "operator" && { user }),
    kind,
    name,
    input,
    ...(owner !== undefined && { owner }),
    ...(callId !== undefined && { callId }),
    ...(schema && { schema }),
    status,
    createdAt: iso(createdAt),
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    ...(settledAt !== undefined && { settledAt: iso(settledAt) }),
    ...(claim && claim.until > now && status === "pending" && { claim: { ...claim, until: iso(claim.until) } }),
  };
}

/** A grant's row as this principal may see it. */
export function grantJson({ id, user, tool, threadId, createdAt, by }: Grant, { kind }: Principal): GrantJson {
  return {
    id,
    ...(kind === "operator" && { user }),
    tool,
    ...(threadId !== undefined && { threadId }),
    createdAt: iso(createdAt),
    by,
  };
}

/** A time on the wire. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** A thread's row, or `not_found`: the same words for those that never were and those of somebody else. */
export async function threadRow({ store }: Engine, key: ThreadKey): Promise<ThreadRow> {
  const row = await store.thread(key);
  if (!row) throw new AppError("not_found", `There is no thread ${key.threadId}`);
  return row;
}

/** The label of the run a sender should follow: the one its command began, or the one that heard the same before. */
export async function runIdOf({ store }: Engine, key: ThreadKey, { events, after }: Submitted): Promise<string | undefined> {
  for (const event of events) if (event.type === "run.started") return event.runId;
  const [event] = await store.read(key, { after, limit: 1 });
  return event?.type === "run.started" ? event.runId : undefined;
}
