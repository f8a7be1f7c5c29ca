import { type Answer, post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";

const SIZES = [0, 200, 2_000] as const;

/** From the result of an external call to the next token, with so many messages behind it. */
export async function roundTrip(contenders: Contender[], { quick }: Effort): Promise<Row[]> {
  const handback = contenders.filter(({ name }) => name === "handback");
  // The same with a model in the process that does not look at the history: what is left is our own.
  const instant = handback.map((contender) => ({ name: "own" as const, talk: serverTalk(`${contender.url}/instant`, "talk") }));
  const cases = SIZES.flatMap((size) =>
    [...contenders.map((contender) => ({ name: contender.name, talk: talkWith(contender) })), ...instant].map(({ name, talk }) => ({
      name,
      size,
      talk: talk(),
      times: [] as number[],
    })),
  );
  for (const { talk, size } of cases) await talk.lengthen(size);
  const rounds = quick ? 25 : 80;
  // All of them in turn: what disturbs one disturbs the others.
  for (let round = 0; round < rounds; round += 1) for (const { talk, times } of cases) times.push((await talk.handBack()).firstToken);

  const p50 = (name: string, size: number) => {
    const times = cases.find((other) => other.name === name && other.size === size)?.times ?? [];
    return median(times.slice(rounds / 5));
  };
  const compared = SIZES.map((size) => {
    const values = Object.fromEntries(contenders.map(({ name }) => [name, p50(name, size)]));
    return compare(`external round trip at ${size} messages, p50`, "ms", values, 1);
  });
  return [...compared, ...SIZES.map((size) => ownRow(size, p50("own", size), p50("own", 0)))];
}

function ownRow(size: number, ms: number, empty: number): Row {
  const what = `… our own part (no provider, no prompt) at ${size}`;
  const row: Row = { what, unit: "ms", values: { handback: ms } };
  return size === 0 ? row : { ...row, ratio: ms / empty, of: "that at 0", bar: { text: "≤ 1.1 ×", holds: ms / empty <= 1.1 } };
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

function talkWith(contender: Contender): () => Talk {
  return contender.name === "handback" ? serverTalk(contender.url, SMALL_TALK) : () => clientTalk(contender);
}

let talks = 0;

/** The server owns the thread: the client sends what is new. Without ids, or it would be shown all that it does not show. */
const serverTalk = (url: string, smallTalk: string) => (): Talk => {
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
};

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
