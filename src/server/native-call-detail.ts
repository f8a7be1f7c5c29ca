import type { Owner, ToolSpec } from "../core/event.ts";
import { isObject } from "../core/json.ts";
import type { Thread } from "../core/thread.ts";
import type { Engine } from "../engine/engine.ts";
import { using } from "../engine/live.ts";
import type { WaitRow } from "../store/store.ts";
import type { Door } from "./door.ts";
import { type CallJson, callJson } from "./native-row.ts";
import { type ToolJson, toolJson } from "./native-tool.ts";
import type { Principal } from "./principal.ts";

/** A call with what somebody needs to decide on it. Executors see the call and its tool, not the thread. */
export type CallDetailJson = CallJson & {
  tool?: ToolJson | (ToolSpec & { owner: Owner });
  title?: string;
  /** What was said last, oldest first. */
  context?: { role: "user" | "assistant"; text: string }[];
};

const LINES = 5;
const LINE_LENGTH = 500;

/** One call, its tool, the name of its thread and the last lines of the conversation. */
export async function callDetail({ engine }: Door, row: WaitRow, principal: Principal): Promise<CallDetailJson> {
  const key = { app: row.app, user: row.user, threadId: row.threadId };
  return using(engine, key, async ({ thread }) => {
    const tool = toolOf(engine, thread, row);
    const call = { ...callJson(row, principal, engine.clock.now()), ...(tool && { tool }) };
    if (principal.kind === "executor") return call;
    const title = (await engine.store.thread(key))?.title;
    return { ...call, ...(title !== undefined && { title }), context: lines(thread) };
  });
}

/** The tool a call is for, or the one an approval asks about. */
function toolOf({ agents }: Engine, { turn, tools }: Thread, { kind, name, input }: WaitRow): CallDetailJson["tool"] {
  const asked = kind === "call" ? name : isObject(input) && typeof input["tool"] === "string" ? input["tool"] : "";
  const own = agents.get(turn?.agent ?? "")?.tools.get(asked);
  if (own) return toolJson(own);
  const declared = tools.find((tool) => tool.name === asked);
  return declared && { ...declared, owner: "client" };
}

function lines({ history }: Thread): { role: "user" | "assistant"; text: string }[] {
  const found: { role: "user" | "assistant"; text: string }[] = [];
  for (let i = history.length - 1; i >= 0 && found.length < LINES; i -= 1) {
    const entry = history[i];
    if (!entry) continue;
    const parts = entry.role === "assistant" ? entry.parts : typeof entry.content === "string" ? [] : entry.content;
    const said = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    const text = entry.role === "user" && typeof entry.content === "string" ? entry.content : said;
    if (text.trim() !== "") found.push({ role: entry.role, text: cut(text) });
  }
  return found.reverse();
}

function cut(text: string): string {
  return text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
}
