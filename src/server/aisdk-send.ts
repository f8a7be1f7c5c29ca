import type { RunCommand } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Thread } from "../core/thread.ts";
import { nameFiles } from "../engine/files.ts";
import { follow } from "../engine/follow.ts";
import { using } from "../engine/live.ts";
import { submit } from "../engine/submit.ts";
import type { AisdkRequest } from "../protocol/aisdk/decode.ts";
import { type Plan, reconcile } from "../protocol/aisdk/reconcile.ts";
import { type Answered, NOTHING_SHOWN, type Shown, shownIn } from "../protocol/aisdk/shown.ts";
import type { Door } from "./door.ts";
import { byLabel, type Principal } from "./principal.ts";

/** Does what a request asks for, and says which turn answers it and what the client shows of that turn. */
export async function send(
  door: Door,
  key: ThreadKey,
  request: AisdkRequest,
  principal: Principal,
): Promise<{ turnId: string; shown: Shown }> {
  const { engine } = door;
  const { plan, label, retry } = await using(engine, key, async ({ thread }) => {
    const plan = reconcile(thread, request);
    const turnId = turnOf(thread, plan.about);
    const bare = plan.messages.length + plan.results.length + plan.answers.length === 0 && !request.resume;
    if (turnId === undefined && bare) {
      throw new AppError("not_found", "This thread has no such message; load its messages again", { field: "messages" });
    }
    const first = thread.history.find((entry) => entry.role === "user" && entry.turnId === turnId);
    const label = first?.role === "user" ? first.id : (plan.messages.at(-1)?.id ?? engine.ids("run"));
    return { plan, label, retry: !thread.run && thread.ended?.outcome.type === "failed" && thread.turn?.turnId === turnId };
  });
  if (plan.ignored > 0) engine.log({ event: "input.ignored", thread: key.threadId, door: "aisdk", count: plan.ignored });
  const { messages, rewindTo, results, answers, about } = plan;
  const { resume } = request;
  const news = messages.length + results.length + answers.length > 0 || rewindTo !== undefined || resume !== undefined;
  if (rewindTo !== undefined) await makeRoom(door, key, principal);
  if (news || retry) {
    const { agent, tools, options } = request;
    const named = await nameFiles(messages);
    const command: RunCommand = {
      type: "run",
      runId: label,
      turnId: engine.ids("turn"),
      ...(agent !== undefined && { agent }),
      messages: named.messages,
      results: await fitting(door, key, results),
      answers,
      ...(resume && { resume: { answers: resume } }),
      ...(tools && { tools }),
      ...(Object.keys(options).length > 0 && { options }),
      ...(rewindTo !== undefined && { rewindTo }),
      door: "history",
      by: byLabel(principal),
      via: "aisdk",
      now: engine.clock.now(),
    };
    await submit(engine, key, command, named.files);
  }
  return using(engine, key, async ({ thread }) => {
    const turnId = turnOf(thread, about) ?? thread.turn?.turnId ?? "";
    const last = request.messages.at(-1);
    if (last?.role !== "assistant" || last.id !== turnId) return { turnId, shown: NOTHING_SHOWN };
    return { turnId, shown: shownIn(last, await answered(door, key, thread, last.questions)) };
  });
}

/** What has become of questions that a client shows as open. */
async function answered({ engine }: Door, key: ThreadKey, { interrupts }: Thread, shown: readonly string[]): Promise<Answered[]> {
  const waits = shown.filter((id) => !interrupts.has(id));
  if (waits.length === 0) return [];
  const { settled } = await engine.store.known(key, { messages: [], waits });
  return [...settled.values()].flatMap(({ event }) => (event.type === "interrupt.answered" ? [event] : []));
}

/** The turn a client means; without a name it is the current one. */
function turnOf({ history, turn }: Thread, about: Plan["about"]): string | undefined {
  if (!about) return turn?.turnId;
  if ("turnId" in about)
    return history.findLast((entry) => entry.turnId === about.turnId)?.turnId ?? (turn?.turnId === about.turnId ? about.turnId : undefined);
  return history.findLast((entry) => entry.role === "user" && entry.id === about.messageId)?.turnId;
}

/** Edit and regenerate mean that what is going on is no longer wanted. */
async function makeRoom(door: Door, key: ThreadKey, principal: Principal): Promise<void> {
  const { engine } = door;
  const busy = await using(engine, key, async ({ thread }) => thread.run !== undefined || thread.interrupts.size > 0);
  if (!busy || !(await stop(door, key, principal))) return;
  const { seq, run } = await using(engine, key, async ({ thread }) => ({ seq: thread.seq, run: thread.run }));
  if (!run) return;
  const end = follow(engine, key, { after: seq, until: "run", signal: new AbortController().signal });
  for await (const _ of end);
}

/** Cancels what runs or waits; false when nothing does. */
export async function stop({ engine }: Door, key: ThreadKey, principal: Principal): Promise<boolean> {
  const { clock, ids } = engine;
  try {
    await submit(engine, key, { type: "cancel", runId: ids("run"), by: byLabel(principal), via: "aisdk", now: clock.now() });
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return false; // nothing runs or waits: so be it
    throw error;
  }
}

/** A result that breaks its tool's schema is told to the model: a browser would send the same again for ever. */
async function fitting({ engine }: Door, key: ThreadKey, results: Plan["results"]): Promise<Plan["results"]> {
  if (results.length === 0) return [];
  const agent = await using(engine, key, async ({ thread }) => engine.agents.get(thread.turn?.agent ?? ""));
  return Promise.all(
    results.map(async (result) => {
      if (result.status !== "completed") return result;
      const verdict = await agent?.tools.get(result.name ?? "")?.output?.check(result.output ?? null);
      if (!verdict || !("problem" in verdict)) return result;
      const { callId, name } = result;
      return {
        callId,
        ...(name !== undefined && { name }),
        status: "failed",
        error: `The result does not fit the output schema: ${verdict.problem}`,
      } as const;
    }),
  );
}
