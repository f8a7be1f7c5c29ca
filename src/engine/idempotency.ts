import type { Command } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Engine } from "./engine.ts";
import type { Submitted } from "./submit.ts";

/** How long a key is remembered. */
export const KEPT_MS: number = 24 * 3_600_000;

/**
 * What a keyed request led to the first time, if this is not the first time. No answer is stored: the row says where in the log
 * it lies, so a request still in progress is followed like one that is done.
 */
export async function repeated({ store, clock }: Engine, key: ThreadKey, command: Command): Promise<Submitted | undefined> {
  if (command.type !== "run" || !command.request) return undefined;
  const kept = await store.request(key, command.request.key, clock.now() - KEPT_MS);
  if (!kept) return undefined;
  if (kept.hash !== command.request.hash || kept.threadId !== key.threadId) {
    throw new AppError("unprocessable", "This Idempotency-Key was used for another request", { field: "Idempotency-Key" });
  }
  const { after, first, seq } = kept;
  return { after, seq, ignored: 0, events: await store.read(key, { after: first - 1, limit: seq - first + 1 }) };
}
