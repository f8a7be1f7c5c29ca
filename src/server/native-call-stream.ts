import type { Context } from "hono";
import { keyName, type ThreadKey } from "../core/ids.ts";
import { changes } from "../engine/changes.ts";
import type { Engine } from "../engine/engine.ts";
import { decodeCallQuery } from "../protocol/native/query.ts";
import type { WaitQuery, WaitRow } from "../store/store.ts";
import type { Door } from "./door.ts";
import { callQuery } from "./native-call-query.ts";
import { type CallJson, callJson } from "./native-row.ts";
import type { Principal } from "./principal.ts";
import { frame, sse } from "./sse.ts";

const PAGE = 200;

/**
 * Open calls as they come and go: `call` for each that is open or whose claim has changed, `closed` when it no longer is.
 * It begins with what is open, so a client that reconnects misses nothing and needs no offset.
 */
export function callStream(door: Door, c: Context, principal: Principal): Response {
  const { limit: _, after: __, statuses: ___, ...query } = callQuery(principal, decodeCallQuery(c.req.query()));
  return sse(c, (signal) => bytes(callFrames(door, principal, query, signal)), door.streams, { open: true });
}

async function* bytes(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield Buffer.from(text);
}

/** The same for other streams. `asList` tells what is open in one `calls` frame: whoever reconnects knows what is not open any more. */
export async function* callFrames(
  { engine }: Door,
  principal: Principal,
  asked: Omit<WaitQuery, "limit" | "after">,
  signal: AbortSignal,
  { asList = false }: { asList?: boolean } = {},
): AsyncGenerator<string> {
  const query = { ...asked, status: "pending", limit: PAGE };
  const { app, user, threadId } = query;
  const wanted = (key: ThreadKey) =>
    key.app === app && (user === undefined || key.user === user) && (threadId === undefined || key.threadId === threadId);
  const news = changes(engine, { wanted, everyMs: 0, signal });
  /** What this client has been told is open, by thread; a mark tells whether it has changed. */
  const shown = new Map<string, Map<string, string>>();
  const list: CallJson[] = [];
  for await (const rows of pages(engine, query)) {
    const text = rows.map((row) => show(row, shown, principal, engine.clock.now())).join("");
    if (asList) list.push(...rows.map((row) => callJson(row, principal, engine.clock.now())));
    else if (text !== "") yield text;
  }
  if (asList) yield `event: calls\n${frame(JSON.stringify({ calls: list }))}`;
  for await (const keys of news) {
    let text = "";
    for (const key of keys) {
      const name = keyName(key);
      if (!shown.has(name) && nothingOpen(engine, name)) continue;
      const open = new Set<string>();
      for await (const rows of pages(engine, { ...query, user: key.user, threadId: key.threadId })) {
        for (const row of rows) {
          open.add(row.id);
          text += show(row, shown, principal, engine.clock.now());
        }
      }
      for (const id of shown.get(name)?.keys() ?? []) if (!open.has(id)) text += await hide(engine, app, id, shown.get(name));
      if (open.size === 0) shown.delete(name);
    }
    if (text !== "") yield text;
  }
}

async function* pages({ store }: Engine, query: WaitQuery): AsyncGenerator<WaitRow[]> {
  let after: string | undefined;
  do {
    const { waits, next } = await store.waits({ ...query, ...(after !== undefined && { after }) });
    yield waits;
    after = next;
  } while (after !== undefined);
}

/** A thread in memory that has nothing open need not be asked about: most news is about threads that talk. */
function nothingOpen({ live }: Engine, name: string): boolean {
  const thread = live.get(name)?.thread;
  return thread !== undefined && thread.calls.size === 0 && thread.interrupts.size === 0;
}

function show(row: WaitRow, shown: Map<string, Map<string, string>>, principal: Principal, now: number): string {
  const json = callJson(row, principal, now);
  const mark = json.claim ? `${json.claim.claim}` : "";
  const calls = shown.get(keyName(row)) ?? new Map<string, string>();
  shown.set(keyName(row), calls);
  if (calls.get(row.id) === mark) return "";
  calls.set(row.id, mark);
  return `event: call\n${frame(JSON.stringify(json))}`;
}

async function hide({ store }: Engine, app: string, id: string, calls: Map<string, string> | undefined): Promise<string> {
  calls?.delete(id);
  const status = (await store.wait(app, id))?.status;
  return `event: closed\n${frame(JSON.stringify({ id, status: status ?? "cancelled" }))}`;
}
