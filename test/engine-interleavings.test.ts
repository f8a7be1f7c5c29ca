import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { type Tool, tool } from "../src/agent/tool.ts";
import type { Event, StoredEvent } from "../src/core/event.ts";
import { emptyThread, fold, type Thread } from "../src/core/thread.ts";
import { hold } from "../src/engine/live.ts";
import { removeThread } from "../src/engine/remove.ts";
import type { Model } from "../src/model/model.ts";
import { calls, fails, hangs, says, scripted, scriptedBy } from "../src/model/scripted.ts";
import { localBus } from "../src/store/bus.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { message, type Started, startEngine } from "./support/engine.ts";
import { last, textOf, types } from "./support/frames.ts";
import { directory, eventually, keyOf, serve } from "./support/serve.ts";

const ext = tool({ name: "ext", description: "Somebody else's", input: z.object({}).loose() });
const agents = (model: Model, ...tools: Tool[]) => ({ default: chatAgent({ model, tools }) });
const outcomes = (events: readonly StoredEvent[]) => events.flatMap((event) => (event.type === "run.ended" ? [event.outcome.type] : []));
const settlements = (events: readonly StoredEvent[]) => events.filter((event) => event.type === "tool.returned");
const kinds = (events: readonly Event[]) => events.map(({ type }) => type);
const done = (callId: string, output: string) => ({ callId, status: "completed" as const, output });
const user = (content: string, id = "u1") => ({ role: "user", id, content });

/** A store that lets another writer in, once, right before the first append that holds such an event. */
function intruded(before: (event: Event) => boolean, write: (store: Store) => Promise<unknown>): Store {
  const store = memoryStore();
  let done = false;
  return {
    ...store,
    async append(key, expect, events, at) {
      if (!done && events.some(before)) {
        done = true;
        await write(store);
      }
      return store.append(key, expect, events, at);
    },
  };
}

const by = { by: "user:user", via: "test" };
const append = async (store: Store, event: Event) => {
  const seq = (await store.thread(keyOf()))?.seq ?? 0;
  return store.append(keyOf(), { seq }, [event], 0);
};

describe("1.1 lost wake-up", () => {
  const returned: Event = {
    type: "tool.returned",
    callId: "c1",
    name: "ext",
    owner: "external",
    messageId: "m",
    status: "completed",
    output: "ok",
    ...by,
  };
  const model = () => scripted(calls("ext", {}, { id: "c1" }), says("Done."));

  it("a result that is written right before the run would end waiting lets the run go on", async () => {
    const store = intruded(
      ({ type }) => type === "run.ended",
      (inner) => append(inner, returned),
    );
    const { submit, idle } = startEngine({ agents: agents(model(), ext), store });
    await submit(message("go"));
    const events = await idle();
    assert.deepEqual(outcomes(events), ["done"]);
  });

  it("a worker that answers while a server tool runs is heard when that tool is done", async () => {
    const gate = Promise.withResolvers<string>();
    const slow = tool({ name: "slow", description: "", input: z.object({}), execute: () => gate.promise });
    const both = scripted([...calls("ext", {}, { id: "c1" }), ...calls("slow", {}, { id: "s1" })], says("Done."));
    const { submit, events, idle } = startEngine({ agents: agents(both, ext, slow) });
    await submit(message("go"));
    await eventually(async () => kinds(await events()).includes("call.claimed"));
    await submit({ results: [done("c1", "early")] });
    gate.resolve("late");
    assert.deepEqual(outcomes(await idle()), ["done"]);
    assert.equal(both.requests.length, 2);
  });

  it("a call approved while another one is being claimed is begun at once", async () => {
    const gate = Promise.withResolvers<string>();
    const began: string[] = [];
    const noted = (name: string, output: unknown) => () => {
      began.push(name);
      return output;
    };
    const slow = tool({ name: "slow", description: "", input: z.object({}), execute: noted("slow", gate.promise) });
    const careful = tool({ name: "careful", description: "", input: z.object({}), approval: true, execute: noted("careful", "ok") });
    const both = scripted([...calls("slow", {}, { id: "s1" }), ...calls("careful", {}, { id: "s2" })], says("Done."));
    const yes: Event = {
      type: "interrupt.answered",
      interruptId: "s2:approval",
      callId: "s2",
      status: "resolved",
      value: { approved: true },
      ...by,
    };
    const store = intruded(
      ({ type }) => type === "call.claimed",
      (inner) => append(inner, yes),
    );
    const { submit, idle } = startEngine({ agents: agents(both, slow, careful), store });
    await submit(message("go"));
    await eventually(() => began.includes("careful"));
    gate.resolve("ok");
    assert.deepEqual(outcomes(await idle()), ["done"]);
    assert.deepEqual(began, ["slow", "careful"]);
  });
});

