import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { handBack, type Tool, type ToolContext, tool } from "../src/agent/tool.ts";
import type { RunOptions, StoredEvent } from "../src/core/event.ts";
import type { Json } from "../src/core/json.ts";
import type { Model } from "../src/model/model.ts";
import { calls, says, scripted, scriptedBy } from "../src/model/scripted.ts";
import { message, startEngine } from "./support/engine.ts";
import { textOf, types } from "./support/frames.ts";
import { eventually, keyOf, serve } from "./support/serve.ts";

type Execute = (input: Record<string, unknown>, context: ToolContext) => unknown;
const work = (execute: Execute, more: object = {}) =>
  tool({ name: "work", description: "Works", input: z.object({}).loose(), execute, ...more });
const agents = (model: Model, ...tools: Tool[]) => ({ default: chatAgent({ model, tools }) });
const once = (input: Json = {}) => scripted(calls("work", input, { id: "c1" }), says("Done."));
const forever = (input: Json = {}) => scriptedBy(({ history }) => (history.at(-1)?.role === "user" ? calls("work", input) : says("Done.")));

type Returned = Extract<StoredEvent, { type: "tool.returned" }>;
const settled = (events: readonly StoredEvent[]) => events.filter((event): event is Returned => event.type === "tool.returned");
const outcome = (events: readonly StoredEvent[]) => events.findLast((event) => event.type === "run.ended")?.outcome.type;
const internal = (internalConfig: NonNullable<NonNullable<RunOptions["toolExecution"]>["internalConfig"]>) => ({
  options: { toolExecution: { mode: "internal" as const, internalConfig } },
});

