import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { HttpAgent } from "@ag-ui/client";
import { AIMessage, type BaseMessage, type ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  type Interrupt,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import type { Agent } from "../src/agent/agent.ts";
import { tool as handbackTool } from "../src/agent/tool.ts";
import type { Event } from "../src/core/event.ts";
import { isObject, type Json } from "../src/core/json.ts";
import { fork } from "../src/engine/fork.ts";
import { hold } from "../src/engine/live.ts";
import { langgraph } from "../src/langgraph/langgraph.ts";
import { sqliteStore } from "../src/store/sqlite.ts";
import { CLIENTS, strict } from "./support/agui.ts";
import { ChunkModel } from "./support/chunk-model.ts";
import { keyOf, message, startEngine } from "./support/engine.ts";
import { eventually } from "./support/eventually.ts";
import { runAgent } from "./support/judge.ts";
import { directory, serve } from "./support/serve.ts";
import { scratch, startServer } from "./support/server-process.ts";

strict();

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

const Log = Annotation.Root({ log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }) });
const inLog = { input: () => ({ log: ["asked"] }) };

/** A graph that talks, and asks before it goes on. */
function talkAndAsk() {
  const State = Annotation.Root({ ...MessagesAnnotation.spec, count: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }) });
  const model = new ChunkModel("Hel", "lo");
  return new StateGraph(State)
    .addNode("talk", async ({ messages }) => ({ messages: [await model.invoke(messages)], count: 1 }))
    .addNode("ask", () => ({ messages: [new AIMessage(`You said ${interrupt({ really: true })}.`)], count: 1 }))
    .addEdge(START, "talk")
    .addEdge("talk", "ask")
    .addEdge("ask", END);
}

/** Two nodes that ask in the same superstep, and one that waits for both. `ran` counts what happens before a question. */
function twoQuestions(ran: string[] = []) {
  const asks = (name: string) => () => {
    ran.push(name);
    return { log: [`${name}=${interrupt(`${name}?`)}`] };
  };
  return new StateGraph(Log)
    .addNode("begin", () => ({ log: ["begun"] }))
    .addNode("left", asks("left"))
    .addNode("right", asks("right"))
    .addNode("both", ({ log }) => ({ log: [`both of ${log.length}`] }))
    .addEdge(START, "begin")
    .addEdge("begin", "left")
    .addEdge("begin", "right")
    .addEdge(["left", "right"], "both")
    .addEdge("both", END);
}

/** What LangGraph itself comes to, with its own saver and these answers. */
async function alone(
  graph: { compile(options: { checkpointer: MemorySaver }): unknown },
  input: unknown,
  answers: (question: unknown) => unknown = () => null,
): Promise<Record<string, unknown>> {
  type Runs = { invoke(input: unknown, config: object): Promise<Record<string, unknown> & { __interrupt__?: Interrupt[] }> };
  const compiled = graph.compile({ checkpointer: new MemorySaver() }) as Runs;
  const config = { configurable: { thread_id: "1" } };
  let values = await compiled.invoke(input, config);
  while (values.__interrupt__?.length) {
    const resume = Object.fromEntries(values.__interrupt__.map(({ id, value }) => [id ?? "", answers(value)]));
    values = await compiled.invoke(new Command({ resume }), config);
  }
  return values;
}

function questions(events: readonly Event[]): Of<"interrupt.raised">[] {
  return events.filter((event) => event.type === "interrupt.raised");
}

function state(events: readonly Event[]): Json {
  const values: Record<string, Json> = {};
  for (const op of events.flatMap((event) => (event.type === "state.patched" ? event.ops : []))) {
    assert.ok(isObject(op));
    const [, key = "", index] = String(op["path"]).split("/");
    assert.ok(index === undefined || index === "-", "a list that grows is patched by what it grew by");
    values[key] = index === undefined ? (op["value"] ?? null) : [...(values[key] as Json[]), op["value"] ?? null];
  }
  return values;
}

const said = (events: readonly Event[]) => events.flatMap((event) => (event.type === "text.ended" ? [event.text] : []));
const outcome = (events: readonly Event[]) => events.findLast((event): event is Of<"run.ended"> => event.type === "run.ended")?.outcome;
const yes = (interruptId: string, value: Json = "yes") => ({ interruptId, status: "resolved" as const, value });

