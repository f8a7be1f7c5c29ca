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
  const { threadId, user } = typeof thread === "string" ? { threadId: thread, user: undefined } : thread;
  return `/threads/${encodeURIComponent(threadId)}${rest}${queryOf({ ...query, user })}`;
}
