import { z } from "zod";
import { fromBase64 } from "../../core/base64.ts";
import type { Answer, Result, Resume } from "../../core/command.ts";
import { AppError } from "../../core/error.ts";
import type { Part, RunOptions, ToolSpec } from "../../core/event.ts";
import { ID_PATTERN } from "../../core/ids.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";

/** A message of a request; its files are still inside it. */
export type Said = { id: string; content: string | (Part | InlineFile)[]; name?: string };
type InlineFile = { type: "file"; mediaType: string; data: Uint8Array; name?: string };

/** What `POST /v1/threads/:id/runs` asks for. */
export type RunRequest = {
  runId: string;
  message?: Said;
  agent?: string;
  tools?: ToolSpec[];
  options?: RunOptions;
  rewindTo?: string;
  /** What a graph goes on with, and from where. */
  resume?: Resume;
};

const maybe = z.exactOptional;
const id = z.string().regex(ID_PATTERN, "an id has 1 to 200 letters, digits or . _ : @ | / + = -");
const json = z.custom<Json>((value) => value !== undefined, "is missing");
const object = z
  .custom<JsonObject>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "must be an object")
  .meta({ type: "object" });
const line = z
  .string()
  .max(200)
  .regex(/^[^\p{Cc}]+$/u, "must be one line");

const fileHead = {
  type: z.literal("file"),
  mediaType: z.string().regex(/^[\w.+-]+\/[\w.+*-]+$/, "must be a media type"),
  name: maybe(line),
};
const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ ...fileHead, data: z.string() }),
  z.object({ ...fileHead, url: z.url({ protocol: /^https?$/, error: "must be an http or https url" }) }),
]);
const content = z.union([z.string().min(1, "must say something"), z.array(part).min(1, "must say something")]);
const tool = z
  .object({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "a name has 1 to 64 letters, digits, _ or -"),
    description: z.string().default(""),
    input: maybe(object),
    parameters: maybe(object),
  })
  .transform(
    ({ name, description, input, parameters }): ToolSpec => ({ name, description, input: input ?? parameters ?? { type: "object" } }),
  );
/** No instructions: what an agent is told is not for its clients to say. */
const options = z.object({
  model: maybe(z.string()),
  profile: maybe(z.string()),
  maxSteps: maybe(z.int().positive().max(1000)),
  timeout: maybe(z.int().nonnegative()),
  metadata: maybe(object),
});
const checkpointId = z.string().min(1).max(200);

/** The body of `POST /v1/threads/:id/runs`. */
const runBody = z.object({
  message: maybe(z.union([z.string().min(1, "must say something"), z.object({ id: maybe(id), content, name: maybe(line) })])),
  agent: maybe(z.string()),
  runId: maybe(id),
  tools: maybe(z.array(tool)),
  options: maybe(options),
  rewindTo: maybe(id),
  checkpointId: maybe(checkpointId.describe("Run a graph again from here")),
  state: maybe(object.describe("Fields to change in its state there; for operators, where users are told apart")),
  resume: maybe(object.describe("Answers to its questions, by key; from a checkpoint also to those it will ask")),
});

/** Reads the body of a run. `mint` names what the client left nameless. */
export function decodeRun(body: unknown, mint: (prefix: string) => string): RunRequest {
  const { message, runId = mint("run"), checkpointId, state, resume: answers, ...rest } = parse(runBody, body);
  if (state && checkpointId === undefined)
    throw new AppError("invalid", "checkpointId: name the checkpoint whose state is to change", { field: "checkpointId" });
  const resume = {
    ...(checkpointId !== undefined && { checkpointId }),
    ...(answers && { answers }),
    ...(state && { state }),
  };
  const goesOn = Object.keys(resume).length > 0;
  if (message === undefined) {
    if (rest.rewindTo === undefined && !goesOn) throw new AppError("invalid", "message: is missing", { field: "message" });
    return { runId, ...rest, ...(goesOn && { resume }) };
  }
  if (goesOn) throw new AppError("invalid", "message: a graph that goes on takes none; send it afterwards", { field: "message" });
  if (typeof message === "string") return { runId, ...rest, message: { id: mint("msg"), content: message } };
  const parts = typeof message.content === "string" ? message.content : message.content.map(toPart);
  return { runId, ...rest, message: { ...message, id: message.id ?? mint("msg"), content: parts } };
}

function toPart(wire: z.infer<typeof part>, i: number): Part | InlineFile {
  if (!("data" in wire)) return wire;
  const data = fromBase64(wire.data);
  const field = `message.content.${i}.data`;
  if (!data) throw new AppError("invalid", `${field}: is no base64`, { field });
  return { ...wire, data };
}

/** The body of `POST /v1/threads/:id/fork`. */
const forkBody = z.object({
  checkpointId: maybe(checkpointId.describe("Where the copy ends; without it, the last one")),
  threadId: maybe(id),
  state: maybe(object.describe("Fields to change in the state; for operators, where users are told apart")),
  resume: maybe(object.describe("Answers that are there before their questions, by key")),
  run: z.boolean().default(true).describe("Goes on at once"),
});