describe("a LangGraph graph as an agent", () => {
  for (const [version, Client] of CLIENTS) {
    it(`streams, asks and goes on for the official client ${version}`, async () => {
      await using server = await serve({ agents: { default: langgraph(talkAndAsk().compile()) } });
      const agent = new Client({ url: `${server.url}/agui`, threadId: "t", initialMessages: [{ id: "u1", role: "user", content: "hi" }] });
      const first = await runAgent(agent);
      const deltas = first.events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta);
      assert.equal(deltas.join(""), "Hello");
      assert.deepEqual(agent.state, { count: 1 });
      const [question] = questions(await server.events());
      assert.deepEqual(question?.prompt, { really: true });
      assert.equal(first.outcome, "interrupt");

      const resume = [{ interruptId: question?.interruptId ?? "", status: "resolved" as const, payload: "yes" }];
      await runAgent(agent, { resume });
      assert.deepEqual(
        agent.messages.filter(({ role }) => role !== "activity").map(({ role, content }) => [role, content]),
        [
          ["user", "hi"],
          ["assistant", "Hello"],
          ["assistant", "You said yes."],
        ],
      );
      assert.deepEqual(agent.state, { count: 2 });

      const before = await server.events();
      await server.post({ threadId: "t", runId: "again", messages: [], resume });
      assert.deepEqual(await server.events(), before, "the same answer again changes nothing");
    });
  }

  it("remembers what was said in earlier turns", async () => {
    const heard: number[] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("echo", ({ messages }) => {
        heard.push(messages.length);
        return { messages: [new AIMessage(`${messages.map(({ text }) => text).join(" ")}!`)] };
      })
      .addEdge(START, "echo");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile()) } });
    for (const text of ["one", "two", "three"]) {
      await engine.submit(message(text));
      await engine.idle();
    }
    assert.deepEqual(heard, [1, 3, 5]);
    assert.deepEqual(said(await engine.events()), ["one!", "one one! two!", "one one! two one one! two! three!"]);
  });

  it("writes what a checkpoint adds, not what it holds", async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("echo", ({ messages }) => ({ messages: [new AIMessage(`${messages.length} ${"x".repeat(1_000)}`)] }))
      .addEdge(START, "echo");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile()) } });
    const sizes: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const { after } = await engine.submit(message(`message ${turn}`));
      const events = await engine.follow(after, "turn");
      sizes.push(JSON.stringify(events.filter(({ type }) => type === "memory.patched")).length);
    }
    const [, second = 0] = sizes;
    const last = sizes.at(-1) ?? 0;
    assert.ok(last < second * 1.5, `the twentieth turn cost ${last}, the second ${second}`);
  });

  it("shows nodes as steps, sub-graphs inside them, and what they write", async () => {
    const inner = new StateGraph(Log)
      .addNode("deep", (_, { writer }) => {
        writer?.({ name: "progress", value: 0.5 });
        writer?.("anything");
        return { log: ["deep"] };
      })
      .addEdge(START, "deep");
    const graph = new StateGraph(Log)
      .addNode("sub", inner.compile())
      .addNode("last", () => ({ log: ["last"] }))
      .addEdge(START, "sub")
      .addEdge("sub", "last");
    const agent = langgraph(graph.compile(), inLog);
    await using engine = startEngine({ agents: { default: agent } });
    await engine.submit(message("go"));
    const events = await engine.idle();
    const steps = events.filter((event) => event.type === "step.started");
    assert.deepEqual(
      steps.map(({ name, kind, place }) => [name, kind, place?.path]),
      [
        ["sub", "node", ["sub"]],
        ["sub/deep", "node", ["sub", "deep"]],
        ["last", "node", ["last"]],
      ],
    );
    assert.equal(steps[1]?.parentStepId, steps[0]?.stepId);
    const ends = events.filter((event) => event.type === "step.ended");
    assert.deepEqual(
      ends.map(({ name, completed }) => [name, completed]),
      [
        ["sub/deep", true],
        ["sub", true],
        ["last", true],
      ],
    );
    assert.deepEqual(
      events.filter((event) => event.type === "custom.emitted").map(({ name, value }) => [name, value]),
      [
        ["progress", 0.5],
        ["langgraph", "anything"],
      ],
    );
    assert.deepEqual(state(events), await alone(graph, { log: ["asked"] }));
    assert.deepEqual(agent.definition, {
      nodes: [
        {
          id: "sub",
          kind: "graph",
          graph: {
            nodes: [{ id: "deep", kind: "node" }],
            edges: [
              { from: "__start__", to: "deep", kind: "edge" },
              { from: "deep", to: "__end__", kind: "edge" },
            ],
          },
        },
        { id: "last", kind: "node" },
      ],
      edges: [
        { from: "__start__", to: "sub", kind: "edge" },
        { from: "sub", to: "last", kind: "edge" },
        { from: "last", to: "__end__", kind: "edge" },
      ],
    });
  });

  it("shows the calls that the graph runs by itself, and lets nobody else settle them", async () => {
    const weather = tool(async ({ city }) => `${city}: ${interrupt("Look outside?")}`, {
      name: "weather",
      description: "The weather",
      schema: z.object({ city: z.string() }),
    });
    const chunk = (args: string, first = false) => ({
      tool_call_chunks: [{ index: 0, args, type: "tool_call_chunk" as const, ...(first && { id: "w1", name: "weather" }) }],
    });
    const asks = new ChunkModel("Let me see.", chunk('{"city":', true), chunk('"Oslo"}'), {
      usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } as never, // LangChain types it by its whole message
    });
    const answers = new ChunkModel("It rains.");
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", async ({ messages }) => ({
        messages: [await (messages.at(-1)?.type === "tool" ? answers : asks).invoke(messages)],
      }))
      .addNode("tools", new ToolNode([weather]))
      .addEdge(START, "model")
      .addConditionalEdges("model", ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : END), ["tools", END])
      .addEdge("tools", "model");
    await using server = await serve({ agents: { default: langgraph(graph.compile()) } });
    await server.post({ threadId: "t", runId: "r1", messages: [{ id: "u1", role: "user", content: "weather?" }] });
    const waiting = await server.events();
    const called = waiting.find((event) => event.type === "tool.called");
    assert.deepEqual([called?.callId, called?.input, called?.owner], ["w1", { city: "Oslo" }, "server"]);
    assert.deepEqual(
      waiting.find((event) => event.type === "step.ended" && event.usage !== undefined) && outcome(waiting)?.type,
      "waiting",
    );

    const headers = { "content-type": "application/json" };
    const forged = await fetch(`${server.url}/v1/calls/w1/result`, { method: "POST", headers, body: '{"output":"sun"}' });
    assert.ok(forged.status >= 400, `${forged.status}`);

    const [question] = questions(waiting);
    await server.post({
      threadId: "t",
      runId: "r2",
      messages: [],
      resume: [{ interruptId: question?.interruptId, status: "resolved", payload: "rain" }],
    });
    const events = await server.events();
    const results = events.filter((event) => event.type === "tool.returned");
    assert.deepEqual(
      results.map(({ callId, status, output, by }) => [callId, status, output, by]),
      [["w1", "completed", "Oslo: rain", "langgraph"]],
    );
    assert.deepEqual(said(events), ["Let me see.", "It rains."]);
    assert.equal(outcome(events)?.type, "done");
  });

  it("hands out the calls of client tools and goes on with their results", async () => {
    const seen: BaseMessage[][] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", async ({ messages }, config) => {
        seen.push(messages);
        const offered = ((config.configurable?.["tools"] ?? []) as { name: string }[]).map(({ name }) => name);
        const last = messages.at(-1);
        if (last?.type === "tool") return { messages: [new AIMessage(`Your page is ${(last as ToolMessage).content}.`)] };
        return { messages: [new AIMessage({ content: "", tool_calls: [{ id: "p1", name: offered[0] ?? "", args: {} }] })] };
      })
      .addEdge(START, "model")
      .addEdge("model", END);
    await using server = await serve({ agents: { default: langgraph(graph.compile()) } });
    const tools = [{ name: "pageColor", description: "The color of the page", parameters: { type: "object", properties: {} } }];
    const user = { id: "u1", role: "user", content: "color?" };
    await server.post({ threadId: "t", runId: "r1", messages: [user], tools });
    const offered = (await server.events()).find((event) => event.type === "call.offered");
    assert.deepEqual([offered?.callId, offered?.owner], ["p1", "client"]);
    await server.post({
      threadId: "t",
      runId: "r2",
      tools,
      messages: [
        user,
        { id: "a1", role: "assistant", toolCalls: [{ id: "p1", type: "function", function: { name: "pageColor", arguments: "{}" } }] },
        { id: "t1", role: "tool", toolCallId: "p1", content: "blue" },
      ],
    });
    const events = await server.events();
    assert.deepEqual(said(events), ["Your page is blue."]);
    assert.equal(outcome(events)?.type, "done");
    assert.deepEqual(
      seen.at(-1)?.map(({ type }) => type),
      ["human", "ai", "tool"],
    );
  });

  it("runs the tools it is given, checked and with approval, and tells the graph what came of them", async () => {
    const ran: Json[] = [];
    const input = z.object({ order: z.string() });
    const refund = handbackTool({
      name: "refund",
      description: "Pay back",
      input,
      approval: true,
      execute: ({ order }) => ran.push(order),
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", ({ messages }) => {
        const results = messages.filter(({ type }) => type === "tool").map(({ content }) => content);
        if (results.length > 0) return { messages: [new AIMessage(results.join(", "))] };
        const calls = [{ order: "o1" }, { order: 7 }].map((args, i) => ({ id: `r${i}`, name: "refund", args }));
        return { messages: [new AIMessage({ content: "", tool_calls: calls })] };
      })
      .addEdge(START, "model");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), { tools: [refund] }) } });
    await engine.submit(message("refund"));
    await engine.idle();
    assert.deepEqual(ran, []);
    await engine.submit({ answers: [{ callId: "r0", status: "resolved", value: { approved: true } }] });
    const events = await engine.idle();
    assert.deepEqual(ran, ["o1"]);
    assert.match(said(events).at(-1) ?? "", /^1, The arguments of refund do not fit its schema/);
    assert.equal(outcome(events)?.type, "done");
  });

  it("goes on with one of two answers, and with the other later", async () => {
    const ran: string[] = [];
    const graph = twoQuestions(ran);
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    const first = questions(await engine.idle());
    assert.deepEqual(first.map(({ prompt }) => prompt).sort(), ["left?", "right?"]);
    const [left, right] = ["left?", "right?"].map((prompt) => first.find((question) => question.prompt === prompt)?.interruptId ?? "");
    await engine.submit({ answers: [yes(left ?? "", "L")] });
    const between = await engine.idle();
    assert.deepEqual(questions(between).length, 2, "the other one is not asked again");
    assert.equal(outcome(between)?.type, "waiting");
    await engine.submit({ answers: [yes(right ?? "", "R")] });
    const events = await engine.idle();
    assert.equal(outcome(events)?.type, "done");
    const expected = await alone(twoQuestions(), { log: ["asked"] }, (question) => String(question)[0]?.toUpperCase());
    assert.deepEqual(state(events), expected);
    assert.deepEqual(
      ran.filter((name) => name === "left").length,
      2,
      "a node runs again for its answer, and not for that of its neighbour",
    );
  });

  it("takes falsy answers, and null for a question that was cancelled", async () => {
    const graph = new StateGraph(Log)
      .addNode("ask", () => {
        const answers = [interrupt("a"), interrupt("b"), interrupt("c")];
        return { log: [JSON.stringify(answers)] };
      })
      .addEdge(START, "ask");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    for (const answer of [{ status: "resolved", value: false }, { status: "resolved", value: [1, 2] }, { status: "cancelled" }] as const) {
      const open = questions(await engine.idle()).at(-1);
      await engine.submit({ answers: [{ interruptId: open?.interruptId ?? "", ...answer } as ReturnType<typeof yes>] });
    }
    const events = await engine.idle();
    assert.deepEqual(state(events), { log: ["asked", "[false,[1,2],null]"] });
    assert.equal(new Set(questions(events).map(({ interruptId }) => interruptId)).size, 3);
  });

  it("asks anew in a loop, and in a sub-graph", async () => {
    const inner = new StateGraph(Log)
      .addNode("ask", ({ log }) => ({ log: [String(interrupt(`round ${log.length}`))] }))
      .addEdge(START, "ask");
    const graph = new StateGraph(Log)
      .addNode("sub", async (state) => ({ log: (await subgraph.invoke({ log: state.log })).log.slice(-1) }))
      .addEdge(START, "sub")
      .addConditionalEdges("sub", ({ log }) => (log.length < 4 ? "sub" : END), ["sub", END]);
    const subgraph = inner.compile();
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    const asked: Json[] = [];
    for (let round = 1; round <= 3; round += 1) {
      const open = questions(await engine.idle()).at(-1);
      asked.push(open?.prompt ?? null);
      assert.deepEqual(open?.place?.path, ["sub", "ask"]);
      await engine.submit({ answers: [yes(open?.interruptId ?? "", `answer ${round}`)] });
    }
    const events = await engine.idle();
    assert.deepEqual(asked, ["round 1", "round 2", "round 3"]);
    assert.deepEqual(state(events), { log: ["asked", "answer 1", "answer 2", "answer 3"] });
  });

  it("refuses an answer that does not fit the schema of its question", async () => {
    const graph = new StateGraph(Log)
      .addNode("ask", () => ({ log: [String(interrupt("how many?", { responseSchema: z.number() }))] }))
      .addEdge(START, "ask");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    const { interruptId = "" } = questions(await engine.idle())[0] ?? {};
    await assert.rejects(engine.submit({ answers: [yes(interruptId, "many")] }), /does not fit its schema/);
    await engine.submit({ answers: [yes(interruptId, 3)] });
    assert.deepEqual(state(await engine.idle()), { log: ["asked", "3"] });
  });

  it("stops at static breakpoints and goes on when it may", async () => {
    const graph = new StateGraph(Log)
      .addNode("a", () => ({ log: ["a"] }))
      .addNode("b", () => ({ log: ["b"] }))
      .addEdge(START, "a")
      .addEdge("a", "b");
    const agents = { default: langgraph(graph.compile({ interruptBefore: ["b"], interruptAfter: ["b"] }), inLog) };
    await using engine = startEngine({ agents });
    await engine.submit(message("go"));
    const [before] = questions(await engine.idle());
    assert.deepEqual([before?.reason, before?.prompt], ["breakpoint", { next: ["b"] }]);
    assert.deepEqual(state(await engine.events()), { log: ["asked", "a"] });
    await engine.submit({ answers: [yes(before?.interruptId ?? "")] });
    const events = await engine.idle();
    assert.deepEqual(state(events), { log: ["asked", "a", "b"] });
    assert.equal(outcome(events)?.type, "done");
  });

  it("fans out with Send", async () => {
    const graph = new StateGraph(Log)
      .addNode("plan", () => ({}))
      .addNode("work", ({ log }: { log: string[] }) => ({ log: [`${log[0]}${log[0] === "2" ? interrupt("two?") : ""}`] }))
      .addEdge(START, "plan")
      .addConditionalEdges("plan", () => ["1", "2", "3"].map((name) => new Send("work", { log: [name] })), ["work"]);
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    const open = questions(await engine.idle());
    assert.deepEqual(
      open.map(({ prompt }) => prompt),
      ["two?"],
    );
    await engine.submit({ answers: [yes(open[0]?.interruptId ?? "", "!")] });
    const events = await engine.idle();
    assert.deepEqual(state(events), { log: ["asked", "1", "2!", "3"] });
    const names = events.flatMap((event) => (event.type === "step.started" ? [event.name] : []));
    assert.deepEqual(names.slice(0, 4), ["plan", "work", "work#2", "work#3"], "clients refuse two open steps of one name");
  });

  it("fails the run with what a node threw, and a retry goes on with what is left", async () => {
    let broken = true;
    const ran: string[] = [];
    const graph = new StateGraph(Log)
      .addNode("a", () => {
        ran.push("a");
        return { log: ["a"] };
      })
      .addNode("b", () => {
        ran.push("b");
        if (broken) throw new Error("The disk is on fire");
        return { log: ["b"] };
      })
      .addEdge(START, "a")
      .addEdge("a", "b");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    const failed = await engine.idle();
    const end = outcome(failed);
    assert.deepEqual(end?.type === "failed" && end.error, { code: "internal", message: "The disk is on fire" });
    const step = failed.find((event) => event.type === "step.ended" && event.name === "b");
    assert.deepEqual(step?.type === "step.ended" && [step.completed, step.error?.message], [false, "The disk is on fire"]);
    broken = false;
    await engine.submit({});
    assert.deepEqual(state(await engine.idle()), { log: ["asked", "a", "b"] });
    assert.deepEqual(ran, ["a", "b", "b"]);
  });

  it("fails when the graph takes more steps than it may", async () => {
    const graph = new StateGraph(Log)
      .addNode("a", () => ({ log: ["a"] }))
      .addEdge(START, "a")
      .addEdge("a", "a");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), { ...inLog, recursionLimit: 5 }) } });
    await engine.submit(message("go"));
    const end = outcome(await engine.idle());
    assert.ok(end?.type === "failed" && end.error.code === "limit", JSON.stringify(end));
    assert.match(end.error.message, /Recursion limit of 5/);
  });

  it("fails when a value cannot be kept", async () => {
    const graph = new StateGraph(Log).addNode("a", () => ({ log: [1n as unknown as string] })).addEdge(START, "a");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    const end = outcome(await engine.idle());
    assert.ok(end?.type === "failed" && /cannot be kept/.test(end.error.message), JSON.stringify(end));
  });

  it("stops when it is cancelled, and starts afresh with the next message", async () => {
    let aborted = false;
    let stuck = true;
    let begun = false;
    const graph = new StateGraph(Log)
      .addNode("a", async (_, { signal }) => {
        begun = true;
        if (stuck)
          await new Promise((resolve) =>
            signal?.addEventListener("abort", () => {
              aborted = true;
              resolve(undefined);
            }),
          );
        return { log: ["a"] };
      })
      .addEdge(START, "a");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    await engine.submit(message("go"));
    await eventually(() => begun);
    await engine.tell({ type: "cancel" });
    assert.equal(outcome(await engine.idle())?.type, "cancelled");
    await eventually(() => aborted);
    stuck = false;
    await engine.submit(message("again"));
    const events = await engine.idle();
    assert.equal(outcome(events)?.type, "done");
    assert.deepEqual(state(events), { log: ["asked", "asked", "a"] });
  });

  it("keeps what a client may not set out of LangGraph's own configuration", async () => {
    let seen: Record<string, unknown> = {};
    const graph = new StateGraph(Log)
      .addNode("a", (_, { configurable }) => {
        seen = { ...configurable };
        return {};
      })
      .addEdge(START, "a");
    await using engine = startEngine({ agents: { default: langgraph(graph.compile(), inLog) } });
    const values = { tone: "kind", thread_id: "other", user_id: "root", checkpoint_id: "x", __pregel_read: "x" };
    await engine.submit({ ...message("go"), options: { values } });
    await engine.idle();
    assert.deepEqual([seen["tone"], seen["thread_id"], seen["user_id"]], ["kind", "t", "user"]);
    assert.notEqual(seen["checkpoint_id"], "x");
    assert.notEqual(seen["__pregel_read"], "x");
  });

  it("refuses a graph it could say nothing to", () => {
    const graph = new StateGraph(Log).addNode("a", () => ({})).addEdge(START, "a");
    assert.throws(() => langgraph(graph.compile()), /input: the graph has no `messages`/);
  });
});

