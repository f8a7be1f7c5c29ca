import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { type Tool, tool } from "../src/agent/tool.ts";
import type { Event, StoredEvent } from "../src/core/event.ts";
import { createHandback } from "../src/handback.ts";
import type { Model } from "../src/model/model.ts";
import { calls, hangs, says, scripted, scriptedBy } from "../src/model/scripted.ts";
import { memoryStore } from "../src/store/memory.ts";
import { sqliteStore } from "../src/store/sqlite.ts";
import { fakeClock } from "../src/testing/fake-clock.ts";
import { message, startEngine } from "./support/engine.ts";
import { last, textOf } from "./support/frames.ts";
import { directory, eventually, keyOf, START, serve } from "./support/serve.ts";

const ext = tool({ name: "ext", description: "", input: z.object({}).loose() });
const agents = (model: Model, ...tools: Tool[]) => ({ default: chatAgent({ model, tools }) });
const outcomes = (events: readonly StoredEvent[]) => events.flatMap((event) => (event.type === "run.ended" ? [event.outcome.type] : []));
const count = (events: readonly StoredEvent[], type: string) => events.filter((event) => event.type === type).length;
type Returned = Extract<StoredEvent, { type: "tool.returned" }>;
const settled = (events: readonly StoredEvent[]) => events.filter((event): event is Returned => event.type === "tool.returned");
const ask = (threadId = "t") => ({ threadId, runId: "r1", messages: [{ id: "u1", role: "user", content: "go" }] });

