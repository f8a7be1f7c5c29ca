import { type TypedTool, tool } from "./tool.ts";

/**
 * JavaScript in the user's browser. It has no `execute`: a page runs it in `handback/client/sandbox`, once a person has
 * agreed or by itself, as the page likes.
 *
 * @example
 * chatAgent({ model: "ling-1t", profile: "JSON_Strict", tools: [browserJsEval] });
 */
export const browserJsEval: TypedTool<"browser_js_eval", { code: string }, unknown> = tool<"browser_js_eval", { code: string }>({
  name: "browser_js_eval",
  description:
    "You can execute JavaScript in the user's browser. The value of the last expression, or of `return`, is the result: it must be JSON. " +
    "Use `return` together with `await`. There is no page, no network, no storage and no console; a few seconds are all there is.",
  input: {
    type: "object",
    properties: { code: { type: "string", description: "JavaScript, for example (function () { … })()" } },
    required: ["code"],
    additionalProperties: false,
  },
  owner: "client",
});
