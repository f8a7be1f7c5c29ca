import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AgentCapabilitiesSchema } from "@ag-ui/core/schemas";
import { z } from "zod";
import type { Agent } from "../src/agent/agent.ts";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { AppError } from "../src/core/error.ts";
import type { Event } from "../src/core/event.ts";
import type { JsonObject } from "../src/core/json.ts";
import { type Config, createHandback } from "../src/handback.ts";
import { calls, hangs, says, scripted } from "../src/model/scripted.ts";
import { memoryStore } from "../src/store/memory.ts";
import { strict } from "./support/agui.ts";
import { type Frame, last, textOf, types } from "./support/frames.ts";
import { asking, runAgent } from "./support/judge.ts";
import { eventually, keyOf, type Served, serve } from "./support/serve.ts";

strict();

const user = (content: string | object[], id = "u1") => ({ id, role: "user", content });
const body = (messages: object[], more: object = {}) => ({ threadId: "t", runId: "r1", messages, ...more });
const text = (...turns: string[]) => chatAgent({ model: scripted(...turns.map((turn) => says(turn))) });
const outcome = async (server: Served) => (await server.events()).findLast((event) => event.type === "run.ended")?.outcome;
const threads = async (server: Served, app = "default", named = "user") =>
  (await server.store.threads({ app, user: named, limit: 10 })).threads.map(({ threadId }) => threadId);
const messagesIn = ({ frames }: { frames: Frame[] }) =>
  (frames.find(({ type }) => type === "MESSAGES_SNAPSHOT")?.["messages"] ?? []) as { role: string; content: object[] }[];
const props = ({ forwardedProps }: { forwardedProps: unknown }) => (forwardedProps ?? {}) as Record<string, JsonObject & string>;

describe("AG-UI: whose threads", () => {
  const resolveUser: NonNullable<Config["agui"]>["resolveUser"] = (input) => props(input)["userId"] || "anonymous";

  it("a user resolver reads the user from the request, on every route", async () => {
    await using server = await serve({ agui: { resolveUser }, agents: { default: text("Hi.") } });
    const forwardedProps = { userId: "alice" };
    await server.post(body([user("hello")], { forwardedProps }));
    assert.deepEqual(await threads(server, "default", "alice"), ["t"]);
    const history = await server.post({ threadId: "t", forwardedProps }, "/agui/history");
    assert.equal(messagesIn(history).length, 2);
    assert.deepEqual((await server.post({ threadId: "t" }, "/agui/history")).frames[1]?.["messages"], []);
    assert.equal((await server.post({ threadId: "t", forwardedProps }, "/agui/cancel")).status, 404);
  });

  it("a user resolver never overrides who is authenticated", async () => {
    const authenticate = () => ({ user: "bob" });
    await using server = await serve({ authenticate, agui: { resolveUser }, agents: { default: text("Hi.") } });
    await server.post(body([user("hello")], { forwardedProps: { userId: "alice" } }));
    assert.deepEqual([await threads(server, "default", "bob"), await threads(server, "default", "alice")], [["t"], []]);
  });

  it("an app name keeps apps apart; a resolver's answer comes first", async () => {
    const resolveApp: NonNullable<Config["agui"]>["resolveApp"] = (input) => props(input)["app"];
    await using server = await serve({ agui: { appName: "demo-app", resolveApp }, agents: { default: text("Hi.", "Ho.") } });
    await server.post(body([user("hello")]));
    await server.post({ ...body([user("hello")], { forwardedProps: { app: "other" } }), threadId: "t2" });
    assert.deepEqual([await threads(server, "demo-app"), await threads(server, "other"), await threads(server)], [["t"], ["t2"], []]);
  });
});

