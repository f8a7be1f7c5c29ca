import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { systemClock } from "../core/clock.ts";
import type { Event, RunOptions, ToolSpec } from "../core/event.ts";
import { asked, given } from "../core/given.ts";
import type { Json } from "../core/json.ts";
import type { ModelEvent } from "../model/model.ts";
import { calls, finishes, says, scripted, thinks } from "../model/scripted.ts";
import type { StepContext } from "./agent.ts";
import { type Speech, speak } from "./speak.ts";
import { type Tool, tool } from "./tool.ts";

type Given = { tools?: Tool[]; declared?: ToolSpec[]; options?: RunOptions; price?: Speech["price"] };

/** What goes into the log when a model says this. */
async function spoken(events: readonly ModelEvent[], { tools = [], declared = [], options = {}, price }: Given = {}): Promise<Event[]> {
  let minted = 0;
  const { thread } = given(asked({ tools: declared, options }));
  const context: StepContext = {
    thread,
    signal: new AbortController().signal,
    key: { app: "default", user: "user", threadId: "t" },
    clock: systemClock,
    mint: (prefix) => `${prefix}${++minted}`,
    runCalls: async () => {},
    callId: async (wanted) => (wanted === "taken" ? "minted" : wanted),
    model: () => scripted(),
    blob: () => Promise.reject(new Error("no blobs")),
    saveBlob: async (_, data) => `blob-${data.length}`,
  };
  const stream = (async function* () {
    yield* events;
  })();
  const found: Event[] = [];
  const named = new Map(tools.map((made) => [made.spec.name, made]));
  for await (const event of speak(context, { name: "model", stream, tools: named, price })) found.push(event);
  return found;
}

const done = finishes();
const ext = tool({ name: "ext", description: "", input: z.object({ n: z.number() }), timeout: "5s", onTimeout: "deny" });
const calledOf = (events: readonly Event[]) => events.filter((event) => event.type === "tool.called");
const one = async (input: Json | { text: string }, more: Given = {}) => {
  const made =
    typeof input === "object" && input !== null && "text" in input
      ? calls("ext", null, { id: "c", text: String(input["text"]) })
      : calls("ext", input, { id: "c" });
  const [called] = calledOf(await spoken([...made, ...done], { tools: [ext], ...more }));
  assert.ok(called?.type === "tool.called");
  return called;
};

describe("speak: texts", () => {
  it("gives the first text the step's own id, every other one a new id, and none the provider's", async () => {
    const events = await spoken([...thinks("Hm."), ...says("One."), ...says("Two."), ...done]);
    const step = events.find((event) => event.type === "step.started");
    const ids = events.flatMap((event) => (event.type === "text.started" || event.type === "reasoning.started" ? [event.messageId] : []));
    assert.equal(ids[1], step?.messageId);
    assert.equal(new Set(ids).size, 3);
  });

  it("says the whole at the end, with what the provider wants back", async () => {
    const provider = { anthropic: { signature: "s" } };
    const [, ...thought] = thinks("Hm, ", "well.").toReversed();
    const events = await spoken([
      ...thought.toReversed(),
      { type: "reasoning.ended", id: "id" in (thought[0] ?? {}) ? (thought[0] as { id: string }).id : "", provider },
      ...done,
    ]);
    const end = events.find((event) => event.type === "reasoning.ended");
    assert.deepEqual(end?.type === "reasoning.ended" && [end.text, end.provider], ["Hm, well.", provider]);
  });

  it("keeps texts that are spoken at the same time apart", async () => {
    const events = await spoken([
      { type: "text.started", id: "a" },
      { type: "text.started", id: "b" },
      { type: "text.delta", id: "a", delta: "A" },
      { type: "text.delta", id: "b", delta: "B" },
      { type: "text.ended", id: "a" },
      { type: "text.ended", id: "b" },
      ...done,
    ]);
    assert.deepEqual(
      events.flatMap((event) => (event.type === "text.ended" ? [event.text] : [])),
      ["A", "B"],
    );
  });

  it("keeps a text without a word only for what the provider wants back", async () => {
    const provider = { openai: { itemId: "i" } };
    const nothing = (more: object) => [
      { type: "text.started", id: "a" },
      { type: "text.delta", id: "a", delta: "" },
      { type: "text.ended", id: "a", ...more },
    ];
    const typesOf = async (more: object) =>
      (await spoken([...(nothing(more) as ModelEvent[]), ...done])).map(({ type }) => type).filter((type) => type.startsWith("text."));
    assert.deepEqual(await typesOf({}), []);
    assert.deepEqual(await typesOf({ provider }), ["text.started", "text.ended"]);
  });

  it("refuses a model that goes on with what it never began", async () => {
    for (const event of [
      { type: "text.delta", id: "x", delta: "?" },
      { type: "text.ended", id: "x" },
      ...calls("ext", {}).slice(-1),
    ] as ModelEvent[]) {
      await assert.rejects(spoken([event, ...done]), { code: "internal" });
    }
  });

  it("takes an answer without an end for one that was cut off", async () => {
    await assert.rejects(spoken(says("Well")), { code: "model", message: /middle/ });
  });

  it("keeps files beside the log, and sources in it", async () => {
    const events = await spoken([
      { type: "file", mediaType: "image/png", data: new Uint8Array(3) },
      { type: "source", url: "https://x.example", title: "X" },
      ...done,
    ]);
    const parts = events.flatMap((event) => (event.type === "part.added" ? [event.part] : []));
    assert.deepEqual(parts, [
      { type: "file", mediaType: "image/png", blob: "blob-3" },
      { type: "source", url: "https://x.example", title: "X" },
    ]);
  });

  it("prices what was used", async () => {
    const events = await spoken([...says("x"), ...finishes({ inputTokens: 4, outputTokens: 1 })], {
      price: ({ inputTokens = 0 }) => inputTokens * 2,
    });
    const end = events.at(-1);
    assert.deepEqual(end?.type === "step.ended" && end.usage, { inputTokens: 4, outputTokens: 1, cost: 8 });
  });
});

