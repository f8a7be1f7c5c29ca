import type { Event } from "../../src/core/event.ts";
import type { History } from "./history.ts";

/** What the clients of a test share: where the server is, what they have seen of it, and who wants to know. */
export type World = {
  /** Waits while no server is up. */
  url(): Promise<string>;
  history: History;
  /** A follower saw an event of this type, or a client got a 2xx. */
  saw(what: Event["type"] | "2xx"): void;
};

/** A connection that broke or was refused, as they do when the server dies. */
export function isCutOff(error: unknown): boolean {
  return error instanceof Error && (/^(Abort|Timeout)Error$/.test(error.name) || /^(fetch failed|terminated)$/.test(error.message));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
