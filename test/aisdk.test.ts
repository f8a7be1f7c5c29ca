import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { calls, fails, hangs, says, scripted, thinks } from "../src/model/scripted.ts";
import { answer, type Message, type Opened, openChat, RELEASES, type Release } from "./aisdk/chat.ts";
import { eventually, type Served, serve } from "./support/serve.ts";

const paint = tool({ name: "paint", description: "Paints the page", input: z.object({ colour: z.string() }), owner: "client" });
const getMenu = tool({ name: "get_menu", description: "The menu", input: z.object({}) });
const getTime = tool({ name: "get_time", description: "Now", input: z.object({}), execute: () => "noon" });
const refund = tool({
  name: "refund",
  description: "Pays back",
  input: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ amount }) => ({ paid: amount }),
});

const red = (id: string) => calls("paint", { colour: "red" }, { id });
const partsOf = (message: Message | undefined) =>
  (message?.parts ?? []).map(({ type, text, state }) => text ?? (state ? `${type} ${state}` : type));
const partOf = (message: Message | undefined, toolCallId: string) => message?.parts.find((part) => part.toolCallId === toolCallId);
const settle = (server: Served, id: string, body: object) => server.post(body, `/v1/calls/${id}/result`);
const history = async (server: Served, query = "") => {
  const response = await fetch(`${server.url}/api/chat/t/messages${query}`);
  return ((await response.json()) as { messages: Message[] }).messages;
};
/** As a page does after a reload: history, then resume. */
const reload = async (server: Served, release: Release, options: Partial<Parameters<typeof openChat>[1]> = {}) => {
  const opened = await openChat(release, { url: server.url, messages: await history(server, `?v=${release.charAt(2)}`), ...options });
  return opened;
};
const ignored = (server: Served) =>
  server.logged.filter(({ event }) => event === "input.ignored").reduce((sum, { count }) => sum + Number(count), 0);
const posts = ({ requests }: Opened) => requests.filter(({ method }) => method === "POST").length;

