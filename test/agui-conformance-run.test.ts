import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { START as BEGIN } from "../src/agent/graph/command.ts";
import { edge } from "../src/agent/graph/edge.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { tool } from "../src/agent/tool.ts";
import { AppError } from "../src/core/error.ts";
import type { JsonObject } from "../src/core/json.ts";
import { createHandback } from "../src/handback.ts";
import { calls, fails, hangs, says, scripted, thinks } from "../src/model/scripted.ts";
import { memoryStore } from "../src/store/memory.ts";
import { strict } from "./support/agui.ts";
import {
  body,
  ends,
  history,
  hungUp,
  inRun,
  inStep,
  messages,
  outcomes,
  result,
  TEXT,
  talking,
  text,
  user,
} from "./support/conformance.ts";
import { type Frame, last, textOf, types } from "./support/frames.ts";
import { recipe } from "./support/graphs.ts";
import { eventually, keyOf, type Served, serve } from "./support/serve.ts";

strict();

/*
 * trpc-agent-go's list, 37–70; see agui-conformance-http. Without a test, because what they are about does not exist here:
 *   57, 58  rewriters of results, and results through the translator on their way in (newer than the seeds)
 *   64      cancel across instances: one process owns a data directory; several will share the Postgres store
 *   70      event source metadata (newer than the seeds)
 */

const paint = { name: "paint", description: "Paints" };
const painting = (...ids: string[]) =>
  scripted(
    ids.flatMap((id) => calls("paint", {}, { id })),
    says("Done."),
    says("Again."),
  );
const say = (server: Served, content: string, n: number, more: object = {}) =>
  server.post(body([user(content, `u${n}`)], { runId: `r${n}`, ...more }));