describe("a LangGraph graph that goes back", () => {
  const echo = () =>
    new StateGraph(MessagesAnnotation)
      .addNode("echo", ({ messages }) => ({ messages: [new AIMessage(`${messages.map(({ text }) => text).join(" ")}!`)] }))
      .addEdge(START, "echo")
      .compile();

  it("forgets what was said behind a message that is edited", async () => {
    await using engine = startEngine({ agents: { default: langgraph(echo()) } });
    for (const [text, id] of [
      ["one", "m1"],
      ["two", "m2"],
      ["three", "m3"],
    ] as const) {
      await engine.submit(message(text, id));
      await engine.idle();
    }
    await engine.submit({ ...message("zwei", "m4"), rewindTo: "m2" });
    assert.equal(said(await engine.idle()).at(-1), "one one! zwei!");
  });

  it("runs again from a checkpoint, in its thread and in a copy of it", async () => {
    const build = () =>
      new StateGraph(Log)
        .addNode("a", () => ({ log: ["a"] }))
        .addNode("ask", () => ({ log: [String(interrupt("which?"))] }))
        .addNode("b", () => ({ log: ["b"] }))
        .addEdge(START, "a")
        .addEdge("a", "ask")
        .addEdge("ask", "b")
        .compile();
    await using engine = startEngine({ agents: { default: langgraph(build(), inLog) } });
    await engine.submit(message("go"));
    await engine.submit({ answers: [yes(questions(await engine.idle())[0]?.interruptId ?? "", "x")] });
    const events = await engine.idle();
    const barrier = events.find((event) => event.type === "checkpoint.reached" && event.tasks[0]?.node === "ask");
    assert.ok(barrier?.type === "checkpoint.reached");

    const copy = keyOf("copy");
    const who = { runId: "r", turnId: "turn-of-copy", by: "user:user", via: "test" };
    await fork(engine.engine, keyOf(), { checkpointId: barrier.checkpointId, threadId: "copy", run: who });
    const [again] = questions(await engine.idle(copy)).slice(-1);
    assert.equal(again?.prompt, "which?");
    await engine.submit({ answers: [yes(again?.interruptId ?? "", "y")] }, copy);
    assert.equal(outcome(await engine.idle(copy))?.type, "done");
    const using = async (key = keyOf()) => (await hold(engine.engine, key)).thread.state;
    assert.deepEqual(await using(copy), { log: ["asked", "a", "y", "b"] });
    assert.deepEqual(await using(), { log: ["asked", "a", "x", "b"] }, "the origin is as it was");

    await engine.submit({ resume: { checkpointId: barrier.checkpointId } });
    const anew = questions(await engine.idle()).at(-1);
    await engine.submit({ answers: [yes(anew?.interruptId ?? "", "z")] });
    await engine.idle();
    assert.deepEqual(await using(), { log: ["asked", "a", "z", "b"] });
  });
});

