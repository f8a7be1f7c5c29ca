import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import type { Agent } from "../src/agent/agent.ts";
import { type ChatOptions, chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { AppError } from "../src/core/error.ts";
import type { StoredEvent } from "../src/core/event.ts";
import type { ModelRequest } from "../src/model/model.ts";
import { calls, finishes, hangs, says, scripted, scriptedBy } from "../src/model/scripted.ts";
import { memoryStore } from "../src/store/memory.ts";
import { message, startEngine } from "./support/engine.ts";
import { last } from "./support/frames.ts";
import { eventually, keyOf, serve } from "./support/serve.ts";

const work = tool({ name: "work", description: "", input: z.object({}), execute: () => "ok" });
const busy = (usage = {}) => scriptedBy(() => [...calls("work", {}), ...finishes(usage, "tool-calls")]);
const ended = (events: readonly StoredEvent[]) => events.findLast((event) => event.type === "run.ended")?.outcome;
const failure = (events: readonly StoredEvent[]) => {
  const outcome = ended(events);
  return outcome?.type === "failed" ? outcome.error : undefined;
};

async function answered(options: ChatOptions, command: object = {}): Promise<readonly StoredEvent[]> {
  const { submit, idle } = startEngine({ agents: { default: chatAgent({ tools: [work], ...options }) } });
  await submit({ ...message("go"), ...command });
  return idle();
}

describe("a model", () => {
  it("that throws a conflict of its own fails its run, and is not taken for another driver", async () => {
    const model = scriptedBy(() => {
      throw new AppError("conflict", "The account is locked");
    });
    assert.deepEqual(failure(await answered({ model })), { code: "conflict", message: "The account is locked" });
  });
});

describe("an agent's limits", () => {
  it("end a turn that takes too many steps, and a request may ask for fewer", async () => {
    const model = busy();
    assert.deepEqual(failure(await answered({ model, maxSteps: 4 })), { code: "limit", message: "The turn took 4 steps and was not done" });
    assert.equal(model.requests.length, 4);
    assert.equal(
      failure(await answered({ model, maxSteps: 4 }, { options: { maxSteps: 2 } }))?.message,
      "The turn took 2 steps and was not done",
    );
  });

  it("stop a run that has spent its tokens", async () => {
    const model = busy({ inputTokens: 40, outputTokens: 10 });
    assert.match(failure(await answered({ model, limits: { tokens: 100 } }))?.message ?? "", /used 100 tokens; its limit is 100/);
    assert.equal(model.requests.length, 2);
  });

  it("stop a run that has cost too much, and the price is in the log", async () => {
    const model = busy({ inputTokens: 1_000, outputTokens: 0 });
    const events = await answered({ model, limits: { cost: 0.5 }, price: ({ inputTokens = 0 }) => inputTokens / 4_000 });
    assert.match(failure(events)?.message ?? "", /cost 0.5; its limit is 0.5/);
    const step = events.find((event) => event.type === "step.ended");
    assert.equal(step?.type === "step.ended" && step.usage?.cost, 0.25);
  });

  it("do not count what an earlier run of the thread has spent", async () => {
    const model = scriptedBy(() => [...says("Yes."), ...finishes({ totalTokens: 60 })]);
    const { submit, idle } = startEngine({ agents: { default: chatAgent({ model, limits: { tokens: 100 } }) } });
    for (let i = 0; i < 3; i += 1) {
      await submit(message("go"));
      assert.equal(ended(await idle())?.type, "done");
    }
  });

  it("end the turn where the agent has heard enough", async () => {
    const model = busy();
    const events = await answered({ model, stopWhen: ({ turn }) => (turn?.steps ?? 0) >= 2 });
    assert.equal(ended(events)?.type, "done");
    assert.equal(model.requests.length, 2);
  });

  it("end a run that takes too long, whatever its model does with the signal", async () => {
    await using server = await serve({
      agents: { default: chatAgent({ model: scripted(hangs(...says("Well").slice(0, 2))) }) },
      runTimeout: "1m",
    });
    const stream = await server.open({ threadId: "t", runId: "r", messages: [{ role: "user", content: "go" }] });
    await stream.until("TEXT_MESSAGE_CONTENT");
    await server.clock.advance(60_000);
    const frames = await stream.rest();
    assert.deepEqual([last(frames).type, last(frames)["code"]], ["RUN_ERROR", "timeout"]);
  });

  it("are those of the request's own options where it has some", async () => {
    const { submit, clock, idle, events } = startEngine({ agents: { default: chatAgent({ model: scripted(hangs()) }) } });
    await submit({ ...message("go"), options: { timeout: 5_000 } });
    await clock.advance(5_000);
    await eventually(async () => ended(await events()));
    assert.equal(failure(await idle())?.code, "timeout");
  });
});

describe("an agent's model", () => {
  it("may be chosen by a request, from those the agent offers", async () => {
    const [small, large] = [scripted(says("small")), scripted(says("large"))];
    await answered({ model: small, models: { large } }, { options: { model: "large" } });
    assert.deepEqual([small.requests.length, large.requests.length], [0, 1]);
  });

  it("that the agent does not offer is refused before anything is written", async () => {
    const { submit, engine } = startEngine({ agents: { default: chatAgent({ model: scripted(), models: { large: scripted() } }) } });
    for (const model of ["huge", "__proto__", "constructor"]) {
      await assert.rejects(submit({ ...message("go"), options: { model } }), { code: "invalid", field: "model" });
    }
    assert.equal(await engine.store.thread(keyOf()), undefined);
  });

  it("without a provider fails the run in words an operator can use", async () => {
    await using server = await serve({ agents: { default: chatAgent({ model: "gpt-x" }) } });
    const { frames } = await server.post({ threadId: "t", runId: "r", messages: [{ role: "user", content: "go" }] });
    assert.equal(last(frames).type, "RUN_ERROR");
    assert.match(String(last(frames)["message"]), /No provider for the model gpt-x/);
  });

  it("gets instructions that may depend on the thread, and a request's own in their place", async () => {
    const asked: ModelRequest[] = [];
    const model = scriptedBy((request) => {
      asked.push(request);
      return says("Yes.");
    });
    const instructions: ChatOptions["instructions"] = ({ history }) => `There are ${history.length} messages.`;
    await answered({ model, instructions });
    await answered({ model, instructions }, { options: { instructions: "Be brief." } });
    assert.deepEqual(
      asked.map(({ instructions: told }) => told),
      ["There are 1 messages.", "Be brief."],
    );
  });
});

describe("code of one's own that throws", () => {
  const broken = (): never => {
    throw new Error("secret of the house");
  };

  for (const [name, options] of [
    ["instructions", { instructions: broken }],
    ["stopWhen", { stopWhen: broken }],
    ["price", { price: broken }],
    ["a model", { model: broken }],
  ] as const) {
    it(`fails the run and says no more than that: ${name}`, async () => {
      const model = scriptedBy(() => [...calls("work", {}), ...finishes({ inputTokens: 1 })]);
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [work], ...options }) } });
      const { frames, text } = await server.post({ threadId: "t", runId: "r", messages: [{ role: "user", content: "go" }] });
      assert.deepEqual([last(frames).type, last(frames)["code"]], ["RUN_ERROR", "internal"]);
      assert.ok(!text.includes("secret"));
      assert.equal((await server.thread())?.status, "idle");
    });
  }

  it("fails the run when it is an agent that cannot say what is next", async () => {
    const agent: Agent = { ...chatAgent({ model: scripted() }), next: broken };
    const { submit, idle, engine } = startEngine({ agents: { default: agent } });
    await submit(message("go"));
    assert.equal(failure(await idle())?.code, "internal");
    assert.ok([...engine.live.values()].every(({ driver }) => !driver));
  });
});

