import type { Nameless } from "../core/command.ts";
import { decodeReply } from "../protocol/rest/decode.ts";
import { BODY_LIMITS, toJson } from "./body.ts";

/** A result in the answer of a webhook's receiver. An answer that is no JSON holds none. */
export function readReply(text: string): Nameless | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  return decodeReply(toJson(text, BODY_LIMITS));
}