describe("AG-UI: how a run differs", () => {
  it("run options choose a model of the list, instructions, tools, values and attributes, applied in order", async () => {
    const small = scripted(calls("search", { q: "x" }, { id: "c1" }), says("Found."));
    let told: JsonObject = {};
    const search = tool({
      name: "search",
      description: "Searches",
      input: z.object({ q: z.string() }),
      execute: (_, { values }) => (told = values),
    });
    const hidden = tool({ name: "hidden", description: "Not today", input: z.object({}), execute: () => 1 });
    const agent = chatAgent({ model: scripted(), models: { small }, tools: [search, hidden] });
    const resolveOptions: NonNullable<Config["agui"]>["resolveOptions"] = (input) => {
      const { modelName, knowledgeFilter, scenario } = props(input);
      return [
        { model: "large", instructions: "Be brief.", attributes: { "trace.input": "x" } },
        { ...(modelName && { model: modelName }), tools: ["search"], maxSteps: 5 },
        { ...(knowledgeFilter && { values: { knowledgeFilter } }), ...(scenario && { attributes: { "conversation.scenario": scenario } }) },
      ];
    };
    await using server = await serve({ agui: { resolveOptions }, agents: { default: agent } });
    const forwardedProps = { modelName: "small", knowledgeFilter: { topic: "tea" }, scenario: "demo" };
    const { frames } = await server.post(body([user("search")], { forwardedProps }));
    assert.equal(textOf(frames), "Found.");
    assert.deepEqual(told, { knowledgeFilter: { topic: "tea" } });
    assert.deepEqual(
      small.requests[0]?.tools.map(({ name }) => name),
      ["search"],
    );
    assert.equal(small.requests[0]?.instructions, "Be brief.");
    const { attributes, maxSteps } = small.requests[0]?.options ?? {};
    assert.deepEqual([attributes, maxSteps], [{ "trace.input": "x", "conversation.scenario": "demo" }, 5]);
    const refused = await server.post({ ...body([user("hi")], { forwardedProps: { modelName: "huge" } }), threadId: "t2" });
    assert.deepEqual([refused.status, refused.error.field], [400, "model"]);
  });

  it("a state resolver says what tools are told of the state, in place of other values", async () => {
    const told: JsonObject[] = [];
    const look = tool({ name: "look", description: "Looks", input: z.object({}), execute: (_, { values }) => told.push(values) });
    const model = () => scripted(calls("look", {}), says("Ok."));
    const answers: (JsonObject | undefined)[] = [undefined, { custom_key: 1 }, {}];
    for (const answer of answers) {
      const agui = { resolveOptions: () => ({ values: { from: "options" } }), resolveState: () => answer };
      await using server = await serve({ agui, agents: { default: chatAgent({ model: model(), tools: [look] }) } });
      const { frames } = await server.post(body([user("look")], { state: { custom_key: 1, secret: 2 } }));
      assert.deepEqual(frames[1]?.["snapshot"], { custom_key: 1, secret: 2 }); // kept and shown all the same
    }
    assert.deepEqual(told, [{ from: "options" }, { custom_key: 1 }, {}]);
  });

  it("a state that is null is none, and an empty one clears what was there", async () => {
    await using server = await serve({ agents: { default: text("A.", "B.", "C.") } });
    const states: unknown[] = [];
    for (const [i, state] of [{ cart: 1 }, null, {}].entries()) {
      await server.post(body([user("hi", `u${i}`)], { runId: `r${i}`, state }));
      const { frames } = await server.post({ threadId: "t" }, "/agui/history");
      states.push(frames.find(({ type }) => type === "STATE_SNAPSHOT")?.["snapshot"]);
    }
    assert.deepEqual(states, [{ cart: 1 }, { cart: 1 }, undefined]);
  });

  it("an input hook may put another request in place, or change the one it sees", async () => {
    const model = scripted(says("One."), says("Two."));
    const onInput: NonNullable<Config["agui"]>["onInput"] = (input) => {
      const [message] = input.messages ?? [];
      const other = props(input)["other_content"];
      if (message?.role !== "user" || other === undefined) return undefined;
      if (props(input)["inPlace"]) {
        message.content += other;
        return undefined;
      }
      return { ...input, messages: [{ ...message, content: message.content + other }] };
    };
    await using server = await serve({ agui: { onInput }, agents: { default: chatAgent({ model }) } });
    await server.post(body([user("hello")], { forwardedProps: { other_content: " there" } }));
    await server.post({ ...body([user("bye")], { forwardedProps: { other_content: " now", inPlace: true } }), threadId: "t2" });
    assert.deepEqual(
      model.requests.map(({ history: [entry] }) => entry?.role === "user" && entry.content),
      ["hello there", "bye now"],
    );
  });

  it("a hook or resolver that throws is told as RUN_ERROR, and nothing is written", async () => {
    const broken = () => {
      throw new AppError("forbidden", "Not on Sundays");
    };
    for (const name of ["onInput", "resolveUser", "resolveApp", "resolveOptions", "resolveState"]) {
      await using server = await serve({ agui: { [name]: broken }, agents: { default: text("Hi.") } });
      const { status, frames } = await server.post(body([user("hello")]));
      assert.deepEqual(
        [status, types(frames), frames[0]?.["message"], frames[0]?.["code"]],
        [200, ["RUN_ERROR"], "Not on Sundays", "forbidden"],
        name,
      );
      assert.deepEqual(await server.events(), []);
      assert.equal((await server.post({})).error.field, "threadId", name); // malformed all the same
    }
    await using server = await serve({
      agui: {
        onInput() {
          throw new Error("password is 1234");
        },
      },
      agents: { default: text("Hi.") },
    });
    assert.ok(!(await server.post(body([user("hello")]))).text.includes("1234"));
    assert.equal((await server.post({ threadId: "t" }, "/agui/cancel")).status, 500);
  });
});