describe("a store that cannot be written for a while", () => {
  for (const type of ["step.ended", "call.claimed", "tool.returned", "run.ended", "text.delta"] as const) {
    it(`delays a run and loses nothing of it: ${type}`, async () => {
      const store = memoryStore();
      let full = 2;
      const model = scripted([...says("Let me."), ...calls("work", {})], says("Done."));
      const { submit, clock, idle, events } = startEngine({
        agents: { default: chatAgent({ model, tools: [work] }) },
        store: {
          ...store,
          async append(key, expect, added, at) {
            if (added.some((event) => event.type === type) && full-- > 0) throw new AppError("unavailable", "The disk is full");
            return store.append(key, expect, added, at);
          },
        },
      });
      await submit(message("go"));
      await eventually(() => full < 2);
      for (let i = 0; i < 4; i += 1) await clock.advance(1_000);
      await eventually(async () => ended(await events()));
      const after = await idle();
      assert.equal(ended(after)?.type, "done");
      assert.equal(model.requests.length, 2);
      assert.equal(after.filter((event) => event.type === "tool.returned").length, 1);
    });
  }
});

describe("a turn's attributes", () => {
  it("mark its line in the server's log, as plain values", async () => {
    const { submit, idle, logged } = startEngine({ agents: { default: chatAgent({ model: scripted(says("Hi.")) }) } });
    await submit({ ...message("go"), options: { attributes: { "trace.input": "go", tries: 2, nested: { not: "told" } } } });
    await idle();
    const line = logged.find(({ event }) => event === "run.ended");
    assert.deepEqual([line?.["attributes.trace.input"], line?.["attributes.tries"]], ["go", 2]);
    assert.equal(
      Object.keys(line ?? {}).some((field) => field.includes("nested")),
      false,
    );
  });
});
