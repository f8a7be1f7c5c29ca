import { z } from "zod";
import type { CallSettings } from "../../core/event.ts";

const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

/** What assistant-ui's `callSettings` may say about how the model answers. Headers and the like pass by unread. */
export const callSettings = z.looseObject({
  temperature: maybe(z.number().min(0).max(2)),
  topP: maybe(z.number().min(0).max(1)),
  topK: maybe(z.int().min(1).max(1_000)),
  maxOutputTokens: maybe(z.int().min(1).max(1_000_000)),
  maxTokens: maybe(z.int().min(1).max(1_000_000)).describe("What assistant-ui calls maxOutputTokens"),
  presencePenalty: maybe(z.number().min(-2).max(2)),
  frequencyPenalty: maybe(z.number().min(-2).max(2)),
  seed: maybe(z.int()),
});

/** The settings a request asks for, if any. */
export function toSettings(given: z.infer<typeof callSettings> | undefined): CallSettings | undefined {
  if (!given) return undefined;
  const { temperature, topP, topK, maxTokens, maxOutputTokens = maxTokens, presencePenalty, frequencyPenalty, seed } = given;
  const all = { temperature, topP, topK, maxOutputTokens, presencePenalty, frequencyPenalty, seed };
  const said = Object.entries(all).filter(([, value]) => value !== undefined);
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}
