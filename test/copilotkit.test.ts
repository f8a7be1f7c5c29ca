import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { calls, hangs, type ScriptedModel, says, scripted } from "../src/model/scripted.ts";
import { type FrontendTool, openPage, type Page } from "./copilotkit/core.ts";
import { strict } from "./support/agui.ts";
import { eventually, type Served, serve } from "./support/serve.ts";

strict();

const refund = tool({
  name: "refund",
  description: "Pays back",
  input: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ amount }) => ({ paid: amount }),
});

/** A tool of the page, and what it was called with. */
function paint(more: Partial<FrontendTool> = {}): FrontendTool & { painted: unknown[] } {
  const painted: unknown[] = [];
  const handler = ({ colour }: Record<string, unknown>) => {
    painted.push(colour);
    return `painted ${colour}`;
  };
  return { name: "paint", parameters: z.object({ colour: z.string() }), handler, painted, ...more };
}
const callsPaint = () => calls("paint", { colour: "red" }, { id: "c1" });

const shown = ({ agent }: Page) => agent.messages.map(({ role, content }) => `${role}: ${content ?? ""}`);
const settled = async (server: Served) => (await server.events()).flatMap((event) => (event.type === "tool.returned" ? [event] : []));
const outcome = async (server: Served) => {
  const end = (await server.events()).findLast((event) => event.type === "run.ended");
  return end?.type === "run.ended" ? end.outcome.type : undefined;
};
const asked = ({ logged }: Served, path: string) => logged.filter((line) => line["path"] === `/copilotkit${path}`).length;

/** Says a word and waits for the gate before the next. */
function gated(...words: [string, string]) {
  const gate = Promise.withResolvers<void>();
  const events = says(...words);
  const model = scripted(async function* () {
    yield* events.slice(0, 2);
    await gate.promise;
    yield* events.slice(2);
  });
  return { model, open: gate.resolve };
}

for (const single of [false, true]) {
  describe(`CopilotKit's core, ${single ? "everything on one path" : "its REST paths"}`, () => {
    const open = (server: Served, tools: FrontendTool[] = []) => openPage(server, { tools, single });

    it("finds the agents and what they can do", async () => {
      const agents = { default: chatAgent({ model: scripted() }), writer: chatAgent({ model: scripted() }) };
      await using server = await serve({ agents });
      const { core, errors } = await open(server);
      assert.deepEqual(Object.keys(core.agents), ["default", "writer"]);
      assert.ok(core.agents["writer"]?.capabilities);
      assert.deepEqual(errors, []);
    });

    it("shows what the agent says", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Good ", "day.")) }) } });
      const page = await open(server);
      await page.say("hello");
      assert.deepEqual(shown(page), ["user: hello", "assistant: Good day."]);
      assert.deepEqual(page.errors, []);
    });

    it("runs a tool of the page once, and goes on with its result", async () => {
      const model = scripted([...says("Let me."), ...callsPaint()], says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const tool = paint();
      const page = await open(server, [tool]);
      await page.say("red please");
      assert.deepEqual(tool.painted, ["red"]);
      assert.deepEqual(shown(page), ["user: red please", "assistant: Let me.", "tool: painted red", "assistant: Done."]);
      assert.equal((await settled(server))[0]?.output, "painted red");
      assert.equal(model.requests.length, 2);
      assert.deepEqual(page.errors, []);
    });

    it("stops a run: the stream ends, and the next message is answered", async () => {
      const model = scripted(hangs(...says("One ")), says("Yes?"));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const page = await open(server);
      const running = page.say("count");
      await eventually(() => page.events.includes("TEXT_MESSAGE_CONTENT"));
      page.core.stopAgent(page);
      await running;
      assert.equal(await outcome(server), "cancelled");
      await page.say("hello?");
      assert.equal(shown(page).at(-1), "assistant: Yes?");
      assert.deepEqual(page.errors, []);
    });

    it("shows everything again to a page that is loaded again", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(callsPaint(), says("Done.")) }) } });
      const page = await open(server, [paint()]);
      await page.say("red");
      const again = await open(server, [paint()]);
      await again.connect();
      assert.deepEqual(again.agent.messages, page.agent.messages);
      assert.equal(again.agent.isRunning, false);
    });

    it("answers a page on a thread that nobody has begun with nothing at all", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted() }) } });
      const page = await open(server);
      await page.connect();
      assert.deepEqual([page.events, page.errors, page.agent.messages], [[], [], []]);
      assert.equal(await server.thread(), undefined);
    });
  });
}

