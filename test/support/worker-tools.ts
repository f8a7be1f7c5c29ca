import { z } from "zod";
import { tool } from "../../src/agent/tool.ts";
import type { HandlersOf } from "../../src/client/client.ts";

/** What the shop declares. */
const declared = [
  tool({ name: "get_menu", description: "", input: z.object({ n: z.number() }), output: z.array(z.string()) }),
  tool({ name: "count", description: "", input: z.object({}), output: z.number() }),
];

/** What a worker makes of it: the compiler knows inputs and outputs. */
const handlers: HandlersOf<typeof declared> = {
  get_menu: async ({ n }) => [`menu ${n.toFixed(0)}`],
  // @ts-expect-error the declaration promises a number
  count: async () => "many",
};

let attempts = 0;

export default [
  tool({ name: "get_menu", description: "", input: z.object({ n: z.number() }), execute: (input) => handlers.get_menu(input, never) }),
  tool({
    name: "place_order",
    description: "",
    input: z.object({ n: z.number() }),
    retries: 1,
    execute() {
      attempts += 1;
      if (attempts === 1) throw new Error("not yet");
      return { attempts };
    },
  }),
  tool({ name: "brew", description: "", input: z.object({}), execute: () => new Promise((resolve) => setTimeout(resolve, 700, "brewed")) }),
];

const never = { callId: "", threadId: "", name: "", attempt: 1, signal: new AbortController().signal };
