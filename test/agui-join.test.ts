import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HttpAgent } from "@ag-ui/client";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import type { ModelEvent } from "../src/model/model.ts";
import { calls, hangs, type Rule, says, scripted, scriptedBy, thinks } from "../src/model/scripted.ts";
import { CLIENTS, goOn, loading, rawFetch, reload, strict } from "./support/agui.ts";
import { last, textOf, types } from "./support/frames.ts";
import { runAgent } from "./support/judge.ts";
import { directory, eventually, type Served, serve } from "./support/serve.ts";

strict();

const paint = { name: "paint", description: "Paints the page", parameters: { type: "object", properties: { colour: { type: "string" } } } };
const refund = tool({ name: "refund", description: "Pays back", input: z.object({}).loose(), approval: true, execute: () => "paid" });

/** Says the first half, waits for the gate, says the rest. */
function gated(events: readonly ModelEvent[], half: number): { rule: Rule; open: () => void } {
  const gate = Promise.withResolvers<void>();
  const rule: Rule = async function* () {
    yield* events.slice(0, half);
    await gate.promise;
    yield* events.slice(half);
  };
  return { rule, open: gate.resolve };
}

const said = (server: Served, type: string) => eventually(async () => (await server.events()).some((event) => event.type === type));
const user = (content: string, id: string) => ({ id, role: "user" as const, content });

