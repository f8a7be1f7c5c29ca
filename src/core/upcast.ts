import { EVENT_VERSION, type StoredEvent } from "./event.ts";

type Raw = { type: string; [field: string]: unknown };

/** Turns an event of version n into one of version n + 1. One in, one out, same seq. */
export type Upcaster = (event: Raw) => Raw;

/** `UPCASTERS[n]` lifts version n. Every release keeps the ones before it. */
const UPCASTERS: readonly (Upcaster | undefined)[] = [];

/** An event as this release knows it. One from a newer release is passed on as it is; `decide` then refuses the thread. */
export function upcast(
  raw: Raw,
  v: number,
  upcasters: readonly (Upcaster | undefined)[] = UPCASTERS,
  to: number = EVENT_VERSION,
): StoredEvent {
  let event = raw;
  for (let version = v; version < to; version += 1) event = upcasters[version]?.(event) ?? event;
  return { ...event, v: Math.max(v, to) } as unknown as StoredEvent;
}
