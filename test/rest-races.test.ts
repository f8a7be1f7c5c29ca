import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StoredEvent } from "../src/core/event.ts";
import { backend, coffeeShop, type Reply } from "./support/rest.ts";
import { keyOf, type Served, serve } from "./support/serve.ts";

/** `RACES=10000` runs what the issue asks for; the rest of the time a sample is enough. */
const RACES = Number(process.env["RACES"] ?? 400);
const SEED = Number(process.env["SEED"] ?? Date.now() % 100_000);
const AT_ONCE = 25;

/** The same numbers for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 15)) >>> 0) % sides;
  };
}

/** One thread, and everything that can happen to its calls at the same time. */
async function race(server: Served, threadId: string, roll: (sides: number) => number): Promise<void> {
  const { send } = backend(server.url);
  const outsideConfig = { timeout: 500 + roll(3_000), waitForResult: roll(4) === 0 };
  const tools = ["get_menu", "place_order", "get_menu"].slice(0, 1 + roll(3));
  const asked = send("POST", "/chat", {
    threadId,
    message: `call ${tools.join(" ")}`,
    toolExecutionConfig: { mode: "outside", outsideConfig },
  });
  if (!outsideConfig.waitForResult) await asked;
  let calls: string[] = [];
  while (calls.length === 0) {
    const { json } = await send("GET", `/chat/pending-tools/${threadId}`);
    calls = json.data?.pendingToolCalls?.map(({ id }: { id: string }) => id) ?? [];
    const thread = await server.thread(threadId);
    if (calls.length === 0 && thread && thread.status !== "running") break; // its deadline was faster
  }
  const sent: { body: string; reply: Promise<Reply> }[] = [];
  const post = (path: string, body: object, key?: string) => {
    const reply = send("POST", path, { threadId, ...body }, key === undefined ? {} : { "idempotency-key": key });
    sent.push({ body: JSON.stringify([path, body, key]), reply });
  };
  for (let i = 0; i < 3 + roll(6); i += 1) {
    const toolCallId = calls[roll(calls.length || 1)] ?? "none";
    const toolResult = { success: roll(5) > 0, data: roll(3), error: "no" };
    const kind = roll(20);
    if (kind < 9) post("/chat/tool-result", { toolCallId, toolResult });
    else if (kind < 12) post("/chat/tool-result", { toolCallId, toolResult: { success: true, data: "same" } });
    else if (kind < 15) post("/chat/tool-result", { toolResult }, roll(2) === 0 ? `${threadId}-${roll(3)}` : undefined);
    else if (kind < 16) post("/chat", { messageType: "tool", toolResult });
    else if (kind < 17) sent.push({ body: `cancel ${i}`, reply: send("POST", `/v1/threads/${threadId}/cancel`, {}) });
    else if (kind < 18) post("/chat", { message: "never mind" });
    else await new Promise((resolve) => setImmediate(resolve));
  }
  const replies = await Promise.all(sent.map(async ({ body, reply }) => ({ body, ...(await reply) })));
  await asked;
  for (const { status, json, body } of replies) {
    assert.ok([200, 404, 409, 410, 422].includes(status), `${threadId}: ${body} → ${status} ${JSON.stringify(json)}`);
  }
}

/** What must hold of every log, whatever has happened. */
function check(threadId: string, events: readonly StoredEvent[], seen: Map<string, number>): void {
  const open = new Set<string>();
  const steps = new Map<string, number>();
  const returned = new Map<string, number>();
  let running: { turnId: string } | undefined;
  for (const event of events) {
    switch (event.type) {
      case "run.started":
        assert.equal(running, undefined, `${threadId}: two runs at once`);
        running = event;
        break;
      case "run.ended":
        assert.ok(running, `${threadId}: an end without a beginning`);
        running = undefined;
        break;
      case "step.started":
        assert.equal(open.size, 0, `${threadId}: the model was asked while calls were open`);
        steps.set(running?.turnId ?? "", (steps.get(running?.turnId ?? "") ?? 0) + 1);
        break;
      case "tool.called":
        open.add(event.callId);
        break;
      case "tool.returned":
        open.delete(event.callId);
        seen.set(event.status, (seen.get(event.status) ?? 0) + 1);
        returned.set(event.callId, (returned.get(event.callId) ?? 0) + 1);
        break;
    }
  }
  assert.deepEqual([running, open.size], [undefined, 0], `${threadId}: something is still open`);
  for (const [callId, times] of returned) assert.equal(times, 1, `${threadId}: ${callId} was settled ${times} times`);
  // The shop asks its model twice in a turn: for the calls, and once more with their results.
  for (const [turn, times] of steps) assert.ok(times <= 2, `${threadId}: ${turn} went on ${times - 1} times`);
}

describe("results, duplicates, deadlines, cancels and new messages at the same time", () => {
  it(`settle every call once and continue every turn once, in ${RACES} races (SEED=${SEED})`, async (t) => {
    await using server = await serve({ agents: { default: coffeeShop() } });
    const roll = dice(SEED);
    let over = false;
    const passing = (async () => {
      while (!over) {
        await server.clock.advance(100);
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    })();
    const names = Array.from({ length: RACES }, (_, i) => ({ name: `r${i}`, roll: dice(roll(1_000_000_000)) }));
    const left = [...names];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = left.pop(); next; next = left.pop()) await race(server, next.name, next.roll);
      }),
    );
    over = true;
    await passing;
    for (let i = 0; i < 40 && (await server.store.waits({ app: "default", status: "pending", limit: 1 })).waits.length > 0; i += 1) {
      await server.clock.advance(500);
    }
    const seen = new Map<string, number>();
    for (const { name } of names) check(name, await server.store.read(keyOf(name), { after: 0 }), seen);
    for (const status of ["completed", "failed", "expired", "cancelled"]) {
      assert.ok((seen.get(status) ?? 0) > RACES / 100, `the races hardly ever end with ${status}: ${JSON.stringify([...seen])}`);
    }
    t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
  });
});