for (const release of RELEASES) {
  const approves = !release.startsWith("ai5");
  /** The first release waits for calls that are not its own, and sends again after errors. */
  const exempt = release === "ai500" ? { skip: "this release cannot" } : {};

  describe(`AI SDK with ${release}: what an agent says`, () => {
    for (const version of [true, false]) {
      it(`shows thoughts and text as they were said${version ? "" : ", without naming a version"}`, async () => {
        await using server = await serve({
          agents: { default: chatAgent({ model: scripted([...thinks("Hm."), ...says("Good ", "day.")]) }) },
        });
        const { chat, requests } = await openChat(release, { url: server.url, version });
        await chat.sendMessage({ text: "hello" });
        assert.equal(chat.error, undefined);
        assert.deepEqual(chat.messages.map(partsOf), [["hello"], ["step-start", "Hm.", "Good day."]]);
        assert.equal(chat.messages[1]?.metadata?.["status"], "done");
        assert.equal(requests.length, 1);
      });
    }

    it("runs a server tool and shows its result", async () => {
      const model = scripted(calls("get_time", {}, { id: "c1" }), says("Noon."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [getTime] }) } });
      const { chat, requests, settled } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "time?" });
      await settled();
      assert.deepEqual(partsOf(chat.messages[1]), ["step-start", "tool-get_time output-available", "step-start", "Noon."]);
      assert.equal(partOf(chat.messages[1], "c1")?.["output"], "noon");
      assert.equal(requests.length, 1);
    });

    it("tells what went wrong, and goes on when the person tries again", async () => {
      const model = scripted(fails("The provider is down"), says("Back."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const { chat } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "hello" });
      assert.equal(chat.error?.message, "The provider is down");
      await chat.regenerate();
      assert.equal(partsOf(chat.messages.at(-1)).at(-1), "Back.");
    });

    it("tells an invalid call as an error and lets the model try again", async () => {
      const model = scripted(calls("paint", { colour: 7 }, { id: "c1" }), says("Sorry."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const { chat, tools, settled, requests } = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      await chat.sendMessage({ text: "red" });
      await settled();
      assert.equal(partOf(chat.messages[1], "c1")?.state, "output-error");
      assert.deepEqual([tools, requests.length, chat.error], [[], 1, undefined]);
    });
  });

  describe(`AI SDK with ${release}: tools that run in the browser`, () => {
    for (const version of [true, false]) {
      it(`runs one and goes on in the same message${version ? "" : ", without naming a version"}`, async () => {
        const model = scripted([...says("Let me."), ...calls("paint", { colour: "red" }, { id: "c1", chunks: 3 })], says("Done."));
        await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
        const { chat, requests, settled } = await openChat(release, { url: server.url, version, onToolCall: () => "painted" });
        await chat.sendMessage({ text: "red" });
        await settled();
        assert.equal(chat.error, undefined);
        assert.equal(chat.messages.length, 2);
        assert.deepEqual(partsOf(chat.messages[1]), ["step-start", "Let me.", "tool-paint output-available", "step-start", "Done."]);
        assert.deepEqual([requests.length, model.requests.length], [2, 2]);
      });
    }

    it("runs three side by side and asks the model once", async () => {
      const model = scripted([...red("a"), ...red("b"), ...red("c")], says("All."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const { chat, requests, settled } = await openChat(release, { url: server.url, onToolCall: ({ toolCallId }) => `${toolCallId}!` });
      await chat.sendMessage({ text: "red" });
      await settled();
      assert.equal(partsOf(chat.messages[1]).at(-1), "All.");
      assert.deepEqual([requests.length, model.requests.length], [2, 2]);
      const [, step] = model.requests[1]?.history ?? [];
      assert.deepEqual(step?.role === "assistant" && step.parts.map((part) => part.type === "call" && part.settlement?.output), [
        "a!",
        "b!",
        "c!",
      ]);
    });

    it("does not wait for calls of others, and its stream goes on when they are answered", exempt, async () => {
      const model = scripted([...calls("get_time", {}, { id: "s" }), ...red("c"), ...calls("get_menu", {}, { id: "e" })], says("All."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint, getMenu, getTime] }) } });
      const { chat, requests, settled, tools } = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      void chat.sendMessage({ text: "all" }); // done when the last request is
      await eventually(() => requests.length === 2);
      await eventually(async () => (await server.events()).some((event) => event.type === "tool.returned" && event.callId === "c"));
      assert.deepEqual(tools, ["c"]);
      await settle(server, "e", { output: "tea" });
      await settled();
      assert.equal(chat.error, undefined);
      assert.deepEqual(
        ["s", "c", "e"].map((id) => partOf(chat.messages[1], id)?.["output"]),
        ["noon", "painted", "tea"],
      );
      assert.equal(partsOf(chat.messages[1]).at(-1), "All.");
      assert.deepEqual([requests.length, model.requests.length], [2, 2]);
    });

    it("tells an error of the page to the model", async () => {
      const model = scripted(red("c1"), says("Sorry."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const { chat, settled } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "red" });
      const add = chat.addToolOutput ?? chat.addToolResult;
      // The first releases have no word for a failure.
      if (!chat.addToolOutput || release === "ai500") return;
      await add?.call(chat, { tool: "paint", toolCallId: "c1", state: "output-error", errorText: "no brush" } as never);
      await settled();
      const [, step] = model.requests[1]?.history ?? [];
      const settlement = step?.role === "assistant" && step.parts[0]?.type === "call" && step.parts[0].settlement;
      assert.deepEqual(settlement && [settlement.status, settlement.error], ["failed", "no brush"]);
    });

    it("cancels what waits when the person says something else", async () => {
      const model = scripted(red("c1"), says("Hi."), says("Ok."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const { chat, settled, requests } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "red" });
      await chat.sendMessage({ text: "never mind" });
      await settled();
      assert.deepEqual(
        chat.messages.map(({ role }) => role),
        ["user", "assistant", "user", "assistant"],
      );
      assert.equal(partsOf(chat.messages[3]).at(-1), "Hi.");
      // Too late: it rides along with the next message, and is ignored and counted.
      await answer(chat, "paint", "c1", "painted after all");
      await chat.sendMessage({ text: "still there?" });
      await settled();
      assert.equal(partsOf(chat.messages[5]).at(-1), "Ok.");
      assert.deepEqual([ignored(server), requests.length], [release.endsWith("00") ? 0 : 1, 3]); // first releases drop it themselves
    });
  });

  describe(`AI SDK with ${release}: approvals`, () => {
    const decide = async ({ chat }: Opened, decision: { approved: boolean; reason?: string }) => {
      if (approves) await chat.addToolApprovalResponse?.({ id: "c1:approval", ...decision });
      else await answer(chat, "ask_approval", "c1:approval", decision);
      if (release === "ai500") await chat.sendMessage(); // it waits for the call that was asked about
    };

    for (const version of approves ? [true] : [true, false]) {
      it(`asks, and runs what was granted${version ? "" : ", without naming a version"}`, async () => {
        const model = scripted(calls("refund", { amount: 5 }, { id: "c1" }), says("Paid."));
        await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
        const opened = await openChat(release, { url: server.url, version, onToolCall: () => "never" });
        const { chat, requests, settled, tools } = opened;
        await chat.sendMessage({ text: "pay" });
        assert.equal(partOf(chat.messages[1], approves ? "c1" : "c1:approval")?.state, approves ? "approval-requested" : "input-available");
        await decide(opened, { approved: true });
        await settled();
        assert.equal(chat.error, undefined);
        assert.deepEqual(partOf(chat.messages[1], "c1")?.["output"], { paid: 5 });
        assert.equal(partsOf(chat.messages[1]).at(-1), "Paid.");
        assert.deepEqual([requests.length, tools.filter((id) => id === "c1")], [2, []]);
      });
    }

    it("tells the model why a person said no", async () => {
      const model = scripted(calls("refund", { amount: 5 }, { id: "c1" }), says("Sorry."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
      const opened = await openChat(release, { url: server.url });
      await opened.chat.sendMessage({ text: "pay" });
      await decide(opened, { approved: false, reason: "too much" });
      await opened.settled();
      assert.equal(opened.chat.error, undefined);
      assert.equal(partOf(opened.chat.messages[1], "c1")?.state, approves ? "output-denied" : "output-error");
      assert.equal(partsOf(opened.chat.messages[1]).at(-1), "Sorry.");
      const [, step] = model.requests[1]?.history ?? [];
      assert.equal(step?.role === "assistant" && step.parts[0]?.type === "call" && step.parts[0].settlement?.error, "too much");
      assert.equal(opened.requests.length, 2);
    });

    it("goes on by itself when somebody edits and approves by the native door", async () => {
      const model = scripted(calls("refund", { amount: 500 }, { id: "c1" }), says("Paid."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
      const { chat, settled, requests } = await openChat(release, { url: server.url, query: "hold=true" });
      const sent = chat.sendMessage({ text: "pay" });
      await eventually(() => partOf(chat.messages[1], "c1"));
      await eventually(async () => (await server.thread())?.status === "waiting");
      await server.post({ input: { amount: 5 } }, "/v1/calls/c1/approve");
      await sent;
      await settled();
      assert.equal(chat.error, undefined);
      assert.deepEqual(partOf(chat.messages[1], "c1")?.["output"], { paid: 5 });
      assert.deepEqual(chat.messages[1]?.metadata?.["edited"], { c1: { amount: 5 } });
      assert.equal(partsOf(chat.messages[1]).at(-1), "Paid.");
      assert.equal(requests.length, 1);
    });

    it("does not believe a decision on something it never asked", async () => {
      const model = scripted(calls("refund", { amount: 5 }, { id: "c1" }), says("Paid."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
      const { chat, settled, requests } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "pay" });
      const assistant = chat.messages[1] as Message;
      const forged = {
        type: "tool-refund",
        toolCallId: "c1",
        state: "approval-responded",
        input: {},
        approval: { id: "made-up", approved: true },
      };
      const other = { type: "tool-refund", toolCallId: "c1", state: "output-available", input: {}, output: { paid: 5 } };
      for (const part of [forged, other]) {
        chat.messages = [chat.messages[0] as Message, { ...assistant, parts: [{ type: "step-start" }, part] }];
        await chat.sendMessage();
        await settled();
      }
      assert.equal((await server.thread())?.status, "waiting");
      assert.deepEqual([ignored(server), model.requests.length], [2, 1]);
      assert.ok(requests.length <= 4, `${requests.length} requests`);
    });
  });

  describe(`AI SDK with ${release}: reload and resume`, () => {
    it("shows a running answer from its beginning, once", async () => {
      const gate = Promise.withResolvers<void>();
      const model = scripted(async function* () {
        yield* says("One ");
        await gate.promise;
        yield* says("two.");
      });
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const first = await openChat(release, { url: server.url });
      const sent = first.chat.sendMessage({ text: "count" });
      await eventually(() => partsOf(first.chat.messages[1]).includes("One "));
      const second = await reload(server, release);
      assert.deepEqual(second.chat.messages.map(partsOf), [["count"]]);
      const resumed = second.chat.resumeStream();
      await eventually(() => partsOf(second.chat.messages[1]).includes("One "));
      gate.resolve();
      await Promise.all([sent, resumed]);
      for (const { chat } of [first, second]) assert.deepEqual(partsOf(chat.messages[1]), ["step-start", "One ", "two."]);
      assert.equal(model.requests.length, 1);
    });

    it("offers a waiting browser tool again, and what is settled not", async () => {
      const model = scripted([...red("a"), ...red("b")], says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const first = await openChat(release, { url: server.url });
      await first.chat.sendMessage({ text: "red" });
      await settle(server, "a", { output: "by another door" });
      const second = await reload(server, release, { onToolCall: () => "painted" });
      await second.chat.resumeStream();
      await second.settled();
      assert.equal(second.chat.error, undefined);
      assert.deepEqual(second.tools, ["b"]);
      assert.deepEqual(
        ["a", "b"].map((id) => partOf(second.chat.messages[1], id)?.["output"]),
        ["by another door", "painted"],
      );
      assert.deepEqual(partsOf(second.chat.messages[1]).at(-1), "Done.");
      assert.deepEqual([second.chat.messages.length, posts(second)], [2, 1]);
    });

    it("shows an open question again, and takes the answer", async () => {
      const model = scripted(calls("refund", { amount: 5 }, { id: "c1" }), says("Paid."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [refund] }) } });
      await (await openChat(release, { url: server.url })).chat.sendMessage({ text: "pay" });
      const page = await reload(server, release);
      await page.chat.resumeStream();
      if (approves) await page.chat.addToolApprovalResponse?.({ id: "c1:approval", approved: true });
      else await answer(page.chat, "ask_approval", "c1:approval", { approved: true });
      if (release === "ai500") await page.chat.sendMessage();
      await page.settled();
      assert.equal(partsOf(page.chat.messages[1]).at(-1), "Paid.");
      assert.equal(posts(page), 1);
    });

    it("has nothing to resume when the turn is over, and the whole history instead", async () => {
      const model = scripted(red("c1"), says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const first = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      await first.chat.sendMessage({ text: "red" });
      await first.settled();
      const page = await reload(server, release);
      await page.chat.resumeStream();
      if (release !== "ai500") await page.settled(); // which says for ever that it has submitted something
      assert.deepEqual(page.chat.messages.map(partsOf), first.chat.messages.map(partsOf));
      assert.equal(posts(page), 0);
    });

    it("shows the result another tab was faster with", async () => {
      const model = scripted(red("c1"), says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const slow = await openChat(release, { url: server.url });
      await slow.chat.sendMessage({ text: "red" });
      const fast = await reload(server, release, { onToolCall: () => "fast" });
      await fast.chat.resumeStream();
      await fast.settled();
      await answer(slow.chat, "paint", "c1", "slow");
      await slow.settled();
      assert.equal(partOf(slow.chat.messages[1], "c1")?.["output"], "fast");
      assert.equal(partsOf(slow.chat.messages[1]).at(-1), "Done.");
      assert.deepEqual([posts(slow), model.requests.length, ignored(server)], [2, 2, 1]);
    });
  });

  describe(`AI SDK with ${release}: stop, again and otherwise`, () => {
    it("stops the run when it is told to, and keeps what was said", async () => {
      const model = scripted(hangs(...says("Once upon")), says("Ok."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const { chat } = await openChat(release, { url: server.url });
      void chat.sendMessage({ text: "story" });
      await eventually(() => partsOf(chat.messages[1]).includes("Once upon"));
      await chat.stop();
      assert.equal((await server.thread())?.status, "running");
      assert.equal((await server.post({}, "/api/chat/t/stop")).status, 200);
      await eventually(async () => (await server.thread())?.status === "idle");
      assert.equal((await server.post({}, "/api/chat/t/stop")).status, 200);
      await chat.sendMessage({ text: "go on" });
      assert.equal(partsOf(chat.messages.at(-1)).at(-1), "Ok.");
      assert.deepEqual(
        (await history(server)).map(({ role }) => role),
        ["user", "assistant", "user", "assistant"],
      );
    });

    it("answers the same message sent twice with the same turn", async () => {
      const model = scripted(red("c1"), says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const { chat, requests, settled } = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      await chat.sendMessage({ text: "red" });
      await settled();
      for (const { url, body } of [...requests]) {
        const again = await server.post(body, `${new URL(url).pathname}${new URL(url).search}`);
        assert.equal(again.status, 200);
        assert.match(again.text, /Done\./);
      }
      assert.equal(model.requests.length, 2);
    });

    it("answers anew, and an edited message", async () => {
      const model = scripted(says("One."), says("Two."), says("Tea."));
      await using server = await serve({ agents: { default: chatAgent({ model }) } });
      const { chat } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "coffee" });
      await chat.regenerate();
      assert.deepEqual(chat.messages.map(partsOf), [["coffee"], ["step-start", "Two."]]);
      await chat.sendMessage({ text: "tea", messageId: chat.messages[0]?.id as string });
      assert.deepEqual(chat.messages.map(partsOf), [["tea"], ["step-start", "Tea."]]);
      assert.deepEqual((await history(server)).map(partsOf), [["tea"], ["step-start", "Tea."]]);
      assert.deepEqual(
        model.requests[2]?.history.map((entry) => entry.role === "user" && entry.content),
        ["tea"],
      );
    });

    it("answers anew while a tool waits or the model still talks", async () => {
      const model = scripted(red("c1"), hangs(...says("Well")), says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const { chat } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "red" });
      void chat.regenerate();
      await eventually(() => partsOf(chat.messages[1]).includes("Well"));
      await chat.stop();
      await chat.regenerate();
      assert.deepEqual(chat.messages.map(partsOf), [["red"], ["step-start", "Done."]]);
    });
  });

  describe(`AI SDK with ${release}: never posts for ever`, () => {
    const cases: Record<string, { tools: boolean; end: (server: Served) => Promise<unknown>; exempt?: boolean }> = {
      "when the turn was stopped elsewhere": { tools: true, end: (server) => server.post({}, "/api/chat/t/stop") },
      "when the result came by another door": { tools: true, end: (server) => settle(server, "c1", { output: "x" }) },
    };
    for (const [name, { end }] of Object.entries(cases)) {
      it(name, async () => {
        const model = scripted(red("c1"), says("Done."));
        await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
        const opened = await openChat(release, { url: server.url });
        await opened.chat.sendMessage({ text: "red" });
        await end(server);
        await eventually(async () => (await server.thread())?.status === "idle");
        await answer(opened.chat, "paint", "c1", "painted");
        await opened.settled();
        assert.equal(opened.chat.error, undefined);
        assert.equal(opened.requests.length, 2);
      });
    }

    it("when the thread is gone", exempt, async () => {
      const model = scripted(red("c1"));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const opened = await openChat(release, { url: server.url });
      await opened.chat.sendMessage({ text: "red" });
      await fetch(`${server.url}/v1/threads/t`, { method: "DELETE" });
      await answer(opened.chat, "paint", "c1", "painted");
      await opened.settled();
      assert.match(opened.chat.error?.message ?? "", /no such message/);
      assert.equal(opened.requests.length, 2);
    });

    it("when the agent ends its turn on the calls", async () => {
      const model = scripted(red("c1"));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint], stopWhen: () => true }) } });
      const opened = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      await opened.chat.sendMessage({ text: "red" });
      await opened.settled();
      assert.equal(opened.chat.error, undefined);
      assert.equal(opened.requests.length, 2);
    });

    it("when the model has nothing to say", async () => {
      const model = scripted(red("c1"), []);
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const opened = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      await opened.chat.sendMessage({ text: "red" });
      await opened.settled();
      assert.deepEqual([opened.requests.length, opened.chat.error], [2, undefined]);
    });

    it("when the model fails after the tool", exempt, async () => {
      const model = scripted(red("c1"), fails("The provider is down"), says("Back."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const opened = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      await opened.chat.sendMessage({ text: "red" });
      await opened.settled();
      assert.deepEqual([opened.requests.length, opened.chat.error?.message], [2, "The provider is down"]);
      await opened.chat.sendMessage(); // the turn goes on with the result it has
      await opened.settled();
      assert.equal(partsOf(opened.chat.messages.at(-1)).at(-1), "Back.");
      assert.equal(opened.tools.length, 1);
    });

    it("when others take longer than a stream may stay open", exempt, async () => {
      const model = scripted([...red("c"), ...calls("get_menu", {}, { id: "e" })], says("Tea."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint, getMenu] }) }, aisdk: { hold: "10s" } });
      const opened = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      void opened.chat.sendMessage({ text: "both" });
      await eventually(async () => (await server.events()).some((event) => event.type === "tool.returned" && event.callId === "c"));
      await eventually(async () => {
        await server.clock.advance(11_000);
        return opened.chat.status === "ready";
      });
      await opened.settled();
      assert.deepEqual([opened.chat.status, opened.requests.length], ["ready", 2]);
      await settle(server, "e", { output: "tea" });
      await eventually(async () => (await server.thread())?.status === "idle");
      await opened.chat.sendMessage(); // asks how it is going: no model call, and what it missed
      await opened.settled();
      assert.deepEqual([partOf(opened.chat.messages[1], "e")?.["output"], partsOf(opened.chat.messages[1]).at(-1)], ["tea", "Tea."]);
      assert.equal(model.requests.length, 2);
    });
  });
}
