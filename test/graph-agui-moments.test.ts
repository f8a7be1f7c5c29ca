import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Agent } from "../src/agent/agent.ts";
import type { StoredEvent } from "../src/core/event.ts";
import { emptyThread, fold } from "../src/core/thread.ts";
import { encode, type Frame } from "../src/protocol/agui/encode.ts";
import { ALL_OF_GRAPHS } from "../src/protocol/agui/graph.ts";
import { join, leave } from "../src/protocol/agui/join.ts";
import { toMessages } from "../src/protocol/agui/messages.ts";
import type { Peer } from "../src/protocol/agui/peer.ts";
import { CLIENTS, lint } from "./support/agui.ts";
import { approving, nested, recipe, searching, sideBySide, twoQuestions } from "./support/graphs.ts";
import { judge, runAgent } from "./support/judge.ts";
import { serve } from "./support/serve.ts";

judge();

type Step = object | ((log: readonly StoredEvent[]) => object);
const user = { messages: [{ id: "u1", role: "user", content: "omelette" }] };
const call = (log: readonly StoredEvent[]) => log.findLast((event) => event.type === "tool.called")?.callId;

/** Logs with everything that graphs do in them. */
const LOGS: Record<string, [() => Agent, Step[]]> = {
  "a question": [recipe, [user, { forwardedProps: { resume_map: { confirm: true } } }]],
  "two questions, answered one by one": [
    twoQuestions,
    [user, { forwardedProps: { resume_map: { sugar: 1 } } }, { forwardedProps: { resume_map: { salt: 2 } } }],
  ],
  "a graph inside": [nested, [user, { forwardedProps: { resume_map: { amount: 2 } } }]],
  "a tool outside": [searching, [user, (log) => ({ messages: [{ role: "tool", toolCallId: call(log), content: "green" }] })]],
  "an approval": [approving, [user, (log) => ({ resume: [{ interruptId: `${call(log)}:approval`, payload: { approved: true } }] })]],
  "branches that speak at once": [sideBySide, [user]],
};

async function recorded(agent: Agent, steps: readonly Step[]): Promise<StoredEvent[]> {
  await using server = await serve({ coalesce: 0, agents: { default: agent } });
  for (const [i, step] of steps.entries()) {
    const body = typeof step === "function" ? step(await server.events()) : step;
    const { frames, text } = await server.post({ threadId: "t", runId: `r${i}`, ...body });
    assert.equal(frames.at(-1)?.type, "RUN_FINISHED", text);
  }
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

const bytes = (frames: readonly Frame[]) => frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");

describe("AG-UI: joining a graph at any moment", async () => {
  for (const [name, [agent, steps]] of Object.entries(LOGS)) {
    const log = await recorded(agent(), steps);
    const runs = log.flatMap((event) => (event.type === "run.ended" ? [{ start: event.run, end: event.seq }] : []));
    for (const [version, Client] of CLIENTS) {
      const peer = version.startsWith("1") ? "agui:1" : "agui:0";
      const shows = async (frames: readonly Frame[]) => {
        const answer = async () => new Response(bytes(frames), { headers: { "content-type": "text/event-stream" } });
        const page = new Client({ url: "http://nowhere/", threadId: "t", fetch: answer });
        await runAgent(page);
        // Which nodes ran before somebody came is told to nobody; what waits is told to all.
        const messages = page.messages.filter((message) => message.role !== "activity" || message.activityType !== "graph.node.lifecycle");
        const said = messages.filter(({ role }) => role !== "activity");
        const asked = messages.flatMap((message) =>
          message.role === "activity" ? [(message.content as { interrupt?: unknown })["interrupt"] ?? null] : [],
        );
        return { said, asked: asked.filter((interrupt) => interrupt !== null), state: page.state, pending: page.pendingInterrupts };
      };

      it(`ends with the same for everyone: ${name} (${version})`, async () => {
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
  }
});