describe("AG-UI: translation", () => {
  it("a translator wraps ours, or takes its place", async () => {
    const trace: NonNullable<Config["agui"]>["translator"] =
      (inner, { runId }) =>
      async (event) => {
        const frames = await inner(event);
        return event.type === "step.started"
          ? [...frames, { type: "CUSTOM", name: "trace.metadata", value: { runId, seq: event.seq } }]
          : frames;
      };
    await using server = await serve({ agui: { translator: trace }, agents: { default: text("Hi.") } });
    const { events } = await runAgent(asking(server, "hello"), { runId: "r1" });
    assert.deepEqual(events.find(({ type }) => type === "CUSTOM")?.["value"], { runId: "r1", seq: 2 });

    const steps: NonNullable<Config["agui"]>["translator"] = (inner) => (event) => (event.type.startsWith("step.") ? [] : inner(event));
    await using other = await serve({ agui: { translator: steps }, agents: { default: text("Hi.") } });
    const { types } = await runAgent(asking(other, "hello"));
    assert.deepEqual(types, ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
  });

  it("callbacks before and after come in order, and the first that answers counts", async () => {
    const seen: string[] = [];
    const agui: Config["agui"] = {
      beforeTranslate: [
        (event) => {
          seen.push(event.type);
          if (event.type === "text.ended") event.text = "changed in place"; // a copy: the log is not for callbacks to edit
        },
        (event) => (event.type === "text.delta" ? { ...event, delta: event.delta.toUpperCase() } : undefined),
        (event) => (event.type === "text.delta" ? { ...event, delta: "never" } : undefined),
      ],
      afterTranslate: [
        (frame) => (frame.type === "TEXT_MESSAGE_CONTENT" ? { ...frame, delta: `${frame["delta"]} [via callback]` } : undefined),
      ],
    };
    await using server = await serve({ agui, agents: { default: text("Hi.") } });
    const { frames } = await server.post(body([user("hello")]));
    assert.equal(textOf(frames), "HI. [via callback]");
    assert.ok(seen.includes("run.started") && seen.includes("run.ended"));
    const said = (await server.events()).find((event) => event.type === "text.ended");
    assert.equal(said?.type === "text.ended" && said.text, "Hi.");
  });

  it("callbacks see what a history tells, too", async () => {
    const agui: Config["agui"] = {
      afterTranslate: [(frame) => (frame.type === "MESSAGES_SNAPSHOT" ? { ...frame, messages: [] } : undefined)],
    };
    await using server = await serve({ agui, agents: { default: text("Hi.") } });
    await server.post(body([user("hello")]));
    assert.deepEqual((await server.post({ threadId: "t" }, "/agui/history")).frames[1]?.["messages"], []);
  });

  it("a callback that throws ends the run with RUN_ERROR", async () => {
    for (const side of ["beforeTranslate", "afterTranslate"] as const) {
      const fail = ({ type }: { type: string }) => {
        if (type === "text.started" || type === "TEXT_MESSAGE_START") throw new AppError("limit", "Said enough");
        return undefined;
      };
      const agents = { default: chatAgent({ model: scripted(hangs(...says("One ").slice(0, -1))) }) };
      await using server = await serve({ agui: { [side]: [fail] }, agents });
      const { frames } = await server.post(body([user("hello")]));
      assert.deepEqual([types(frames).at(-1), frames.at(-1)?.["message"]], ["RUN_ERROR", "Said enough"]);
      await eventually(async () => (await outcome(server))?.type === "cancelled");
    }
  });
});

describe("AG-UI: how long", () => {
  const talking = () => ({ default: chatAgent({ model: scripted(hangs(...says("One ").slice(0, -1))) }) });

  it("a run of this door takes at most its timeout", async () => {
    await using server = await serve({ agui: { timeout: "10s" }, agents: talking() });
    const stream = await server.open(body([user("talk")]));
    await stream.until("TEXT_MESSAGE_CONTENT");
    await server.clock.advance(10_000);
    const frames = await stream.rest();
    assert.deepEqual(types(frames).slice(-3), ["TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_ERROR"]);
    assert.equal(frames.at(-1)?.["code"], "timeout");
  });

  it("a run goes on when its client hangs up, unless it is told to end with it", async () => {
    await using detached = await serve({ agents: talking() });
    await using coupled = await serve({ agui: { cancelOnDisconnect: true }, agents: talking() });
    for (const server of [detached, coupled]) {
      const stream = await server.open(body([user("talk")]));
      await stream.until("TEXT_MESSAGE_CONTENT");
      stream.abort();
    }
    await eventually(async () => (await outcome(coupled))?.type === "cancelled");
    assert.equal((await detached.thread())?.status, "running");
  });

  it("a quiet stream has a heart", async () => {
    await using server = await serve({ heartbeat: "5s", agents: talking() });
    const response = await fetch(`${server.url}/agui`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body([user("talk")])),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    while (!heard.includes("CONTENT")) heard += (await reader?.read())?.value ?? "";
    await server.clock.advance(6_000);
    while (!heard.includes(": hb\n\n")) heard += (await reader?.read())?.value ?? "";
    await server.post({ threadId: "t" }, "/agui/cancel");
    while (!(await reader?.read())?.done);
  });

  it("a stream that holds goes on over waits that others end", async () => {
    const look = tool({ name: "look", description: "Looks", input: z.object({}) });
    const agent = chatAgent({ model: scripted(calls("look", {}, { id: "c1" }), says("Seen.")), tools: [look] });
    await using server = await serve({ agents: { default: agent } });
    const stream = await server.open(body([user("look")]), "/agui?hold=true");
    await stream.until("RUN_FINISHED");
    await server.post({ threadId: "t", messages: [{ role: "tool", toolCallId: "c1", content: "x" }] });
    const frames = await stream.rest();
    assert.deepEqual(
      types(frames).filter((type) => type.startsWith("RUN_")),
      ["RUN_STARTED", "RUN_FINISHED", "RUN_STARTED", "RUN_FINISHED"],
    );
    assert.equal(textOf(frames), "Seen.");
  });

  it("a stream whose thread is deleted says so", async () => {
    await using server = await serve({ agents: talking() });
    const streams = [await server.open(body([user("talk")])), await server.open({ threadId: "t" }, "/agui/history")];
    for (const stream of streams) await stream.until("TEXT_MESSAGE_START");
    assert.equal((await fetch(`${server.url}/v1/threads/t`, { method: "DELETE" })).status, 204);
    for (const stream of streams) assert.deepEqual(last(await stream.rest())["code"], "gone");
  });

  it("one client at a time: a second message on a running thread is 409", async () => {
    await using server = await serve({ agents: talking() });
    const stream = await server.open(body([user("talk")]));
    await stream.until("TEXT_MESSAGE_CONTENT");
    assert.equal((await server.post(body([user("more", "u2")]))).status, 409);
    await server.post({ threadId: "t" }, "/agui/cancel");
    await stream.rest();
  });
});

describe("AG-UI: files", () => {
  const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMBAH+X1d0AAAAASUVORK5CYII=";
  const ask = (server: Served, part: object, id = "u1") =>
    server.post(body([user([{ type: "text", text: "What is it?" }, part], id)], { runId: id }));

  it("reach the model: links as they are, bytes as bytes", async () => {
    const model = scripted(says("A."), says("B."), says("C."), says("D."), says("E."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const parts = [
      { type: "binary", mimeType: "image/PNG", url: "https://example.com/image.png" },
      { type: "binary", mimeType: "image/png", data: `data:image/png;base64,${PIXEL}` },
      { type: "binary", mimeType: "audio/wav", data: PIXEL, filename: "a.wav" },
      { type: "image", source: { type: "url", value: "https://example.com/b.png" } },
      { type: "document", source: { type: "data", value: PIXEL, mimeType: "application/pdf" } },
    ];
    for (const [i, part] of parts.entries()) assert.equal((await ask(server, part, `u${i}`)).status, 200);
    const heard = model.requests
      .at(-1)
      ?.history.flatMap((entry) => (entry.role === "user" && typeof entry.content !== "string" ? [entry.content[1]] : []));
    assert.deepEqual(
      heard?.map((part) => part?.type === "file" && [part.mediaType, "url" in part ? part.url : part.name]),
      [
        ["image/png", "https://example.com/image.png"],
        ["image/png", undefined],
        ["audio/wav", "a.wav"],
        ["image/*", "https://example.com/b.png"],
        ["application/pdf", undefined],
      ],
    );
    // The same file by the name it was kept under.
    const kept = heard?.[1];
    assert.ok(kept?.type === "file" && "blob" in kept);
    const history = await server.post({ threadId: "t" }, "/agui/history");
    const told = messagesIn(history).filter(({ role }) => role === "user");
    assert.deepEqual(told[1]?.content[1], { type: "image", source: { type: "data", value: PIXEL, mimeType: "image/png" } });
    assert.deepEqual(told[0]?.content[1], {
      type: "image",
      source: { type: "url", value: "https://example.com/image.png", mimeType: "image/png" },
    });
    assert.equal((await server.store.blob(keyOf(), kept.blob))?.data.length, Buffer.from(PIXEL, "base64").length);
  });

  it("may be named by an id this thread knows, and by no other", async () => {
    const model = scripted(says("A."), says("B."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    await ask(server, { type: "binary", mimeType: "image/png", data: PIXEL });
    const entry = model.requests[0]?.history[0];
    const part = entry?.role === "user" && typeof entry.content !== "string" ? entry.content[1] : undefined;
    assert.ok(part?.type === "file" && "blob" in part);
    assert.equal((await ask(server, { type: "binary", mimeType: "image/png", id: part.blob }, "u2")).status, 200);
    const unknown = await ask(server, { type: "binary", mimeType: "image/png", id: "blob_x" }, "u3");
    assert.equal(unknown.status, 400);
    assert.match(unknown.error.message ?? "", /no file blob_x/);
  });

  it("that are not right are refused in clear words", async () => {
    await using server = await serve({ agents: { default: text("Hi.") } });
    const wrong: [object, RegExp][] = [
      [{ type: "binary", mimeType: "application/pdf", url: "https://example.com/a.pdf" }, /only images may be given by url/],
      [{ type: "binary", mimeType: "image/png" }, /needs its url, its data or its id/],
      [{ type: "binary", mimeType: "image/png", url: "   " }, /needs its url/],
      [{ type: "binary", data: PIXEL }, /mimeType/],
      [{ type: "binary", mimeType: "image/png", data: "not base64!" }, /no base64/],
      [{ type: "binary", mimeType: "image/png", data: "data:image/png," }, /must hold base64/],
      [{ type: "binary", mimeType: "image/png", url: "file:///etc/passwd" }, /http or https/],
      [{ type: "image", source: { type: "data", value: PIXEL, mimeType: "audio/wav" } }, /no kind of image/],
      [{ type: "image", source: { type: "data", value: PIXEL } }, /mimeType/],
      [{ type: "audio" }, /source: is missing/],
    ];
    for (const [part, why] of wrong) {
      const { status, error } = await ask(server, part);
      assert.equal(status, 400, JSON.stringify(part));
      assert.match(error.message ?? "", why);
    }
    const nothing = await server.post(body([user([{ type: "hologram", data: 1 }])]));
    assert.deepEqual([nothing.status, nothing.error.field], [400, "messages.0.content"]);
    assert.equal((await ask(server, { type: "hologram" })).status, 200); // the text is enough
  });
});

describe("AG-UI: questions of an agent", () => {
  /** Asks once how many, then is done. */
  const counting: Agent = {
    tools: new Map(),
    next: ({ turn, interrupts }) => (interrupts.size > 0 ? { type: "wait" } : (turn?.steps ?? 0) > 0 ? { type: "done" } : { type: "step" }),
    async *step({ mint }): AsyncGenerator<Event> {
      const step = { stepId: mint("step"), name: "ask", messageId: mint("msg") };
      const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
      yield { type: "step.started", ...step, kind: "node" };
      yield { type: "interrupt.raised", interruptId: "how-many", reason: "input_required", prompt: "How many?", schema };
      yield { type: "step.ended", stepId: step.stepId, name: step.name, completed: true };
    },
  };

  it("are answered by what fits their schema", async () => {
    await using server = await serve({ agents: { default: counting } });
    const { frames } = await server.post(body([user("go")]));
    const { interrupts } = last(frames)["outcome"] as { interrupts: JsonObject[] };
    const [asked] = interrupts;
    assert.deepEqual([asked?.["id"], asked?.["reason"], asked?.["message"]], ["how-many", "input_required", "How many?"]);
    const answer = (payload: unknown) =>
      server.post({ threadId: "t", runId: "r2", resume: [{ interruptId: "how-many", status: "resolved", payload }] });
    assert.equal((await answer({ n: "three" })).status, 422);
    assert.equal((await server.thread())?.status, "waiting");
    assert.equal((await answer({ n: 3 })).frames.at(-1)?.type, "RUN_FINISHED");
    assert.equal((await server.thread())?.status, "idle");
    assert.equal((await answer({ n: 3 })).status, 200);
    assert.equal(
      (await server.post({ threadId: "t", runId: "r3", resume: [{ interruptId: "nobody-asked", status: "resolved" }] })).status,
      404,
    );
  });
});

describe("AG-UI: routes", () => {
  it("take another base path, other paths, and none", async () => {
    const agui: Config["agui"] = { basePath: "/agui/", paths: { run: "/chat", history: "/messages", cancel: false } };
    await using server = await serve({ agui, agents: { default: text("Hi."), two: text("Ho.") } });
    assert.equal(textOf((await server.post(body([user("hello")]), "/agui/chat")).frames), "Hi.");
    assert.equal(textOf((await server.post({ ...body([user("hello")]), threadId: "t2" }, "/agui/chat/two")).frames), "Ho.");
    assert.equal((await server.post({ threadId: "t" }, "/agui/messages")).status, 200);
    assert.equal((await server.post({ threadId: "t" }, "/agui/cancel")).status, 404);
    assert.equal((await server.post(body([user("hello")]), "/agui")).status, 404);
  });

  it("give the seed's URLs at the root, beside the other doors", async () => {
    await using server = await serve({ agui: { basePath: "/" }, agents: { default: text("Hi.") } });
    assert.equal(textOf((await server.post(body([user("hello")]), "/")).frames), "Hi.");
    assert.deepEqual(types((await server.post({ threadId: "t" }, "/history")).frames), [
      "RUN_STARTED",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
    assert.equal((await server.post({ threadId: "t" }, "/cancel")).status, 404);
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
    assert.equal((await server.post({}, "/chat")).status, 400); // still the REST door
  });

  it("that clash fail at start", async () => {
    const start = (agui: Config["agui"], agents: Config["agents"] = { default: text() }) =>
      createHandback({ agui: agui ?? {}, agents, store: memoryStore() });
    await assert.rejects(start({ basePath: "/", paths: { run: "/chat" } }), /Two doors answer POST \/chat/);
    await assert.rejects(start({ paths: { cancel: "/history" } }), /Two doors answer POST \/agui\/history/);
    await assert.rejects(start({}, { default: text(), cancel: text() }), /An agent cannot be called cancel/);
    await assert.rejects(start({}, { default: text(), ws: text() }), /An agent cannot be called ws/);
  });

  it("tell what an agent can do, in the shape of 1.0", async () => {
    const look = tool({ name: "look", description: "Looks", input: z.object({}) });
    await using server = await serve({ agents: { default: text(), two: chatAgent({ model: scripted(), tools: [look] }) } });
    const response = await fetch(`${server.url}/agui/capabilities?agent=two`);
    const told = AgentCapabilitiesSchema.parse(await response.json());
    assert.deepEqual(
      [told.identity?.name, told.transport?.websocket, told.humanInTheLoop?.interrupts, told.tools?.items?.map(({ name }) => name)],
      ["two", true, true, ["look"]],
    );
    assert.equal((await fetch(`${server.url}/agui/capabilities`)).status, 200);
    assert.equal((await fetch(`${server.url}/agui/capabilities?agent=none`)).status, 404);
  });

  it("read the names other servers read", async () => {
    await using server = await serve({ agents: { default: text("Hi.") } });
    const { status } = await server.post({ thread_id: "t", run_id: "r1", messages: [user("hello")], forwarded_props: {} });
    assert.equal(status, 200);
    assert.equal((await server.events()).length > 0, true);
  });
});
