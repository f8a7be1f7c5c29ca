import type { Context } from "hono";
import type { Answer, Nameless, Result } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import type { ThreadKey } from "../core/ids.ts";
import { TOKEN_PREFIX } from "../engine/webhooks.ts";
import type { ToolResultRequest } from "../protocol/rest/decode.ts";
import type { WaitRow } from "../store/store.ts";
import { asker, type Door, threadKey } from "./door.ts";
import { threadRow } from "./native-row.ts";
import { byLabel, mayReach, mayReachCall, type Principal } from "./principal.ts";

/** Who brings results, for which thread, and whether they may see what comes of them. */
export type Sender = { key: ThreadKey; by: string; results: Result[]; nameless: Nameless[]; answers: Answer[]; member: boolean };

/** A member names a thread or a call, an executor calls of its tools, and a token is for one call and nothing else. */
export async function senderOf(door: Door, c: Context, asked: ToolResultRequest): Promise<Sender> {
  const { threadId, results, nameless, answers, token = bearer(c) } = asked;
  if (token !== undefined) {
    const { app, callId } = tokenOf(door, c, token, results[0]?.callId);
    if (results.length + nameless.length !== 1) throw new AppError("invalid", "A token settles one call", { field: "token" });
    const call = await reached(door, { kind: "operator", app, name: "token" }, callId, threadId);
    const [said] = [...results, ...nameless];
    const result = { ...said, callId } as Result;
    return { key: keyOf(call), by: `token:${callId}`, results: [result], nameless: [], answers: [], member: false };
  }
  const principal = await asker(door, c);
  const by = byLabel(principal);
  const member = principal.kind !== "executor";
  if (member && threadId !== undefined) {
    const key = threadKey(principal, threadId, c.req.query("user"));
    await threadRow(door.engine, key);
    return { key, by, results, nameless, answers, member };
  }
  const [question] = answers;
  if (question) return { key: keyOf(await asking(door, principal, question.interruptId ?? "")), by, results, nameless, answers, member };
  const [first] = results;
  if (!first || nameless.length > 0) throw new AppError("invalid", "toolCallId: is missing", { field: "toolCallId" });
  const calls = await Promise.all(results.map(({ callId }) => reached(door, principal, callId, threadId)));
  const key = keyOf(calls[0] as WaitRow);
  if (calls.some((call) => call.threadId !== key.threadId || call.user !== key.user)) throw unknown(first.callId);
  return { key, by, results, nameless, answers: [], member };
}

/** The question an answer is for. Only people are asked: to executors it is as if it were not there. */
async function asking({ engine }: Door, principal: Principal, id: string): Promise<WaitRow> {
  const wait = await engine.store.wait(principal.app, id);
  if (wait?.kind === "interrupt" && principal.kind !== "executor" && mayReach(principal, wait)) return wait;
  throw new AppError("not_found", `There is no question ${id}`, { field: "interruptId" });
}

/** The call a token is for. One for another call is as if that call did not exist. */
export function tokenOf(door: Door, c: Context, given: string | undefined, callId: string | undefined): { app: string; callId: string } {
  const call = door.webhooks?.opened(given ?? bearer(c) ?? "", door.engine.clock.now());
  if (!call) throw new AppError("unauthorized", "Unauthorized");
  if (callId !== undefined && callId !== call.callId) throw unknown(callId);
  return call;
}

async function reached({ engine }: Door, principal: Principal, callId: string, threadId: string | undefined): Promise<WaitRow> {
  const call = await engine.store.wait(principal.app, callId);
  const known = call?.kind === "call" && call.ordinal !== undefined && mayReachCall(principal, call, call.name);
  if (!known || (threadId !== undefined && threadId !== call.threadId)) throw unknown(callId);
  return call;
}

function keyOf({ app, user, threadId }: WaitRow): ThreadKey {
  return { app, user, threadId };
}

function bearer(c: Context): string | undefined {
  const [, token] = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
  return token?.startsWith(TOKEN_PREFIX) ? token : undefined;
}

function unknown(callId: string): AppError {
  return new AppError("not_found", `There is no call ${callId}`, { field: "toolCallId" });
}