describe("a LangGraph graph whose process dies", () => {
  /** A server's life: an engine over this file, which another one takes over as it is. */
  async function life(path: string, agent: Agent) {
    const store = await sqliteStore({ path });
    const engine = startEngine({ agents: { default: agent }, store });
    return {
      ...engine,
      /** As kill -9 leaves it: what is not on disk by now never was. */
      async die() {
        engine.engine.stopping = true;
        for (const live of engine.engine.live.values()) live.driver?.stop("shutdown");
        await eventually(() => ![...engine.engine.live.values()].some(({ driver }) => driver));
        await engine.stop();
        await store.close();
      },
    };
  }

  it("goes on from its question in another process", async () => {
    using dir = directory();
    const make = () => langgraph(twoQuestions().compile(), inLog);
    let server = await life(dir.path, make());
    await server.submit(message("go"));
    const [left, right] = questions(await server.idle()).map(({ interruptId }) => interruptId);
    await server.die();
    server = await life(dir.path, make());
    await server.submit({ answers: [yes(left ?? "", "1")] });
    assert.equal(outcome(await server.idle())?.type, "waiting");
    await server.die();
    server = await life(dir.path, make());
    await Promise.all([1, 2, 3].map(() => server.submit({ answers: [yes(right ?? "", "2")] })));
    const events = await server.idle();
    assert.equal(outcome(events)?.type, "done");
    assert.equal(events.filter((event) => event.type === "step.ended" && event.name === "both").length, 1);
    const expected = await alone(twoQuestions(), { log: ["asked"] }, (question) => (question === "left?" ? "1" : "2"));
    assert.deepEqual(state(events), expected);
    await server.die();
  });

  it("runs no node again that had finished, wherever it dies", async () => {
    const names = ["a", "b", "c", "d"];
    for (const deadly of names) {
      using dir = directory();
      const ran: string[] = [];
      let alive = true;
      const build = () => {
        const node = (name: string) => async () => {
          ran.push(name);
          if (name === deadly && alive) await new Promise(() => {});
          return { log: [name] };
        };
        return new StateGraph(Log)
          .addNode("a", node("a"))
          .addNode("b", node("b"))
          .addNode("c", node("c"))
          .addNode("d", node("d"))
          .addEdge(START, "a")
          .addEdge("a", "b")
          .addEdge("a", "c")
          .addEdge(["b", "c"], "d")
          .compile();
      };
      const before = await life(dir.path, langgraph(build(), inLog));
      await before.submit(message("go"));
      // Everything beside the deadly node is on disk before the process dies.
      const done = { a: 0, b: 2, c: 2, d: 3 }[deadly];
      await eventually(async () => {
        const written = JSON.stringify((await before.events()).filter(({ type }) => type === "memory.patched"));
        const finished = ["a", "b", "c"].filter((name) => name !== deadly && written.includes(`"${name}"`)).length;
        return ran.includes(deadly) && finished >= (done ?? 0);
      });
      await before.die();
      alive = false;
      const after = await life(dir.path, langgraph(build(), inLog));
      await eventually(async () => outcome(await after.events())?.type === "done");
      assert.deepEqual(state(await after.events()), { log: ["asked", "a", "b", "c", "d"] });
      for (const name of names) assert.equal(ran.filter((other) => other === name).length, name === deadly ? 2 : 1, `${name} of ${ran}`);
      await after.die();
    }
  });

  it("does not pass a static breakpoint that nobody was asked about", async () => {
    for (const stop of [{ interruptBefore: ["b" as const] }, { interruptAfter: ["a" as const] }]) {
      using dir = directory();
      const build = () =>
        new StateGraph(Log)
          .addNode("a", () => ({ log: ["a"] }))
          .addNode("b", () => ({ log: ["b"] }))
          .addEdge(START, "a")
          .addEdge("a", "b")
          .compile(stop);
      const store = await sqliteStore({ path: dir.path });
      // The process dies between the barrier and the question.
      const append: typeof store.append = async (key, expect, events, at, request) => {
        if (events.some(({ type }) => type === "interrupt.raised")) return new Promise(() => {});
        return store.append(key, expect, events, at, request);
      };
      const dying = startEngine({ agents: { default: langgraph(build(), inLog) }, store: { ...store, append } });
      await dying.submit(message("go"));
      await eventually(async () => JSON.stringify(await dying.events()).includes('"value":"a"'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await store.close();
      const after = await life(dir.path, langgraph(build(), inLog));
      await eventually(async () => outcome(await after.events()) !== undefined);
      const events = await after.events();
      assert.deepEqual([outcome(events)?.type, state(events)], ["waiting", { log: ["asked", "a"] }]);
      await after.die();
    }
  });

  it("keeps the threads of two users apart", async () => {
    await using engine = startEngine({ agents: { default: langgraph(talkAndAsk().compile()) } });
    const [mine, yours] = [keyOf("t", "me"), keyOf("t", "you")];
    await Promise.all([engine.submit(message("hi"), mine), engine.submit(message("hi"), yours)]);
    const [a, b] = [questions(await engine.idle(mine)), questions(await engine.idle(yours))];
    await engine.submit({ answers: [yes(a[0]?.interruptId ?? "", "mine")] }, mine);
    await engine.submit({ answers: [yes(b[0]?.interruptId ?? "", "yours")] }, yours);
    assert.deepEqual(said(await engine.idle(mine)), ["Hello", "You said mine."]);
    assert.deepEqual(said(await engine.idle(yours)), ["Hello", "You said yours."]);
  });
});

describe("the LangGraph example", () => {
  it("takes an answer after kill -9, once however often it is sent", { timeout: 60_000 }, async (t) => {
    const args = ["start", "--port", "0", "--data", scratch(), "--config", "examples/langgraph/handback.config.ts"];
    const dying = await startServer(args);
    t.after(() => dying.stop("SIGKILL"));
    const ask = new HttpAgent({ url: `${dying.url}/agui`, threadId: "t", initialMessages: [{ id: "u", role: "user", content: "cats" }] });
    await runAgent(ask);
    const [question] = ask.pendingInterrupts;
    await dying.stop("SIGKILL");
    const next = await startServer(args);
    t.after(() => next.stop("SIGKILL"));
    const body = (runId: string) => {
      const resume = [{ interruptId: question?.id, status: "resolved", payload: "yes" }];
      return {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ threadId: "t", runId, messages: [], resume }),
      };
    };
    const answers = await Promise.all(["r1", "r2", "r3"].map((runId) => fetch(`${next.url}/agui`, body(runId))));
    for (const answer of answers) assert.equal((await answer.text()).match(/"delta":"Published."/g)?.length, 1);
    const { events } = (await (await fetch(`${next.url}/v1/threads/t/log`)).json()) as { events: Event[] };
    assert.deepEqual(said(events), ["A post about cats.", "Published."]);
    const kept = events.flatMap((event) => (event.type === "memory.patched" ? event.ops : []));
    assert.deepEqual(kept, [], "what a graph keeps for itself is no user's to read");
  });

  it("asks, is stopped, and takes the answer in its next life", async () => {
    const args = ["--conditions=handback-source", "examples/langgraph/main.ts"];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    assert.match(stdout, /asked: Publish it\?\nsaid: \[ 'A post about cats.', 'Published.' \]/);
  });
});
