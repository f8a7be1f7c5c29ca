import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Listed } from "./decode.ts";

/** A call as a client shows it. */
export type ShownCall = {
  callId: string;
  name: string;
  state: string;
  /** It has a result or an error that is not preliminary. */
  settled: boolean;
  output: Json;
  /** What the tool's author wants the model to read in place of the output. */
  forModel?: string;
  error?: string;
  approval?: { id: string; approved: boolean; reason?: string };
};

/** What a client shows of one assistant message: steps of a model, and texts, which nodes say outside of them. */
export type Shown = {
  steps: number;
  texts: number;
  held: number;
  calls: ReadonlyMap<string, ShownCall>;
  /** Questions it shows as open that are not any more. */
  answered: readonly Answered[];
};

export type Answered = { interruptId: string; status: string; value?: Json };

export const NOTHING_SHOWN: Shown = { steps: 0, texts: 0, held: 0, calls: new Map(), answered: [] };

/** What a client shows of a message. `answered` says what has become of the questions in it. */
export function shownIn(message: Extract<Listed, { role: "assistant" }>, answered: readonly Answered[]): Shown {
  const { steps, texts, held, calls } = message;
  return { steps, texts, held, calls: new Map(calls.map((call) => [call.callId, call])), answered };
}

/** A question among the parts of a message, which the client shows as open. */
export function toQuestion({ type, data }: JsonObject & { type: string }): string[] {
  const open = type === "data-interrupt" && isObject(data) && data["status"] === "open";
  return open && typeof data["interruptId"] === "string" ? [data["interruptId"]] : [];
}

/** A call among the parts of a message. */
export function toCall(part: JsonObject & { type: string }): ShownCall[] {
  const { type, toolCallId, toolName, state, output = null, errorText, approval, preliminary } = part;
  if (typeof toolCallId !== "string" || typeof state !== "string") return [];
  const name = typeof toolName === "string" ? toolName : type.replace(/^tool-/, "");
  const settled = (state === "output-available" && preliminary !== true) || state === "output-error";
  const decided = isObject(approval) && typeof approval["id"] === "string" && typeof approval["approved"] === "boolean";
  return [
    {
      callId: toolCallId,
      name,
      state,
      settled,
      ...unwrapped(output),
      ...(typeof errorText === "string" && { error: errorText }),
      ...(decided && {
        approval: {
          id: approval["id"] as string,
          approved: approval["approved"] as boolean,
          ...(typeof approval["reason"] === "string" && { reason: approval["reason"] }),
        },
      }),
    },
  ];
}

/** assistant-ui wraps the output of tools that say themselves what the model should read. Files in it are left to the output. */
function unwrapped(output: Json): Pick<ShownCall, "output" | "forModel"> {
  const content = isObject(output) ? output["__aui_modelContent"] : undefined;
  if (!isObject(output) || !Array.isArray(content)) return { output };
  const texts = content.flatMap((part) =>
    isObject(part) && part["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  const whole = texts.length > 0 && texts.length === content.length;
  return { output: output["value"] ?? null, ...(whole && { forModel: texts.join("\n") }) };
}
