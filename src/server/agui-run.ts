import type { RunCommand } from "../core/command.ts";
import { AppError } from "../core/error.ts";
import type { Wait } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import { type Json, sameJson } from "../core/json.ts";
import { nameFiles } from "../engine/files.ts";
import { follow } from "../engine/follow.ts";
import { using } from "../engine/live.ts";
import { type Submitted, submit } from "../engine/submit.ts";
import { type AguiInput, type AguiRequest, decode, type Said } from "../protocol/agui/decode.ts";
import { encode, type Frame, prelude } from "../protocol/agui/encode.ts";
import { toMessages } from "../protocol/agui/messages.ts";
import { peerOf } from "../protocol/agui/peer.ts";
import { isBehind, madeUp, restate, showsBehind } from "../protocol/agui/restate.ts";
import { filesOf, joinStream } from "./agui-join.ts";
import type { AguiOptions } from "./agui-options.ts";
import { type Asked, HookFailed, receive, resolveRun } from "./agui-receive.ts";
import { type AguiStream, errorFrame, failed, type Piece } from "./agui-stream.ts";
import { teller } from "./agui-translate.ts";
import { type Door, threadKey } from "./door.ts";
import { byLabel, type Principal } from "./principal.ts";

/** What a client asks for besides its `RunAgentInput`. */
export type RunAsked = Asked & {
  agent?: string | undefined;
  /** Where a raw reader was cut off. */
  after?: number | undefined;
  /** Overrides the door's own `hold`. */
  hold?: boolean | undefined;
};

/** Does what a request asks for, and says what its sender is told. Refusals before anything was written are thrown. */
export async function run(door: Door, options: AguiOptions, asked: RunAsked): Promise<AguiStream> {
  const { engine } = door;
  return inStream(options, asked, async () => {
    const { input, sender } = await receive(door, options, asked);
    const request = decode(input, engine.ids);
    const key = threadKey(sender, request.threadId);
    const submitted = await start(door, options, { key, input, request, sender, agent: asked.agent });
    // Deltas add up: a client that shows part of what it would hear again is brought up to date instead.
    if (asked.after === undefined && (await showsLater(door, key, request, submitted))) {
      const { runId, peer } = request;
      return joinStream(door, options, { key, peer, runId, follow: "run", followMs: options.followMs });
    }
    const view = { key, request, submitted, sender, after: asked.after ?? 0, hold: asked.hold ?? options.hold ?? false };
    return { threadId: key.threadId, peer: request.peer, graphs: options.graphs, open: (signal) => pieces(door, options, view, signal) };
  });
}

/** A thread for somebody who shows nothing of it. `follow` is the request's own wish, where it has one. */
export async function history(
  door: Door,
  options: AguiOptions,
  asked: Asked & { follow?: "run" | "forever" | false | undefined; after?: number | undefined },
): Promise<AguiStream> {
  return inStream(options, asked, async () => {
    const { input, sender } = await receive(door, options, asked);
    return joinStream(door, options, {
      key: threadKey(sender, input.threadId),
      peer: peerOf(input.protocolVersion),
      runId: input.runId ?? door.engine.ids("run"),
      follow: options.follow ? (asked.follow ?? "run") : false,
      followMs: options.followMs,
      ...(asked.after !== undefined && { after: asked.after }),
    });
  });
}

/** Cancels the run of a thread, or what the thread waits for. Throws `not_found` where there is neither. */
export async function cancel(door: Door, options: AguiOptions, asked: Asked): Promise<{ threadId: string; status: "cancelled" }> {
  try {
    const { input, sender } = await receive(door, options, asked);
    await stop(door, threadKey(sender, input.threadId), sender);
    return { threadId: input.threadId, status: "cancelled" };
  } catch (error) {
    throw error instanceof HookFailed ? error.failure : error;
  }
}

async function stop({ engine }: Door, key: ThreadKey, sender: Principal): Promise<void> {
  const { clock, ids } = engine;
  await submit(engine, key, { type: "cancel", runId: ids("run"), by: byLabel(sender), via: "agui", now: clock.now() });
}

/** Some refusals are told in the protocol's own words: a hook's, and that a thread waits for an answer, so that its client asks again. */
async function inStream({ graphs }: AguiOptions, { body }: Asked, work: () => Promise<AguiStream>): Promise<AguiStream> {
  try {
    return await work();
  } catch (error) {
    const told = error instanceof HookFailed ? error.failure : error;
    if (!(told instanceof AppError) || (told === error && (told.code !== "conflict" || told.field !== "resume"))) throw error;
    const { threadId, protocolVersion } = body as Partial<AguiInput>;
    return failed({ threadId: threadId ?? "", peer: peerOf(protocolVersion ?? undefined), graphs }, told);
  }
}

type Started = { key: ThreadKey; input: AguiInput; request: AguiRequest; sender: Principal; agent: string | undefined };

async function start(door: Door, options: AguiOptions, { key, input, request, sender, agent }: Started): Promise<Submitted> {
  const { engine } = door;
  const { runId, parentRunId, results, answers, resume, tools } = request;
  const run = await resolveRun(door, options, input, request.options);
  await checkFiles(door, key, request.messages);
  const { messages, files } = await nameFiles(request.messages);
  const command: RunCommand = {
    type: "run",
    runId,
    turnId: engine.ids("turn"),
    ...(agent !== undefined && { agent }),
    messages,
    results,
    answers,
    ...(resume && { resume }),
    tools,
    ...(Object.keys(run).length > 0 && { options: run }),
    ...(await stateOf(door, key, request, agent)),
    ...(parentRunId !== undefined && { parentRunId }),
    door: "history",
    by: byLabel(sender),
    via: "agui",
    now: engine.clock.now(),
  };
  return submit(engine, key, command, files);
}