describe("speak: calls", () => {
  it("carries what the tool says about deadlines and approval into the log", async () => {
    const { owner, timeout, onTimeout, input, invalid } = await one({ n: 1 });
    assert.deepEqual([owner, timeout, onTimeout, input, invalid], ["external", 5_000, { type: "deny" }, { n: 1 }, undefined]);
    const pay = tool({
      name: "ext",
      description: "",
      input: z.object({ n: z.number() }),
      approval: { timeout: "1m" },
      idempotent: true,
      timeout: "1s",
      execute: () => 1,
    });
    const called = await one({ n: 1 }, { tools: [pay] });
    assert.deepEqual([called.owner, called.approval, called.idempotent, called.timeout], ["server", { timeout: 60_000 }, true, undefined]);
  });

  it("tells arguments in one piece where the model does not stream them", async () => {
    const events = await spoken(
      [{ type: "tool.started", id: "c", name: "ext" }, { type: "tool.called", id: "c", name: "ext", input: { value: { n: 1 } } }, ...done],
      { tools: [ext] },
    );
    assert.deepEqual(
      events.flatMap((event) => (event.type === "tool.delta" ? [event.delta] : [])),
      ['{"n":1}'],
    );
  });

  it("uses the id the engine allows, from the first piece to the last", async () => {
    const events = await spoken([...calls("ext", { n: 1 }, { id: "taken", chunks: 3 }), ...done], { tools: [ext] });
    const ids = events.flatMap((event) => ("callId" in event ? [event.callId] : []));
    assert.deepEqual(new Set(ids), new Set(["minted"]));
  });

  it("reads no arguments at all as an empty object", async () => {
    const none = tool({ name: "ext", description: "", input: z.object({}) });
    for (const text of ["", "  "]) assert.deepEqual((await one({ text }, { tools: [none] })).input, {});
  });

  for (const [name, input, why] of [
    ["half of it", { text: '{"n":' }, /cannot be read/],
    ["no JSON", { text: "n=1" }, /cannot be read/],
    ["another type", { n: "one" }, /do not fit its schema: n/],
    ["a list", [1], /do not fit its schema/],
    ["null", null, /do not fit its schema/],
    ["a depth no honest argument has", { text: `${"[".repeat(100)}${"]".repeat(100)}` }, /deeper than 64/],
    ["a depth that breaks readers", { text: '{"a":'.repeat(100_000) }, /cannot be read/],
  ] as const) {
    it(`lets nobody run a call whose arguments are ${name}`, async () => {
      assert.match((await one(input as Json)).invalid ?? "", why);
    });
  }

  it("lets nobody run a tool that does not exist", async () => {
    const called = await one({ n: 1 }, { tools: [] });
    assert.match(called.invalid ?? "", /There is no tool ext/);
  });

  it("checks a client's tool by the schema it came with, and gives it to the client", async () => {
    const declared = [{ name: "ext", description: "", input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } }];
    const fine = await one({ n: 1 }, { tools: [], declared });
    assert.deepEqual([fine.owner, fine.invalid], ["client", undefined]);
    assert.match((await one({}, { tools: [], declared })).invalid ?? "", /n/);
  });

  it("sends everything outside in mode outside, with the request's deadline", async () => {
    const here = tool({ name: "ext", description: "", input: z.object({ n: z.number() }), execute: () => 1 });
    const options: RunOptions = { toolExecution: { mode: "outside", outsideConfig: { timeout: 7_000 } } };
    const called = await one({ n: 1 }, { tools: [here], options });
    assert.deepEqual([called.owner, called.timeout], ["external", 7_000]);
    const declared = [{ name: "ext", description: "", input: {} }];
    assert.equal((await one({ n: 1 }, { tools: [], declared, options })).owner, "external");
  });
});