describe("1.2 cancel against the end", () => {
  for (const [name, turn] of [
    ["done", says("All done.")],
    ["waiting", calls("ext", {}, { id: "c1" })],
  ] as const) {
    it(`a cancel that is written before the terminal wins, although the agent thinks: ${name}`, async () => {
      const cancel: Event = { type: "cancel.requested", runId: "r1", by: "user:user" };
      const store = intruded(
        ({ type }) => type === "run.ended",
        (inner) => append(inner, cancel),
      );
      const { submit, idle } = startEngine({ agents: agents(scripted(turn), ext), store });
      await submit({ ...message("go"), runId: "r1" });
      const events = await idle();
      assert.deepEqual(outcomes(events), ["cancelled"]);
      assert.equal((await store.waits({ app: "default", status: "pending", limit: 9 })).waits.length, 0);
    });
  }

  it("a hundred cancels and results race with a run: it ends once, and nothing stays open", async () => {
    using data = directory();
    const model = scriptedBy(({ history }) =>
      history.at(-1)?.role === "user" ? [...calls("ext", {}), ...calls("ext", {})] : says("Done."),
    );
    await using server = await serve({ data: data.path, agents: agents(model, ext) });
    for (let round = 0; round < 10; round += 1) {
      const threadId = `t${round}`;
      const asked = server.post({ threadId, runId: "r1", messages: [user("go")] });
      if (round % 2) await asked;
      const pending = async () => (await server.store.waits({ app: "default", threadId, limit: 9 })).waits.map(({ id }) => id);
      const racers = Array.from({ length: 10 }, async (_, i) => {
        if (i % 3 === 0) return server.post({ threadId }, "/agui/cancel");
        const messages = (await pending()).map((toolCallId) => ({ role: "tool", toolCallId, content: "ok" }));
        return messages.length === 0 ? undefined : server.post({ threadId, runId: `r${i}`, messages });
      });
      await Promise.all([asked, ...racers]);
      await eventually(async () => (await server.thread(threadId))?.status !== "running");
      await server.post({ threadId }, "/agui/cancel");
      const events = await server.events(threadId);
      const begun = events.filter(({ type }) => type === "run.started").length;
      assert.equal(outcomes(events).length, begun);
      assert.deepEqual(
        new Set(settlements(events).map((event) => event.type === "tool.returned" && event.callId)).size,
        settlements(events).length,
      );
      assert.equal((await server.thread(threadId))?.pending, 0);
    }
  });
});