describe("a run that its server left in the middle", () => {
  it("goes on by itself after the start, and ends once", async () => {
    using data = directory();
    {
      await using server = await serve({ data: data.path, agents: agents(scripted(hangs(...says("Well").slice(0, 2)))) });
      const stream = await server.open(ask());
      await stream.until("TEXT_MESSAGE_CONTENT");
    }
    await using server = await serve({ data: data.path, agents: agents(scripted(says("Done."))) });
    await eventually(async () => outcomes(await server.events()).length > 0);
    const events = await server.events();
    assert.deepEqual(outcomes(events), ["done"]);
    assert.equal(count(events, "run.started"), 1);
    assert.equal(count(events, "run.recovered"), 1);
  });

  it("goes on however often that happens", async () => {
    using data = directory();
    for (let life = 0; life < 4; life += 1) {
      await using server = await serve({ data: data.path, agents: agents(scripted(hangs(...says("Well").slice(0, 2)))) });
      if (life === 0) void (await server.open(ask()));
      await eventually(async () => count(await server.events(), "text.delta") === life + 1);
    }
    await using server = await serve({ data: data.path, agents: agents(scripted(says("Done."))) });
    const { frames } = await server.post(ask());
    assert.equal(textOf(frames), "WellWellWellWellDone.");
    assert.equal(last(frames).type, "RUN_FINISHED");
    const events = await server.events();
    assert.deepEqual([outcomes(events), count(events, "run.recovered")], [["done"], 4]);
    assert.equal(count(events, "step.started"), count(events, "step.ended"));
    assert.equal(count(events, "text.started"), count(events, "text.ended"));
  });

  it("makes its calls anew when the model had only begun them", async () => {
    using data = directory();
    {
      await using server = await serve({
        data: data.path,
        agents: agents(scripted(hangs(...calls("ext", { a: 1 }, { id: "c1" }).slice(0, 2))), ext),
      });
      const stream = await server.open(ask());
      await stream.until("TOOL_CALL_ARGS");
    }
    await using server = await serve({ data: data.path, agents: agents(scripted(calls("ext", { a: 1 }, { id: "c1" })), ext) });
    await eventually(async () => outcomes(await server.events()).includes("waiting"));
    const { waits } = await server.store.waits({ app: "default", status: "pending", limit: 9 });
    assert.equal(waits.length, 1);
    assert.notEqual(waits[0]?.id, "c1"); // taken by the call that was cut off
    assert.deepEqual(
      settled(await server.events()).map(({ callId, status }) => [callId, status]),
      [["c1", "cancelled"]],
    );
  });

  it("does not run a call again that had begun: its outcome is unknown", async () => {
    using data = directory();
    const charge = tool({ name: "charge", description: "", input: z.object({}), execute: () => new Promise(() => {}) });
    {
      await using server = await serve({ data: data.path, agents: agents(scripted(calls("charge", {}, { id: "c1" })), charge) });
      void (await server.open(ask()));
      await eventually(async () => count(await server.events(), "call.claimed") === 1);
    }
    let charged = 0;
    const again = tool({ name: "charge", description: "", input: z.object({}), execute: () => ++charged });
    const model = scripted(says("I cannot say."));
    await using server = await serve({ data: data.path, agents: agents(model, again) });
    await eventually(async () => outcomes(await server.events()).length > 0);
    assert.equal(charged, 0);
    assert.match(settled(await server.events())[0]?.error ?? "", /Outcome unknown/);
    assert.match(JSON.stringify(model.requests[0]?.history), /Outcome unknown/);
  });

  it("runs a call again that says it may be", async () => {
    using data = directory();
    const lookUp = (execute: () => unknown) => tool({ name: "look", description: "", input: z.object({}), idempotent: true, execute });
    {
      await using server = await serve({
        data: data.path,
        agents: agents(
          scripted(calls("look", {}, { id: "c1" })),
          lookUp(() => new Promise(() => {})),
        ),
      });
      void (await server.open(ask()));
      await eventually(async () => count(await server.events(), "call.claimed") === 1);
    }
    await using server = await serve({
      data: data.path,
      agents: agents(
        scripted(says("Found.")),
        lookUp(() => "it"),
      ),
    });
    await eventually(async () => outcomes(await server.events()).length > 0);
    assert.deepEqual(
      settled(await server.events()).map(({ output }) => output),
      ["it"],
    );
  });

  it("ends as cancelled when a cancel was the last thing it heard, and executes nothing", async () => {
    const store = memoryStore();
    await store.append(keyOf(), { seq: 0 }, [...begun("s1"), { type: "cancel.requested", runId: "r1", by: "user:user" }], START);
    let ran = 0;
    const work = tool({ name: "work", description: "", input: z.object({}), execute: () => ++ran });
    const model = scripted(says("never"));
    const { idle } = startEngine({ agents: agents(model, work), store });
    const events = await idle();
    assert.deepEqual(outcomes(events), ["cancelled"]);
    assert.deepEqual([ran, model.requests.length], [0, 0]);
    assert.deepEqual(
      settled(events).map(({ status }) => status),
      ["cancelled"],
    );
  });

  it("executes a call nobody had begun", async () => {
    const store = memoryStore();
    await store.append(keyOf(), { seq: 0 }, begun("s1"), START);
    const work = tool({ name: "work", description: "", input: z.object({}), execute: () => "ok" });
    const { idle } = startEngine({ agents: agents(scripted(says("Done.")), work), store });
    const events = await idle();
    assert.deepEqual(
      settled(events).map(({ output }) => output),
      ["ok"],
    );
    assert.deepEqual(outcomes(events), ["done"]);
  });

  it("has only the time it had left", async () => {
    const store = memoryStore();
    await store.append(keyOf(), { seq: 0 }, begun("s1").slice(0, 1), START);
    const clock = fakeClock(START + 7_200_000);
    const { idle } = startEngine({ agents: agents(scripted(hangs())), store, clock, runTimeout: 3_600_000 });
    await clock.advance(0);
    assert.deepEqual(outcomes(await idle()), ["failed"]);
  });

  it("is let to its end when the server closes with grace", async () => {
    using data = directory();
    const gate = Promise.withResolvers<void>();
    const model = scripted(async function* () {
      await gate.promise;
      yield* says("Just in time.");
    });
    const handback = await createHandback({ data: data.path, agents: agents(model) });
    const { url } = await handback.listen({ port: 0 });
    const response = await fetch(`${url}/agui`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ask()),
    });
    const closing = handback.close({ grace: "10s" });
    gate.resolve();
    assert.match(await response.text(), /Just in time.*RUN_FINISHED/s);
    await closing;
    const store = await sqliteStore({ path: data.path });
    assert.deepEqual(outcomes(await store.read(keyOf(), { after: 0 })), ["done"]);
    await store.close();
  });
});

