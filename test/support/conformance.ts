import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { chatAgent } from "../../src/agent/chat.ts";
import type { StoredEvent } from "../../src/core/event.ts";
import type { ModelEvent } from "../../src/model/model.ts";
import { hangs, type Rule, says, scripted } from "../../src/model/scripted.ts";
import type { Frame } from "./frames.ts";
import { eventually, type Reply, type Served } from "./serve.ts";

/** Short words for the conformance tests of the AG-UI door. */

export const TEXT = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
export const CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];
export const inStep = (...inner: string[]): string[] => ["STEP_STARTED", ...inner, "STEP_FINISHED"];
export const inRun = (...inner: string[]): string[] => ["RUN_STARTED", ...inner, "RUN_FINISHED"];

export const user = (content: unknown, id = "u1"): object => ({ id, role: "user", content });
export const result = (toolCallId: string, content: string): object => ({ id: `${toolCallId}-result`, role: "tool", toolCallId, content });
export const body = (messages: object[], more: object = {}): object => ({
  threadId: "t",
  runId: "r1",
  messages,
  ...more,
});

/** An agent that says one text for each turn. */
export const text = (...turns: string[]) => ({ default: chatAgent({ model: scripted(...turns.map((turn) => says(turn))) }) });
/** An agent that says one word and then nothing more. */
export const talking = () => ({ default: chatAgent({ model: scripted(hangs(...says("One ").slice(0, -1))) }) });

/** Says these events, with a gate behind the first `half` of them. */
export function gated(events: readonly ModelEvent[], half: number): { rule: Rule; open: () => void } {
  const gate = Promise.withResolvers<void>();
  const rule: Rule = async function* () {
    yield* events.slice(0, half);
    await gate.promise;
    yield* events.slice(half);
  };
  return { rule, open: gate.resolve };
}

export const raw = ({ url }: Served, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}${path}`, { method: "POST", headers: { "content-type": "application/json" }, ...init });

/** A history as a page finds it: the request's own run id, and no follow unless it is asked for. */
export const history = (server: Served, query = "?follow=false"): Promise<Reply> =>
  server.post({ threadId: "t", runId: "h" }, `/agui/history${query}`);

export type Message = { id: string; role: string; [field: string]: unknown };

export function messagesIn({ frames }: { frames: readonly Frame[] }): Message[] {
  return (frames.find(({ type }) => type === "MESSAGES_SNAPSHOT")?.["messages"] ?? []) as Message[];
}
export const messages = async (server: Served): Promise<Message[]> => messagesIn(await history(server));

export const ends = (frames: readonly { type: string }[]): string[] =>
  frames.map(({ type }) => type).filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR");
export const outcomes = async (server: Served): Promise<string[]> =>
  (await server.events()).flatMap((event) => (event.type === "run.ended" ? [event.outcome.type] : []));
export const deltasIn = (events: readonly StoredEvent[]): string[] => events.flatMap((event) => ("delta" in event ? [event.delta] : []));

/** Lets time pass until something has happened. */
export function passing({ clock }: Served, look: () => Promise<boolean>): Promise<boolean> {
  return eventually(async () => {
    await clock.advance(1_000);
    return look();
  });
}

/** The answers this process is giving, as Node knows them. */
const answers: ServerResponse[] = [];
subscribe("http.server.request.start", (message) => void answers.push((message as { response: ServerResponse }).response));

/** The server has noticed that the reader of its latest answer is gone. */
export async function hungUp(): Promise<void> {
  const latest = answers.at(-1);
  if (latest && !latest.closed) await once(latest, "close");
}
