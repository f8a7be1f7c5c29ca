import { fork } from "node:child_process";
import { once } from "node:events";
import { post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";
import { CALL, clientTalk, SMALL_TALK, type Talk } from "./round-trip.ts";

const SIZES = [0, 200, 2_000] as const;
const MOST_BYTES = 1_024;

/** The REST door: from a result to the continuation's first token, and how much a client has to send for it. */
export async function restRoundTrip(contenders: Contender[], { quick }: Effort, upstream: string): Promise<Row[]> {
  const rounds = quick ? 20 : 60;
  const rows: Row[] = [];
  const copilot = await startCopilotKit(upstream);
  for (const size of SIZES) {
    const talks = contenders.map((contender) => ({ name: contender.name, talk: talkTo(contender) }));
    for (const { talk } of talks) await talk.lengthen(size);
    const times = new Map(talks.map(({ name }) => [name, [] as number[]]));
    const bytes: Row["values"] = {};
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, talk } of talks) {
        const { firstToken, sent } = await talk.handBack();
        times.get(name)?.push(firstToken);
        bytes[name] ??= sent;
      }
    }
    const values: Row["values"] = {};
    for (const [name, list] of times) values[name] = median(list.slice(rounds / 5));
    rows.push(compare(`REST round trip at ${size} messages, p50`, "ms", values, 1));
    const holds = (bytes.handback ?? 0) < MOST_BYTES;
    if (copilot) rows.push(beside(await copilotKit(copilot.url, size, rounds), values.handback ?? Number.NaN, size));
    rows.push({ what: `… what its client sends at ${size}`, unit: "bytes", values: bytes, bar: { text: "< 1 KB", holds } });
  }
  copilot?.stop();
  return rows;
}

function beside(ms: number, ours: number, size: number): Row {
  return {
    what: `… beside CopilotKit's runtime (${ms.toFixed(1)} ms) at ${size}`,
    unit: "ms",
    values: { handback: ours },
    ratio: ours / ms,
    of: "that",
  };
}

let talks = 0;

function talkTo(contender: Contender): Talk {
  if (contender.name !== "handback") return clientTalk(contender);
  const url = contender.url.replace(/\/agui$/, "/chat");
  const threadId = `rest-${++talks}`;
  const say = (message: string) => post(url, { threadId, message }, { keep: true, accept: "text/event-stream" });
  return {
    async lengthen(messages) {
      for (let i = 0; i < messages; i += 2) await say(SMALL_TALK);
    },
    async handBack() {
      await say(CALL);
      return post(url, { threadId, messageType: "tool", toolResult: "42" }, { accept: "text/event-stream" });
    },
  };
}

/** Only where it is installed: it is 40 times our size, and nothing of ours needs it. */
async function startCopilotKit(upstream: string): Promise<{ url: string; stop(): void } | undefined> {
  if (!process.env["COPILOTKIT"]) return undefined;
  const env = { ...process.env, COPILOTKIT_TELEMETRY_DISABLED: "true", DO_NOT_TRACK: "1" };
  const child = fork(`${import.meta.dirname}/../servers/copilotkit.ts`, [upstream], { env });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { url, stop: () => child.disconnect() };
}

/** Its client owns the thread and sends all of it every time. */
async function copilotKit(url: string, size: number, rounds: number): Promise<number> {
  const threadId = `ck-${++talks}`;
  const messages: object[] = [];
  let ids = 0;
  const id = () => `m${++ids}`;
  const tools = [{ name: "ext", description: "Runs outside", parameters: { type: "object", properties: {} } }];
  const run = (keep: boolean) =>
    post(
      url,
      { threadId, runId: id(), messages, tools, context: [], state: {}, forwardedProps: {} },
      { keep, accept: "text/event-stream" },
    );
  for (let i = 0; i < size; i += 2) {
    messages.push({ id: id(), role: "user", content: SMALL_TALK }, { id: id(), role: "assistant", content: "said ".repeat(20) });
  }
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    messages.push({ id: id(), role: "user", content: CALL });
    const toolCallId = /"toolCallId":"([^"]+)"/.exec((await run(true)).text)?.[1] ?? "";
    const call = { id: toolCallId, type: "function", function: { name: "ext", arguments: "{}" } };
    messages.push(
      { id: id(), role: "assistant", content: "said ", toolCalls: [call] },
      { id: id(), role: "tool", toolCallId, content: "42" },
    );
    times.push((await run(false)).firstToken);
    messages.push({ id: id(), role: "assistant", content: "said " });
  }
  return median(times.slice(rounds / 5));
}
