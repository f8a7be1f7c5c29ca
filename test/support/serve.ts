import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StoredEvent } from "../../src/core/event.ts";
import { type Config, createHandback } from "../../src/handback.ts";
import type { LogLine } from "../../src/server/log.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { sqliteStore } from "../../src/store/sqlite.ts";
import type { Store, ThreadRow } from "../../src/store/store.ts";
import { type FakeClock, fakeClock } from "../../src/testing/fake-clock.ts";
import { keyOf, START } from "./engine.ts";
import { type Frame, framesIn, type Open, openStream } from "./frames.ts";

export { keyOf, START } from "./engine.ts";
export { eventually } from "./eventually.ts";

/** A server on loopback whose time stands still, and a look at what it wrote. */
export type Served = AsyncDisposable & {
  url: string;
  clock: FakeClock;
  store: Store;
  logged: LogLine[];
  /** Posts and reads the answer to its end. */
  post(body: unknown, path?: string): Promise<Reply>;
  /** Posts and leaves the stream open. */
  open(body: unknown, path?: string): Promise<Open>;
  events(threadId?: string): Promise<StoredEvent[]>;
  thread(threadId?: string): Promise<ThreadRow | undefined>;
  close(): Promise<void>;
};

export type Reply = { status: number; text: string; frames: Frame[]; error: { code?: string; message?: string; field?: string } };

type Options = Partial<Config> & Pick<Config, "agents"> & { clock?: FakeClock };

/** Serves on a free port; on disk where `data` names a directory, otherwise in memory. Closed when its scope ends, without grace. */
export async function serve({ data, clock = fakeClock(START), ...config }: Options): Promise<Served> {
  const store = config.store ?? (data === undefined ? memoryStore() : await sqliteStore({ path: data }));
  const logged: LogLine[] = [];
  const handback = await createHandback({ ...config, clock, store, log: (line) => void logged.push(line) });
  const { url } = await handback.listen({ port: 0 });
  const send = (body: unknown, path: string, signal?: AbortSignal) =>
    fetch(`${url}${path}`, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body), ...(signal && { signal }) });
  const close = () => handback.close({ grace: 0 });
  return {
    url,
    clock,
    store,
    logged,
    post: async (body, path = "/agui") => toReply(await send(body, path)),
    async open(body, path = "/agui") {
      const abort = new AbortController();
      return openStream(await send(body, path, abort.signal), abort);
    },
    events: (threadId = "t") => store.read(keyOf(threadId), { after: 0 }),
    thread: (threadId = "t") => store.thread(keyOf(threadId)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const JSON_BODY = { "content-type": "application/json" };

export async function toReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return {
    status: response.status,
    text,
    frames: isJson ? [] : framesIn(text),
    error: isJson ? ((JSON.parse(text) as { error?: Reply["error"] }).error ?? {}) : {},
  };
}

/** A directory that goes with its scope. */
export function directory(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "handback-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