describe("a server tool", () => {
  it("is told its call, thread, user and attempt", async () => {
    let heard: object = {};
    const { submit, idle } = startEngine({
      agents: agents(
        once(),
        work((_, { signal, progress, ...rest }) => (heard = rest)),
      ),
    });
    await submit(message("go"));
    await idle();
    assert.deepEqual(heard, { callId: "c1", threadId: "t", user: "user", values: {}, attempt: 1 });
  });

  it("that throws is a failure the model hears of, and no failure of the run", async () => {
    const model = once();
    const broken = work(() => {
      throw new Error("no power");
    });
    const { submit, idle } = startEngine({ agents: agents(model, broken) });
    await submit(message("go"));
    const events = await idle();
    assert.deepEqual(
      settled(events).map(({ status, error }) => [status, error]),
      [["failed", "no power"]],
    );
    assert.equal(outcome(events), "done");
    assert.match(JSON.stringify(model.requests[1]?.history), /no power/);
  });

  it("is tried again with growing pauses, as often as it says", async () => {
    const attempts: number[] = [];
    const flaky = work(
      (_, { attempt }) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error("not yet");
        return "ok";
      },
      { retries: 2 },
    );
    const { submit, clock, idle } = startEngine({ agents: agents(once(), flaky) });
    await submit(message("go"));
    await eventually(() => attempts.length === 1);
    await clock.advance(199);
    assert.equal(attempts.length, 1);
    await clock.advance(1);
    await clock.advance(400);
    assert.deepEqual(
      settled(await idle()).map(({ output }) => output),
      ["ok"],
    );
    assert.deepEqual(attempts, [1, 2, 3]);
  });

  it("is tried again where the thread's internalConfig says so (seed 002)", async () => {
    let tried = 0;
    const broken = work(() => {
      tried += 1;
      throw new Error("no");
    });
    const { submit, clock, idle, events } = startEngine({ agents: agents(once(), broken) });
    await submit({ ...message("go"), ...internal({ maxRetries: 1 }) });
    await eventually(() => tried === 1);
    await clock.advance(200);
    await eventually(async () => settled(await events()).length === 1);
    await idle();
    assert.equal(tried, 2);
  });

  it("has a time limit for each attempt, and hears of it", async () => {
    let aborted = false;
    const slow = work((_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (aborted = true))), { timeout: "2s" });
    const { submit, clock, idle, events } = startEngine({ agents: agents(once(), slow) });
    await submit(message("go"));
    await eventually(async () => (await events()).some(({ type }) => type === "call.claimed"));
    await clock.advance(2_000);
    assert.deepEqual(
      settled(await idle()).map(({ error }) => error),
      ["Timed out after 2000 ms"],
    );
    assert.equal(aborted, true);
  });

  it("hears when its run is cancelled, and what it returns then counts for nothing", async () => {
    const heard = Promise.withResolvers<void>();
    const stubborn = work(async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      heard.resolve();
      return "too late";
    });
    const { submit, tell, idle, events } = startEngine({ agents: agents(once(), stubborn) });
    await submit(message("go"));
    await eventually(async () => (await events()).some(({ type }) => type === "call.claimed"));
    await tell({ type: "cancel" });
    await heard.promise;
    const after = await idle();
    assert.deepEqual(
      settled(after).map(({ status, output }) => [status, output]),
      [["cancelled", undefined]],
    );
    assert.equal(outcome(after), "cancelled");
  });

  it("ends with its run when the run's time is up", async () => {
    const slow = work(() => new Promise(() => {}));
    const { submit, clock, idle, events } = startEngine({ agents: agents(once(), slow), runTimeout: 60_000 });
    await submit(message("go"));
    await eventually(async () => (await events()).some(({ type }) => type === "call.claimed"));
    await clock.advance(60_000);
    const after = await idle();
    const end = after.at(-1);
    assert.ok(end?.type === "run.ended" && end.outcome.type === "failed");
    assert.equal(end.outcome.error.code, "timeout");
    assert.equal(settled(after)[0]?.status, "cancelled");
  });

  it("shows how far it has got, between its call and its result", async () => {
    const steps = Promise.withResolvers<void>();
    const slow = work(async (_, { progress }) => {
      progress({ percent: 10 });
      await steps.promise;
      progress({ percent: 90 });
      return "ok";
    });
    await using server = await serve({ agents: agents(once(), slow) });
    const stream = await server.open({ threadId: "t", runId: "r", messages: [{ role: "user", content: "go" }] });
    const first = await stream.until("ACTIVITY_SNAPSHOT");
    assert.deepEqual(first["content"], { toolCallId: "c1", output: { percent: 10 } });
    steps.resolve();
    const order = types(await stream.rest()).filter((type) => /ACTIVITY|RESULT/.test(type));
    assert.deepEqual(order, ["ACTIVITY_SNAPSHOT", "ACTIVITY_SNAPSHOT", "TOOL_CALL_RESULT"]);
  });

  it("that still shows progress when it is over shows it to nobody", async () => {
    let late: (() => void) | undefined;
    const slow = work((_, { progress }) => {
      late = () => progress("still here");
      return "ok";
    });
    const model = scripted(calls("work", {}, { id: "c1" }), async function* () {
      late?.();
      yield* says("Done.");
    });
    const { submit, idle } = startEngine({ agents: agents(model, slow) });
    await submit(message("go"));
    const events = await idle();
    assert.doesNotThrow(() => late?.());
    assert.ok(events.every(({ type }) => type !== "tool.progressed"));
    assert.equal(outcome(events), "done");
  });

  it("that shows what is no JSON hears of it itself; the run goes on", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const odd = work((_, { progress }) => progress(circle as Json));
    const { submit, idle } = startEngine({ agents: agents(once(), odd) });
    await submit(message("go"));
    const events = await idle();
    assert.match(settled(events)[0]?.error ?? "", /circular/);
    assert.equal(outcome(events), "done");
  });

  it("that returns what is no JSON returns what JSON makes of it, or fails", async () => {
    const outputs: unknown[] = [undefined, new Date(0), Number.NaN, () => 1, 1n];
    const model = scriptedBy(({ history }) => (history.length === 1 ? outputs.flatMap((_, n) => calls("work", { n })) : says("Done.")));
    const { submit, idle } = startEngine({
      agents: agents(
        model,
        work(({ n }) => outputs[Number(n)]),
      ),
    });
    await submit(message("go"));
    const events = await idle();
    assert.deepEqual(
      settled(events)
        .slice(0, 4)
        .map(({ output }) => output),
      [null, "1970-01-01T00:00:00.000Z", null, null],
    );
    assert.match(settled(events)[4]?.error ?? "", /BigInt/);
  });

  it("whose output breaks its own schema has failed", async () => {
    const { submit, idle } = startEngine({
      agents: agents(
        once(),
        work(() => 7, { output: z.string() }),
      ),
    });
    await submit(message("go"));
    assert.match(settled(await idle())[0]?.error ?? "", /does not fit its schema/);
  });

  it("gets its input as its schema reads it, and the log keeps what the model said", async () => {
    let got: unknown;
    const dated = tool({
      name: "work",
      description: "",
      input: z.object({ n: z.number().default(3) }),
      execute: (input) => {
        got = input;
      },
    });
    const { submit, idle } = startEngine({ agents: agents(once({}), dated) });
    await submit(message("go"));
    const called = (await idle()).find((event) => event.type === "tool.called");
    assert.deepEqual([got, called?.type === "tool.called" && called.input], [{ n: 3 }, {}]);
  });
});

