import type { Clock } from "../core/clock.ts";
import type { Model } from "./model.ts";
import { pause } from "./pause.ts";
import { ProviderFailure } from "./provider-failure.ts";

export type RetryOptions = { attempts?: number; clock: Clock; random?: () => number };

/** A provider that asks for more patience than this is not asked again: the user would have left. */
const LONGEST_WAIT = 60_000;

/** Asks again while nothing has been said and the provider is busy, broken or out of reach. What was heard is never said twice. */
export function withRetry(model: Model, { attempts = 3, clock, random = Math.random }: RetryOptions): Model {
  return async function* (request, signal) {
    for (let attempt = 1; ; attempt += 1) {
      let spoken = false;
      try {
        for await (const event of model(request, signal)) {
          spoken = true;
          yield event;
        }
        return;
      } catch (error) {
        const wait = spoken || signal.aborted || attempt >= attempts ? undefined : delay(error, attempt, random());
        if (wait === undefined) throw error;
        await pause(clock, wait, signal);
      }
    }
  };
}

/** How long to wait before the next attempt; nothing means that another attempt cannot help. */
function delay(error: unknown, attempt: number, chance: number): number | undefined {
  const failure = error instanceof Error ? error.cause : undefined;
  if (!(failure instanceof ProviderFailure)) return undefined;
  const { trouble, retryAfter } = failure;
  if (trouble !== "busy" && trouble !== "broken" && trouble !== "unreachable") return undefined;
  if (retryAfter === undefined) return 500 * 2 ** (attempt - 1) * (0.5 + chance / 2);
  return retryAfter > LONGEST_WAIT ? undefined : retryAfter + 250 * chance; // not all at the same moment
}
