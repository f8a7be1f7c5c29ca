import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import { decodeGrant } from "../protocol/native/decode.ts";
import { body, type Door } from "./door.ts";
import { member, ownerOf } from "./native-member.ts";
import { grantJson } from "./native-row.ts";
import { byLabel } from "./principal.ts";

/** Standing permissions: list, give, take back. */
export function grantRoutes(door: Door): Hono {
  const { store, clock, ids } = door.engine;
  const app = new Hono();

  app.get("/", async (c) => {
    const principal = await member(door, c);
    const grants = await store.grants({ app: principal.app, ...ownerOf(principal, c.req.query("user")) });
    return c.json({ grants: grants.map((grant) => grantJson(grant, principal)) });
  });

  app.post("/", async (c) => {
    const principal = await member(door, c);
    const { user = "user", ...given } = decodeGrant(await body(door, c));
    const owner = principal.kind === "user" ? principal.user : user;
    const grant = { id: ids("grant"), app: principal.app, user: owner, ...given, createdAt: clock.now(), by: byLabel(principal) };
    await store.addGrant(grant);
    return c.json(grantJson(grant, principal), 201);
  });

  app.delete("/:id", async (c) => {
    const principal = await member(door, c);
    const id = c.req.param("id");
    const removed = await store.removeGrant({ app: principal.app, ...ownerOf(principal, undefined), id });
    if (!removed) throw new AppError("not_found", `There is no grant ${id}`);
    return c.body(null, 204);
  });

  return app;
}