/** What a client says the state is. A graph's state is what its nodes trust: clients send back what they were shown, and it counts for nothing. */
async function stateOf({ engine }: Door, key: ThreadKey, { state }: AguiRequest, agent: string | undefined): Promise<{ state?: Json }> {
  if (state === undefined) return {};
  const name = agent ?? (await using(engine, key, async ({ thread }) => thread.turn?.agent)) ?? "default";
  return engine.agents.get(name)?.definition ? {} : { state };
}

/** A file that is named must be one this thread was given before. */
async function checkFiles({ engine }: Door, key: ThreadKey, messages: readonly Said[]): Promise<void> {
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (part.type !== "file" || !("blob" in part) || (await engine.store.blob(key, part.blob))) continue;
      throw new AppError("invalid", `There is no file ${part.blob} in this thread; send its data`, { field: "messages" });
    }
  }
}

type View = { key: ThreadKey; request: AguiRequest; submitted: Submitted; sender: Principal; after: number; hold: boolean };

/** What its client has to do itself; on everything else a stream may wait. */
const mine = (wait: Wait) => wait.type === "interrupt" || wait.owner === "client";

/** What the request itself caused is encoded for this client alone; the rest is shared with everyone of its kind. */
async function* pieces(door: Door, options: AguiOptions, view: View, signal: AbortSignal): AsyncGenerator<Piece> {
  const { engine } = door;
  const { key, request, submitted, sender } = view;
  const { peer, runId } = request;
  const taken = new Set(madeUp(request.results, submitted.events).map(({ callId }) => callId));
  const shown = { ...request.shown, results: request.shown.results.difference(taken) };
  const { threadId } = key;
  const after = Math.max(submitted.after, view.after);
  const state = after > submitted.after ? undefined : stateFor(request, submitted);
  let ended = false;
  try {
    const missed = after > submitted.after ? [] : await missing(door, key, request, submitted);
    // A snapshot takes away the results that this very run is about to tell.
    const echo = missed.some(({ type }) => type === "MESSAGES_SNAPSHOT") || options.echoToolResults;
    const tell = teller(options, { threadId, runId, peer }, (event) => {
      if (event.seq > submitted.seq) return encode(threadId, event, peer, options.graphs);
      if (state && event.type === "state.patched") return []; // told, or held, as it is behind all of them
      return prelude(threadId, event, { shown, missed: [...(state ?? []), ...missed], echo }, peer, options.graphs);
    });
    for await (const batch of follow(engine, key, { after, until: view.hold ? { mine } : "run", signal })) {
      const own = (batch.events[0]?.seq ?? 0) <= submitted.seq;
      yield tell.plain && !own ? { batch } : { frames: await tell.events(batch.events) };
      ended = batch.events.at(-1)?.type === "run.ended";
    }
    if (!ended && !signal.aborted) yield { frames: [{ frame: errorFrame(new AppError("gone", "The thread was deleted")) }] };
  } catch (error) {
    if (signal.aborted) throw error;
    ended = true;
    // Seed 003: what a callback throws ends the run for its requester, and with it the run. A log that cannot be read ends nothing.
    if (error instanceof HookFailed) await stop(door, key, sender).catch(() => {});
    yield { frames: [{ frame: errorFrame(error) }] };
  } finally {
    if (!ended && options.cancelOnDisconnect && !engine.stopping) await stop(door, key, sender).catch(() => {});
  }
}

/**
 * What a client that keeps a state must hear of it before the changes to come: nothing, or all of it, where its own is another.
 * Undefined leaves it to the changes its request caused.
 */
function stateFor(request: AguiRequest, { state, events }: Submitted): Frame[] | undefined {
  if (request.state === undefined || state === undefined) return undefined;
  if (!sameJson(request.state, state)) return [{ type: "STATE_SNAPSHOT", snapshot: state }];
  return events.length === 0 ? [] : undefined;
}

/** Whether a request without news comes from a client that shows something of the run it follows. */
async function showsLater({ engine }: Door, key: ThreadKey, { shown }: AguiRequest, { after, events }: Submitted): Promise<boolean> {
  if (events.length > 0) return false;
  return using(engine, key, async ({ thread }) => showsBehind(thread, after, shown));
}

/**
 * What a client must be told besides the run itself: nothing, the results of calls it shows open, or all messages, where it lacks some.
 */
async function missing({ engine }: Door, key: ThreadKey, request: AguiRequest, { after, events }: Submitted): Promise<Frame[]> {
  const { peer, shown } = request;
  return using(engine, key, async ({ thread }) => {
    const removed = events.flatMap((event) => (event.type === "thread.rewound" ? event.removed : []));
    removed.push(...madeUp(request.results, events).flatMap(({ messageId }) => messageId ?? []));
    if (!isBehind(thread, after, shown, removed)) return settledBefore(engine, key, request, after);
    const later = await engine.store.read(key, { after, deltas: false });
    const unsettled = new Set(later.flatMap((event) => (event.type === "tool.returned" ? [event.callId] : [])));
    const upTo = after + 1; // with the messages of the run that begins there
    const files = await filesOf(engine, key, thread, upTo);
    return restate(toMessages(thread, { peer, files, upTo, unsettled }), shown);
  });
}

/** Settlements that came through other doors, or with a new message, since the client last looked. */
async function settledBefore({ store }: Door["engine"], key: ThreadKey, { peer, shown }: AguiRequest, after: number): Promise<Frame[]> {
  const waits = [...shown.calls.difference(shown.results)];
  if (waits.length === 0) return [];
  const { settled } = await store.known(key, { messages: [], waits });
  const before = [...settled.values()].map(({ event }) => event).filter(({ seq }) => seq <= after);
  return before.flatMap((event) => encode(key.threadId, event, peer));
}
