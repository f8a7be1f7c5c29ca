import { EMPTY_VIEW, foldAll, HandbackError, type StoredEvent, type ThreadSnapshot, type ThreadView } from "handback/client";
import type { Done } from "./actions.ts";
import { random } from "./outbox.ts";

/** Logs somebody opened from a file: shown as threads, read in this browser, sent nowhere. */
export type Files = {
  /** Reads an exported log; its value is the name of the thread that shows it. */
  open(file: Blob): Promise<Done<string>>;
  /** The file itself, for whoever wants to import it after all. */
  textOf(name: string): string | undefined;
  snapshotOf(name: string): ThreadSnapshot;
};

type Saved = Pick<Storage, "getItem" | "setItem">;

const PREFIX = "file:";
/** What a tab keeps over a reload. Larger files have to be opened again. */
const MOST = 2_000_000;

/** Whether a thread is a file of this browser, and none of the server's. */
export function isFile(threadId: string): boolean {
  return threadId.startsWith(PREFIX);
}

export function openFiles(storage: Saved | undefined): Files {
  const texts = new Map<string, string>();
  const textOf = (name: string): string | undefined => {
    try {
      return texts.get(name) ?? storage?.getItem(`handback.${name}`) ?? undefined;
    } catch {
      return undefined;
    }
  };
  return {
    textOf,
    async open(file) {
      try {
        const text = await file.text();
        const name = PREFIX + random();
        read(text);
        texts.set(name, text);
        if (text.length <= MOST) keep(storage, name, text);
        return { ok: true, value: name };
      } catch (error) {
        return { ok: false, error: error instanceof HandbackError ? error : new HandbackError("invalid", String(error)) };
      }
    },
    snapshotOf(name) {
      const text = textOf(name);
      const view = text === undefined ? undefined : read(text);
      return { view: view ?? EMPTY_VIEW, loading: false, missing: view === undefined, error: undefined };
    },
  };
}

function keep(storage: Saved | undefined, name: string, text: string): void {
  try {
    storage?.setItem(`handback.${name}`, text);
  } catch {
    // Full or forbidden: then it is there until a reload.
  }
}

/** What an export adds up to. Its first line says what it is, lines of files are not needed to show it. */
function read(text: string): ThreadView {
  const lines = text.split("\n").flatMap((line, i) => (line.trim() === "" ? [] : [parsed(line, i + 1)]));
  const [head, ...rest] = lines;
  if (typeof head?.["handback"] !== "string") throw new HandbackError("invalid", "line 1: this is no log of Handback");
  const events = rest.filter((line) => line["type"] !== "blob");
  for (const [i, event] of events.entries()) {
    if (typeof event["seq"] !== "number" || typeof event["type"] !== "string")
      throw new HandbackError("invalid", `line ${i + 2}: this is no event`);
  }
  const view = foldAll(EMPTY_VIEW, events as unknown as StoredEvent[]);
  return typeof head["title"] === "string" ? { ...view, title: head["title"] } : view;
}

function parsed(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new HandbackError("invalid", `line ${number}: this is no JSON object`);
}
