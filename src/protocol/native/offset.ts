import { AppError } from "../../core/error.ts";
import { ID_PATTERN } from "../../core/ids.ts";

/** Reads an offset: the seq of the last event a client has. Absent means from the beginning. */
export function decodeOffset(text: string | undefined, field: string): number {
  if (text === undefined || text === "") return 0;
  if (!SEQ.test(text)) throw new AppError("invalid", `${field}: an offset is the seq of an event`, { field });
  return Number(text);
}

/** A thread somebody watches and the last event they have of it. Only operators name the user. */
export type Watched = { threadId: string; user?: string; after: number };

/** How many threads one stream may watch; all others show their heads. */
const MOST = 100;

/** Reads `a:12,b:40`: what a client watches and has seen, which is also the SSE id of a multiplexed stream. */
export function decodeVector(text: string | undefined, field: string): Watched[] {
  if (text === undefined || text === "") return [];
  const entries = text.split(",");
  if (entries.length > MOST) throw new AppError("invalid", `${field}: at most ${MOST} threads can be watched`, { field });
  return entries.map((entry) => {
    // The offset is behind the last colon, the user before the last tilde: thread ids may hold colons, but no tildes.
    const [, user, threadId = "", after = ""] = /^(?:(.*)~)?([^~]*):(\d{1,15})$/.exec(entry) ?? [];
    if (!ID_PATTERN.test(threadId)) throw new AppError("invalid", `${field}: must look like thread:12,other:40`, { field });
    return { threadId, after: Number(after), ...(user !== undefined && { user: plain(user, field) }) };
  });
}

/** Writes what `decodeVector` reads. */
export function encodeVector(watched: Iterable<Watched>): string {
  return Array.from(
    watched,
    ({ threadId, user, after }) => `${user === undefined ? "" : `${encodeURIComponent(user)}~`}${threadId}:${after}`,
  ).join(",");
}

const SEQ = /^\d{1,15}$/;

function plain(user: string, field: string): string {
  try {
    return decodeURIComponent(user);
  } catch (cause) {
    throw new AppError("invalid", `${field}: a user is percent-encoded`, { field, cause });
  }
}
