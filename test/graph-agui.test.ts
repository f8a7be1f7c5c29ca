import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HttpAgent } from "@ag-ui/client";
import { CLIENTS, goOn, reload, strict } from "./support/agui.ts";
import { textOf } from "./support/frames.ts";
import { CONFIRM, flaky, type Journal, nested, recipe, searching, twoQuestions } from "./support/graphs.ts";
import { type Heard, runAgent } from "./support/judge.ts";
import { directory, type Served, serve } from "./support/serve.ts";

strict();

const user = (content: string, id = "u1") => ({ id, role: "user" as const, content });

type Interrupt = { nodeId: string; key: string; prompt: unknown; checkpointId: string; lineageId: string };
type Told = { type: string; [field: string]: unknown };

/** A stream as seed 003 prints it: steps, snapshots and state are beside the point there. */
function printed(events: readonly Told[]): string[] {
  return events
    .flatMap((event) => {
      if (/^(STEP_|STATE_|MESSAGES_|ACTIVITY_SNAPSHOT)/.test(event.type)) return [];
      if (event.type !== "ACTIVITY_DELTA") return [event.type];
      const [first] = event["patch"] as { path: string; value: { nodeId?: string; phase?: string } | null }[];
      if (first?.path === "/node") return [`${first.value?.nodeId} ${first.value?.phase}`];
      return [first?.value ? `interrupt ${first.value.nodeId}` : "resume"];
    })
    .filter((type, i, all) => type !== all[i - 1] || !/(CONTENT|ARGS)$/.test(type));
}
const quietly = (events: readonly Told[]) => printed(events).filter((name) => !/ (start|complete|error)$/.test(name));

function interruptsIn(events: readonly Told[]): Interrupt[] {
  return events.flatMap((event) =>
    event.type === "ACTIVITY_DELTA"
      ? (event["patch"] as { path: string; value: Interrupt | null }[]).flatMap(({ path, value }) =>
          path === "/interrupt" && value ? [value] : [],
        )
      : [],
  );
}
const deltas = (events: readonly Told[], path: string) =>
  events.flatMap((event) =>
    event.type === "ACTIVITY_DELTA" ? (event["patch"] as { path: string; value: unknown }[]).filter((op) => op.path === path) : [],
  );
const outcomeOf = (events: readonly Told[]) => (events.at(-1)?.["outcome"] as { type?: string } | undefined)?.type;
const runs = async (server: Served) => (await server.events()).filter(({ type }) => type === "run.started").length;
const messageOf = (agent: HttpAgent, type: string) =>
  agent.messages.find((message) => message.role === "activity" && message.activityType === type);

/** Lets time pass until something is over: a node waits before it is tried again. */
async function passing<T>({ clock }: Served, work: Promise<T>): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  while (!over) {
    await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return done;
}

const TEXT = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
const CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];
const ASKED = ["RUN_STARTED", "plan start", ...TEXT, "plan complete", "confirm start", "interrupt confirm", "RUN_FINISHED"];
const COOKED = ["RUN_STARTED", "resume", "confirm start", "confirm complete", "cook start", ...TEXT, "cook complete", "RUN_FINISHED"];

