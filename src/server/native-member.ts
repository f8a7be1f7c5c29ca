import type { Context } from "hono";
import { AppError } from "../core/error.ts";
import type { ThreadKey } from "../core/ids.ts";
import { asker, type Door, threadKey } from "./door.ts";
import type { Principal } from "./principal.ts";

/** A principal who may reach threads. */
export type Member = Exclude<Principal, { kind: "executor" }>;

/** The user or operator who asks. To executors everything but calls is as if it were not there. */
export async function member(door: Door, c: Context): Promise<Member> {
  const principal = await asker(door, c);
  if (principal.kind === "executor") throw new AppError("not_found", `There is no ${c.req.method} ${c.req.path} here`);
  return principal;
}

/** The thread a request's path names. An operator says whose it is with `?user=`. */
export function namedThread(principal: Member, c: Context): ThreadKey {
  return threadKey(principal, c.req.param("id") ?? "", c.req.query("user"));
}

/** Whose rows a member is shown: a user's own, an operator's all or those of one user. */
export function ownerOf(principal: Member, asked: string | undefined): { user?: string } {
  if (principal.kind === "user") return { user: principal.user };
  return asked === undefined ? {} : { user: asked };
}
