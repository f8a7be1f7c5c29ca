import {
  type Call,
  type Grant,
  type Handback,
  HandbackError,
  type Hub,
  type Json,
  type JsonObject,
  type Message,
  refOf,
  type Settlement,
  type Started,
  type StartOptions,
} from "handback/client";
import type { ActionStates } from "./action-states.ts";
import type { Files } from "./files.ts";
import type { Outbox, Sent } from "./outbox.ts";
import type { Removals } from "./removals.ts";

/** What became of an answer. Somebody else having been faster is no error. */
export type Answered =
  | { type: "ok"; settlement: Settlement }
  | { type: "elsewhere"; call?: Call }
  | { type: "expired" }
  | { type: "invalid"; message: string; field?: string }
  | { type: "failed"; error: HandbackError };

/** The right to answer alone for a while; renewed until it is given back. */
export type Claimed = { ok: true; claim: number | undefined; release(): void } | { ok: false; by: string | undefined };

export type Done<T> = { ok: true; value: T } | { ok: false; error: HandbackError };

export type Actions = {
  send(threadId: string, message: Message, options?: StartOptions): Promise<Sent>;
  /** Sends it when the thread has nothing more to do. */
  queue(threadId: string, message: Message, options?: StartOptions): string;
  requeue(id: string): void;
  retry(id: string): void;
  discard(id: string): void;
  stop(threadId: string, reason?: string): Promise<Done<unknown>>;
  regenerate(threadId: string, messageId: string): Promise<Done<Started>>;
  edit(threadId: string, messageId: string, message: Message): Promise<Done<Started>>;
  result(callId: string, output: Json, options?: { claim?: number; metadata?: JsonObject }): Promise<Answered>;
  fail(callId: string, error: string, options?: { claim?: number }): Promise<Answered>;
  approve(callId: string, options?: { input?: JsonObject; reason?: string }): Promise<Answered>;
  reject(callId: string, reason?: string): Promise<Answered>;
  /** Answers in place of the tool; it is not run. */
  respond(callId: string, output: Json): Promise<Answered>;
  answer(interruptId: string, value: Json): Promise<Answered>;
  dismiss(interruptId: string): Promise<Answered>;
  claim(callId: string, seconds?: number): Promise<Claimed>;
  rename(threadId: string, title: string): Promise<Done<unknown>>;
  /** Deletes a thread in five seconds. */
  remove(threadId: string, title?: string): void;
  undoRemove(threadId: string): void;
  exportThread(threadId: string): Promise<Blob>;
  /** Shows an exported log as a thread that is in this browser only. */
  openFile(file: Blob): Promise<Done<string>>;
  /** Writes a log into the server, as a thread of its own. A file that is open goes by its name. */
  importThread(file: Blob | string, threadId?: string): Promise<Done<{ threadId: string }>>;
  /** Lets a tool run without asking: in this thread, or in all threads of the one it belongs to. */
  grant(tool: string, threadId: string, everywhere: boolean): Promise<Done<Grant>>;
  revoke(grantId: string): Promise<Done<unknown>>;
  retryConnection(): void;
  unplug(ms?: number): void;
};

type Needs = { handback: Handback; hub: Hub; states: ActionStates; outbox: Outbox; removals: Removals; files: Files };

