import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openPage } from "./copilotkit/core.ts";
import { strict } from "./support/agui.ts";
import { approving, CONFIRM, recipe } from "./support/graphs.ts";
import { serve } from "./support/serve.ts";

strict();

describe("CopilotKit's core: graphs", () => {
  it("finds a graph's question as it finds an approval, and goes on with the answer", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    const page = await openPage(server);
    await page.say("omelette");
    assert.deepEqual(
      page.agent.pendingInterrupts.map(({ message, reason }) => [message, reason]),
      [[CONFIRM, "input_required"]],
    );
    await page.answer(true);
    assert.deepEqual(page.agent.pendingInterrupts, []);
    assert.equal(page.agent.messages.findLast(({ role }) => role === "assistant")?.content, "Here is your omelette.");
    assert.deepEqual(page.errors, []);
    assert.deepEqual(page.agent.state, { dish: "omelette", log: ["Two eggs.", "cooked"] });
  });

  it("asks again in a page that is loaded again", async () => {
    await using server = await serve({ agents: { default: recipe() } });
    await (await openPage(server)).say("omelette");
    const page = await openPage(server);
    await page.connect();
    assert.equal(page.agent.pendingInterrupts.length, 1);
    await page.answer(true);
    assert.equal(page.agent.messages.findLast(({ role }) => role === "assistant")?.content, "Here is your omelette.");
    assert.deepEqual(page.errors, []);
  });

  it("approves a call that an agent in a node wants to make", async () => {
    await using server = await serve({ agents: { default: approving() } });
    const page = await openPage(server);
    await page.say("refund");
    assert.equal(page.agent.pendingInterrupts[0]?.reason, "tool_call");
    await page.answer({ approved: true });
    assert.equal(page.agent.messages.findLast(({ role }) => role === "assistant")?.content, "Paid 5.");
    assert.deepEqual(page.errors, []);
  });
});
