import { tool } from "handback";
import { z } from "zod";

// Tools for a worker: `handback worker tools.ts`, from the repo npx node --conditions=handback-source src/cli/main.ts worker examples/rest/tools.ts

export default [
  tool({
    name: "get_menu",
    description: "The coffee menu",
    input: z.object({ category: z.string() }),
    retries: 2,
    execute: ({ category }) => ({ category, menu: ["美式咖啡"] }),
  }),
];