describe("CopilotKit: tools of the page", () => {
  it("hears of an error in the page with the next message, as CopilotKit sends it", async () => {
    const model = scripted(callsPaint(), says("Sorry."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const handler = () => {
      throw new Error("no brush");
    };
    const page = await openPage(server, { tools: [paint({ handler })] });
    await page.say("red");
    assert.equal(asked(server, "/agent/default/run"), 1);
    await page.say("and?");
    assert.equal((await settled(server))[0]?.output, "Error: no brush");
    assert.deepEqual(shown(page), ["user: red", "assistant: ", "tool: Error: no brush", "user: and?", "assistant: Sorry."]);
  });

  it("goes on with an empty result when the page only shows the call", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(callsPaint(), says("Shown.")) }) } });
    const { handler: _, ...shows } = paint();
    const page = await openPage(server, { tools: [shows] });
    await page.say("red");
    assert.equal((await settled(server))[0]?.output, "");
    assert.equal(shown(page).at(-1), "assistant: Shown.");
  });

  it("asks the page's person again after a reload", async () => {
    const model = scripted(callsPaint(), says("Done."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const never = paint({ type: "human-in-the-loop", handler: () => new Promise(() => {}) });
    const first = await openPage(server, { tools: [never] });
    void first.say("red");
    await eventually(async () => (await server.thread())?.status === "waiting");
    const tool = paint({ type: "human-in-the-loop" });
    const page = await openPage(server, { tools: [tool] });
    await page.connect();
    await eventually(() => shown(page).at(-1) === "assistant: Done.");
    assert.deepEqual(tool.painted, ["red"]);
    assert.equal((await settled(server)).length, 1);
    assert.equal(model.requests.length, 2);
  });

  it("lets go of a call that a reload has cut off when the person goes on", async () => {
    const model = scripted(callsPaint(), says("Never mind."));
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const first = await openPage(server, { tools: [paint({ handler: () => new Promise(() => {}) })] });
    void first.say("red");
    await eventually(async () => (await server.thread())?.status === "waiting");
    const tool = paint();
    const page = await openPage(server, { tools: [tool] });
    await page.connect();
    assert.deepEqual(tool.painted, []); // CopilotKit runs plain tools only in the page that asked
    await page.say("forget it");
    assert.equal((await settled(server))[0]?.status, "cancelled");
    assert.equal(shown(page).at(-1), "assistant: Never mind.");
  });

  it("keeps to the page that asked: a tool of the server is not run there", async () => {
    const getTime = tool({ name: "paint", description: "Ours", input: z.object({ colour: z.string() }), execute: () => "ours" });
    const model = scripted(callsPaint(), says("Done."));
    await using server = await serve({ agents: { default: chatAgent({ model, tools: [getTime] }) } });
    const mine = paint();
    const page = await openPage(server, { tools: [mine] });
    await page.say("red");
    assert.deepEqual([mine.painted, (await settled(server)).map(({ output }) => output)], [[], ["ours"]]);
  });
});

describe("CopilotKit: approvals", () => {
  const start = () => {
    const model = scripted(calls("refund", { amount: 5 }, { id: "c1" }), says("As you wish."));
    return serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
  };

  it("runs the call when the person agrees, and takes the page's own tool message for nothing", async () => {
    await using server = await start();
    const page = await openPage(server);
    await page.say("money back");
    assert.deepEqual(
      page.agent.pendingInterrupts.map(({ id, reason, toolCallId }) => [id, reason, toolCallId]),
      [["c1:approval", "tool_call", "c1"]],
    );
    await page.answer({ approved: true });
    assert.deepEqual(
      (await settled(server)).map(({ status, output }) => [status, output]),
      [["completed", { paid: 5 }]],
    );
    assert.equal(shown(page).at(-1), "assistant: As you wish.");
    assert.deepEqual([page.errors, page.agent.pendingInterrupts], [[], []]);
  });

  it("tells the model of a refusal", async () => {
    await using server = await start();
    const page = await openPage(server);
    await page.say("money back");
    await page.answer({ approved: false, reason: "too much" });
    assert.deepEqual(
      (await settled(server)).map(({ status, error }) => [status, error]),
      [["rejected", "too much"]],
    );
    assert.deepEqual(shown(page), ["user: money back", "assistant: ", "tool: too much", "assistant: As you wish."]);
  });

  it("asks again after a reload", async () => {
    await using server = await start();
    await (await openPage(server)).say("money back");
    const page = await openPage(server);
    await page.connect();
    assert.equal(page.agent.pendingInterrupts[0]?.id, "c1:approval");
    await page.answer({ approved: true });
    assert.equal((await settled(server))[0]?.status, "completed");
    assert.equal(shown(page).at(-1), "assistant: As you wish.");
  });

  it("shows both pages of a person the same in the end", async () => {
    await using server = await start();
    const page = await openPage(server);
    await page.say("money back");
    await page.answer({ approved: true });
    const again = await openPage(server);
    await again.connect();
    assert.deepEqual(shown(again), ["user: money back", "assistant: ", 'tool: {"paid":5}', "assistant: As you wish."]);
    assert.deepEqual(shown(page), shown(again));
  });
});