for (const [version, Client] of CLIENTS) {
  const page = (server: Served, content?: string) =>
    new Client({ url: `${server.url}/agui`, threadId: "t", initialMessages: content === undefined ? [] : [user(content)] });

  describe(`AG-UI ${version}: seed 003's recipe, plan → confirm → cook`, () => {
    const asked = async (server: Served): Promise<{ agent: HttpAgent; events: Heard[]; interrupt: Interrupt }> => {
      const agent = page(server, "omelette");
      const { events } = await runAgent(agent);
      const [interrupt] = interruptsIn(events);
      assert.ok(interrupt);
      return { agent, events, interrupt };
    };

    it("stops with the question as the seed prints it, and with an outcome today's clients know", async () => {
      await using server = await serve({ agents: { default: recipe() } });
      const { agent, events, interrupt } = await asked(server);
      assert.deepEqual(printed(events), ASKED);
      const { checkpointId, lineageId, ...rest } = interrupt;
      assert.deepEqual(rest, { nodeId: "confirm", key: "confirm", prompt: CONFIRM });
      assert.ok(checkpointId && lineageId);
      assert.equal(outcomeOf(events), "interrupt");
      assert.deepEqual(
        agent.pendingInterrupts.map(({ message, responseSchema }) => [message, (responseSchema as { type?: string }).type]),
        [[CONFIRM, "boolean"]],
      );
      assert.deepEqual(messageOf(agent, "graph.node.interrupt")?.content, { interrupt });
      assert.deepEqual(agent.state, { dish: "omelette", log: ["Two eggs."] });
    });

    const ways = {
      resume_map: ({ lineageId }: Interrupt) => ({ lineage_id: lineageId, resume_map: { confirm: true } }),
      "resume_map and checkpoint_id": ({ lineageId, checkpointId }: Interrupt) => ({
        lineage_id: lineageId,
        checkpoint_id: checkpointId,
        resume_map: { confirm: true },
      }),
      "a single resume": ({ lineageId }: Interrupt) => ({ lineage_id: lineageId, resume: true }),
      "camel case": ({ lineageId }: Interrupt) => ({ lineageId, resumeMap: { confirm: true } }),
    };
    for (const [way, forwardedProps] of Object.entries(ways)) {
      it(`goes on with ${way}, without a message`, async () => {
        const done: Journal = [];
        await using server = await serve({ agents: { default: recipe(done) } });
        const { interrupt } = await asked(server);
        const again = page(server);
        const { events } = await runAgent(again, { forwardedProps: forwardedProps(interrupt) });
        assert.deepEqual(printed(events), COOKED);
        const { checkpointId, lineageId } = interrupt;
        assert.deepEqual(deltas(events, "/resume"), [
          { op: "add", path: "/resume", value: { checkpointId, lineageId, resumeMap: { confirm: true } } },
        ]);
        assert.equal(textOf(events as never), "Here is your omelette.");
        assert.deepEqual(done, ["confirm", "confirm", "cook"]);
        assert.equal(await runs(server), 2);
      });
    }

    it("goes on with resume[], and the page ends with everything in its place", async () => {
      await using server = await serve({ agents: { default: recipe() } });
      const { agent, interrupt } = await asked(server);
      const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved" as const, payload: true }));
      const { events } = await runAgent(agent, { resume });
      assert.deepEqual(printed(events), COOKED);
      assert.deepEqual(agent.pendingInterrupts, []);
      assert.deepEqual(
        agent.messages.filter(({ role }) => role !== "activity").map(({ role, content }) => [role, content]),
        [
          ["user", "omelette"],
          ["assistant", "Two eggs."],
          ["assistant", "Here is your omelette."],
        ],
      );
      const { checkpointId, lineageId } = interrupt;
      assert.deepEqual(messageOf(agent, "graph.node.interrupt")?.content, {
        interrupt: null,
        resume: { checkpointId, lineageId, resumeMap: { confirm: true } },
      });
      assert.deepEqual(messageOf(agent, "graph.node.lifecycle")?.content, { node: { nodeId: "cook", phase: "complete" } });
      assert.deepEqual(agent.state, { dish: "omelette", log: ["Two eggs.", "cooked"] });
    });

    it("takes a no for an answer", async () => {
      await using server = await serve({ agents: { default: recipe() } });
      const { interrupt } = await asked(server);
      const { events } = await runAgent(page(server), { forwardedProps: { lineage_id: interrupt.lineageId, resume: false } });
      assert.deepEqual(printed(events), ["RUN_STARTED", "resume", "confirm start", "confirm complete", "RUN_FINISHED"]);
    });

    it("asks the page that is loaded again, as activity and as outcome, and goes on from there", async () => {
      await using server = await serve({ agents: { default: recipe() } });
      const { agent, interrupt } = await asked(server);
      const again = await reload(Client, server);
      assert.deepEqual(interruptsIn(again.judged.events), [interrupt]);
      assert.deepEqual(again.pendingInterrupts, agent.pendingInterrupts);
      assert.deepEqual(again.state, agent.state);
      const next = goOn(Client, server, again);
      const resume = next.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved" as const, payload: true }));
      assert.deepEqual(printed((await runAgent(next, { resume })).events), COOKED);
    });

    it("survives a restart between the two requests", async () => {
      using data = directory();
      let interrupt: Interrupt;
      {
        await using server = await serve({ agents: { default: recipe() }, data: data.path });
        interrupt = (await asked(server)).interrupt;
      }
      await using server = await serve({ agents: { default: recipe() }, data: data.path });
      const { events } = await runAgent(page(server), {
        forwardedProps: { lineage_id: interrupt.lineageId, resume_map: { confirm: true } },
      });
      assert.deepEqual(printed(events), COOKED);
    });

    it("does not let the state a client sends along be the graph's", async () => {
      await using server = await serve({ agents: { default: recipe() } });
      const agent = page(server, "omelette");
      agent.state = { dish: "poison", log: ["forged"] };
      await runAgent(agent);
      assert.deepEqual(agent.state, { dish: "omelette", log: ["Two eggs."] });
    });
  });

  describe(`AG-UI ${version}: seed 003's external tool in a graph`, () => {
    it("is two requests, in the printed order, with the lineage of the interrupt", async () => {
      await using server = await serve({ agents: { default: searching() } });
      const first = await runAgent(page(server, "Search and answer my question."));
      assert.deepEqual(quietly(first.events), ["RUN_STARTED", ...CALL, "interrupt assistant", "RUN_FINISHED"]);
      assert.notEqual(outcomeOf(first.events), "interrupt");
      const [interrupt] = interruptsIn(first.events);
      const call = first.events.find(({ type }) => type === "TOOL_CALL_START")?.["toolCallId"] as string;
      assert.equal(interrupt?.key, call);
      const second = new Client({
        url: `${server.url}/agui`,
        threadId: "t",
        initialMessages: [{ id: `tool-result-${call}`, role: "tool", toolCallId: call, content: "green tea" }],
      });
      const { events } = await runAgent(second, { forwardedProps: { lineage_id: interrupt?.lineageId } });
      assert.deepEqual(quietly(events), ["RUN_STARTED", "TOOL_CALL_RESULT", ...TEXT, "RUN_FINISHED"]);
      assert.equal(textOf(events as never), "Found: green tea");
    });

    it("works for a client that keeps its list, which brings the result with everything else", async () => {
      await using server = await serve({ agents: { default: searching() } });
      const agent = page(server, "tea?");
      const { events } = await runAgent(agent);
      const call = events.find(({ type }) => type === "TOOL_CALL_START")?.["toolCallId"] as string;
      agent.addMessage({ id: "result", role: "tool", toolCallId: call, content: "green tea" });
      const next = await runAgent(agent, { forwardedProps: { lineage_id: interruptsIn(events)[0]?.lineageId } });
      assert.deepEqual(quietly(next.events), ["RUN_STARTED", ...TEXT, "RUN_FINISHED"]);
    });
  });

  describe(`AG-UI ${version}: several questions at once`, () => {
    it("are announced one by one, and answered one by one", async () => {
      const done: Journal = [];
      await using server = await serve({ agents: { default: twoQuestions(done) } });
      const agent = page(server, "soup");
      const { events } = await runAgent(agent);
      assert.deepEqual(
        interruptsIn(events).map(({ key }) => key),
        ["salt", "sugar"],
      );
      assert.equal(agent.pendingInterrupts.length, 2);
      const { lineageId } = interruptsIn(events)[0] as Interrupt;
      const half = await runAgent(page(server), { forwardedProps: { lineage_id: lineageId, resume_map: { sugar: "no" } } });
      assert.deepEqual(
        interruptsIn(half.events).map(({ key }) => key),
        ["salt"],
      );
      assert.equal(outcomeOf(half.events), "interrupt");
      const whole = await runAgent(page(server), { forwardedProps: { lineage_id: lineageId, resume: "a pinch" } });
      assert.equal(textOf(whole.events as never), "salt: a pinch, sugar: no");
      assert.deepEqual([...done].sort(), ["salt", "serve", "sugar"], "each finished once");
    });

    it("are answered at once by resume[], as the client insists", async () => {
      await using server = await serve({ agents: { default: twoQuestions() } });
      const agent = page(server, "soup");
      await runAgent(agent);
      const resume = agent.pendingInterrupts.map(({ id }, i) => ({ interruptId: id, status: "resolved" as const, payload: i }));
      const { events } = await runAgent(agent, { resume });
      assert.equal(textOf(events as never), "salt: 0, sugar: 1");
    });
  });

  describe(`AG-UI ${version}: a graph inside a graph`, () => {
    it("announces the inner node first, then the one around it", async () => {
      await using server = await serve({ agents: { default: nested() } });
      const { events } = await runAgent(page(server, "eggs"));
      assert.deepEqual(
        interruptsIn(events).map(({ nodeId, key }) => [nodeId, key]),
        [
          ["ask", "amount"],
          ["measure", "amount"],
        ],
      );
      const { lineageId } = interruptsIn(events)[1] as Interrupt;
      const next = await runAgent(page(server), { forwardedProps: { lineage_id: lineageId, resume_map: { amount: 3 } } });
      assert.equal(textOf(next.events as never), "3 eggs.");
    });

    it("announces only the outermost where that is wanted", async () => {
      await using server = await serve({ agents: { default: nested() }, agui: { topLevelInterruptsOnly: true } });
      const { events } = await runAgent(page(server, "eggs"));
      assert.deepEqual(
        interruptsIn(events).map(({ nodeId }) => nodeId),
        ["measure"],
      );
    });
  });

  describe(`AG-UI ${version}: nodes that fail`, () => {
    it("start again without an error when they are tried again", async () => {
      await using server = await serve({ agents: { default: flaky(1, 3) } });
      const { events } = await passing(server, runAgent(page(server, "go")));
      assert.deepEqual(printed(events), ["RUN_STARTED", "fetch start", "fetch start", "fetch complete", "RUN_FINISHED"]);
      assert.deepEqual(
        deltas(events, "/node").map(({ value }) => (value as { attempt?: number }).attempt),
        [undefined, 2, undefined],
      );
    });

    it("tell their error once, and the run's failure is the run's", async () => {
      await using server = await serve({ agents: { default: flaky(9, 2) } });
      const { events } = await passing(server, runAgent(page(server, "go")));
      assert.deepEqual(printed(events), ["RUN_STARTED", "fetch start", "fetch start", "fetch error", "RUN_ERROR"]);
    });
  });

  it(`AG-UI ${version}: activities of graphs can be turned off, each`, async () => {
    await using server = await serve({ agents: { default: recipe() }, agui: { graphLifecycle: false, graphInterrupts: false } });
    const { events } = await runAgent(page(server, "omelette"));
    assert.deepEqual(printed(events), ["RUN_STARTED", ...TEXT, "RUN_FINISHED"]);
    assert.equal(outcomeOf(events), "interrupt");
    const next = await runAgent(page(server), { forwardedProps: { resume_map: { confirm: true } } });
    assert.deepEqual(printed(next.events), ["RUN_STARTED", ...TEXT, "RUN_FINISHED"]);
  });
}
