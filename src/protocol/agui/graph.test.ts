import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventSchemas } from "@ag-ui/core/schemas";
import { EVENT_VERSION, type Event, type StoredEvent, type Wait } from "../../core/event.ts";
import { encode, type Frame, prelude } from "./encode.ts";
import { ALL_OF_GRAPHS, type GraphView } from "./graph.ts";

const place = { path: ["plan_llm_node"], lineageId: "lineage-xxx", checkpointId: "checkpoint-xxx" };
const step = { stepId: "s", name: "plan_llm_node 2" };
const stored = (event: Event) => ({ ...event, seq: 7, at: 1_700_000_000_000, v: EVENT_VERSION }) as StoredEvent;
const told = (event: Event, graphs: Partial<GraphView> = {}): Frame[] => {
  const frames = encode("t", stored(event), "agui:1", { ...ALL_OF_GRAPHS, ...graphs });
  for (const frame of frames) EventSchemas.parse(frame);
  return frames;
};
/** What seed 003 prints of them: only the deltas, and neither ids nor times. */
const printed = (frames: readonly Frame[]) =>
  frames.flatMap(({ type, activityType, patch }) => (type === "ACTIVITY_DELTA" ? [{ type, activityType, patch }] : []));
const started = (more: object = {}): Event => ({ type: "step.started", kind: "node", messageId: "m", ...step, place, ...more });
const ended = (more: object): Event => ({ type: "step.ended", ...step, completed: false, place, ...more });
const waiting = (...waits: Wait[]): Event => ({
  type: "run.ended",
  runId: "r",
  turnId: "lineage-xxx",
  run: 1,
  outcome: { type: "waiting", for: waits },
});
const question = (more: object = {}): Wait => ({
  type: "interrupt",
  interruptId: "task/confirm#1",
  reason: "confirmation",
  prompt: "Confirm continuing after the recipe amounts are calculated.",
  place: { ...place, path: ["confirm"], key: "confirm" },
  ...more,
});
const resume = (): Event => ({
  type: "run.started",
  runId: "r",
  turnId: "lineage-xxx",
  epoch: 2,
  cause: "answer",
  agent: "default",
  messages: [],
  resume: { lineageId: "lineage-xxx", checkpointId: "checkpoint-xxx", answers: { confirm: true } },
  by: "user:user",
  via: "agui",
});

