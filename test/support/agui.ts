import assert from "node:assert/strict";
import { afterEach, mock } from "node:test";
import { type BaseEvent, enforceEvents, HttpAgent, transformChunks, verifyEvents } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";
import { HttpAgent as HttpAgent0 } from "agui-client-0";
import { from, lastValueFrom, toArray } from "rxjs";
import { type Judged, judge, runAgent } from "./judge.ts";
import { eventually, type Served } from "./serve.ts";

/** Both generations of the official client, unmodified. */
export const CLIENTS: readonly (readonly [string, typeof HttpAgent])[] = [
  ["1.0.0", HttpAgent],
  ["0.0.59", HttpAgent0 as unknown as typeof HttpAgent],
];

/** For streams that are not for the official client to judge: half of one is none to it. */
export const rawFetch: typeof fetch = globalThis.fetch;

/** Reads along with every stream of a test, and fails on a byte a strict reader would not take or a warning of the official client. */
export function strict(): void {
  judge();
  const streams: Promise<string>[] = [];
  mock.method(globalThis, "fetch", async (...request: Parameters<typeof fetch>) => {
    const response = await rawFetch(...request);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream || !response.body) return response;
    const [told, kept] = response.body.tee();
    streams.push(collect(kept));
    const { status, headers } = response;
    return new Response(told, { status, headers });
  });
  afterEach(async () => {
    for (const text of await Promise.all(streams.splice(0))) await lint(text);
  });
}

async function collect(body: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch {
    // hung up on: what came counts
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The bytes of one stream: LF framing, one JSON object per frame, the schema of each event, and the client's own sequence rules. */
export async function lint(text: string): Promise<BaseEvent[]> {
  assert.ok(!text.includes("\r"), "LF framing only");
  assert.ok(text === "" || text.endsWith("\n\n"), "the last frame is complete");
  const events: BaseEvent[] = [];
  for (const block of text.split("\n\n").slice(0, -1)) {
    if (/^: \w+$/.test(block)) continue;
    const [, data] = /^(?:id: \d+\n)?data: (\{.*\})$/.exec(block) ?? [];
    assert.ok(data, `no frame of ours: ${block}`);
    const event = JSON.parse(data) as BaseEvent;
    EventSchemas.parse(event);
    events.push(event);
  }
  const accepted = await lastValueFrom(from(structuredClone(events)).pipe(enforceEvents(), transformChunks(), verifyEvents(), toArray()));
  assert.deepEqual(accepted, events, "the client strips nothing");
  return events;
}

type Page = HttpAgent & { judged: Judged };

/** A page that is being loaded: an unmodified client pointed at the history, as soon as it shows something. */
export async function loading(Client: typeof HttpAgent, server: Pick<Served, "url">): Promise<{ again: Promise<Page> }> {
  const agent = new Client({ url: `${server.url}/agui/history`, threadId: "t" });
  const again = runAgent(agent).then((judged) => Object.assign(agent, { judged }));
  await eventually(() => agent.messages.length > 0);
  return { again };
}

/** A page that has been loaded again. */
export async function reload(Client: typeof HttpAgent, { url }: Pick<Served, "url">, path = "/agui/history"): Promise<Page> {
  const agent = new Client({ url: `${url}${path}`, threadId: "t" });
  return Object.assign(agent, { judged: await runAgent(agent) });
}

/** The page goes on: the same messages, state and questions, with the door they are for. */
export function goOn(Client: typeof HttpAgent, { url }: Pick<Served, "url">, agent: HttpAgent): HttpAgent {
  const next = new Client({ url: `${url}/agui`, threadId: "t", initialMessages: agent.messages, initialState: agent.state });
  return Object.assign(next, { pendingInterrupts: agent.pendingInterrupts });
}