describe("AG-UI conformance: a run", () => {
  it("37 starts, says, finishes", async () => {
    await using server = await serve({ agents: text("Hi.") });
    assert.deepEqual(types((await say(server, "hello", 1)).frames), inRun(...inStep(...TEXT)));
  });

  it("38 is alone in its thread; other threads and other users have theirs", async () => {
    const resolveUser = ({ forwardedProps }: { forwardedProps?: unknown }) => (forwardedProps as { userId?: string } | undefined)?.userId;
    await using server = await serve({
      agui: { resolveUser },
      agents: { default: chatAgent({ model: scripted(hangs(), says("Hi."), says("Ho.")) }) },
    });
    const stream = await server.open(body([user("talk")]));
    await stream.until("RUN_STARTED");
    assert.equal((await say(server, "more", 2)).status, 409);
    assert.equal((await server.post({ ...body([user("hello")]), threadId: "t2" })).status, 200);
    assert.equal((await say(server, "hello", 3, { forwardedProps: { userId: "alice" } })).status, 200);
  });

  it("39 goes on without its client to its deadline, and fails there", async () => {
    await using server = await serve({ agui: { timeout: "10s" }, agents: talking() });
    const stream = await server.open(body([user("talk")]));
    await stream.until("TEXT_MESSAGE_CONTENT");
    stream.abort();
    await hungUp();
    await server.clock.advance(9_000);
    assert.deepEqual(await outcomes(server), []);
    await server.clock.advance(1_000);
    await eventually(async () => (await outcomes(server)).join() === "failed");
  });

  it("40 ours: is cancelled with its client where that is wanted; nobody is left to read an error", async () => {
    await using server = await serve({ agui: { cancelOnDisconnect: true }, agents: talking() });
    const stream = await server.open(body([user("talk")]));
    await stream.until("TEXT_MESSAGE_CONTENT");
    stream.abort();
    await eventually(async () => (await outcomes(server)).join() === "cancelled");
  });

  it("41 ours: a request's own deadline is what the app makes of it, and comes before the door's", async () => {
    const resolveOptions = ({ forwardedProps }: { forwardedProps?: unknown }) => ({ timeout: (forwardedProps as { ms: number }).ms });
    await using server = await serve({ agui: { timeout: 500, resolveOptions }, agents: talking() });
    const stream = await server.open(body([user("talk")], { forwardedProps: { ms: 300 } }));
    await stream.until("TEXT_MESSAGE_CONTENT");
    await server.clock.advance(300);
    assert.equal(last(await stream.rest())["code"], "timeout");
  });

  it("42 whose agent fails at once is RUN_STARTED and RUN_ERROR in the provider's words", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(fails("fail")) }) } });
    const { frames } = await say(server, "hello", 1);
    assert.deepEqual([frames[0]?.type, last(frames).type, last(frames)["message"]], ["RUN_STARTED", "RUN_ERROR", "fail"]);
  });

  it("43 whose translator throws, or cannot be made, is RUN_ERROR, and ends", async () => {
    const fail = () => {
      throw new AppError("internal", "No words");
    };
    for (const translator of [fail, () => fail]) {
      await using server = await serve({ agui: { translator }, agents: talking() });
      const { frames } = await say(server, "hello", 1);
      assert.deepEqual([types(frames), frames[0]?.["message"]], [["RUN_ERROR"], "No words"]);
      await eventually(async () => (await outcomes(server)).join() === "cancelled");
    }
  });

  it("44 is translated from what the first callback that answers puts in place", async () => {
    const beforeTranslate = ["one", undefined, "two"].map((word) => (event: { type: string }) => {
      return word !== undefined && event.type === "text.delta" ? ({ ...event, delta: word } as never) : undefined;
    });
    await using server = await serve({ agui: { beforeTranslate }, agents: text("Hi.") });
    assert.equal(textOf((await say(server, "hello", 1)).frames), "one"); // one that throws: agui-options.test.ts
  });

  it("45 may be made to fail by a callback, with one ending either way", async () => {
    const swap = (frame: Frame) => (frame.type === "RUN_FINISHED" ? { type: "RUN_ERROR", message: "Not good enough" } : undefined);
    await using server = await serve({ agui: { afterTranslate: [swap] }, agents: text("Hi.") });
    const { frames } = await say(server, "hello", 1);
    assert.deepEqual([ends(frames), last(frames)["message"]], [["RUN_ERROR"], "Not good enough"]);
    const fail = (frame: Frame) => {
      if (frame.type === "TEXT_MESSAGE_CONTENT") throw new AppError("limit", "Said enough");
    };
    await using strictly = await serve({ agui: { afterTranslate: [fail] }, agents: talking() });
    assert.deepEqual(ends((await say(strictly, "hello", 1)).frames), ["RUN_ERROR"]);
    await eventually(async () => (await outcomes(strictly)).join() === "cancelled");
  });

  it("46 ours, 47: has left its thread free when its ending is visible, and at the end of its stream", async () => {
    await using server = await serve({ agents: text(..."abcdefghij") });
    for (let n = 1; n <= 10; n += 1) {
      const stream = await server.open(body([user("more", `u${n}`)], { runId: `r${n}` }));
      await stream.until("RUN_FINISHED"); // not the end of the stream
      if (n % 2 === 0) await stream.rest();
    }
    assert.equal((await outcomes(server)).length, 10);
  });

  it("48 cannot be changed by those who are told of it", async () => {
    const spoil = (value: unknown): undefined => {
      if (typeof value !== "object" || value === null) return;
      for (const inner of Object.values(value)) spoil(inner);
      if (Array.isArray(value)) value.push("spoilt");
      else if (!("type" in value)) Object.assign(value, { spoilt: true });
    };
    const store = memoryStore();
    const config = { store, agents: { default: recipe(), chat: text("Hi.", "Ho.")["default"] } };
    const handback = await createHandback(config);
    const request = new Request("http://localhost/");
    const { signal } = new AbortController();
    const tell = async (threadId: string, agent: string) => {
      const input = { threadId, runId: "r1", messages: [user([{ type: "text", text: "hello" }])], state: { cart: ["tea"] } };
      for await (const event of (await handback.agui.run(input, { request, agent }))(signal)) spoil(event);
      for await (const event of (await handback.agui.history({ threadId }, { request }))(signal)) spoil(event);
      const kept: unknown[] = [];
      for await (const event of (await handback.agui.history({ threadId }, { request }))(signal)) kept.push(event);
      assert.ok(!JSON.stringify(kept).includes("spoilt"), agent);
      assert.ok(!JSON.stringify(await store.read(keyOf(threadId), { after: 0 })).includes("spoilt"), agent);
    };
    await tell("t1", "default");
    await tell("t2", "chat");
    await handback.close({ grace: 0 });
    const spoilState = (frame: Frame) => (frame.type === "STATE_SNAPSHOT" ? spoil(frame) : undefined);
    await using server = await serve({ agui: { afterTranslate: [spoilState] }, agents: text("Hi.") });
    await say(server, "hello", 1, { state: { cart: ["tea"] } });
    for (const _ of [1, 2]) {
      const state = (await history(server)).frames.find(({ type }) => type === "STATE_SNAPSHOT")?.["snapshot"];
      assert.deepEqual(state, { cart: ["tea", "spoilt"], spoilt: true }); // each time anew, and not twice
    }
  });

  it("49 ours: what a state resolver says takes the place of other values", async () => {
    const told: JsonObject[] = [];
    const look = tool({ name: "look", description: "", input: z.object({}), execute: (_, { values }) => told.push(values) });
    const agents = { default: chatAgent({ model: scripted(calls("look", {}), says("Ok.")), tools: [look] }) };
    const values = { lineage: "from-runopt", k2: "v2" };
    await using server = await serve({
      agui: { resolveOptions: () => ({ values }), resolveState: () => ({ lineage: "from-state" }) },
      agents,
    });
    await say(server, "look", 1);
    assert.deepEqual(told, [{ lineage: "from-state" }]);
  });

  it("50 ours: a client's state is kept and shown, and no agent trusts it unasked", async () => {
    const told: JsonObject[] = [];
    const look = tool({ name: "look", description: "", input: z.object({}), execute: (_, { values }) => told.push(values) });
    const agents = { default: chatAgent({ model: scripted(calls("look", {}), says("Ok.")), tools: [look] }) };
    await using server = await serve({ agents });
    const { frames } = await say(server, "look", 1, { state: { admin: true } });
    assert.deepEqual([frames[1]?.["snapshot"], told], [{ admin: true }, [{}]]);
  });

  it("51 belongs to the app a resolver names, or else to the fixed one", async () => {
    const resolveApp = ({ forwardedProps }: { forwardedProps?: unknown }) => (forwardedProps as { app?: string } | undefined)?.app ?? "";
    await using server = await serve({ agui: { appName: "fixed", resolveApp }, agents: text("Hi.", "Ho.") });
    await say(server, "hello", 1, { forwardedProps: { app: "named" } });
    await say(server, "hello", 2, { threadId: "t2" });
    const inApp = async (app: string) => (await server.store.threads({ app, limit: 9 })).threads.map(({ threadId }) => threadId);
    assert.deepEqual([await inApp("named"), await inApp("fixed")], [["t"], ["t2"]]);
  });
});