describe("graph.node.lifecycle", () => {
  const lifecycle = (node: object) => [
    { type: "ACTIVITY_DELTA", activityType: "graph.node.lifecycle", patch: [{ op: "add", path: "/node", value: node }] },
  ];

  it("tells that a node starts, completes and fails as the seed prints it, by the node's own name", () => {
    assert.deepEqual(printed(told(started())), lifecycle({ nodeId: "plan_llm_node", phase: "start" }));
    assert.deepEqual(printed(told(ended({ completed: true }))), lifecycle({ nodeId: "plan_llm_node", phase: "complete" }));
    const error = { code: "internal", message: "node execution failed" };
    assert.deepEqual(
      printed(told(ended({ error }))),
      lifecycle({ nodeId: "plan_llm_node", phase: "error", error: "node execution failed" }),
    );
  });

  it("takes a try that is followed by another for no error: the node starts once more", () => {
    const error = { code: "internal", message: "busy" };
    assert.deepEqual(printed(told(ended({ error, retrying: true }))), []);
    assert.deepEqual(printed(told(started({ attempt: 2 }))), lifecycle({ nodeId: "plan_llm_node", phase: "start", attempt: 2 }));
  });

  it("says nothing of a node that asked, was cancelled or died: it has neither completed nor failed", () => {
    assert.deepEqual(printed(told(ended({}))), []);
  });

  it("is no business of a model's steps, which inside a node are none to clients: two of one name would be refused", () => {
    const model = { type: "step.started", kind: "model", stepId: "s", name: "model", messageId: "m" } as const;
    assert.deepEqual(
      told(model).map(({ type }) => type),
      ["STEP_STARTED"],
    );
    assert.deepEqual(told({ ...model, parentStepId: "p" }), []);
    assert.deepEqual(told({ type: "step.ended", stepId: "s", name: "model", completed: true, parentStepId: "p" }), []);
    assert.equal(told(started({ parentStepId: "p" }))[0]?.type, "STEP_STARTED", "a node of a graph inside is a step");
  });

  it("stands inside the step, is told in one document for each turn, and with its snapshot first", () => {
    assert.deepEqual(
      told(started()).map(({ type }) => type),
      ["STEP_STARTED", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"],
    );
    const [snapshot, delta, finished] = told(ended({ completed: true }));
    assert.deepEqual([snapshot?.["content"], snapshot?.["replace"], finished?.type], [{}, false, "STEP_FINISHED"]);
    assert.deepEqual([snapshot?.["messageId"], delta?.["messageId"]], Array(2).fill("lineage-xxx:graph.node.lifecycle"));
  });

  it("can be turned off", () => {
    assert.deepEqual(
      told(started(), { lifecycle: false }).map(({ type }) => type),
      ["STEP_STARTED"],
    );
  });
});

describe("graph.node.interrupt", () => {
  const interrupt = (value: object) => ({
    type: "ACTIVITY_DELTA",
    activityType: "graph.node.interrupt",
    patch: [{ op: "add", path: "/interrupt", value }],
  });
  const ids = { checkpointId: "checkpoint-xxx", lineageId: "lineage-xxx" };

  it("announces a question as the seed prints it, before the run ends with it", () => {
    const frames = told(waiting(question()));
    const prompt = "Confirm continuing after the recipe amounts are calculated.";
    assert.deepEqual(printed(frames), [interrupt({ nodeId: "confirm", key: "confirm", prompt, ...ids })]);
    assert.deepEqual(
      frames.map(({ type }) => type),
      ["ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "RUN_FINISHED"],
    );
    const { outcome } = frames.at(-1) as { outcome?: { type: string; interrupts: { metadata: object }[] } };
    assert.equal(outcome?.type, "interrupt");
    assert.deepEqual(outcome?.interrupts[0]?.metadata, { prompt, path: ["confirm"], key: "confirm", ...ids });
  });

  it("announces a call that is handed out, and the run ends without a question", () => {
    const call: Wait = { type: "call", callId: "c1", name: "external_search", owner: "external", run: 1, place };
    const frames = told(waiting(call));
    const prompt = { tool: "external_search", toolCallId: "c1" };
    assert.deepEqual(printed(frames), [interrupt({ nodeId: "plan_llm_node", key: "c1", prompt, ...ids })]);
    assert.deepEqual(frames.at(-1)?.["outcome"], { type: "success", pendingToolCallIds: ["c1"] });
  });

  it("announces each of several, and of a graph in a graph the inner node first, then those around it under the same key", () => {
    const inner = question({ interruptId: "x", prompt: "?", place: { ...place, path: ["outer", "middle", "ask"], key: "amount" } });
    const nodes = (frames: Frame[]) =>
      printed(frames)
        .map(({ patch }) => (patch as { value: { nodeId: string; key: string } }[])[0]?.value)
        .map((v) => [v?.nodeId, v?.key]);
    assert.deepEqual(nodes(told(waiting(inner, question()))), [
      ["ask", "amount"],
      ["middle", "amount"],
      ["outer", "amount"],
      ["confirm", "confirm"],
    ]);
    assert.deepEqual(nodes(told(waiting(inner, question()), { topLevelOnly: true })), [
      ["outer", "amount"],
      ["confirm", "confirm"],
    ]);
  });

  it("acknowledges what a graph goes on with as the seed prints it, right behind the start of the run", () => {
    const frames = told(resume());
    assert.deepEqual(printed(frames), [
      {
        type: "ACTIVITY_DELTA",
        activityType: "graph.node.interrupt",
        patch: [
          { op: "add", path: "/interrupt", value: null },
          { op: "add", path: "/resume", value: { checkpointId: "checkpoint-xxx", lineageId: "lineage-xxx", resumeMap: { confirm: true } } },
        ],
      },
    ]);
    assert.equal(frames[0]?.type, "RUN_STARTED");
    assert.equal(frames.at(-1)?.["messageId"], told(waiting(question()))[1]?.["messageId"]);
  });

  it("acknowledges it behind what its client has missed: a snapshot would take the activity away", () => {
    const shown = { messages: new Set<string>(), calls: new Set<string>(), results: new Set<string>(), texts: new Map(), list: false };
    const missed = [{ type: "MESSAGES_SNAPSHOT", messages: [] }];
    assert.deepEqual(
      prelude("t", stored(resume()), { shown, missed }, "agui:1").map(({ type }) => type),
      ["RUN_STARTED", "MESSAGES_SNAPSHOT", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"],
    );
  });

  it("can be turned off; the run's ending still tells the question", () => {
    assert.deepEqual(
      told(resume(), { interrupts: false }).map(({ type }) => type),
      ["RUN_STARTED"],
    );
    const [end, ...more] = told(waiting(question()), { interrupts: false });
    assert.deepEqual([(end?.["outcome"] as { type?: string } | undefined)?.type, more], ["interrupt", []]);
  });

  it("says nothing of what waits outside of graphs", () => {
    assert.deepEqual(printed(told(waiting({ type: "call", callId: "c", name: "x", owner: "client", run: 1 }))), []);
  });
});
