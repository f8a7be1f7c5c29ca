import type { ThreadRef } from "./wire.ts";

/** A query string of those values that are there. */
export function queryOf(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** The path of a thread, or of something in it. */
export function threadPath(thread: ThreadRef, rest = "", query: object = {}): string {
  const { threadId, user } = typeof thread === "string" ? refOf(thread) : thread;
  return `/threads/${encodeURIComponent(threadId)}${rest}${queryOf({ ...query, user })}`;
}

/** A thread by its name: its id, or `user~id` for an operator. Ids have no tilde. */
export function refOf(name: string): { threadId: string; user?: string } {
  const tilde = name.lastIndexOf("~");
  return tilde < 0 ? { threadId: name } : { threadId: name.slice(tilde + 1), user: decodeURIComponent(name.slice(0, tilde)) };
}

/** A thread's name where many are named: an operator's says whose it is. Wherever a thread is asked for, its name will do. */
export function nameOf({ threadId, user }: { threadId: string; user?: string }): string {
  return user === undefined ? threadId : `${encodeURIComponent(user)}~${threadId}`;
}