describe("AG-UI conformance: going on", () => {
  type Patch = { path: string; value: JsonObject | null }[];
  const patches = (frames: readonly Frame[]) => frames.flatMap(({ patch }) => (patch ?? []) as Patch);
  const asked = async (server: Served) => {
    const { frames } = await say(server, "omelette", 1);
    const [found] = patches(frames).filter(({ path }) => path === "/interrupt");
    assert.ok(found?.value);
    return found.value as { lineageId: string; checkpointId: string };
  };
  const question = () =>
    graph(
      {},
      { nodes: { ask: async ({ interrupt, text: tell }) => tell(String(await interrupt("how", "How?"))) }, edges: [edge(BEGIN, "ask")] },
    );

  it("52 is acknowledged right behind RUN_STARTED; ours: always as a map, which says what was answered", async () => {
    const ways: [object, unknown][] = [
      [{ resume_map: { how: "well" } }, "well"],
      [{ resume: "approved" }, "approved"],
      [{ resume: null }, null],
    ];
    for (const [props, answer] of ways) {
      await using server = await serve({ agents: { default: question() } });
      const { lineageId, checkpointId } = await asked(server);
      const { frames } = await server.post({ threadId: "t", runId: "r2", forwardedProps: { lineage_id: lineageId, ...props } });
      assert.deepEqual(types(frames).slice(0, 4), ["RUN_STARTED", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "STEP_STARTED"]);
      assert.deepEqual(frames[2]?.["patch"], [
        { op: "add", path: "/interrupt", value: null },
        { op: "add", path: "/resume", value: { checkpointId, lineageId, resumeMap: { how: answer } } },
      ]);
      assert.equal(textOf(frames), String(answer));
    }
    await using server = await serve({ agents: { default: question() } });
    const { lineageId } = await asked(server);
    const nothing = await server.post({ threadId: "t", runId: "r2", forwardedProps: { lineage_id: lineageId, resume_map: {} } });
    assert.deepEqual(
      patches(nothing.frames).filter(({ path }) => path === "/resume"),
      [],
    );
    assert.equal((await server.thread())?.pending, 1);
  });

  it("52 takes the empty or idle message that trpc's clients send along for what it is: nothing", async () => {
    for (const content of ["", "resume"]) {
      for (const door of ["forwardedProps", "resume"]) {
        await using server = await serve({ agents: { default: question() } });
        const { lineageId } = await asked(server);
        const outcome = (await server.post({ threadId: "t" }, "/agui/history")).frames.at(-1)?.["outcome"];
        const [open] = (outcome as { interrupts: { id: string }[] }).interrupts;
        const props = { lineage_id: lineageId, resume_map: { how: "well" } };
        const answer = door === "resume" ? { resume: [{ interruptId: open?.id, payload: "well" }] } : { forwardedProps: props };
        if (door === "resume" && content !== "") continue; // AG-UI's own clients say nothing beside their answer
        const { frames } = await server.post({ threadId: "t", runId: "r2", messages: [{ role: "user", content }], ...answer });
        assert.equal(textOf(frames), "well", `${door}: ${content}`);
        assert.equal((await messages(server)).filter(({ role }) => role === "user").length, 1);
      }
    }
    await using server = await serve({ agents: { default: question() } });
    await asked(server);
    assert.equal((await server.post(body([user("", "u2")]))).status, 400); // without an answer it is a mistake
  });

  it("53 a result alone is told before anything else, under its own id, and reaches the model", async () => {
    const model = painting("c1");
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await say(server, "paint", 1, { tools: [paint] });
    const { frames } = await server.post(
      body([{ id: "tool-msg-1", role: "tool", toolCallId: "c1", name: "paint", content: "ok" }], { runId: "r2" }),
    );
    assert.deepEqual(types(frames), inRun("TOOL_CALL_RESULT", ...inStep(...TEXT)));
    const { messageId, toolCallId, content } = frames[1] as Frame;
    assert.deepEqual([messageId, toolCallId, content], ["tool-msg-1", "c1", "ok"]);
    const [, step] = model.requests[1]?.history ?? [];
    assert.equal(step?.role === "assistant" && step.parts[0]?.type === "call" && step.parts[0].settlement?.output, "ok");
  });

  it("54 ours: results beside their assistant message are not told again, unless that is wanted; 56: both are kept in order", async () => {
    for (const echoToolResults of [undefined, true]) {
      const model = painting("c1", "c2");
      await using server = await serve({
        agui: { ...(echoToolResults && { echoToolResults }) },
        agents: { default: chatAgent({ model }) },
      });
      await say(server, "paint", 1, { tools: [paint] });
      const shown = (await messages(server)).slice(0, 2);
      const { frames } = await server.post(body([...shown, result("c1", "1"), result("c2", "2")], { runId: "r2" }));
      const told = frames.flatMap(({ type, content }) => (type === "TOOL_CALL_RESULT" ? [content] : []));
      assert.deepEqual(told, echoToolResults ? ["1", "2"] : []);
      const log = await server.events();
      assert.deepEqual(
        log.flatMap((event) => (event.type === "tool.returned" ? [event.output] : [])),
        ["1", "2"],
      );
      assert.equal(log.at(-1)?.type, "run.ended");
    }
  });

  it("55 ours: results that were handed back before count for nothing, wherever they stand", async () => {
    const model = scripted(
      calls("paint", {}, { id: "old" }),
      [...calls("paint", {}, { id: "c1" }), ...calls("paint", {}, { id: "c2" })],
      says("Done."),
    );
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await say(server, "paint", 1, { tools: [paint] });
    await server.post(body([result("old", "0")], { runId: "r2" }));
    const list = [
      result("old", "forged"),
      { id: "a", role: "assistant", toolCalls: [{ id: "c1" }, { id: "c2" }] },
      result("c1", "1"),
      result("c2", "2"),
    ];
    assert.equal(textOf((await server.post(body(list, { runId: "r3" }))).frames), "Done.");
    const results = (await messages(server)).flatMap(({ role, content }) => (role === "tool" ? [content] : []));
    assert.deepEqual(results, ["0", "1", "2"]);
  });

  it("59 ours: a result without an id is called after its call, and not like it", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: painting("c1") }) } });
    await say(server, "paint", 1, { tools: [paint] });
    const { frames } = await server.post(body([{ role: "tool", toolCallId: "c1", content: "ok" }], { runId: "r2" }));
    assert.equal(frames[1]?.["messageId"], "c1:result");
  });
});

