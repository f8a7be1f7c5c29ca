import { isDelta } from "../../core/event.ts";
import type { ThreadKey } from "../../core/ids.ts";
import type { Expect, Grant, Store } from "../store.ts";

/** One thing the writer is asked to do: plain data, so that it can be posted to a worker. */
export type Write =
  | { type: "append"; key: ThreadKey; expect: Expect; at: number; data: string[]; deltas: boolean[]; request?: Request }
  | { type: "lease"; app: string; id: string; claim: number; until: number }
  | { type: "saveSnapshot"; key: ThreadKey; snapshot: { seq: number; version: number; data: string } }
  | { type: "secret"; name: string; fresh: string }
  | { type: "addGrant"; grant: Grant }
  | { type: "removeGrant"; app: string; user: string | undefined; id: string }
  | { type: "saveBlob"; key: ThreadKey; blob: { id: string; mediaType: string; data: Uint8Array } }
  | { type: "saveDelivery"; app: string; id: string; change: DeliveryChange }
  | { type: "forgetRequests"; before: number }
  | { type: "remove"; key: ThreadKey }
  | { type: "retire"; before: number; limit: number };

type Request = NonNullable<Parameters<Store["append"]>[4]>;
export type DeliveryChange = Parameters<Store["saveDelivery"]>[2];

type Written = Pick<
  Store,
  | "saveDelivery"
  | "forgetRequests"
  | "append"
  | "lease"
  | "saveSnapshot"
  | "secret"
  | "addGrant"
  | "removeGrant"
  | "saveBlob"
  | "remove"
  | "retire"
>;

/** The writing half of a store, over whatever takes a write and answers with what `apply` made of it. */
export function writes(send: (write: Write) => Promise<unknown>): Written {
  return {
    async append(key, expect, events, at, request) {
      const data = events.map((event) => JSON.stringify(event)); // escapes what SQLite's UTF-8 cannot hold
      return (await send({ type: "append", key, expect, at, data, deltas: events.map(isDelta), ...(request && { request }) })) as number;
    },
    lease: async (app, id, claim, until) => (await send({ type: "lease", app, id, claim, until })) as boolean,
    async saveSnapshot(key, snapshot) {
      await send({ type: "saveSnapshot", key, snapshot });
    },
    secret: async (name, fresh) => (await send({ type: "secret", name, fresh })) as string,
    async addGrant(grant) {
      await send({ type: "addGrant", grant });
    },
    removeGrant: async ({ app, user, id }) => (await send({ type: "removeGrant", app, user, id })) as boolean,
    async saveBlob(key, blob) {
      await send({ type: "saveBlob", key, blob });
    },
    async saveDelivery(app, id, change) {
      await send({ type: "saveDelivery", app, id, change });
    },
    async forgetRequests(before) {
      await send({ type: "forgetRequests", before });
    },
    remove: async (key) => (await send({ type: "remove", key })) as boolean,
    retire: async (before, limit) => (await send({ type: "retire", before, limit })) as ThreadKey[],
  };
}