for (const [version, Client] of CLIENTS) {
  const ask = (server: Served, content: string): HttpAgent =>
    new Client({ url: `${server.url}/agui`, threadId: "t", initialMessages: [user(content, "u1")] });

  describe(`AG-UI ${version}: a page that is loaded again`, () => {
    it("in the middle of an answer ends with what the other shows", async () => {
      const { rule, open } = gated([...thinks("Hm, ", "well."), ...says("One ", "two ", "three.")], 6);
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule) }) } });
      const stayed = ask(server, "count");
      const running = runAgent(stayed);
      await said(server, "text.delta");
      const { again } = await loading(Client, server);
      open();
      const { messages, judged } = await again;
      await running;
      assert.deepEqual(messages, stayed.messages);
      assert.equal(messages.at(-1)?.content, "One two three.");
      assert.deepEqual(judged.types.slice(0, 4), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STEP_STARTED", "TEXT_MESSAGE_START"]);
    });

    it("in the middle of a thought ends with what the other shows", async () => {
      const { rule, open } = gated([...thinks("Hm, ", "well."), ...says("Yes.")], 2);
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule) }) } });
      const stayed = ask(server, "sure?");
      const running = runAgent(stayed);
      await said(server, "reasoning.delta");
      const { again } = await loading(Client, server);
      open();
      const { messages } = await again;
      await running;
      assert.deepEqual(messages, stayed.messages);
    });

    it("in the middle of arguments ends with what the other shows, and can answer the call", async () => {
      const { rule, open } = gated([...says("Let me."), ...calls("paint", { colour: "crimson" }, { id: "c1", chunks: 4 })], 5);
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule, says("Done.")) }) } });
      const stayed = ask(server, "red");
      const running = runAgent(stayed, { tools: [paint] });
      await said(server, "tool.delta");
      const { again } = await loading(Client, server);
      open();
      const agent = await again;
      await running;
      assert.deepEqual(agent.messages, stayed.messages);
      const page = goOn(Client, server, agent);
      page.addMessage({ id: "res", role: "tool", toolCallId: "c1", content: "painted" });
      const { types } = await runAgent(page, { tools: [paint] });
      assert.ok(!types.includes("MESSAGES_SNAPSHOT"));
      assert.equal(page.messages.at(-1)?.content, "Done.");
    });

    it("while a call waits ends with what the other shows, and at once", async () => {
      const model = scripted([...says("Let me."), ...calls("paint", { colour: "red" }, { id: "c1" })], says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const stayed = ask(server, "red");
      await runAgent(stayed, { tools: [paint] });
      const agent = await reload(Client, server);
      assert.deepEqual(agent.judged.types, ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
      assert.deepEqual(agent.messages, stayed.messages);
      stayed.addMessage({ id: "res", role: "tool", toolCallId: "c1", content: "painted" });
      await runAgent(stayed, { tools: [paint] });
      assert.deepEqual((await reload(Client, server)).messages, stayed.messages);
    });

    it("while a question is open asks it again, and can answer it", async () => {
      const model = scripted(calls("refund", { order: "o1" }, { id: "c1" }), says("Paid."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
      const stayed = ask(server, "money back");
      await runAgent(stayed);
      const agent = await reload(Client, server);
      assert.equal(agent.judged.outcome, "interrupt");
      assert.deepEqual(agent.pendingInterrupts, stayed.pendingInterrupts);
      assert.deepEqual(agent.messages, stayed.messages);
      const page = goOn(Client, server, agent);
      await runAgent(page, { resume: [{ interruptId: "c1:approval", status: "resolved", payload: { approved: true } }] });
      assert.equal(page.messages.at(-1)?.content, "Paid.");
      assert.deepEqual((await reload(Client, server)).messages, page.messages);
    });

    it("after a restart of the server ends with what the other shows", async () => {
      using data = directory();
      const model = () =>
        scriptedBy(({ history }) =>
          history.length > 2 ? says("Second.") : history.length > 1 ? says("Done.") : calls("paint", {}, { id: "c1" }),
        );
      const first = await serve({ data: data.path, agents: { default: chatAgent({ model: model() }) } });
      const stayed = ask(first, "red");
      await runAgent(stayed, { tools: [paint] });
      await first.close();
      await using server = await serve({ data: data.path, agents: { default: chatAgent({ model: model() }) } });
      const agent = await reload(Client, server);
      assert.deepEqual(agent.messages, stayed.messages);
      const page = goOn(Client, server, stayed);
      page.addMessage({ id: "res", role: "tool", toolCallId: "c1", content: "painted" });
      await runAgent(page, { tools: [paint] });
      assert.deepEqual((await reload(Client, server)).messages, page.messages);
    });

    it("after a crash in the middle of an answer shows both attempts, as the one that asks again does", async () => {
      using data = directory();
      const [, ...rest] = says("One ", "two.").reverse();
      const cut = hangs(...rest.reverse());
      const first = await serve({ data: data.path, agents: { default: chatAgent({ model: scripted(cut) }) } });
      const stayed = ask(first, "count");
      const running = runAgent(stayed, { runId: "r1" });
      await said(first, "text.delta");
      await first.close();
      await running;
      assert.match(String(stayed.messages.at(-1)?.content), /^One /);
      await using server = await serve({ data: data.path, agents: { default: chatAgent({ model: scripted(says("One two three.")) }) } });
      const { messages } = await reload(Client, server);
      assert.deepEqual(messages.map(({ content }) => content).at(-1), "One two three.");
      assert.equal(messages.length, 3);
      const page = goOn(Client, server, stayed);
      await runAgent(page, { runId: "r1" });
      assert.deepEqual(page.messages, messages);
    });
  });

  describe(`AG-UI ${version}: several tabs`, () => {
    it("all see every event of a run, and one that comes late the same history", async () => {
      const { rule, open } = gated(says(..."a long answer in many small pieces".split(/(?<= )/)), 3);
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(rule) }) } });
      const body = { threadId: "t", runId: "r1", messages: [user("talk", "u1")] };
      const tabs = await Promise.all([1, 2, 3].map(() => server.open(body)));
      const { again: follower } = await loading(Client, server);
      open();
      const [one, two, three] = await Promise.all(tabs.map((tab) => tab.rest()));
      assert.deepEqual(two, one);
      assert.deepEqual(three, one);
      assert.equal(textOf(one ?? []), "a long answer in many small pieces");
      const late = await reload(Client, server);
      assert.deepEqual(late.messages, (await follower).messages);
      assert.equal(late.messages.at(-1)?.content, "a long answer in many small pieces");
    });

    it("hear what another one asked, and what was taken back", async () => {
      const model = scripted(says("One."), says("Two."), says("Three."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const asking = ask(server, "say something");
      await runAgent(asking);
      const tab = new Client({ url: `${server.url}/agui/history?follow=forever`, threadId: "t" });
      const following = runAgent(tab);
      await eventually(() => tab.messages.length === 2);
      asking.addMessage(user("and?", "u2"));
      await runAgent(asking);
      await eventually(() => tab.messages.length === 4);
      assert.deepEqual(tab.messages, asking.messages);
      asking.setMessages(asking.messages.slice(0, 3));
      await runAgent(asking);
      await eventually(() => tab.messages.at(-1)?.content === "Three.");
      assert.deepEqual(tab.messages, asking.messages);
      tab.abortRun();
      await following;
    });
  });

  describe(`AG-UI ${version}: a client whose list lacks messages`, () => {
    const contents = ({ messages }: HttpAgent) => messages.map(({ content }) => content);

    it("of another tab is shown all of them, in their order", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("A1."), says("A2."), says("A3.")) }) } });
      const one = ask(server, "q1");
      await runAgent(one);
      const two = goOn(Client, server, one);
      two.addMessage(user("q2", "u2"));
      await runAgent(two);
      one.addMessage(user("q3", "u3"));
      const { types } = await runAgent(one);
      assert.deepEqual(types.slice(0, 3), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
      assert.deepEqual(contents(one), ["q1", "A1.", "q2", "A2.", "q3", "A3."]);
      one.addMessage(user("q4", "u4"));
    });

    it("because it kept none is shown all of them", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("A1."), says("A2.")) }) } });
      await runAgent(ask(server, "q1"));
      const fresh = new Client({ url: `${server.url}/agui`, threadId: "t", initialMessages: [user("q2", "u2")] });
      await runAgent(fresh);
      assert.deepEqual(contents(fresh), ["q1", "A1.", "q2", "A2."]);
    });

    it("because it was cut off is shown the rest", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("A long answer."), says("A2.")) }) } });
      const one = ask(server, "q1");
      await runAgent(one);
      one.setMessages(one.messages.map((message) => (message.role === "assistant" ? { ...message, content: "A lo" } : message)));
      one.addMessage(user("q2", "u2"));
      await runAgent(one);
      assert.deepEqual(contents(one), ["q1", "A long answer.", "q2", "A2."]);
    });

    it("hears of a call settled elsewhere with all else it missed", async () => {
      const model = scripted([...calls("paint", {}, { id: "a" }), ...calls("paint", {}, { id: "b" })], says("Both."), says("A2."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const one = ask(server, "q1");
      await runAgent(one, { tools: [paint] });
      await server.post({ threadId: "t", messages: [{ role: "tool", toolCallId: "a", content: "1" }] });
      await server.post({ threadId: "t", messages: [{ role: "tool", toolCallId: "b", content: "2" }] });
      one.addMessage(user("q2", "u2"));
      await runAgent(one, { tools: [paint] });
      assert.deepEqual(contents(one).filter(Boolean), ["q1", "1", "2", "Both.", "q2", "A2."]);
      assert.deepEqual((await reload(Client, server)).messages, one.messages);
    });

    it("but made one message of several is left alone", async () => {
      const getTime = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });
      const model = scripted([...says("Let me see. "), ...calls("get_time", {}, { id: "c1" })], says("It is noon."), says("Bye."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [getTime] }) } });
      const one = ask(server, "time?");
      await runAgent(one);
      const [asked, first, result] = one.messages;
      assert.ok(asked && first?.role === "assistant" && result);
      one.setMessages([asked, { ...first, content: "Let me see. It is noon." }, result, user("thanks", "u2")]);
      const { types } = await runAgent(one);
      assert.ok(!types.includes("MESSAGES_SNAPSHOT"));
    });

    it("keeps the result it brings along", async () => {
      const model = scripted(says("A1."), calls("paint", {}, { id: "a" }), says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      await runAgent(ask(server, "q1"));
      const fresh = new Client({ url: `${server.url}/agui`, threadId: "t", initialMessages: [user("q2", "u2")] });
      await runAgent(fresh, { tools: [paint] });
      fresh.setMessages(fresh.messages.slice(2)); // forgets the first turn
      fresh.addMessage({ id: "res", role: "tool", toolCallId: "a", content: "painted" });
      await runAgent(fresh, { tools: [paint] });
      assert.deepEqual(contents(fresh).filter(Boolean), ["q1", "A1.", "q2", "painted", "Done."]);
      assert.deepEqual((await reload(Client, server)).messages, fresh.messages);
    });

    it("and answers again without taking the answer away is shown the new one alone", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("A1."), says("A2.")) }) } });
      const one = ask(server, "q1");
      await runAgent(one);
      await runAgent(one);
      assert.deepEqual(contents(one), ["q1", "A2."]);
    });
  });

  describe(`AG-UI ${version}: history`, () => {
    it("of a thread nobody knows is empty and over", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted() }) } });
      const { messages, judged } = await reload(Client, server);
      assert.deepEqual([messages, judged.types], [[], ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]]);
    });

    it("tells the state", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Ok.")) }) } });
      const stayed = new Client({
        url: `${server.url}/agui`,
        threadId: "t",
        initialMessages: [user("hi", "u1")],
        initialState: { cart: ["latte"] },
      });
      await runAgent(stayed);
      const { state, judged } = await reload(Client, server);
      assert.deepEqual(state, { cart: ["latte"] });
      assert.equal(judged.types[1], "STATE_SNAPSHOT");
    });

    it("does not follow where the request declines", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(hangs(...says("One ").slice(0, -1))) }) } });
      const stream = await server.open({ threadId: "t", runId: "r1", messages: [user("talk", "u1")] });
      await stream.until("TEXT_MESSAGE_CONTENT");
      const { messages, judged } = await reload(Client, server, "/agui/history?follow=false");
      assert.deepEqual(judged.types, ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
      assert.equal(messages.at(-1)?.content, "One ");
    });

    it("follows no longer than it may", async () => {
      const model = scripted(hangs(...says("One ").slice(0, -1)));
      await using server = await serve({ agui: { followMaxDuration: "30s" }, agents: { default: chatAgent({ model }) } });
      const stream = await server.open({ threadId: "t", runId: "r1", messages: [user("talk", "u1")] });
      await stream.until("TEXT_MESSAGE_CONTENT");
      const { again } = await loading(Client, server);
      await server.clock.advance(31_000);
      const { judged, messages } = await again;
      assert.deepEqual([judged.types.at(-1), judged.events.at(-1)?.["code"]], ["RUN_ERROR", "timeout"]);
      assert.equal(messages.at(-1)?.content, "One ");
    });
  });
}

