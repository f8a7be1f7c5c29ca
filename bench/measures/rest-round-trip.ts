import { post } from "../client.ts";
import type { Contender } from "../contender.ts";
import { median } from "../numbers.ts";
import { compare, type Effort, type Row } from "../row.ts";
import { CALL, clientTalk, SMALL_TALK, type Talk } from "./round-trip.ts";

const SIZES = [0, 200, 2_000] as const;
const MOST_BYTES = 1_024;

/** The REST door: from a result to the continuation's first token, and how much a client has to send for it. */
export async function restRoundTrip(contenders: Contender[], { quick }: Effort): Promise<Row[]> {
  const rounds = quick ? 20 : 60;
  const rows: Row[] = [];
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
    rows.push({ what: `… what its client sends at ${size}`, unit: "bytes", values: bytes, bar: { text: "< 1 KB", holds } });
  }
  return rows;
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