describe("1.6 retries", () => {
  it("a message sent twice is said once and answered once", async () => {
    const model = scripted(says("Once."));
    await using server = await serve({ agents: agents(model) });
    const request = { threadId: "t", runId: "r1", messages: [user("hi")] };
    const [a, b] = await Promise.all([server.post(request), server.post(request)]);
    assert.equal(a.text, b.text);
    assert.equal(model.requests.length, 1);
  });

  it("a message that failed is not said again beside the next one", async () => {
    const model = scripted(fails("Down"), says("Both."));
    await using server = await serve({ agents: agents(model) });
    await server.post({ threadId: "t", runId: "r1", messages: [user("one")] });
    await server.post({ threadId: "t", runId: "r2", messages: [user("one"), user("two", "u2")] });
    const said = model.requests[1]?.history.map((entry) => entry.role === "user" && entry.content);
    assert.deepEqual(said, ["one", "two"]);
  });

  it("a late result that lies before the last assistant message is found", async () => {
    const model = scripted(calls("ext", {}, { id: "c1" }), says("Done."));
    await using server = await serve({ agents: agents(model, ext) });
    await server.post({ threadId: "t", runId: "r1", messages: [user("go")] });
    const call = { id: "c1", type: "function", function: { name: "ext", arguments: "{}" } };
    const { frames } = await server.post({
      threadId: "t",
      runId: "r2",
      messages: [
        user("go"),
        { id: "a1", role: "assistant", toolCalls: [call] },
        { id: "x", role: "tool", toolCallId: "c1", content: "late" },
        { id: "a2", role: "assistant", content: "(still waiting)" },
      ],
    });
    assert.equal(textOf(frames), "Done.");
  });

  it("a resume under the interrupted run's own name starts one run, however often it is sent", async () => {
    const pay = tool({ name: "pay", description: "", input: z.object({}), approval: true, execute: () => "paid" });
    const model = scripted(calls("pay", {}, { id: "c1" }), says("Paid."));
    await using server = await serve({ agents: agents(model, pay) });
    await server.post({ threadId: "t", runId: "r1", messages: [user("pay")] });
    const resume = [{ interruptId: "c1:approval", status: "resolved", payload: { approved: true } }];
    const once = await server.post({ threadId: "t", runId: "r1", messages: [user("pay")], resume });
    const again = await server.post({ threadId: "t", runId: "r1", messages: [user("pay")], resume });
    assert.equal(textOf(once.frames), "Paid.");
    assert.equal(again.text, once.text);
    assert.equal(model.requests.length, 2);
  });

  it("the whole history of an answered thread, sent again, calls nobody", async () => {
    const model = scripted(calls("ext", {}, { id: "c1" }), says("Done."), says("Two."));
    await using server = await serve({ agents: agents(model, ext) });
    const call = { id: "c1", type: "function", function: { name: "ext", arguments: "{}" } };
    const first = [
      user("go"),
      { id: "a1", role: "assistant", toolCalls: [call] },
      { id: "x", role: "tool", toolCallId: "c1", content: "ok" },
    ];
    await server.post({ threadId: "t", runId: "r1", messages: first.slice(0, 1) });
    await server.post({ threadId: "t", runId: "r2", messages: first });
    const second = [...first, { id: "a2", role: "assistant", content: "Done." }, user("two", "u2")];
    const once = await server.post({ threadId: "t", runId: "r3", messages: second });
    assert.equal(textOf(once.frames), "Two.");
    assert.equal((await server.post({ threadId: "t", runId: "r3", messages: second })).text, once.text);
    assert.equal(model.requests.length, 3);
  });
});

describe("1.7 continuation through another door", () => {
  const declared = [{ name: "paint", description: "", input: { type: "object" } }];

  it("keeps the turn's agent and tools when a result comes without any", async () => {
    const [one, two] = [scripted(says("wrong")), scripted([...calls("paint", {}, { id: "c1" })], says("Right."))];
    await using server = await serve({ agents: { default: chatAgent({ model: one }), two: chatAgent({ model: two }) } });
    await server.post({ threadId: "t", runId: "r1", messages: [user("go")], tools: [{ name: "paint", description: "" }] }, "/agui/two");
    const answer = await fetch(`${server.url}/v1/calls/c1/result`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ output: { colour: "red" } }),
    });
    assert.ok(answer.ok, await answer.text());
    await eventually(async () => outcomes(await server.events()).includes("done"));
    assert.deepEqual(two.requests[1]?.tools, two.requests[0]?.tools);
    assert.equal(one.requests.length, 0);
  });

  it("keeps them when nobody comes: a deadline has no request at all", async () => {
    const slow = tool({ name: "ext", description: "", input: z.object({}), timeout: "1s" });
    const model = scripted(calls("ext", {}, { id: "c1" }), says("Late."));
    const { submit, clock, events, idle } = startEngine({ agents: agents(model, slow) });
    await submit({
      ...message("go"),
      tools: declared,
      options: { instructions: "Be brief.", context: [{ description: "d", value: "v" }] },
    });
    await idle();
    await clock.advance(2_000);
    await eventually(async () => outcomes(await events()).includes("done"));
    const [first, second] = model.requests;
    assert.deepEqual([second?.tools, second?.instructions, second?.options], [first?.tools, "Be brief.", first?.options]);
  });
});

