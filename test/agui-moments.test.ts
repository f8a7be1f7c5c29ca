import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import type { StoredEvent } from "../src/core/event.ts";
import { emptyThread, fold } from "../src/core/thread.ts";
import { calls, fails, hangs, says, scripted, thinks } from "../src/model/scripted.ts";
import { encode, type Frame } from "../src/protocol/agui/encode.ts";
import { ALL_OF_GRAPHS } from "../src/protocol/agui/graph.ts";
import { join, leave } from "../src/protocol/agui/join.ts";
import { toMessages } from "../src/protocol/agui/messages.ts";
import type { Peer } from "../src/protocol/agui/peer.ts";
import { CLIENTS, lint } from "./support/agui.ts";
import { judge, runAgent } from "./support/judge.ts";
import { serve } from "./support/serve.ts";

judge();

const getTime = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });
const broken = tool({
  name: "broken",
  description: "Breaks",
  input: z.object({}),
  execute: () => {
    throw new Error("no power");
  },
});
const getMenu = tool({ name: "get_menu", description: "The menu", input: z.object({ category: z.string() }) });
const refund = tool({ name: "refund", description: "Pays", input: z.object({}).loose(), approval: true, execute: () => ({ paid: 1 }) });

/** A log with everything in it that a client can be shown. */
async function recorded(): Promise<StoredEvent[]> {
  const model = scripted(
    [
      ...thinks("Hm, ", "well. "),
      ...says("Let ", "me "),
      ...calls("get_time", {}, { id: "t1" }),
      ...calls("broken", {}, { id: "t2" }),
      ...says("see."),
    ],
    [
      ...calls("get_menu", { category: "tea" }, { id: "m1", chunks: 3 }),
      ...calls("get_menu", { category: "milk" }, { id: "m2", chunks: 3 }),
    ],
    [...says("Tea ", "and milk."), ...calls("refund", { order: 1 }, { id: "r1", chunks: 2 })],
    says("Paid."),
    fails("Down", { after: [...thinks("Oh."), ...says("I am ", "sor")] }),
    says("Here ", "again."),
    calls("nobody_knows", {}, { id: "n1" }),
    says("Never mind."),
    hangs(...calls("get_menu", { category: "tea" }, { id: "m3", chunks: 3 }).slice(0, 2)),
    says("One."),
    says("Two."),
  );
  await using server = await serve({ coalesce: 0, agents: { default: chatAgent({ model, tools: [getTime, broken, getMenu, refund] }) } });
  const post = (body: object) => server.post({ threadId: "t", ...body });
  const user = (id: string) => ({ id, role: "user", content: `This is ${id}` });
  await post({ runId: "1", messages: [user("u1")] });
  await post({ runId: "2", messages: [{ role: "tool", toolCallId: "m1", content: "green" }] });
  await post({ runId: "3", messages: [{ role: "tool", toolCallId: "m2", content: "Error: sour", error: "sour" }] });
  await post({ runId: "4", resume: [{ interruptId: "r1:approval", status: "resolved", payload: { approved: true } }] });
  await post({ runId: "5", messages: [user("u2")] });
  await post({ runId: "6", messages: [user("u2")] });
  await post({ runId: "7", messages: [user("u3")] });
  const stream = await server.open({ threadId: "t", runId: "8", messages: [user("u4")] });
  await stream.until("TOOL_CALL_ARGS");
  await server.post({ threadId: "t" }, "/agui/cancel");
  await stream.rest();
  await post({ runId: "9", messages: [user("u5")] });
  await post({ runId: "10", messages: [user("u5")] }); // regenerate
  return server.events();
}

/** What somebody is told who joins behind this event and stays to the end of the run. */
function told(log: readonly StoredEvent[], seq: number, peer: Peer): Frame[] {
  const thread = emptyThread();
  for (const event of structuredClone(log)) if (event.seq <= seq) fold(thread, event);
  const joiner = { threadId: "t", peer, now: 0, runId: "joined", messages: toMessages(thread, { peer }), graphs: ALL_OF_GRAPHS };
  const frames = structuredClone(join(thread, joiner));
  if (!thread.run) return [...frames, ...leave(thread, joiner)];
  for (const event of log) {
    if (event.seq <= seq) continue;
    frames.push(...encode("t", event, peer));
    if (event.type === "run.ended") break;
  }
  return frames;
}

const CUT = '{"cate';

const bytes = (frames: readonly Frame[]) => frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");

describe("AG-UI: joining at any moment", async () => {
  const log = await recorded();
  const runs = log.flatMap((event) => (event.type === "run.ended" ? [{ start: event.run, end: event.seq }] : []));

  it("has something of everything to join", () => {
    const seen = new Set(log.map(({ type }) => type));
    for (const type of ["reasoning.delta", "tool.delta", "tool.returned", "interrupt.raised", "thread.rewound", "run.ended"]) {
      assert.ok(seen.has(type as StoredEvent["type"]), type);
    }
    assert.ok(log.length > 100);
  });

  for (const [version, Client] of CLIENTS) {
    const peer = version.startsWith("1") ? "agui:1" : "agui:0";
    /** What the client shows after it has read these frames. */
    const shows = async (frames: readonly Frame[]): Promise<object[]> => {
      const answer = async () => new Response(bytes(frames), { headers: { "content-type": "text/event-stream" } });
      const agent = new Client({ url: "http://nowhere/", threadId: "t", fetch: answer });
      await runAgent(agent);
      // A client that failed says so in a field of its message; the event that tells others of it has none.
      const shown = JSON.stringify(agent.messages.map((message) => ({ ...message, error: undefined })));
      // Arguments that were cut short are half a JSON to those who were there, and none to the others.
      return JSON.parse(shown.replaceAll(JSON.stringify(CUT), '"{}"')) as object[];
    };

    it(`ends with the same messages for everyone (${version})`, async () => {
      for (const { start, end } of runs) {
        const expected = await shows(told(log, end, peer));
        for (let seq = start; seq < end; seq += 1) {
          const frames = told(log, seq, peer);
          await lint(bytes(frames));
          assert.deepEqual(await shows(frames), expected, `joined at ${seq}, ${log.find((event) => event.seq === seq)?.type}`);
        }
      }
    });
  }
});
