import type { Context } from "hono";
import { AppError } from "../core/error.ts";
import type { StoredEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { CallSignature } from "../engine/call-signature.ts";
import { type Throwaway, throwaway } from "../engine/throwaway.ts";
import type { Chunk } from "../protocol/aisdk/chunk.ts";
import { encode } from "../protocol/aisdk/encode.ts";
import { KNOWS, type Peer } from "../protocol/aisdk/peer.ts";
import { decodeStateless } from "../protocol/aisdk/stateless.ts";
import type { Door } from "./door.ts";
import { byLabel, type Principal } from "./principal.ts";
import { frame, plainText, sse } from "./sse.ts";

/** What a stateless request is answered with, besides its body. */
export type Stateless = { principal: Principal; peer: Peer; signature: CallSignature };

/** Answers a request that brings its whole thread (seed 004). Nothing of it is kept, and it ends when its reader hangs up. */
export async function answerStateless(door: Door, c: Context, body: unknown, { principal, peer, signature }: Stateless): Promise<Response> {
  if (principal.kind === "executor") throw new AppError("forbidden", "An executor may not talk to agents");
  const request = decodeStateless(body);
  const { app } = principal;
  const user = principal.kind === "user" ? principal.user : byLabel(principal);
  const agent = c.req.query("agent") ?? request.agent;
  const asked = { ...request, agent, owner: { app, user }, by: byLabel(principal), via: "aisdk" };
  const turn = inConfig(() => throwaway(door.engine, signature, asked));
  if (wantsText(c.req.header("accept"))) return answerText(door, c, turn);
  c.header("x-vercel-ai-ui-message-stream", "v1");
  return sse(c, (signal) => chunks(turn.run(signal), peer), door.streams, { open: true });
}

/** Options are chosen in `config` here, so that is where they are wrong. */
function inConfig<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid" || error.field === undefined || error.field === "agent") throw error;
    const field = `config.${error.field}`;
    throw new AppError("invalid", `${field}: ${error.message.replace(`${error.field}: `, "")}`, { field, cause: error });
  }
}

/** Whether a client asks for text before anything else it would read. */
function wantsText(accept = ""): boolean {
  const [first = ""] = accept.split(",");
  return /^\s*text\/plain\s*(;|$)/i.test(first);
}

async function* chunks(events: AsyncIterable<StoredEvent>, peer: Peer): AsyncGenerator<Uint8Array> {
  for await (const event of events) {
    const frames = [...encode("", event, peer), ...finish(event, peer)].map((chunk) => frame(JSON.stringify(chunk)));
    if (event.type === "run.ended") frames.push("data: [DONE]\n\n");
    if (frames.length > 0) yield Buffer.from(frames.join(""));
  }
}

/** Here a message that waits for results is finished: the next request is another one. */
function finish(event: StoredEvent, peer: Peer): Chunk[] {
  if (event.type !== "run.ended" || event.outcome.type !== "waiting") return [];
  return [{ type: "finish", ...(KNOWS[peer].approvals && { finishReason: "tool-calls" }) }];
}

/** Bare text. Until its first word a failure is an HTTP status; behind it, all that is left is to break off. */
async function answerText({ streams }: Door, c: Context, turn: Throwaway): Promise<Response> {
  const stop = new AbortController();
  const gone = () => stop.abort();
  c.req.raw.signal.addEventListener("abort", gone);
  const texts = textIn(turn, stop.signal);
  const first = await texts.next();
  return plainText(
    c,
    async function* (signal) {
      signal.addEventListener("abort", gone);
      if (signal.aborted) gone();
      if (!first.done) yield Buffer.from(first.value);
      for await (const text of texts) yield Buffer.from(text);
    },
    streams,
  );
}

/** What an agent says, and at its end the calls it handed out, as its model could have written them. */
async function* textIn(turn: Throwaway, signal: AbortSignal): AsyncGenerator<string> {
  const calls: { id: string; name: string; input: Json }[] = [];
  let said = false;
  for await (const event of turn.run(signal)) {
    if (event.type === "text.started" && said) yield "\n\n";
    else if (event.type === "text.delta") {
      said = true;
      yield event.delta;
    } else if (event.type === "call.offered") calls.push({ id: event.callId, name: event.name, input: event.input });
    else if (event.type === "run.ended" && event.outcome.type === "failed") {
      throw new AppError(event.outcome.error.code, event.outcome.error.message);
    }
  }
  if (calls.length > 0) yield `${said ? "\n\n" : ""}${turn.write(calls)}`;
}
