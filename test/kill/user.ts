import type { StoredEvent } from "../../src/core/event.ts";
import { follow } from "./follow.ts";
import { emptyView, type View, type Wish } from "./history.ts";
import { somePlan } from "./plan.ts";
import type { Random } from "./random.ts";
import { send } from "./send.ts";
import { pause, type World } from "./world.ts";

/** A user of one thread for some turns, with the browser, the other systems and the people who answer its calls. */
export async function user(
  world: World,
  threadId: string,
  chance: Random,
  options: { turns: number; enough: () => boolean },
): Promise<void> {
  const view = emptyView(threadId);
  const closing = new AbortController();
  const errands: Promise<unknown>[] = [];
  const broken = Promise.withResolvers<never>();
  const start = (errand: Promise<unknown> | undefined) => {
    if (!errand) return;
    errand.catch(broken.reject);
    errands.push(errand);
  };
  let wake = () => {};
  const told = (event: StoredEvent) => {
    start(react(world, threadId, chance, event));
    wake();
  };
  start(follow(world, view, told, closing.signal));
  start(passer(world, view, chance, closing.signal));
  const until = async (holds: () => boolean, timeUp: Promise<unknown> = never) => {
    let late = false;
    void timeUp.then(() => {
      late = true;
      wake();
    });
    while (!holds() && !late) await Promise.race([broken.promise, new Promise<void>((resolve) => (wake = resolve))]);
  };

  for (let turn = 1; turn <= options.turns && !options.enough(); turn += 1) {
    const messageId = `${threadId}-m${turn}`;
    const door = chance.pick(["agui", "native"] as const);
    const text = JSON.stringify(somePlan(chance));
    // While the thread is busy or asks something, a message is refused.
    while ((await send(world, { threadId, door, type: "message", id: messageId, text })) === 409) await pause(10);
    if (chance.chance(0.08)) start(later(chance, 60, () => send(world, { threadId, door, type: "cancel" })));
    // Some do not wait for the answer and say something else.
    const leaves = chance.chance(0.1) && turn < options.turns && !options.enough();
    await until(() => turnIsOver(view, messageId), leaves ? pause(chance.between(0, 200)) : never);
  }
  await until(() => turnIsOver(view, lastMessage(view)));
  closing.abort();
  await Promise.all(errands);
}

const never = new Promise<never>(() => {});

/** What the outside does about an event: runs the call, answers the question, or lets it be. */
function react(world: World, threadId: string, chance: Random, event: StoredEvent): Promise<unknown> | undefined {
  if (event.type === "interrupt.raised") return later(chance, 40, () => send(world, answer(threadId, event.callId ?? "", chance)));
  if (event.type !== "call.offered") return undefined;
  const { callId, name } = event;
  if (name === "rush" && chance.chance(0.4)) return undefined; // its deadline must do
  const door = () => chance.pick(["agui", "native"] as const);
  const result = (output: string) => later(chance, 40, () => send(world, { threadId, door: door(), type: "result", id: callId, output }));
  const results = [result(`result of ${callId}`)];
  if (chance.chance(0.3)) results.push(result(`result of ${callId}`));
  if (chance.chance(0.1)) results.push(result(`another result of ${callId}`));
  return Promise.all(results);
}

function answer(threadId: string, callId: string, chance: Random): Wish {
  const door = chance.pick(["agui", "native"] as const);
  const about = { threadId, door, type: "answer", id: callId } as const;
  if (chance.chance(0.2)) return { ...about, approved: false };
  return chance.chance(0.3) ? { ...about, approved: true, input: { n: 1000 } } : { ...about, approved: true };
}

/** Somebody who comes by, follows from anywhere behind the beginning, and leaves again. */
async function passer(world: World, { threadId, seqs }: View, chance: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(chance.between(50, 400));
    const after = chance.between(0, seqs.at(-1) ?? 0);
    const stay = AbortSignal.any([signal, AbortSignal.timeout(chance.between(50, 1000))]);
    await follow(world, emptyView(threadId, after), () => {}, stay);
  }
}

function later<T>(chance: Random, most: number, work: () => Promise<T>): Promise<T> {
  return chance.chance(0.3) ? work() : pause(chance.between(0, most)).then(work);
}

function turnIsOver({ events }: View, messageId: string): boolean {
  const begun = events.find((event) => event.type === "run.started" && event.messages.some(({ id }) => id === messageId));
  if (begun?.type !== "run.started") return false;
  return events.some((event) => event.type === "run.ended" && event.turnId === begun.turnId && event.outcome.type !== "waiting");
}

function lastMessage({ events }: View): string {
  const said = events.flatMap((event) => (event.type === "run.started" ? event.messages : []));
  return said.at(-1)?.id ?? "";
}