describe("the cache of server tools", () => {
  it("answers equal inputs of one user for a while, whatever the order of their keys", async () => {
    let ran = 0;
    const inputs = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 1, b: 3 },
    ];
    const model = scriptedBy(({ history }) =>
      history.at(-1)?.role === "user" ? calls("work", inputs[(history.length - 1) / 3] ?? { a: 1, b: 2 }) : says("Done."),
    );
    const { submit, clock, idle } = startEngine({
      agents: agents(
        model,
        work(() => ++ran, { cache: { ttl: "1m" } }),
      ),
    });
    for (let i = 0; i < 3; i += 1) {
      await submit(message("go"));
      await idle();
    }
    assert.equal(ran, 2);
    await clock.advance(60_001);
    await submit(message("go"));
    await idle();
    assert.equal(ran, 3);
  });

  it("is never shared between users, nor between tools of one name", async () => {
    let ran = 0;
    const counting = () => work(() => ++ran, { cache: { ttl: "1h" } });
    const { submit, idle, events } = startEngine({
      agents: { a: chatAgent({ model: forever(), tools: [counting()] }), b: chatAgent({ model: forever(), tools: [counting()] }) },
    });
    for (const [agent, user] of [
      ["a", "alice"],
      ["a", "bob"],
      ["b", "alice"],
      ["a", "alice"],
    ] as const) {
      const key = keyOf(`${agent}-${user}-${ran}`, user);
      await submit({ ...message("go"), agent }, key);
      await idle(key);
      assert.equal(settled(await events(key)).length, 1);
    }
    assert.equal(ran, 3);
  });

  it("keeps no failure", async () => {
    let ran = 0;
    const flaky = work(
      () => {
        ran += 1;
        if (ran === 1) throw new Error("no");
        return "ok";
      },
      { cache: { ttl: "1m" } },
    );
    const { submit, idle } = startEngine({ agents: agents(forever(), flaky) });
    for (let i = 0; i < 3; i += 1) {
      await submit(message("go"));
      await idle();
    }
    assert.equal(ran, 2);
  });

  it("is switched on by the thread's internalConfig (enableCache, cacheTtl)", async () => {
    let ran = 0;
    const { submit, clock, idle } = startEngine({
      agents: agents(
        forever(),
        work(() => ++ran),
      ),
    });
    const ask = async () => {
      await submit({ ...message("go"), ...internal({ enableCache: true, cacheTtl: 5_000 }) });
      await idle();
    };
    await ask();
    await ask();
    assert.equal(ran, 1);
    await clock.advance(5_001);
    await ask();
    assert.equal(ran, 2);
  });
});

describe("mode outside", () => {
  const outside = { options: { toolExecution: { mode: "outside" as const, outsideConfig: { timeout: 30_000 } } } };

  it("sends even a server tool's call outside, with the thread's own deadline", async () => {
    let ran = 0;
    const { submit, idle, engine, clock } = startEngine({
      agents: agents(
        once(),
        work(() => ++ran),
      ),
    });
    await submit({ ...message("go"), ...outside });
    await idle();
    const row = await engine.store.wait("default", "c1");
    assert.deepEqual([row?.status, row?.owner, row?.expiresAt], ["pending", "external", clock.now() + 30_000]);
    assert.equal(ran, 0);
  });

  it("is remembered by the thread: later messages need not say it again", async () => {
    const { submit, idle, engine } = startEngine({
      agents: agents(
        forever(),
        work(() => "here"),
      ),
    });
    await submit({ ...message("go"), ...outside });
    await idle();
    await submit(message("again"));
    await idle();
    const { waits } = await engine.store.waits({ app: "default", status: "pending", limit: 9 });
    assert.equal(waits.length, 1);
  });
});

describe("grants", () => {
  it("let a call pass without asking, and the log says which one did", async () => {
    const { submit, idle, engine } = startEngine({
      agents: agents(
        once(),
        work(() => "ok", { approval: true }),
      ),
    });
    await engine.store.addGrant({ id: "g1", app: "default", user: "user", tool: "work", createdAt: 0, by: "user:user" });
    await submit(message("go"));
    const events = await idle();
    assert.equal(outcome(events), "done");
    const answer = events.find((event) => event.type === "interrupt.answered");
    assert.deepEqual(answer?.type === "interrupt.answered" && [answer.by, answer.via, answer.value], [
      "grant:g1",
      "grant",
      { approved: true },
    ]);
  });

  it("count for their user, their tool and their thread only, and no longer once revoked", async () => {
    const { submit, idle, engine, events } = startEngine({
      agents: agents(
        forever(),
        work(() => "ok", { approval: true }),
      ),
    });
    const grant = { app: "default", user: "user", tool: "work", createdAt: 0, by: "user:user" };
    await engine.store.addGrant({ ...grant, id: "g1", threadId: "t" });
    await engine.store.addGrant({ ...grant, id: "g2", tool: "other" });
    const run = async (key = keyOf()) => {
      await submit(message("go"), key);
      await idle(key);
      return outcome(await events(key));
    };
    assert.equal(await run(), "done");
    assert.equal(await run(keyOf("elsewhere")), "waiting");
    assert.equal(await run(keyOf("t", "bob")), "waiting");
    await engine.store.removeGrant({ app: "default", user: "user", id: "g1" });
    assert.equal(await run(), "waiting");
  });
});

