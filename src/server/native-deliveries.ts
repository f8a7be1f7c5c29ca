import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import { decodeDeliveryQuery } from "../protocol/native/query.ts";
import type { Delivery } from "../store/store.ts";
import type { Door } from "./door.ts";
import { member, ownerOf } from "./native-member.ts";
import { iso } from "./native-row.ts";
import { mayReach, type Principal } from "./principal.ts";

/** Calls on their way to callbacks: what was tried, and once more by hand. */
export function deliveryRoutes(door: Door): Hono {
  const { store, clock } = door.engine;
  const app = new Hono();

  app.get("/", async (c) => {
    const principal = await member(door, c);
    const { user, ...query } = decodeDeliveryQuery(c.req.query());
    const { deliveries, next } = await store.deliveries({ app: principal.app, ...ownerOf(principal, user), ...query });
    return c.json({ deliveries: deliveries.map((row) => deliveryJson(row, principal)), ...(next !== undefined && { next }) });
  });

  app.post("/:id/redeliver", async (c) => {
    const principal = await member(door, c);
    const id = c.req.param("id");
    const row = await store.delivery(principal.app, id);
    if (!row || !mayReach(principal, row)) throw new AppError("not_found", `There is no delivery ${id}`);
    const call = await store.wait(principal.app, id);
    if (call?.status !== "pending") throw new AppError("gone", `Call ${id} is already ${call?.status ?? "gone"}`);
    await store.saveDelivery(principal.app, id, { status: "pending", nextAt: clock.now() });
    return c.json(deliveryJson((await store.delivery(principal.app, id)) ?? row, principal), 202);
  });

  return app;
}

/** A delivery on the wire. */
export type DeliveryJson = {
  id: string;
  threadId: string;
  user?: string;
  url: string;
  status: Delivery["status"];
  attempts: number;
  createdAt: string;
  nextAt?: string;
  log: { at: string; ms: number; status?: number; error?: string }[];
};

function deliveryJson({ id, threadId, user, url, status, attempts, createdAt, nextAt, log }: Delivery, { kind }: Principal): DeliveryJson {
  return {
    id,
    threadId,
    ...(kind === "operator" && { user }),
    url,
    status,
    attempts,
    createdAt: iso(createdAt),
    ...(nextAt !== undefined && { nextAt: iso(nextAt) }),
    log: log.map(({ at, ...attempt }) => ({ at: iso(at), ...attempt })),
  };
}
