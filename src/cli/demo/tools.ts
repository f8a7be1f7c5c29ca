import { z } from "zod";
import { type Tool, tool } from "../../agent/tool.ts";
import { systemClock } from "../../core/clock.ts";

/** The demo's tools: one for each way a call can go. */
export const TOOLS: readonly Tool[] = [
  tool({
    name: "get_menu",
    description: "The coffee menu, kept by another system",
    input: z.object({ category: z.string() }),
    timeout: "1h",
  }),
  tool({
    name: "get_stock",
    description: "How much of an item is left, counted by another system",
    input: z.object({ item: z.string() }),
    timeout: "1h",
  }),
  tool({
    name: "ask_warehouse",
    description: "A warehouse that has ten seconds to answer",
    input: z.object({ question: z.string() }),
    timeout: "10s",
  }),
  tool({
    name: "delete_orders",
    description: "Deletes old orders, a limited number at a time",
    input: z.object({ status: z.enum(["draft", "cancelled"]), limit: z.int().min(1).max(500) }),
    approval: true,
    execute: ({ status, limit }) => ({ deleted: limit, status }),
  }),
  tool({
    name: "refund",
    description: "Pays money back",
    input: z.object({ order: z.string(), amount: z.number().positive() }),
    approval: true,
    execute: ({ order, amount }, { callId }) => ({ order, amount, receipt: callId }),
  }),
  tool({
    name: "change_background",
    description: "Changes the background colour of the user's page",
    input: z.object({ color: z.string().describe("A CSS colour") }),
    owner: "client",
  }),
  tool({
    name: "get_time",
    description: "The time now",
    input: z.object({}),
    execute: () => new Date(systemClock.now()).toISOString(),
  }),
  tool({
    name: "open_report_document",
    description: "Opens the document panel",
    input: z.object({ title: z.string() }),
    execute: ({ title }) => ({ opened: title }),
  }),
  tool({
    name: "close_report_document",
    description: "Closes the document panel",
    input: z.object({}),
    execute: () => ({ closed: true }),
  }),
];