describe("approval by input", () => {
  it("asks only for the inputs the tool names", async () => {
    const pay = tool({
      name: "work",
      description: "",
      input: z.object({ amount: z.number() }),
      approval: ({ amount }) => amount > 10,
      execute: () => "paid",
    });
    for (const [amount, end] of [
      [5, "done"],
      [50, "waiting"],
    ] as const) {
      const { submit, idle } = startEngine({ agents: agents(once({ amount }), pay) });
      await submit(message("go"));
      assert.equal(outcome(await idle()), end);
    }
  });

  it("comes before a call is handed outside, and the outside gets the edited input", async () => {
    const pay = tool({ name: "work", description: "", input: z.object({ amount: z.number() }), approval: true });
    const { submit, idle, engine } = startEngine({ agents: agents(once({ amount: 50 }), pay) });
    await submit(message("go"));
    await idle();
    assert.equal((await engine.store.wait("default", "c1"))?.status, "called");
    await submit({ answers: [{ callId: "c1", status: "resolved", value: { approved: true, input: { amount: 20 } } }] });
    const row = await engine.store.wait("default", "c1");
    assert.deepEqual([row?.status, row?.input], ["pending", { amount: 20 }]);
  });
});

describe("handBack", () => {
  it("has its own deadline and policy", async () => {
    const { submit, clock, idle, events } = startEngine({
      agents: agents(
        once(),
        work(() => handBack({ timeout: "10s" }), { onTimeout: { default: "nothing" } }),
      ),
    });
    await submit(message("go"));
    await idle();
    await clock.advance(10_500);
    await eventually(async () => settled(await events()).length === 1);
    assert.deepEqual(
      settled(await idle()).map(({ status, output }) => [status, output]),
      [["expired", "nothing"]],
    );
  });

  it("can be claimed and settled like any outside call", async () => {
    const { submit, tell, idle } = startEngine({
      agents: agents(
        once(),
        work(() => handBack()),
      ),
    });
    await submit(message("go"));
    await idle();
    const { events } = await tell({ type: "claim", callId: "c1", held: false, by: "executor:w1" });
    const claim = events[0]?.type === "call.claimed" ? events[0].claim : 0;
    await submit({ results: [{ callId: "c1", status: "completed", output: "by hand", claim }] });
    assert.equal(outcome(await idle()), "done");
  });
});

describe("claims", () => {
  const ext = tool({ name: "work", description: "", input: z.object({}).loose() });
  const claimed = async (started: ReturnType<typeof startEngine>, by: string, held = false) => {
    const { events } = await started.tell({ type: "claim", callId: "c1", held, by });
    const last = events.at(-1);
    return last?.type === "call.claimed" ? last.claim : 0;
  };

  it("are given to one of many, and the number fences the result", async () => {
    const started = startEngine({ agents: agents(once(), ext) });
    await started.submit(message("go"));
    await started.idle();
    const first = await claimed(started, "w1");
    await assert.rejects(claimed(started, "w2", true), { code: "conflict", message: /w1/ });
    const second = await claimed(started, "w2"); // the lease of the first has lapsed
    assert.equal(second, first + 1);
    const result = (claim?: number) => ({
      results: [{ callId: "c1", status: "completed" as const, output: claim ?? "free", ...(claim !== undefined && { claim }) }],
    });
    await assert.rejects(started.submit(result(first)), { code: "conflict" });
    await started.submit(result(second));
    assert.deepEqual(
      settled(await started.idle()).map(({ output }) => output),
      [second],
    );
  });

  it("bind nobody who does not name one: first come, first served", async () => {
    const started = startEngine({ agents: agents(once(), ext) });
    await started.submit(message("go"));
    await started.idle();
    const claim = await claimed(started, "w1");
    await started.submit({ results: [{ callId: "c1", status: "completed", output: "from a tab" }] });
    await started.idle();
    await assert.rejects(started.submit({ results: [{ callId: "c1", status: "completed", output: "w1's", claim }] }), { code: "conflict" });
    await assert.rejects(claimed(started, "w2"), { code: "gone" });
  });

  it("show on no wire of AG-UI and do not disturb the run", async () => {
    await using server = await serve({ agents: agents(once(), ext) });
    await server.post({ threadId: "t", runId: "r1", messages: [{ role: "user", content: "go", id: "u1" }] });
    const claim = await fetch(`${server.url}/v1/calls/c1/claim`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ by: "w1", seconds: 30 }),
    });
    assert.ok(claim.ok, await claim.text());
    const { frames } = await server.post({ threadId: "t", runId: "r2", messages: [{ role: "tool", toolCallId: "c1", content: "ok" }] });
    assert.equal(textOf(frames), "Done.");
  });
});
