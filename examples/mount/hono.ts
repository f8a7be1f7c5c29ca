// Handback inside an existing Hono app, under a path of its own.
import { serve } from "@hono/node-server";
import { chatAgent, createHandback, tool } from "handback";
import { says, scriptedBy } from "handback/testing";
import { Hono } from "hono";
import { z } from "zod";

const getMenu = tool({ name: "get_menu", description: "The coffee menu", input: z.object({ category: z.string() }) });
const model = scriptedBy(() => says("Hello ", "from ", "inside.")); // put "gpt-4o-mini" or any AI SDK model here

const handback = await createHandback({ data: ":memory:", agents: { default: chatAgent({ model, tools: [getMenu] }) } });

const app = new Hono();
app.get("/", (c) => c.text("my app"));
app.mount("/agents", handback.fetch); // POST /agents/agui, GET /agents/v1/calls, …

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env["PORT"] ?? 3000) }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
