import { z } from "zod";

// What the native door answers, for its description; the code that writes it is in the routes.

const maybe = z.exactOptional;
const object = z.record(z.string(), z.unknown());
const time = z.iso.datetime();
const next = maybe(z.string().describe("The cursor of the page that follows"));
const user = maybe(z.string().describe("Only for operators"));

/** A thread. */
const threadAnswer = z.object({
  threadId: z.string(),
  user,
  title: maybe(z.string()),
  status: z.enum(["idle", "running", "waiting"]),
  agent: maybe(z.string()),
  pending: z.int(),
  seq: z.int(),
  metadata: object,
  createdAt: time,
  updatedAt: time,
});

/** A call or question. */
const callAnswer = z.object({
  id: z.string(),
  threadId: z.string(),
  user,
  kind: z.enum(["call", "interrupt"]),
  name: z.string(),
  input: z.unknown(),
  owner: maybe(z.enum(["server", "client", "external"])),
  callId: maybe(z.string()),
  schema: maybe(object),
  status: z.string(),
  createdAt: time,
  expiresAt: maybe(time),
  settledAt: maybe(time),
  claim: maybe(z.object({ claim: z.int(), by: z.string(), until: time })),
});

/** A tool. */
const toolAnswer = z.object({
  name: z.string(),
  description: z.string(),
  input: object,
  owner: z.enum(["server", "client", "external"]),
  approval: maybe(z.enum(["never", "sometimes", "always"])),
  timeout: maybe(z.number()),
  onTimeout: maybe(object),
});
const callDetailAnswer = callAnswer.extend({
  tool: maybe(toolAnswer),
  title: maybe(z.string().describe("The thread's")),
  context: maybe(z.array(z.object({ role: z.enum(["user", "assistant"]), text: z.string() })).describe("What was said last")),
});
const logAnswer = z.object({ events: z.array(object), next: maybe(z.int()), seq: z.int() });

const threadsAnswer = z.object({ threads: z.array(threadAnswer), next });
const openThreadAnswer = threadAnswer.extend({ waits: z.array(callAnswer) });
const callsAnswer = z.object({ calls: z.array(callAnswer), next });
const startedAnswer = z.object({ runId: z.string(), threadId: z.string(), seq: z.int() });
const cancelledAnswer = z.object({ status: z.enum(["cancelled", "cancelling"]), seq: z.int() });
const importedAnswer = z.object({ threadId: z.string(), seq: z.int() });
const settledAnswer = z.object({ status: z.string(), threadId: z.string(), runId: maybe(z.string()), seq: z.int() });
const leaseAnswer = z.object({ claim: z.int(), until: time });
const releasedAnswer = z.object({ status: z.literal("pending") });

/** A standing permission. */
const grantAnswer = z.object({
  id: z.string(),
  user,
  tool: z.string(),
  threadId: maybe(z.string()),
  createdAt: time,
  by: z.string(),
});
const grantsAnswer = z.object({ grants: z.array(grantAnswer) });

/** A call on its way to a callback. */
const deliveryAnswer = z.object({
  id: z.string(),
  threadId: z.string(),
  user,
  url: z.string(),
  status: z.enum(["pending", "accepted", "delivered", "failed", "stopped"]),
  attempts: z.int(),
  createdAt: time,
  nextAt: maybe(time),
  log: z.array(z.object({ at: time, ms: z.number(), status: maybe(z.int()), error: maybe(z.string()) })),
});
const deliveriesAnswer = z.object({ deliveries: z.array(deliveryAnswer), next });

/** A barrier of a graph. */
const checkpointAnswer = z.object({
  checkpointId: z.string(),
  turnId: z.string().describe("The turn it belongs to; AG-UI calls it lineage"),
  superstep: z.int(),
  seq: z.int(),
  at: time,
  tasks: z.array(z.object({ taskId: z.string(), node: z.string() })).describe("What is next there"),
});
const checkpointsAnswer = z.object({ checkpoints: z.array(checkpointAnswer), next });
const forkedAnswer = z.object({ threadId: z.string(), seq: z.int(), runId: maybe(z.string()) });

const graphNode = z.object({
  id: z.string(),
  kind: z.enum(["node", "agent", "tool", "graph"]),
  description: maybe(z.string()),
  graph: maybe(object.describe("What is inside, in the same shape")),
});
const graphEdge = z.object({
  from: z.string(),
  to: z.string(),
  kind: z.enum(["edge", "join", "when"]),
  label: maybe(z.string()),
});

const words = z.object({ en: z.string(), zh: z.string() });

/** What this server is. */
const metaAnswer = z.object({
  name: z.literal("handback"),
  version: z.string(),
  demo: z.boolean().describe("A script answers, and no model is configured"),
  agents: z.array(
    z.object({
      name: z.string(),
      tools: z.array(toolAnswer),
      models: z.array(z.string()).describe("Those a request may choose"),
      profile: maybe(z.string()),
      graph: maybe(
        z.object({ nodes: z.array(graphNode), edges: z.array(graphEdge) }).describe("Nodes and edges, where the agent is a graph"),
      ),
    }),
  ),
  profiles: z.array(z.string()),
  doors: z.record(z.string(), z.string()),
  sandbox: z.object({ path: z.string(), origin: maybe(z.string()) }),
  scenarios: z.array(
    z.object({ id: z.string(), title: words, text: words, prompt: words, code: z.string(), tools: maybe(z.array(object)) }),
  ),
});

/** What the native door says when it refuses. */
const nativeError = z.object({
  error: z.object({ code: z.string(), message: z.string(), field: maybe(z.string()) }),
});

/** Everything this door answers, by name. */
export const ANSWERS: Readonly<
  Record<
    | "thread"
    | "call"
    | "threads"
    | "openThread"
    | "calls"
    | "callDetail"
    | "log"
    | "started"
    | "cancelled"
    | "imported"
    | "settled"
    | "lease"
    | "released"
    | "grant"
    | "grants"
    | "delivery"
    | "deliveries"
    | "checkpoints"
    | "forked"
    | "meta"
    | "error",
    z.ZodType
  >
> = {
  thread: threadAnswer,
  call: callAnswer,
  threads: threadsAnswer,
  openThread: openThreadAnswer,
  calls: callsAnswer,
  callDetail: callDetailAnswer,
  log: logAnswer,
  started: startedAnswer,
  cancelled: cancelledAnswer,
  imported: importedAnswer,
  settled: settledAnswer,
  lease: leaseAnswer,
  released: releasedAnswer,
  grant: grantAnswer,
  grants: grantsAnswer,
  delivery: deliveryAnswer,
  deliveries: deliveriesAnswer,
  checkpoints: checkpointsAnswer,
  forked: forkedAnswer,
  meta: metaAnswer,
  error: nativeError,
};