describe("1.9 two engines and one thread", () => {
  const pair = (a: Record<string, ReturnType<typeof chatAgent>>, b: Record<string, ReturnType<typeof chatAgent>>): [Started, Started] => {
    const [store, bus] = [memoryStore(), localBus()];
    return [startEngine({ agents: a, store, bus, sweeping: false }), startEngine({ agents: b, store, bus, sweeping: false })];
  };

  it("a driver that wakes after a takeover writes nothing, not even the end of its step", async () => {
    const gate = Promise.withResolvers<void>();
    const asleep: Model = async function* () {
      yield* says("A says this.");
      await gate.promise;
      yield { type: "finished", reason: "stop" };
    };
    const [a, b] = pair(agents(asleep), agents(scripted(hangs(...says("B says this.")))));
    await a.submit(message("go"));
    await eventually(async () => kinds(await a.events()).includes("text.ended"));
    await b.submit({});
    await eventually(async () => kinds(await b.events()).filter((kind) => kind === "text.ended").length === 2);
    const before = await b.events();
    gate.resolve();
    await eventually(() => [...a.engine.live.values()].every(({ driver }) => !driver));
    assert.deepEqual(await b.events(), before);
    await b.tell({ type: "cancel" });
    assert.deepEqual(outcomes(await b.idle()), ["cancelled"]);
  });

  it("a call begun by a driver that lost the run is settled once, as unknown", async () => {
    const gate = Promise.withResolvers<string>();
    const charge = tool({ name: "charge", description: "", input: z.object({}), execute: () => gate.promise });
    const [a, b] = pair(agents(scripted(calls("charge", {}, { id: "c1" })), charge), agents(scripted(says("I do not know.")), charge));
    await a.submit(message("go"));
    await eventually(async () => kinds(await a.events()).includes("call.claimed"));
    await b.submit({});
    await b.idle();
    gate.resolve("charged");
    await eventually(() => [...a.engine.live.values()].every(({ driver }) => !driver));
    const settled = settlements(await b.events());
    assert.equal(settled.length, 1);
    assert.match((settled[0]?.type === "tool.returned" && settled[0].error) || "", /Outcome unknown/);
    assert.deepEqual(outcomes(await b.events()), ["done"]);
  });

  it("results through either engine are decided once, and both show the same thread", async () => {
    const model = scripted([...calls("ext", {}, { id: "c1" }), ...calls("ext", {}, { id: "c2" })], says("Done."));
    const other = scripted(says("Done."));
    const [a, b] = pair(agents(model, ext), agents(other, ext));
    await a.submit(message("go"));
    await a.idle();
    await Promise.all([a.submit({ results: [done("c1", "1")] }), b.submit({ results: [done("c2", "2")] })]);
    const events = await b.idle();
    assert.deepEqual(settlements(events).length, 2);
    assert.equal(model.requests.length + other.requests.length, 2);
    const [one, two] = [await hold(a.engine, keyOf()), await hold(b.engine, keyOf())];
    await eventually(() => one.thread.seq === two.thread.seq);
    assert.deepEqual(one.thread, two.thread);
  });

  it("a follower in one engine sees what the other writes", async () => {
    const gate = Promise.withResolvers<void>();
    const [a, b] = pair(
      agents(async function* () {
        await gate.promise;
        yield* says("Hello.");
        yield { type: "finished", reason: "stop" };
      }),
      agents(scripted()),
    );
    const { after } = await a.submit(message("go"));
    const following = b.follow(after);
    gate.resolve();
    const seen = await following;
    assert.deepEqual(seen, await a.events());
  });
});