describe("AG-UI conformance: cancel and endings", () => {
  const cancel = (server: Served, more: object = {}) => server.post({ threadId: "t", ...more }, "/agui/cancel");

  it("60 ends the run as finished and stops its agent, whatever run id is named; then there is nothing to cancel", async () => {
    let stopped = false;
    const model = scripted(async function* (_, signal) {
      signal.addEventListener("abort", () => (stopped = true));
      yield* hangs(...says("One ").slice(0, -1))(_, signal) as AsyncIterable<never>;
    });
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const stream = await server.open(body([user("talk")]));
    await stream.until("TEXT_MESSAGE_CONTENT");
    assert.equal((await cancel(server, { runId: "another" })).status, 200);
    const frames = await stream.rest();
    assert.deepEqual([types(frames).slice(-3), stopped], [["TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"], true]);
    assert.equal((await cancel(server)).status, 404);
  });

  it("61 closes a thought that is being thought", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs(...thinks("Hm").slice(0, -1))) }) } });
    const stream = await server.open(body([user("think")]));
    await stream.until("REASONING_MESSAGE_CONTENT");
    await cancel(server);
    assert.deepEqual(types(await stream.rest()).slice(-4), ["REASONING_MESSAGE_END", "REASONING_END", "STEP_FINISHED", "RUN_FINISHED"]);
  });

  it("62, 63 ours: what closes a run is in the log, so there is one ending, also when a callback fails on it", async () => {
    for (const type of ["TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"]) {
      const boom = (frame: Frame) => {
        if (frame.type === type) throw new AppError("internal", "boom");
      };
      await using server = await serve({ agui: { afterTranslate: [boom] }, agents: talking() });
      const stream = await server.open(body([user("talk")]));
      await stream.until("TEXT_MESSAGE_CONTENT");
      await cancel(server);
      const frames = await stream.rest();
      assert.deepEqual([ends(frames), last(frames)["message"]], [["RUN_ERROR"], "boom"], type);
      assert.deepEqual(await outcomes(server), ["cancelled"]);
    }
  });

  it("65 ours: an agent tells events of its own, which are before the ending and in the log, and which no model sees", async () => {
    const model = scripted(says("Hi."));
    const nodes = { emit: ({ emit }: { emit: (name: string, value: string) => void }) => emit("progress", "half") };
    const emitting = graph({}, { nodes, edges: [edge(BEGIN, "emit")] });
    await using server = await serve({ agents: { default: chatAgent({ model }), emitting } });
    const { frames } = await server.post(body([user("go")]), "/agui/emitting");
    const custom = frames.findIndex(({ type }) => type === "CUSTOM");
    assert.deepEqual([frames[custom]?.["name"], ends(frames.slice(custom))], ["progress", ["RUN_FINISHED"]]);
    assert.ok((await server.events()).some(({ type }) => type === "custom.emitted"));
    await server.post(body([user("hello", "u2")], { runId: "r2" }), "/agui/default");
    assert.ok(!JSON.stringify(model.requests[0]?.history).includes("half"));
  });

  it("66 ours: what an agent throws behind its own events is the one ending", async () => {
    const nodes = {
      emit({ emit }: { emit: (name: string, value: number) => void }) {
        emit("progress", 1);
        throw new AppError("internal", "hook failed");
      },
    };
    await using server = await serve({ agents: { default: graph({}, { nodes, edges: [edge(BEGIN, "emit")] }) } });
    const { frames } = await say(server, "go", 1);
    assert.ok(frames.some(({ type }) => type === "CUSTOM"));
    assert.deepEqual(ends(frames), ["RUN_ERROR"]);
    assert.match(String(last(frames)["message"]), /hook failed/);
  });
});