describe("a server that starts", () => {
  it("does nothing for threads that wait, and serves their results at once", async () => {
    using data = directory();
    const model = () => scriptedBy(({ history }) => (history.length === 1 ? calls("ext", {}) : says("Done.")));
    {
      await using server = await serve({ data: data.path, agents: agents(model(), ext) });
      await Promise.all(Array.from({ length: 50 }, (_, i) => server.post(ask(`t${i}`))));
    }
    const second = model();
    await using server = await serve({ data: data.path, agents: agents(second, ext) });
    assert.equal(second.requests.length, 0);
    const { waits } = await server.store.waits({ app: "default", status: "pending", limit: 100 });
    assert.equal(waits.length, 50);
    const [wait] = waits;
    assert.ok(wait);
    const { frames } = await server.post({
      threadId: wait.threadId,
      runId: "r2",
      messages: [{ role: "tool", toolCallId: wait.id, content: "ok" }],
    });
    assert.equal(textOf(frames), "Done.");
  });

  it("leaves a thread of a newer release alone, and takes the others over", async () => {
    using data = directory();
    {
      await using server = await serve({
        data: data.path,
        agents: agents(scriptedBy(() => hangs()({} as never, new AbortController().signal))),
      });
      for (const threadId of ["a", "b"]) void (await server.open(ask(threadId)));
      await eventually(async () => (await server.store.running()).length === 2);
    }
    const db = new DatabaseSync(join(data.path, "handback.db"));
    db.exec("UPDATE event SET v = 99 WHERE thread = (SELECT id FROM thread WHERE thread_id = 'a')");
    db.close();
    await using server = await serve({ data: data.path, agents: agents(scriptedBy(() => says("Here."))) });
    await eventually(async () => outcomes(await server.events("b")).includes("done"));
    const before = await server.events("a");
    const refused = await server.post({ ...ask("a"), messages: [{ id: "u2", role: "user", content: "hello?" }] });
    assert.deepEqual([refused.status, refused.error.code], [503, "unavailable"]);
    assert.deepEqual(await server.events("a"), before);
  });

  it("throws a snapshot away that it cannot read", async () => {
    const store = memoryStore();
    const first = startEngine({ agents: agents(scriptedBy(() => says("Yes."))), store });
    for (let i = 0; i < 20; i += 1) {
      await first.submit(message(`q${i}`));
      await first.idle();
    }
    await first.stop();
    const saved = await store.snapshot(keyOf());
    assert.ok(saved);
    await store.saveSnapshot(keyOf(), { ...saved, data: '{"history":' });
    const model = scripted(says("Yes."));
    const second = startEngine({ agents: agents(model), store });
    await second.submit(message("and now?"));
    await second.idle();
    assert.equal(model.requests[0]?.history.length, 41);
  });
});

/** The log of a run whose model has called `work` and whose server then died. */
function begun(callId: string): Event[] {
  const step = { stepId: "step", messageId: "msg" };
  const call = { callId, name: "work", owner: "server" as const, ...step };
  return [
    {
      type: "run.started",
      runId: "r1",
      turnId: "t1",
      epoch: 1,
      cause: "message",
      agent: "default",
      messages: [{ id: "u1", content: "go" }],
      by: "user:user",
      via: "test",
    },
    { type: "step.started", name: "model", kind: "model", ...step },
    { type: "tool.started", ...call },
    { type: "tool.called", ...call, input: {} },
    { type: "step.ended", stepId: "step", name: "model", completed: true },
  ];
}