describe("CopilotKit: a run under way", () => {
  describe("in a stream that is held", () => {
    const getMenu = tool({ name: "get_menu", description: "The menu", input: z.object({}) });
    const start = (model: ScriptedModel) => serve({ agents: { default: chatAgent({ model, tools: [getMenu] }) }, agui: { hold: true } });
    const answer = (server: Served) =>
      server.open({ threadId: "t", runId: "worker", messages: [{ role: "tool", toolCallId: "c1", content: "tea" }] });

    it("goes on in the page when another system answers", async () => {
      await using server = await start(scripted(calls("get_menu", {}, { id: "c1" }), says("Tea.")));
      const page = await openPage(server);
      const running = page.say("menu");
      await eventually(() => page.events.includes("RUN_FINISHED"));
      await (await answer(server)).rest();
      await running;
      assert.deepEqual(shown(page), ["user: menu", "assistant: ", "tool: tea", "assistant: Tea."]);
    });

    it("is stopped by the page that opened it", async () => {
      await using server = await start(scripted(calls("get_menu", {}, { id: "c1" }), hangs()));
      const page = await openPage(server);
      const running = page.say("menu");
      await eventually(() => page.events.includes("RUN_FINISHED"));
      const worker = await answer(server);
      await eventually(() => page.events.includes("TOOL_CALL_RESULT"));
      page.core.stopAgent(page);
      await Promise.all([running, worker.rest()]);
      assert.equal(await outcome(server), "cancelled");
    });
  });

  it("is followed to its end by a page that is loaded again", async () => {
    const { model, open } = gated("One ", "two.");
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const first = await openPage(server);
    const running = first.say("count");
    await eventually(() => first.events.includes("TEXT_MESSAGE_CONTENT"));
    const page = await openPage(server);
    const following = page.connect();
    await eventually(() => shown(page).at(-1) === "assistant: One ");
    assert.equal(page.agent.isRunning, true);
    open();
    await Promise.all([running, following]);
    assert.deepEqual(page.agent.messages, first.agent.messages);
    assert.deepEqual(shown(page), ["user: count", "assistant: One two."]);
  });

  it("can be stopped by a page that is loaded again", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs()) }) } });
    const first = await openPage(server);
    const running = first.say("count");
    await eventually(async () => (await server.thread())?.status === "running");
    const page = await openPage(server);
    const following = page.connect();
    await eventually(() => page.events.includes("MESSAGES_SNAPSHOT"));
    page.core.stopAgent(page);
    await Promise.all([running, following]);
    assert.equal(await outcome(server), "cancelled");
  });

  it("is not disturbed by another page's message, which is refused", async (t) => {
    t.mock.method(console, "error", () => {}); // CopilotKit tells the developer too
    const { model, open } = gated("One ", "two.");
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const first = await openPage(server);
    const running = first.say("count");
    await eventually(() => first.events.includes("TEXT_MESSAGE_CONTENT"));
    const other = await openPage(server);
    await other.say("me too");
    assert.match(other.errors[0] ?? "", /agent_run_failed.*409/i);
    await eventually(() => asked(server, "/info") === 3); // it looks whether we are still there
    open();
    await running;
    assert.deepEqual(shown(first), ["user: count", "assistant: One two."]);
    assert.equal(model.requests.length, 1);
  });

  it("is not stopped under another run's name", async () => {
    const { model, open } = gated("One ", "two.");
    await using server = await serve({ agents: { default: chatAgent({ model }) } });
    const page = await openPage(server);
    const running = page.say("count");
    await eventually(() => page.events.includes("TEXT_MESSAGE_CONTENT"));
    const { text } = await server.post({ runId: "old" }, "/copilotkit/agent/default/stop/t");
    assert.equal(JSON.parse(text).stopped, false);
    open();
    await running;
    assert.equal(await outcome(server), "done");
  });
});

describe("CopilotKit: who may", () => {
  const input = { threadId: "t", runId: "r1", messages: [{ id: "u1", role: "user", content: "hello" }] };
  const authenticate = (request: Request) => {
    const [, user] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
    return user === undefined ? undefined : { user };
  };
  const post = (server: Served, path: string, user?: string) =>
    fetch(`${server.url}/copilotkit${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(user !== undefined && { authorization: `Bearer ${user}` }) },
      body: JSON.stringify(input),
    });

  it("is who is known, and sees only what is theirs", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Hi.")) }) }, authenticate });
    assert.equal((await fetch(`${server.url}/copilotkit/info`)).status, 401);
    for (const path of ["/agent/default/run", "/agent/default/connect", "/agent/none/stop/t", ""]) {
      assert.equal((await post(server, path)).status, 401, path);
    }
    assert.match(await (await post(server, "/agent/default/run", "ann")).text(), /Hi\./);
    assert.match(await (await post(server, "/agent/default/connect", "ann")).text(), /Hi\./);
    assert.equal(await (await post(server, "/agent/default/connect", "bob")).text(), "");
  });

  it("names an agent there is", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted() }) } });
    for (const path of ["/agent/none/run", "/agent/none/connect", "/agent/none/stop/t"]) {
      assert.equal((await post(server, path)).status, 404, path);
    }
  });

  it("finds the routes where they were put, or not at all", async () => {
    const agents = { default: chatAgent({ model: scripted() }) };
    await using moved = await serve({ agents, copilotkit: { basePath: "/api/copilotkit" } });
    assert.equal((await fetch(`${moved.url}/api/copilotkit/info`)).status, 200);
    assert.equal((await fetch(`${moved.url}/copilotkit/info`)).status, 404);
    await using off = await serve({ agents, copilotkit: false });
    assert.equal((await fetch(`${off.url}/copilotkit/info`)).status, 404);
  });
});