describe("1.10 what one event cannot say", () => {
  it("pending calls are those of this run: one left from before is not named again", async () => {
    const paint = { name: "paint", description: "" };
    const model = scripted([...calls("paint", {}, { id: "a" }), ...calls("paint", {}, { id: "b" })], says("Done."));
    await using server = await serve({ agents: agents(model) });
    const asked = await server.post({ threadId: "t", runId: "r1", protocolVersion: "1.0", messages: [user("go")], tools: [paint] });
    assert.deepEqual(last(asked.frames)["outcome"], { type: "success", pendingToolCallIds: ["a", "b"] });
    const half = await server.post({
      threadId: "t",
      runId: "r2",
      protocolVersion: "1.0",
      messages: [{ role: "tool", toolCallId: "a", content: "1" }],
    });
    assert.deepEqual(last(half.frames)["outcome"], { type: "success" });
  });

  it("a result beside an open question restates the question", async () => {
    const pay = tool({ name: "pay", description: "", input: z.object({}), approval: true, execute: () => "paid" });
    const model = scripted([...calls("pay", {}, { id: "p" }), ...calls("ext", {}, { id: "e" })], says("Done."));
    await using server = await serve({ agents: agents(model, pay, ext) });
    await server.post({ threadId: "t", runId: "r1", messages: [user("go")] });
    const { frames } = await server.post({ threadId: "t", runId: "r2", messages: [{ role: "tool", toolCallId: "e", content: "1" }] });
    assert.deepEqual(types(frames), ["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    assert.equal((last(frames)["outcome"] as { interrupts: { id: string }[] }).interrupts[0]?.id, "p:approval");
  });

  it("another tab hears what was asked with the run it follows", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scripted(async function* () {
      await gate.promise;
      yield* says("Hi.");
    });
    await using server = await serve({ agents: agents(model) });
    const mine = await server.open({ threadId: "t", runId: "r1", messages: [user("hello")] });
    const theirs = await server.open({ threadId: "t", runId: "r2", messages: [] });
    gate.resolve();
    const [a, b] = [await mine.rest(), await theirs.rest()];
    assert.deepEqual(a, b);
    const input = a[0]?.["input"] as { messages: object[] } | undefined;
    assert.deepEqual(input?.messages, [{ id: "u1", role: "user", content: "hello" }]);
  });
});

describe("1.11 rewind", () => {
  it("an edited message takes the place of the old one and of all that followed", async () => {
    const model = scripted(says("One."), says("Two."), says("New."));
    const { submit, idle, events } = startEngine({ agents: agents(model) });
    await submit(message("first", "u1"));
    await idle();
    await submit(message("second", "u2"));
    await idle();
    await submit({ ...message("changed", "u1"), rewindTo: "u1" });
    await idle();
    const said = model.requests[2]?.history.map((entry) => entry.role === "user" && entry.content);
    assert.deepEqual(said, ["changed"]);
    assert.equal((await events()).filter(({ type }) => type === "text.ended").length, 3);
  });

  it("closes a turn that waits before it rewinds: no call is left behind", async () => {
    const model = scripted(calls("ext", {}, { id: "c1" }), says("New."));
    const { submit, idle, engine } = startEngine({ agents: agents(model, ext) });
    await submit(message("first", "u1"));
    await idle();
    await submit({ ...message("changed", "u1"), rewindTo: "u1" });
    assert.deepEqual(outcomes(await idle()), ["waiting", "cancelled", "done"]);
    assert.equal((await engine.store.wait("default", "c1"))?.status, "cancelled");
    await assert.rejects(submit({ results: [done("c1", "late")] }), { code: "gone" });
  });

  it("is forgotten by no restart", async () => {
    const store = memoryStore();
    const first = startEngine({ agents: agents(scripted(says("One."), says("Two."))), store });
    await first.submit(message("first", "u1"));
    await first.idle();
    await first.submit({ ...message("changed", "u1"), rewindTo: "u1" });
    await first.idle();
    await first.stop();
    const model = scripted(says("Three."));
    const second = startEngine({ agents: agents(model), store });
    await second.submit(message("next", "u2"));
    await second.idle();
    const said = model.requests[0]?.history.map((entry) => (entry.role === "user" ? entry.content : "…"));
    assert.deepEqual(said, ["changed", "…", "next"]);
  });
});

describe("1.13 ids", () => {
  it("a call id that another thread has is minted anew, and both can be settled", async () => {
    const model = scriptedBy(({ history }) => (history.length === 1 ? calls("ext", {}, { id: "functions.ext:0" }) : says("Done.")));
    const { submit, idle, engine } = startEngine({ agents: agents(model, ext) });
    const keys = ["a", "b"].map((name) => keyOf(name));
    for (const key of keys) {
      await submit(message("go"), key);
      await idle(key);
    }
    const { waits } = await engine.store.waits({ app: "default", limit: 9 });
    assert.equal(new Set(waits.map(({ id }) => id)).size, 2);
    assert.equal(waits[0]?.id, "functions.ext:0");
    for (const [i, wait] of waits.entries()) await submit({ results: [done(wait.id, `${i}`)] }, keys[i]);
    for (const key of keys) assert.deepEqual(outcomes(await idle(key)), ["waiting", "done"]);
  });

  it("fifty threads that want the same id at the same moment all get one", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedBy(async function* ({ history }) {
      if (history.length > 1) return yield* says("Done.");
      await gate.promise;
      yield* calls("ext", {}, { id: "call_0" });
    });
    using data = directory();
    await using server = await serve({ data: data.path, agents: agents(model, ext) });
    const asked = Array.from({ length: 50 }, (_, i) => server.post({ threadId: `t${i}`, runId: "r", messages: [user("go")] }));
    await eventually(() => model.requests.length === 50);
    gate.resolve();
    for (const { frames } of await Promise.all(asked)) assert.equal(last(frames).type, "RUN_FINISHED");
    const { waits } = await server.store.waits({ app: "default", limit: 100 });
    assert.equal(waits.length, 50);
  });

  it("one id used twice in one answer becomes two calls", async () => {
    const model = scripted([...calls("ext", { n: 1 }, { id: "x" }), ...calls("ext", { n: 2 }, { id: "x" })]);
    const { submit, idle, engine } = startEngine({ agents: agents(model, ext) });
    await submit(message("go"));
    await idle();
    const { waits } = await engine.store.waits({ app: "default", limit: 9 });
    assert.deepEqual(
      waits.map(({ input }) => input),
      [{ n: 1 }, { n: 2 }],
    );
  });

  it("an id no URL could carry is minted anew", async () => {
    const { submit, idle, engine } = startEngine({ agents: agents(scripted(calls("ext", {}, { id: "a b\n?" })), ext) });
    await submit(message("go"));
    await idle();
    const { waits } = await engine.store.waits({ app: "default", limit: 9 });
    assert.match(waits[0]?.id ?? "", /^call_/);
  });
});

