/** Chance comes in through here and nowhere else. Ids carry at least 122 random bits. */
export type Ids = (prefix: string) => string;

export const randomIds: Ids = (prefix) => `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;

/** What a client may call its threads, runs, messages and calls. */
export const ID_PATTERN: RegExp = /^[A-Za-z0-9._:@|/+=-]{1,200}$/;

/** A thread belongs to its user: the same id under another user is another thread. */
export type ThreadKey = { app: string; user: string; threadId: string };

/** One string per key, for maps inside a process. Never stored, so the separator cannot clash with data. */
export function keyName({ app, user, threadId }: ThreadKey): string {
  return JSON.stringify([app, user, threadId]);
}
