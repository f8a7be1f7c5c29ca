import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { command, END, goto, START, send } from "../src/agent/graph/command.ts";
import { edge, join, when } from "../src/agent/graph/edge.ts";
import { append, field, merge } from "../src/agent/graph/field.ts";
import { graph } from "../src/agent/graph/graph.ts";
import { graphNode, node } from "../src/agent/graph/node.ts";
import { AppError } from "../src/core/error.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { begun, failureOf, folded, only, open, outcomes, reply } from "./graph/support.ts";
import { message, startEngine } from "./support/engine.ts";
import { eventually } from "./support/eventually.ts";

const log = field(z.array(z.string()), { reduce: append, default: () => [] });
const note = (name: string) => () => ({ log: [name] });

describe("a graph goes where its edges lead", () => {
  it("runs a chain, one append for each superstep", async () => {
    const appends: string[][] = [];
    const memory = memoryStore();
    const store: Store = {
      ...memory,
      append(key, expect, events, at, request) {
        appends.push(events.map(({ type }) => type));
        return memory.append(key, expect, events, at, request);
      },
    };
    const agent = graph(
      { dish: field(z.string()), log },
      {
        input: ({ text }) => ({ dish: text }),
        nodes: { a: ({ state }) => ({ log: [`a ${state.dish}`] }), b: note("b") },
        edges: [edge(START, "a"), edge("a", "b")],
        result: (state) => state.log.length,
      },
    );
    await using started = startEngine({ agents: { default: agent }, store });
    await started.submit(message("pie"));
    const events = await started.idle();
    assert.deepEqual((await folded(started)).state, { log: ["a pie", "b"], dish: "pie" });
    assert.deepEqual(only(events, "run.ended")[0]?.outcome, { type: "done", result: 2 });
    assert.deepEqual(appends, [
      ["run.started"],
      ["state.patched", "checkpoint.reached"],
      ["step.started", "step.ended", "state.patched", "checkpoint.reached"],
      ["step.started", "step.ended", "state.patched", "checkpoint.reached"],
      ["run.ended"],
    ]);
  });

  it("reduces what parallel nodes write in the order of the tasks, whoever was faster", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const agent = graph(
      { log, seen: field(z.record(z.string(), z.number()), { reduce: merge, default: () => ({}) }) },
      {
        nodes: {
          slow: async ({ state }) => {
            await gates[0].promise;
            return { log: [`slow saw ${state.log.length}`], seen: { slow: 1 } };
          },
          fast: ({ state }) => {
            gates[0].resolve();
            return { log: [`fast saw ${state.log.length}`], seen: { fast: 2 } };
          },
          last: ({ state }) => ({ log: [`last saw ${state.log.length}`] }),
        },
        edges: [edge(START, "slow"), edge(START, "fast"), edge("slow", "last"), edge("fast", "last")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    const events = await started.idle();
    assert.deepEqual((await folded(started)).state, { log: ["slow saw 0", "fast saw 0", "last saw 2"], seen: { slow: 1, fast: 2 } });
    assert.deepEqual(only(events, "state.patched").at(1)?.ops, [
      { op: "add", path: "/log/-", value: "slow saw 0" },
      { op: "add", path: "/seen/slow", value: 1 },
      { op: "add", path: "/log/-", value: "fast saw 0" },
      { op: "add", path: "/seen/fast", value: 2 },
    ]);
  });

  it("joins branches of different lengths, once, and again in the next round", async () => {
    const agent = graph(
      { log, rounds: field(z.number(), { default: () => 0 }) },
      {
        nodes: {
          short: note("short"),
          long1: note("long1"),
          long2: note("long2"),
          both: ({ state }) => ({ log: ["both"], rounds: state.rounds + 1 }),
        },
        edges: [
          edge(START, "short"),
          edge(START, "long1"),
          edge("long1", "long2"),
          join(["short", "long2"], "both"),
          when("both", (state) => (state.rounds < 2 ? ["short", "long1"] : END), ["short", "long1", END]),
        ],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    const events = await started.idle();
    assert.deepEqual(begun(events), ["short", "long1", "long2", "both", "short", "long1", "long2", "both"]);
    assert.deepEqual(
      only(events, "checkpoint.reached").map(({ arrived }) => arrived),
      [undefined, { "short+long2>both": ["short"] }, undefined, undefined, { "short+long2>both": ["short"] }, undefined, undefined],
    );
  });

  it("fans out with an input for each task, as many at a time as it may", async () => {
    let running = 0;
    let most = 0;
    const agent = graph(
      { topics: field(z.array(z.string()), { default: () => ["x", "y", "z"] }), topic: field(z.string()), log },
      {
        nodes: {
          split: node(({ state }) => goto(state.topics.map((topic) => send("work", { topic }))), { to: ["work"] }),
          work: async ({ state, input }) => {
            running += 1;
            most = Math.max(most, running);
            await new Promise((resolve) => setImmediate(resolve));
            running -= 1;
            return { log: [`${state.topic} ${JSON.stringify(input)}`] };
          },
          done: note("done"),
        },
        edges: [edge(START, "split"), edge("work", "done")],
        concurrency: 2,
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    const events = await started.idle();
    const { state } = await folded(started);
    assert.deepEqual(state, { topics: ["x", "y", "z"], log: ['x {"topic":"x"}', 'y {"topic":"y"}', 'z {"topic":"z"}', "done"] });
    assert.deepEqual(begun(events), ["split", "work", "work#2", "work#3", "done"]);
    assert.equal(most, 2);
  });

  it("lets a command change the state and replace the edges, to itself too", async () => {
    const agent = graph(
      { n: field(z.number(), { default: () => 0 }) },
      {
        nodes: {
          count: node(({ state }) => command({ update: { n: state.n + 1 }, goto: state.n < 3 ? "count" : END }), { to: ["count", END] }),
          never: () => assert.fail(),
        },
        edges: [edge(START, "count"), edge("count", "never")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await started.idle();
    assert.deepEqual((await folded(started)).state, { n: 4 });
  });

  it("keeps its state over turns, and takes the text as `input` by default", async () => {
    const agent = graph(
      { input: field(z.string()), log },
      { nodes: { a: ({ state }) => ({ log: [state.input] }) }, edges: [edge(START, "a")] },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("one"));
    await started.idle();
    await started.submit(message("two"));
    await started.idle();
    assert.deepEqual((await folded(started)).state, { input: "two", log: ["one", "two"] });
  });

  it("gives nodes a state they cannot change", async () => {
    const agent = graph(
      { log },
      {
        nodes: {
          a: ({ state }) => {
            (state.log as string[]).push("sneaked in");
          },
        },
        edges: [edge(START, "a")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.equal(failureOf(await started.idle()), "Node a failed");
    assert.match(String(started.logged.find(({ event }) => event === "step.failed")?.["message"]), /not extensible/);
  });
});

describe("a node speaks", () => {
  it("as a message in the history, and beside it", async () => {
    const agent = graph(
      { log },
      {
        nodes: {
          a: ({ text, progress, emit, activity }) => {
            text("Hello ");
            progress(0.5, "half");
            emit("app.news", { n: 1 });
            activity("todo", [{ op: "add", path: "/items", value: ["x"] }], "todo-1");
            text("world.");
          },
        },
        edges: [edge(START, "a")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    const events = await started.idle();
    const { history, activities } = await folded(started);
    const [, said] = history;
    assert.ok(said?.role === "assistant");
    assert.deepEqual([said.state, said.parts.map((part) => part.type === "text" && part.text)], ["completed", ["Hello world."]]);
    assert.deepEqual(
      only(events, "custom.emitted").map(({ name, value }) => [name, value]),
      [
        ["node.progress", { nodeId: "a", progress: 0.5, message: "half" }],
        ["app.news", { n: 1 }],
      ],
    );
    assert.deepEqual(activities[0]?.content, { items: ["x"] });
  });
});

describe("a node asks", () => {
  const approval = () =>
    graph(
      { draft: field(z.number(), { default: () => 0 }), log },
      {
        nodes: {
          write: ({ state }) => ({ draft: state.draft + 1 }),
          review: node(
            async ({ state, interrupt }) => {
              const ok = await interrupt("ok", { draft: state.draft }, { schema: z.boolean() });
              return ok ? goto(END, { log: [`took ${state.draft}`] }) : goto("write", { log: [`refused ${state.draft}`] });
            },
            { to: ["write", END] },
          ),
        },
        edges: [edge(START, "write"), edge("write", "review")],
      },
    );

  it("anew in each round of a loop", async () => {
    await using started = startEngine({ agents: { default: approval() } });
    await started.submit(message("go"));
    await started.idle();
    const first = await open(started);
    await reply(started, { ok: false });
    const second = await open(started);
    assert.notEqual(first["ok"], second["ok"]);
    const events = await reply(started, { ok: true });
    assert.deepEqual((await folded(started)).state, { draft: 2, log: ["refused 1", "took 2"] });
    assert.deepEqual(outcomes(events), ["waiting", "waiting", "done"]);
    assert.deepEqual(only(events, "run.started")[1]?.resume, {
      lineageId: only(events, "run.started")[0]?.turnId,
      checkpointId: only(events, "interrupt.raised")[0]?.place?.checkpointId,
      answers: { ok: false },
    });
  });

  it("refuses an answer that does not fit, and goes on waiting", async () => {
    await using started = startEngine({ agents: { default: approval() } });
    await started.submit(message("go"));
    await started.idle();
    await assert.rejects(started.submit({ resume: { answers: { ok: "perhaps" } } }), { code: "unprocessable" });
    await assert.rejects(started.submit({ resume: { answers: { nope: 1 } } }), {
      code: "not_found",
      message: "Nothing in this thread asks nope; open are ok",
    });
    await assert.rejects(started.submit({ resume: { lineageId: "turn_x", answers: { ok: true } } }), {
      code: "not_found",
      message: /turn_x/,
    });
    await assert.rejects(started.submit({ resume: { checkpointId: "checkpoint_x", answers: { ok: true } } }), {
      code: "not_found",
      message: /checkpoint_x/,
    });
    assert.deepEqual(outcomes(await reply(started, { ok: true })), ["waiting", "done"]);
  });

  it("several things at once, in one node and in two, and goes on with each", async () => {
    const ran: string[] = [];
    const agent = graph(
      { log },
      {
        nodes: {
          both: async ({ interrupt }) => {
            ran.push("both");
            const [a, b] = await Promise.all([interrupt("a", "A?"), interrupt("b", "B?")]);
            return { log: [`${a}${b}`] };
          },
          other: async ({ interrupt }) => {
            ran.push("other");
            const c = await interrupt("c", "C?");
            ran.push("other went on");
            return { log: [`${c}`] };
          },
          quiet: () => {
            ran.push("quiet");
            return { log: ["quiet"] };
          },
          end: note("end"),
        },
        edges: [edge(START, "both"), edge(START, "other"), edge(START, "quiet"), join(["both", "other", "quiet"], "end")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await started.idle();
    assert.deepEqual(Object.keys(await open(started)).sort(), ["a", "b", "c"]);
    await assert.rejects(started.submit({ resume: { value: 1 } }), { code: "invalid", message: /\(a, b, c\)/ });
    await reply(started, { c: 3 });
    assert.deepEqual(ran, ["both", "other", "quiet", "other", "other went on"]);
    assert.deepEqual((await folded(started)).state, { log: [] }, "nothing takes effect before the barrier");
    await reply(started, { a: 1 });
    assert.deepEqual(Object.keys(await open(started)), ["b"]);
    assert.equal(ran.length, 5, "a node with an open question is not run in vain");
    await started.submit({ resume: { value: 2 } });
    const events = await started.idle();
    assert.deepEqual((await folded(started)).state, { log: ["12", "3", "quiet", "end"] });
    assert.equal(ran.filter((name) => name === "quiet").length, 1);
    assert.equal(only(events, "interrupt.raised").length, 3, "each is asked once");
  });

  it("and is suspended even where it swallows that it was", async () => {
    const agent = graph(
      { log },
      {
        nodes: {
          a: async ({ interrupt }) => {
            let said: unknown = "nothing";
            try {
              said = await interrupt("k", "?");
            } catch {}
            void interrupt("loose", "?");
            return { log: [`${said}`] };
          },
        },
        edges: [edge(START, "a")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.deepEqual(outcomes(await started.idle()), ["waiting"]);
    assert.deepEqual(Object.keys(await open(started)), ["k", "loose"]);
    await reply(started, { k: 1, loose: 2 });
    assert.deepEqual((await folded(started)).state, { log: ["1"] });
  });

  it("one after the other, and the same key twice", async () => {
    const agent = graph(
      { log },
      {
        nodes: {
          a: async ({ interrupt }) => {
            const one = await interrupt("k", "first");
            const two = await interrupt("k", "second");
            return { log: [`${one} ${two}`] };
          },
        },
        edges: [edge(START, "a")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await started.idle();
    await reply(started, { k: 1 });
    const events = await reply(started, { k: 2 });
    assert.deepEqual((await folded(started)).state, { log: ["1 2"] });
    assert.match(only(events, "interrupt.raised")[1]?.interruptId ?? "", /\/k#2$/);
  });

  it("and hears that nobody answered in time, or that it was called off", async () => {
    const agent = graph(
      { log },
      {
        nodes: {
          a: async ({ interrupt }) => {
            try {
              return { log: [String(await interrupt("k", "?", { timeout: "1m" }))] };
            } catch (error) {
              if (!(error instanceof AppError)) throw error;
              return { log: [`${error.code}: ${error.message}`] };
            }
          },
        },
        edges: [edge(START, "a")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await started.idle();
    await started.clock.advance(61_000);
    await eventually(async () => outcomes(await started.events()).at(-1) === "done");
    await started.submit(message("again"));
    await started.idle();
    const { k = "" } = await open(started);
    await started.submit({ answers: [{ interruptId: k, status: "cancelled" }] });
    await started.idle();
    assert.deepEqual((await folded(started)).state, { log: ["timeout: Nobody answered k in time", "gone: The question k was cancelled"] });
  });

  it("from inside of graphs, however deep; the state inside is its own", async () => {
    const inner = graph(
      { who: field(z.string()), log },
      {
        nodes: {
          ask: async ({ state, interrupt }) => ({ log: [`${state.who} said ${await interrupt("name", "Name?")}`] }),
          tell: note("told"),
        },
        edges: [edge(START, "ask"), edge("ask", "tell")],
      },
    );
    const middle = graph(
      { log },
      {
        nodes: { in: graphNode(inner, { input: () => ({ who: "ann" }), output: ({ log }) => ({ log: [...log] }) }) },
        edges: [edge(START, "in")],
      },
    );
    const outer = graph(
      { log },
      {
        nodes: { sub: graphNode(middle, { output: ({ log }) => ({ log: [...log, "out"] }) }), beside: note("beside") },
        edges: [edge(START, "sub"), edge(START, "beside")],
      },
    );
    await using started = startEngine({ agents: { default: outer } });
    await started.submit(message("go"));
    const asked = await started.idle();
    const place = only(asked, "interrupt.raised")[0]?.place;
    assert.deepEqual(place?.path, ["sub", "in", "ask"]);
    assert.equal(place?.checkpointId, only(asked, "checkpoint.reached")[0]?.checkpointId, "the place is the outermost graph's");
    const events = await reply(started, { name: "bob" });
    assert.deepEqual((await folded(started)).state, { log: ["ann said bob", "told", "out", "beside"] });
    assert.deepEqual(begun(events), ["sub", "beside", "sub/in", "sub/in/ask", "sub", "sub/in", "sub/in/ask", "sub/in/tell"]);
    assert.deepEqual(Object.keys((await folded(started)).graph.frames), [""], "what ran inside is forgotten when it is over");
    assert.equal(
      (await started.engine.store.checkpoints({ app: "default", user: "user", threadId: "t" }, { limit: 10 })).checkpoints.length,
      2,
    );
  });
});

describe("an answer that comes while the graph still runs", () => {
  it("is heard in the same run", async () => {
    const gate = Promise.withResolvers<void>();
    const agent = graph(
      { log },
      {
        nodes: {
          ask: async ({ interrupt }) => ({ log: [`${await interrupt("k", "?")}`] }),
          slow: async () => {
            await gate.promise;
            return { log: ["slow"] };
          },
        },
        edges: [edge(START, "ask"), edge(START, "slow")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await eventually(async () => only(await started.events(), "interrupt.raised").length === 1);
    await started.submit({ resume: { answers: { k: 1 } } });
    gate.resolve();
    assert.deepEqual(outcomes(await started.idle()), ["done"]);
    assert.deepEqual((await folded(started)).state, { log: ["1", "slow"] });
  });
});

describe("a node fails", () => {
  it("tells the first of several in the order of the tasks, whoever failed first", async () => {
    const first = Promise.withResolvers<void>();
    const agent = graph(
      { log },
      {
        nodes: {
          slow: async () => {
            await first.promise;
            throw new AppError("unavailable", "slow failed");
          },
          quick: async () => {
            queueMicrotask(() => setImmediate(first.resolve));
            throw new AppError("unavailable", "quick failed");
          },
        },
        edges: [edge(START, "slow"), edge(START, "quick")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.match(failureOf(await started.idle()) ?? "", /slow failed/);
  });

  const failing = (
    times: number,
    more: Parameters<typeof node>[1] = {},
    error: () => unknown = () => new AppError("unavailable", "No gas"),
  ) => {
    let left = times;
    const ran: string[] = [];
    const agent = graph(
      { log },
      {
        nodes: {
          cook: node(({ attempt }: { attempt: number }) => {
            ran.push(`cook ${attempt}`);
            if (left-- > 0) throw error();
            return { log: ["cooked"] };
          }, more),
          beside: () => {
            ran.push("beside");
            return { log: ["beside"] };
          },
        },
        edges: [edge(START, "cook"), edge(START, "beside")],
      },
    );
    return { agent, ran };
  };

  it("and is tried again, later each time; that is no end of it", async () => {
    const { agent, ran } = failing(2, { retry: { attempts: 3, delay: "1s" } });
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await eventually(async () => only(await started.events(), "step.ended").some(({ retrying }) => retrying));
    assert.deepEqual(ran, ["cook 1", "beside"]);
    await started.clock.advance(1_001);
    await eventually(() => ran.includes("cook 2"));
    await eventually(async () => only(await started.events(), "step.ended").filter(({ retrying }) => retrying).length === 2);
    await started.clock.advance(2_001);
    const events = await started.idle();
    assert.deepEqual(outcomes(events), ["done"]);
    assert.deepEqual(
      only(events, "step.ended").flatMap(({ error, retrying }) => (error ? [[error.message, retrying]] : [])),
      [
        ["No gas", true],
        ["No gas", true],
      ],
    );
    assert.deepEqual(
      only(events, "step.started").flatMap(({ attempt }) => attempt ?? []),
      [2, 3],
    );
  });

  it("for good: the run fails and names it, what the others did is kept, and a retry goes on with the rest", async () => {
    const { agent, ran } = failing(1);
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.equal(failureOf(await started.idle()), "Node cook failed: No gas");
    await started.submit({});
    assert.deepEqual(outcomes(await started.idle()), ["failed", "done"]);
    assert.deepEqual(ran, ["cook 1", "beside", "cook 1"]);
    assert.deepEqual((await folded(started)).state, { log: ["cooked", "beside"] });
  });

  it("without telling its secrets, except to the log", async () => {
    const { agent } = failing(1, {}, () => new Error("password 1234"));
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.equal(failureOf(await started.idle()), "Node cook failed");
    assert.match(JSON.stringify(started.logged), /Node cook failed: password 1234/);
    assert.doesNotMatch(JSON.stringify(await started.events()), /1234/);
  });

  it("when its time is up, and what it says later is not heard", async () => {
    const gate = Promise.withResolvers<void>();
    const after = Promise.withResolvers<void>();
    const agent = graph(
      { log },
      {
        nodes: {
          slow: node(
            async ({ text, signal }) => {
              await gate.promise;
              text("late");
              assert.ok(signal.aborted);
              after.resolve();
            },
            { timeout: "5s" },
          ),
        },
        edges: [edge(START, "slow")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await eventually(async () => only(await started.events(), "checkpoint.reached").length === 1);
    await started.clock.advance(5_001);
    assert.equal(failureOf(await started.idle()), "Node slow failed: It took longer than 5000 ms");
    gate.resolve();
    await after.promise;
    assert.equal(only(await started.events(), "text.started").length, 0);
  });

  it("asks again what its failure dropped", async () => {
    let fails = true;
    const agent = graph(
      { log },
      {
        nodes: {
          ask: async ({ interrupt }) => ({ log: [`${await interrupt("k", "?")}`] }),
          bad: async ({ interrupt }) => {
            await interrupt("go", "?");
            if (fails) throw new AppError("unavailable", "Not now");
            return {};
          },
        },
        edges: [edge(START, "ask"), edge(START, "bad")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await started.idle();
    await reply(started, { go: 1 });
    assert.deepEqual(outcomes(await started.events()), ["waiting", "failed"]);
    fails = false;
    await started.submit({});
    await started.idle();
    assert.deepEqual(Object.keys(await open(started)), ["k"], "what was answered is not asked again");
    await reply(started, { k: 7 });
    assert.deepEqual((await folded(started)).state, { log: ["7"] });
  });

  it("that takes too many supersteps", async () => {
    const agent = graph({ log }, { nodes: { a: note("a") }, edges: [edge(START, "a"), edge("a", "a")], maxSteps: 5 });
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    assert.equal(failureOf(await started.idle()), "The graph took 5 supersteps and was not done");
  });

  for (const [what, run, message_] of [
    ["writes what the state does not take", () => ({ n: "x" }), /^bad writes n: .*expected number/],
    ["writes a field that is not there", () => ({ m: 1 }), /^bad writes m: the state has no such field, only n$/],
    ["returns what is no change", () => 5, /bad returned 5, which is neither/],
    ["goes where nothing is", () => goto("nowhere"), /^bad goes to nowhere, which is no node/],
  ] as const) {
    it(`that ${what}`, async () => {
      const agent = graph({ n: field(z.number()) }, { nodes: { bad: run as never }, edges: [edge(START, "bad")] });
      await using started = startEngine({ agents: { default: agent } });
      await started.submit(message("go"));
      assert.match(failureOf(await started.idle()) ?? "", message_);
    });
  }
});

describe("a graph from yesterday", () => {
  it("says so where its next node is gone", async () => {
    const store = memoryStore();
    const asks = graph({ log }, { nodes: { old: async ({ interrupt }) => void (await interrupt("k", "?")) }, edges: [edge(START, "old")] });
    const first = startEngine({ agents: { default: asks }, store });
    await first.submit(message("go"));
    await first.idle();
    await first.stop();
    const renamed = graph({ log }, { nodes: { fresh: note("x") }, edges: [edge(START, "fresh")] });
    await using started = startEngine({ agents: { default: renamed }, store });
    assert.match(failureOf(await reply(started, { k: 1 })) ?? "", /has no node old any more/);
  });

  it("follows the decision that was made, not the code as it is", async () => {
    const store = memoryStore();
    const make = (target: "x" | "y") =>
      graph(
        { log },
        {
          nodes: { a: note("a"), x: async ({ interrupt }) => ({ log: [`x ${await interrupt("k", "?")}`] }), y: note("y") },
          edges: [edge(START, "a"), when("a", () => target, ["x", "y"])],
        },
      );
    const first = startEngine({ agents: { default: make("x") }, store });
    await first.submit(message("go"));
    await first.idle();
    await first.stop();
    await using started = startEngine({ agents: { default: make("y") }, store });
    await reply(started, { k: 1 });
    assert.deepEqual((await folded(started)).state, { log: ["a", "x 1"] });
  });
});

describe("a run of a graph is called off", () => {
  it("while a node runs, which hears of it", async () => {
    let heard = false;
    const agent = graph(
      { log },
      {
        nodes: {
          hangs: ({ signal, text }) => {
            text("Working");
            return new Promise<void>((resolve) => {
              signal.addEventListener("abort", () => {
                heard = true;
                resolve();
              });
            });
          },
        },
        edges: [edge(START, "hangs")],
      },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await eventually(async () => only(await started.events(), "text.delta").length > 0);
    await started.tell({ type: "cancel" });
    const events = await started.idle();
    assert.deepEqual(outcomes(events), ["cancelled"]);
    assert.ok(heard);
    assert.deepEqual(only(events, "text.ended")[0]?.text, "Working");
  });

  it("while it waits: the question is closed, and the next message begins anew", async () => {
    const agent = graph(
      { log },
      { nodes: { a: async ({ interrupt }) => ({ log: [`${await interrupt("k", "?")}`] }) }, edges: [edge(START, "a")] },
    );
    await using started = startEngine({ agents: { default: agent } });
    await started.submit(message("go"));
    await started.idle();
    await assert.rejects(started.submit(message("other")), { code: "conflict" });
    await started.tell({ type: "cancel" });
    await started.submit(message("other"));
    await started.idle();
    await reply(started, { k: 1 });
    assert.deepEqual(outcomes(await started.events()), ["waiting", "cancelled", "waiting", "done"]);
  });
});
