import type { Contender } from "../contender.ts";
import type { Effort, Row } from "../row.ts";
import { firstToken } from "./first-token.ts";
import { tokens } from "./tokens.ts";

/** Tokens and first token once more, with Handback answering by the same protocol as raw AI SDK. */
export async function aisdkDoor(contenders: Contender[], effort: Effort, upstream: string): Promise<Row[]> {
  const talking = contenders.map((contender) => (contender.name === "handback" ? throughChat(contender) : contender));
  const rows = [...(await tokens(talking, effort)), ...(await firstToken(talking, effort, upstream))];
  return rows.map((row) => ({ ...row, what: `/api/chat: ${row.what}` }));
}

let threads = 0;

function throughChat(contender: Contender): Contender {
  const ask = (wish: object) => {
    const part = { type: "text", text: JSON.stringify(wish) };
    return { id: `chat-${++threads}`, messages: [{ id: "m", role: "user", parts: [part] }], trigger: "submit-message" };
  };
  return { ...contender, ask, url: contender.url.replace("/agui", "/api/chat") };
}