describe("AG-UI: raw readers", () => {
  it("go on where they were cut off, on both routes", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted([...thinks("Hm."), ...says("One ", "two.")]) }) } });
    const body = { threadId: "t", runId: "r1", messages: [user("count", "u1")] };
    const whole = await server.post(body);
    const cut = whole.frames.find(({ type }) => type === "REASONING_END")?.id ?? "";
    const rest = whole.frames.slice(whole.frames.findIndex(({ id }) => id === cut) + 1);
    for (const path of ["/agui", "/agui/history"]) {
      const headers = { "content-type": "application/json", "last-event-id": cut };
      const response = await rawFetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await response.text();
      assert.deepEqual(
        [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id),
        rest.flatMap(({ id }) => id ?? []),
      );
    }
    const bad = await rawFetch(`${server.url}/agui/history`, {
      method: "POST",
      headers: { "content-type": "application/json", "last-event-id": "x" },
      body: "{}",
    });
    assert.equal(bad.status, 400);
  });

  it("that have it all are shown it anew rather than nothing", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Hi.")) }) } });
    const { frames } = await server.post({ threadId: "t", runId: "r1", messages: [user("hello", "u1")] });
    const headers = { "content-type": "application/json", "last-event-id": String(last(frames).id) };
    const response = await rawFetch(`${server.url}/agui/history`, { method: "POST", headers, body: '{"threadId":"t"}' });
    assert.match(await response.text(), /MESSAGES_SNAPSHOT[\s\S]*RUN_FINISHED/);
    assert.equal(types(frames).at(-1), "RUN_FINISHED");
  });
});