describe("AG-UI conformance: written before visible", () => {
  it("67 ours: what was asked and that it began is in the store before anybody hears of it, and before the agent does", async () => {
    const store = memoryStore();
    const seen: string[][] = [];
    const look = async () => void seen.push((await store.read(keyOf(), { after: 0 })).map(({ type }) => type));
    const model = scripted(async function* () {
      await look();
      yield* says("Hi.");
    });
    await using server = await serve({ store, agents: { default: chatAgent({ model }) } });
    const stream = await server.open(body([user("hello")]));
    await stream.until("RUN_STARTED");
    await look();
    for (const types of seen) assert.equal(types[0], "run.started");
    assert.deepEqual((await stream.until("RUN_STARTED"))["input"] !== undefined, true);
    await stream.rest();
  });

  it("68 ours: a run whose beginning cannot be written does not begin, and may be asked for again", async () => {
    const store = memoryStore();
    let full = true;
    const append: typeof store.append = (...given) => (full ? Promise.reject(new AppError("unavailable", "full")) : store.append(...given));
    const model = scripted(says("Hi."));
    await using server = await serve({ store: { ...store, append }, agents: { default: chatAgent({ model }) } });
    assert.deepEqual([(await say(server, "hello", 1)).status, model.requests.length], [503, 0]);
    full = false;
    assert.equal(textOf((await say(server, "hello", 1)).frames), "Hi.");
  });

  it("69 ours: nothing is shown that is not written; a slow store delays a text and loses none of it", async () => {
    const store = memoryStore();
    const gate = Promise.withResolvers<void>();
    let reached = false;
    const append: typeof store.append = async (key, expect, events, ...more) => {
      if (events.some(({ type }) => type === "text.delta")) {
        reached = true;
        await gate.promise;
      }
      return store.append(key, expect, events, ...more);
    };
    const agents = { default: chatAgent({ model: scripted(says("One ", "two ", "three.")) }) };
    await using server = await serve({ store: { ...store, append }, coalesce: 0, agents });
    const stream = await server.open(body([user("count")]));
    await stream.until("RUN_STARTED");
    await eventually(() => reached);
    assert.ok(!stream.frames.some(({ type }) => type === "TEXT_MESSAGE_CONTENT"));
    gate.resolve();
    assert.equal(textOf(await stream.rest()), "One two three.");
  });
});