/** Everything a person can do. Nothing throws: what went wrong is told as it matters to a page. */
export function makeActions({ handback, hub, states, outbox, removals, files }: Needs): Actions {
  const { calls } = handback;
  /** What ends the claims this page holds: an answer ends its own. */
  const held = new Map<string, () => void>();
  const answered = async (key: string, work: () => Promise<Settlement>): Promise<Answered> => {
    states.set(key, { state: "sending" });
    try {
      const settlement = await work();
      held.get(key)?.();
      states.set(key, { state: "idle" });
      return { type: "ok", settlement };
    } catch (thrown) {
      const error = toError(thrown);
      const told = await tell(key, error);
      states.set(key, told.type === "failed" || told.type === "invalid" ? { state: "failed", error } : { state: "idle" });
      return told;
    }
  };
  const tell = async (key: string, error: HandbackError): Promise<Answered> => {
    if (error.code === "conflict") {
      const call = await calls.get(key).catch(() => undefined);
      return { type: "elsewhere", ...(call && { call }) };
    }
    if (error.code === "gone") return { type: "expired" };
    if (error.code === "invalid" || error.code === "unprocessable")
      return { type: "invalid", message: error.message, ...(error.field !== undefined && { field: error.field }) };
    return { type: "failed", error };
  };
  const done = async <T>(key: string, work: () => Promise<T>): Promise<Done<T>> => {
    states.set(key, { state: "sending" });
    try {
      const value = await work();
      states.set(key, { state: "idle" });
      return { ok: true, value };
    } catch (thrown) {
      const error = toError(thrown);
      states.set(key, { state: "failed", error });
      return { ok: false, error };
    }
  };

  return {
    send: outbox.send,
    queue: outbox.queue,
    requeue: outbox.requeue,
    retry: outbox.retry,
    discard: outbox.discard,
    stop: (threadId, reason) => done(threadId, () => handback.cancel(threadId, reason)),
    regenerate: (threadId, messageId) => done(threadId, () => handback.regenerate(threadId, messageId)),
    edit: (threadId, messageId, message) => done(threadId, () => handback.edit(threadId, messageId, message)),
    result: (id, output, options) => answered(id, () => calls.result(id, output, options)),
    fail: (id, error, options) => answered(id, () => calls.fail(id, error, options)),
    approve: (id, options) => answered(id, () => calls.approve(id, options)),
    reject: (id, reason) => answered(id, () => calls.reject(id, reason)),
    respond: (id, output) => answered(id, () => calls.respond(id, output)),
    answer: (id, value) => answered(id, () => handback.answer(id, value)),
    dismiss: (id) => answered(id, () => handback.dismiss(id)),
    claim: (id, seconds = 120) => {
      // An answer that is on its way ends the claim itself, and what is settled has none.
      const worthReleasing = () =>
        states.getSnapshot().get(id)?.state !== "sending" && (hub.calls.getSnapshot() ?? []).some((call) => call.id === id);
      return claim(handback, held, id, { seconds, worthReleasing });
    },
    rename: (threadId, title) => done(threadId, () => handback.threads.rename(threadId, title)),
    remove: removals.remove,
    undoRemove: removals.undo,
    exportThread: (threadId) => handback.threads.export(threadId),
    openFile: files.open,
    importThread: (file, threadId) =>
      done("import", () =>
        handback.threads.import(typeof file === "string" ? (files.textOf(file) ?? file) : file, threadId === undefined ? {} : { threadId }),
      ),
    grant: (tool, name, everywhere) => {
      const { threadId, user } = refOf(name);
      return done(`grant:${tool}`, () =>
        handback.grants.add({ tool, ...(user !== undefined && { user }), ...(!everywhere && { threadId }) }),
      );
    },
    revoke: (id) => done(id, () => handback.grants.remove(id)),
    retryConnection: hub.retry,
    unplug: (ms = 5_000) => hub.unplug(ms),
  };
}

type ClaimOptions = { seconds: number; worthReleasing: () => boolean };

async function claim(
  { calls }: Handback,
  held: Map<string, () => void>,
  id: string,
  { seconds, worthReleasing }: ClaimOptions,
): Promise<Claimed> {
  try {
    const lease = await calls.claim(id, { by: "console", seconds });
    const timer = setInterval(() => void calls.heartbeat(id, lease.claim, seconds).catch(() => clearInterval(timer)), (seconds * 1000) / 3);
    held.set(id, () => {
      clearInterval(timer);
      held.delete(id);
    });
    const release = () => {
      if (!held.has(id)) return;
      held.get(id)?.();
      if (worthReleasing()) void calls.release(id, lease.claim).catch(() => {});
    };
    return { ok: true, claim: lease.claim, release };
  } catch (thrown) {
    // A question cannot be claimed: whoever answers first has answered.
    if (toError(thrown).code === "not_found") return { ok: true, claim: undefined, release: () => {} };
    const call = await calls.get(id).catch(() => undefined);
    return { ok: false, by: call?.claim?.by };
  }
}

export function toError(thrown: unknown): HandbackError {
  return thrown instanceof HandbackError ? thrown : new HandbackError("internal", String(thrown));
}