/** What `POST /v1/threads/:id/fork` asks for. */
export type ForkRequest = { checkpointId?: string; threadId: string; state?: JsonObject; resume?: JsonObject; run: boolean };

/** Reads the body of a fork. `mint` names the new thread where the client does not. */
export function decodeFork(body: unknown, mint: (prefix: string) => string): ForkRequest {
  const { threadId = mint("thread"), ...rest } = parse(forkBody, body);
  if (rest.resume && !rest.run) throw new AppError("invalid", "resume: answers need a run that hears them", { field: "resume" });
  return { threadId, ...rest };
}

const claim = z.int().positive();
/** The body of `POST /v1/calls/:id/result`. */
const resultBody = z.union([
  z.strictObject({ output: json, claim: maybe(claim), metadata: maybe(object) }),
  z.strictObject({ error: z.string().min(1), claim: maybe(claim), metadata: maybe(object) }),
]);

/** Reads a result for one call. */
export function decodeResult(body: unknown, callId: string): Result {
  const { claim, metadata, ...said } = parse(resultBody, body);
  const more = { ...(claim !== undefined && { claim }), ...(metadata && { metadata }) };
  return "error" in said
    ? { callId, status: "failed", error: said.error, ...more }
    : { callId, status: "completed", output: said.output, ...more };
}

const reason = z.string().max(2000);

/** The bodies of `POST /v1/calls/:id/approve` and `/reject`. */
const approvalBody = z.object({ input: maybe(object), reason: maybe(reason) });
const rejectionBody = z.object({ reason: maybe(reason) });

/** Reads a yes: perhaps with another input, perhaps with a reason. */
export function decodeApproval(body: unknown): JsonObject {
  return { approved: true, ...parse(approvalBody, body) };
}

/** Reads a no, and why. */
export function decodeRejection(body: unknown): JsonObject {
  return { approved: false, ...parse(rejectionBody, body) };
}

/** The body of `POST /v1/calls/:id/respond`. */
const responseBody = z.strictObject({ output: json });

/** Reads what somebody answers in place of a tool. */
export function decodeResponse(body: unknown): { output: Json } {
  return parse(responseBody, body);
}

/** The body of `POST /v1/interrupts/:id/answer`. */
const answerBody = z.union([z.strictObject({ value: json }), z.strictObject({ status: z.literal("cancelled") })]);

/** Reads the answer to a question. */
export function decodeAnswer(body: unknown, interruptId: string): Answer {
  const said = parse(answerBody, body);
  return "value" in said ? { interruptId, status: "resolved", value: said.value } : { interruptId, status: "cancelled" };
}

const seconds = z.int().min(1).max(3600).default(30);

/** The bodies of `POST /v1/calls/:id/claim`, `/heartbeat` and `/release`. */
const claimBody = z.object({ by: maybe(line.max(100)), seconds });
const heartbeatBody = z.object({ claim, seconds });
const releaseBody = z.object({ claim });

/** Reads a claim: under which name, and for how long. */
export function decodeClaim(body: unknown): { by?: string; seconds: number } {
  return parse(claimBody, body);
}

/** Reads a heartbeat. */
export function decodeHeartbeat(body: unknown): { claim: number; seconds: number } {
  return parse(heartbeatBody, body);
}

/** Reads which claim is given back. */
export function decodeRelease(body: unknown): { claim: number } {
  return parse(releaseBody, body);
}

/** The body of `POST /v1/threads/:id/cancel`. */
const cancelBody = z.object({ reason: maybe(reason) });

/** Reads why a run is cancelled. */
export function decodeCancel(body: unknown): { reason?: string } {
  return parse(cancelBody, body);
}

/** The body of `PATCH /v1/threads/:id`. */
const changeBody = z
  .object({ title: maybe(line), metadata: maybe(object) })
  .refine((given) => given.title !== undefined || given.metadata !== undefined, "must hold `title` or `metadata`");

/** Reads a new title, new metadata or both. */
export function decodeChange(body: unknown): { title?: string; metadata?: JsonObject } {
  return parse(changeBody, body);
}

/** The body of `POST /v1/grants`. */
const grantBody = z.object({
  tool: z.string().min(1).max(200),
  threadId: maybe(id),
  user: maybe(z.string().min(1).max(200)),
});

/** Reads a standing permission. Only an operator names the user. */
export function decodeGrant(body: unknown): { tool: string; threadId?: string; user?: string } {
  return parse(grantBody, body);
}

/** The bodies this door reads, for its description. */
export const BODIES: Readonly<
  Record<
    | "run"
    | "fork"
    | "result"
    | "approval"
    | "rejection"
    | "response"
    | "answer"
    | "claim"
    | "heartbeat"
    | "release"
    | "cancel"
    | "change"
    | "grant",
    z.ZodType
  >
> = {
  run: runBody,
  fork: forkBody,
  result: resultBody,
  approval: approvalBody,
  rejection: rejectionBody,
  response: responseBody,
  answer: answerBody,
  claim: claimBody,
  heartbeat: heartbeatBody,
  release: releaseBody,
  cancel: cancelBody,
  change: changeBody,
  grant: grantBody,
};
