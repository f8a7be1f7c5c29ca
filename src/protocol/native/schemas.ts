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

/** What this server is. */
const metaAnswer = z.object({
  name: z.literal("handback"),
  version: z.string(),
  agents: z.array(z.looseObject({ name: z.string(), tools: z.array(z.looseObject({ name: z.string(), owner: z.string() })) })),
  doors: z.record(z.string(), z.string()),
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
  meta: metaAnswer,
  error: nativeError,
};
