import { type Answer, post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";

const SIZES = [0, 200, 2_000] as const;

/** From the result of an external call to the next token, with so many messages behind it. */
export async function roundTrip(contenders: Contender[], { quick }: Effort): Promise<Row[]> {
  const rounds = quick ? 20 : 60;
  const rows: Row[] = [];
  const own = new Map<number, number>();
  for (const size of SIZES) {
    const values: Row["values"] = {};
    const talks = contenders.map((contender) => ({ name: contender.name, talk: TALKS[contender.name](contender) }));
    for (const { talk } of talks) await talk.lengthen(size);
    const seen = new Map(talks.map(({ name }) => [name, [] as number[]]));
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, talk } of talks) seen.get(name)?.push((await talk.handBack()).firstToken);
    }
    for (const [name, times] of seen) values[name] = median(times.slice(rounds / 5));
    rows.push(compare(`external round trip at ${size} messages, p50`, "ms", values, 1));

    const handback = contenders.find(({ name }) => name === "handback");
    if (handback) own.set(size, await ownPart(handback, size, rounds * 2));
  }
  for (const [size, ms] of own) rows.push(ownRow(size, ms, own.get(0) ?? Number.NaN));
  return rows;
}

function ownRow(size: number, ms: number, empty: number): Row {
  const what = `… our own part (no provider, no prompt) at ${size}`;
  const row: Row = { what, unit: "ms", values: { handback: ms } };
  return size === 0 ? row : { ...row, ratio: ms / empty, of: "that at 0", bar: { text: "≤ 1.1 ×", holds: ms / empty <= 1.1 } };
}

/** The same with a model in the process that does not look at the history. */
async function ownPart(contender: Contender, size: number, rounds: number): Promise<number> {
  const talk = serverTalk({ ...contender, url: `${contender.url}/instant` }, "talk");
  await talk.lengthen(size);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push((await talk.handBack()).firstToken);
  return median(times.slice(rounds / 5));
}

/** A conversation with one server, as its own kind of client has it. */
export type Talk = {
  lengthen(messages: number): Promise<void>;
  /** Has the model call the tool, and hands the result back. */
  handBack(): Promise<Answer>;
};

export const SMALL_TALK = JSON.stringify({ n: 20, say: "Something of the length that people write when they talk to an assistant." });
export const CALL = JSON.stringify({ n: 1, tools: ["ext"] });
const REPLY = "token ".repeat(20);

const TALKS: Record<Contender["name"], (contender: Contender) => Talk> = {
  handback: (contender) => serverTalk(contender, SMALL_TALK),
  "ai-sdk": clientTalk,
  relay: clientTalk,
};

let talks = 0;

/** The server owns the thread: the client sends what is new. Without ids, or it would be shown all that it does not show. */
function serverTalk({ url }: Contender, smallTalk: string): Talk {
  const threadId = `talk-${++talks}`;
  let sent = 0;
  const say = (content: string) => {
    sent += 1;
    return post(url, { threadId, runId: `r${sent}`, messages: [{ role: "user", content }] }, { keep: true });
  };
  return {
    async lengthen(messages) {
      for (let i = 0; i < messages; i += 2) await say(smallTalk);
    },
    async handBack() {
      const toolCallId = callIn((await say(CALL)).text);
      sent += 1;
      return post(url, { threadId, runId: `r${sent}`, messages: [{ role: "tool", toolCallId, content: "42" }] });
    },
  };
}

/** The client owns the thread: it sends everything every time. */
export function clientTalk({ name, url }: Contender): Talk {
  const write = name === "ai-sdk" ? uiMessages : chatMessages;
  const messages: object[] = [];
  return {
    async lengthen(count) {
      for (let i = 0; i < count; i += 2) messages.push(write.user(SMALL_TALK), write.assistant(REPLY));
    },
    async handBack() {
      messages.push(write.user(CALL));
      const { text } = await post(url, { messages }, { keep: true });
      messages.push(...write.called(callIn(text)));
      const answer = await post(url, { messages });
      messages.push(write.assistant("token "));
      return answer;
    },
  };
}

let ids = 0;

const uiMessages = {
  user: (text: string) => ({ id: `m${++ids}`, role: "user", parts: [{ type: "text", text }] }),
  assistant: (text: string) => ({ id: `m${++ids}`, role: "assistant", parts: [{ type: "step-start" }, { type: "text", text }] }),
  called: (toolCallId: string) => {
    const part = { type: "tool-ext", toolCallId, state: "output-available", input: {}, output: "42" };
    return [{ id: `m${++ids}`, role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: "token " }, part] }];
  },
};

const chatMessages = {
  user: (content: string) => ({ role: "user", content }),
  assistant: (content: string) => ({ role: "assistant", content }),
  called: (id: string) => [
    { role: "assistant", content: "token ", tool_calls: [{ id, type: "function", function: { name: "ext", arguments: "{}" } }] },
    { role: "tool", tool_call_id: id, content: "42" },
  ],
};

function callIn(text: string): string {
  const id = [...text.matchAll(/"(?:toolCallId|id)":"(call[^"]*)"/g)].at(-1)?.[1];
  if (id === undefined) throw new Error(`No call in ${text}`);
  return id;
}