describe("1.17 a tool that is gone", () => {
  it("settles an approved call as no longer available; an outside call needs no tool at all", async () => {
    const store = memoryStore();
    const pay = tool({ name: "pay", description: "", input: z.object({}), approval: true, execute: () => "paid" });
    const before = startEngine({
      agents: agents(scripted([...calls("pay", {}, { id: "p" }), ...calls("ext", {}, { id: "e" })]), pay, ext),
      store,
    });
    await before.submit(message("go"));
    await before.idle();
    await before.stop();
    const model = scripted(says("Both are over."));
    const after = startEngine({ agents: agents(model), store });
    await after.submit({ results: [done("e", "fine")] });
    await after.submit({ answers: [{ callId: "p", status: "resolved", value: { approved: true } }] });
    const events = await after.idle();
    assert.deepEqual(outcomes(events), ["waiting", "waiting", "done"]);
    const [e, p] = settlements(events);
    assert.ok(e?.type === "tool.returned" && p?.type === "tool.returned");
    assert.deepEqual([e.output, p.error], ["fine", "The tool pay is no longer available"]);
  });

  it("fails the run when the agent itself is gone", async () => {
    const store = memoryStore();
    const before = startEngine({ agents: { old: chatAgent({ model: scripted(calls("ext", {}, { id: "e" })), tools: [ext] }) }, store });
    await before.submit({ ...message("go"), agent: "old" });
    await before.idle();
    await before.stop();
    const after = startEngine({ agents: agents(scripted()), store });
    await after.submit({ results: [done("e", "fine")] });
    assert.deepEqual(outcomes(await after.idle()), ["waiting", "failed"]);
  });
});

describe("1.19 snapshots", () => {
  it("load to what the whole log adds up to, over many turns, calls and restarts", async () => {
    using data = directory();
    const replies = ({ history }: { history: readonly { role: string }[] }) =>
      history.at(-1)?.role === "user" && history.length % 4 === 1
        ? [...says("Let me."), ...calls("ext", { n: history.length })]
        : says("Well, ", "yes.");
    let clock: Awaited<ReturnType<typeof serve>>["clock"] | undefined;
    for (let life = 0; life < 3; life += 1) {
      await using server = await serve({ data: data.path, agents: agents(scriptedBy(replies), ext), ...(clock && { clock }) });
      clock = server.clock;
      for (let turn = 0; turn < 20; turn += 1) {
        await server.post({ threadId: "t", runId: `r${life}.${turn}`, messages: [user(`say ${turn}`, `u${life}.${turn}`)] });
        const { waits } = await server.store.waits({ app: "default", status: "pending", limit: 9 });
        for (const { id } of waits)
          await server.post({ threadId: "t", runId: "x", messages: [{ role: "tool", toolCallId: id, content: "ok" }] });
      }
      const snapshot = await server.store.snapshot(keyOf());
      assert.ok(snapshot, "no snapshot was taken");
      const events = await server.events();
      const loaded: Thread = { ...emptyThread(), ...JSON.parse(snapshot.data) };
      for (const event of events) if (event.seq > snapshot.seq) fold(loaded, event);
      const folded = events.reduce(fold, emptyThread());
      assert.deepEqual(loaded, folded);
      assert.ok(outcomes(events).every((outcome) => outcome === "done" || outcome === "waiting"));
    }
  });
});

