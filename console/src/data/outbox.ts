import { type Handback, type HandbackError, type Hub, isTemporary, type Message, type StartOptions, type Store } from "handback/client";
import { toError } from "./actions.ts";
import { value } from "./value.ts";

/** A message on its way: shown at once, and kept until the log has it. */
export type Outgoing = {
  id: string;
  threadId: string;
  text: string;
  /** `sent`: the server has it, and its event is on the way. */
  state: "sending" | "queued" | "sent" | "failed";
  error?: HandbackError;
};

export type Sent = { ok: true; runId: string; seq: number } | { ok: false; error: HandbackError };

export type Outbox = Store<readonly Outgoing[]> & {
  send(threadId: string, message: Message, options?: StartOptions): Promise<Sent>;
  queue(threadId: string, message: Message, options?: StartOptions): string;
  requeue(id: string): void;
  retry(id: string): void;
  discard(id: string): void;
  /** The log has these. */
  arrived(ids: readonly string[]): void;
  close(): void;
};

type Letter = { id: string; threadId: string; message: Exclude<Message, string>; options: StartOptions; state: Outgoing["state"] };
type Saved = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const AGAIN_MS = 2_000;

/**
 * Sends messages until the server has them, over lost connections and reloads; the same id makes sure that one is heard once.
 * What the server refuses stays here until somebody says what to do with it.
 */
export function openOutbox(handback: Handback, hub: Hub, { storage, name }: { storage: Saved | undefined; name: string }): Outbox {
  const letters = new Map<string, Letter>();
  const errors = new Map<string, HandbackError>();
  const shown = value<readonly Outgoing[]>([]);
  let closed = false;

  const draw = () => {
    shown.set(
      [...letters.values()].map(({ id, threadId, message, state }) => {
        const error = errors.get(id);
        return { id, threadId, text: textOf(message), state, ...(error && { error }) };
      }),
    );
    const kept = [...letters.values()].filter(({ state }) => state !== "sent");
    try {
      if (kept.length === 0) storage?.removeItem(name);
      else storage?.setItem(name, JSON.stringify(kept));
    } catch {
      // Full or forbidden: then it is kept as long as the page is open.
    }
  };
  const put = (letter: Letter, error?: HandbackError) => {
    letters.set(letter.id, letter);
    if (error) errors.set(letter.id, error);
    else errors.delete(letter.id);
    draw();
  };
  const drop = (id: string) => {
    errors.delete(id);
    if (letters.delete(id)) draw();
  };

  const deliver = async (letter: Letter): Promise<Sent> => {
    put({ ...letter, state: "sending" });
    for (;;) {
      try {
        const { runId, seq } = await handback.run(letter.threadId, letter.message, letter.options);
        if (letters.has(letter.id)) put({ ...letter, state: "sent" });
        return { ok: true, runId, seq };
      } catch (thrown) {
        const error = toError(thrown);
        if (!isTemporary(error) || closed || !letters.has(letter.id)) {
          if (letters.has(letter.id)) put({ ...letter, state: "failed" }, error);
          return { ok: false, error };
        }
        await reconnected(hub);
      }
    }
  };
  const make = (threadId: string, message: Message, options: StartOptions): Letter => {
    const said = typeof message === "string" ? { content: message } : message;
    return { id: said.id ?? `msg_${random()}`, threadId, message: said, options, state: "queued" };
  };
  const named = (letter: Letter): Letter => ({ ...letter, message: { ...letter.message, id: letter.id } });

  /** One at a time for each thread, when it has nothing more to do. */
  const flush = () => {
    const busy = new Set([...letters.values()].filter(({ state }) => state === "sending").map(({ threadId }) => threadId));
    for (const letter of [...letters.values()]) {
      const status = hub.threads.getSnapshot().get(letter.threadId)?.status ?? "idle";
      if (letter.state !== "queued" || busy.has(letter.threadId) || status !== "idle") continue;
      busy.add(letter.threadId);
      void deliver(letter);
    }
  };
  const unlisten = hub.threads.subscribe(flush);

  for (const letter of read(storage, name)) {
    letters.set(letter.id, letter);
    if (letter.state === "sending") void deliver(letter);
  }
  draw();

  return {
    ...shown,
    send: (threadId, message, options = {}) => deliver(named(make(threadId, message, options))),
    queue(threadId, message, options = {}) {
      const letter = named(make(threadId, message, options));
      put(letter);
      flush();
      return letter.id;
    },
    requeue(id) {
      const letter = letters.get(id);
      if (letter) put({ ...letter, state: "queued" });
      flush();
    },
    retry(id) {
      const letter = letters.get(id);
      if (letter) void deliver(letter);
    },
    discard: drop,
    arrived(ids) {
      for (const id of ids) if (letters.get(id)?.state === "sent") drop(id);
    },
    close() {
      closed = true;
      unlisten();
    },
  };
}

/** When the connection is back; and now and then, since it need not be the connection. */
function reconnected(hub: Hub): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      unlisten();
      resolve();
    };
    const timer = setTimeout(done, AGAIN_MS);
    const unlisten = hub.connection.subscribe(() => {
      if (hub.connection.getSnapshot().state === "live") done();
    });
  });
}

function read(storage: Saved | undefined, name: string): Letter[] {
  try {
    return JSON.parse(storage?.getItem(name) ?? "[]") as Letter[];
  } catch {
    return [];
  }
}

function textOf({ content }: Exclude<Message, string>): string {
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Also where the page is not a secure context, and `randomUUID` is missing. */
export function random(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
