import { AppError } from "../core/error.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { WaitRow } from "../store/store.ts";
import type { Engine } from "./engine.ts";
import { queued, using } from "./live.ts";
import { decided, submit } from "./submit.ts";

/** A claim and how long it holds. */
export type Lease = { claim: number; until: number };

/** Gives one of many the right to run a call alone. Throws `conflict` for the others, `gone` when it is settled. */
export async function claimCall(engine: Engine, call: WaitRow, { by, ms }: { by: string; ms: number }): Promise<Lease> {
  if (engine.stopping) throw new AppError("unavailable", "The server is shutting down; try again in a moment");
  const { app, id } = call;
  const key = keyOf(call);
  const lease = await using(engine, key, (live) =>
    // Claim and lease in one place of the queue: in between, the claim would look like one that has lapsed.
    queued(live, async () => {
      const now = engine.clock.now();
      const row = await engine.store.wait(app, id);
      const held = (row?.claim?.until ?? 0) > now;
      const { events } = await decided(engine, live, { type: "claim", callId: id, held, by, via: "claim", now });
      const claimed = events.find((event) => event.type === "call.claimed");
      return extend(engine, row ?? call, claimed?.claim ?? 0, ms);
    }),
  );
  engine.bus.publish(key); // the lease is no event, but those who list calls want to see it
  return lease;
}

/** Prolongs a claim, never beyond the call's deadline. Throws `conflict` when it is no longer the last one. */
export function heartbeat(engine: Engine, call: WaitRow, claim: number, ms: number): Promise<Lease> {
  return extend(engine, call, claim, ms);
}

/** Gives a claim back, so that others need not wait for its end. */
export async function releaseCall(engine: Engine, call: WaitRow, { claim, by }: { claim: number; by: string }): Promise<void> {
  const now = engine.clock.now();
  await submit(engine, keyOf(call), { type: "release", callId: call.id, claim, reason: "released", by, via: "claim", now });
}

async function extend({ store, clock }: Engine, { app, id, expiresAt }: WaitRow, claim: number, ms: number): Promise<Lease> {
  const until = Math.min(clock.now() + ms, expiresAt ?? Number.POSITIVE_INFINITY);
  if (!(await store.lease(app, id, claim, until))) throw new AppError("conflict", `Claim ${claim} on call ${id} is no longer valid`);
  return { claim, until };
}

function keyOf({ app, user, threadId }: WaitRow): ThreadKey {
  return { app, user, threadId };
}