describe("1.20 a crash in mid-text", () => {
  it("leaves what was said visible, and out of the model's sight", async () => {
    using data = directory();
    {
      await using server = await serve({ data: data.path, agents: agents(scripted(hangs(...says("Once upon a").slice(0, -1)))) });
      const stream = await server.open({ threadId: "t", runId: "r1", messages: [user("a story")] });
      await stream.until("TEXT_MESSAGE_CONTENT");
    }
    const model = scripted(says("Once more: the end."));
    await using server = await serve({ data: data.path, agents: agents(model) });
    const { frames } = await server.post({ threadId: "t", runId: "r1", messages: [user("a story")] });
    assert.equal(textOf(frames), "Once upon aOnce more: the end.");
    assert.deepEqual(
      types(frames).filter((type) => type !== "TEXT_MESSAGE_CONTENT"),
      [
        "RUN_STARTED",
        ...["STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "STEP_FINISHED"],
        ...["STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "STEP_FINISHED"],
        "RUN_FINISHED",
      ],
    );
    assert.deepEqual(model.requests[0]?.history.length, 1);
    const folded = (await server.events()).reduce(fold, emptyThread());
    const states = folded.history.flatMap((entry) => (entry.role === "assistant" ? [entry.state] : []));
    assert.deepEqual(states, ["abandoned", "completed"]);
  });
});

describe("1.23 a deleted thread", () => {
  it("lives again behind its old offsets, and knows nothing of before", async () => {
    const model = scripted(calls("ext", {}, { id: "c1" }), says("Who are you?"));
    const { submit, idle, events, engine } = startEngine({ agents: agents(model, ext) });
    await submit(message("first", "u1"));
    const before = (await idle()).at(-1)?.seq ?? 0;
    assert.equal(await removeThread(engine, keyOf()), true);
    assert.deepEqual(await events(), []);
    await assert.rejects(submit({ results: [done("c1", "late")] }), { code: "not_found" });
    await submit(message("again", "u1"));
    const after = await idle();
    assert.equal(after[0]?.seq, before + 1);
    assert.equal(model.requests[1]?.history.length, 1);
  });

  it("takes its running run along: the driver writes nothing more, its follower ends", async () => {
    const gate = Promise.withResolvers<void>();
    const stubborn: Model = async function* () {
      yield* says("One.");
      await gate.promise;
      yield* says("Two.");
      yield { type: "finished", reason: "stop" };
    };
    const { submit, events, follow, engine } = startEngine({ agents: agents(stubborn) });
    const { after } = await submit(message("go"));
    const following = follow(after);
    await eventually(async () => kinds(await events()).includes("text.ended"));
    await removeThread(engine, keyOf());
    gate.resolve();
    await following;
    await eventually(() => engine.live.size === 0);
    assert.deepEqual(await events(), []);
  });

  it("and posted again at the same moment, over and over, ends in one clean life", async () => {
    const model = scriptedBy(() => says("Hi."));
    const { submit, idle, engine } = startEngine({ agents: agents(model) });
    for (let i = 0; i < 20; i += 1) {
      await Promise.allSettled([submit(message("go", `u${i}`)), removeThread(engine, keyOf()), submit(message("go", `v${i}`))]);
    }
    const events = await idle();
    assert.equal(outcomes(events).length, events.filter(({ type }) => type === "run.started").length);
    const seqs = events.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      seqs.toSorted((x, y) => x - y),
    );
  });
});

describe("a follower of an idle thread", () => {
  it("is at its end once it has seen everything, also of a thread that never was", async () => {
    const { submit, idle, follow } = startEngine({ agents: agents(scripted(says("Hi."))) });
    assert.deepEqual(await follow(0, "run", keyOf("nobody")), []);
    await submit(message("go"));
    const events = await idle();
    assert.deepEqual(await follow(events.length), []);
    assert.deepEqual(await follow(events.length, "turn"), []);
    assert.deepEqual(await follow(0), events);
  });

  it("of a waiting turn waits for the turn, if asked to", async () => {
    const { submit, idle, follow } = startEngine({ agents: agents(scripted(calls("ext", {}, { id: "c1" }), says("Done.")), ext) });
    const { after } = await submit(message("go"));
    const turn = follow(after, "turn");
    await idle();
    await submit({ results: [done("c1", "ok")] });
    assert.deepEqual(outcomes(await turn), ["waiting", "done"]);
  });
});
