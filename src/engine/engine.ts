import type { Agent } from "../agent/agent.ts";
import type { ToolCache } from "../agent/run-tool.ts";
import type { Clock } from "../core/clock.ts";
import type { Event } from "../core/event.ts";
import type { Ids } from "../core/ids.ts";
import type { Model } from "../model/model.ts";
import type { Bus } from "../store/bus.ts";
import type { Store } from "../store/store.ts";
import type { Beat } from "./beat.ts";
import type { Live } from "./live.ts";

/** Everything a run needs, passed in. There are no globals. */
export type Engine = {
  store: Store;
  bus: Bus;
  clock: Clock;
  ids: Ids;
  agents: ReadonlyMap<string, Agent>;
  /** The model of this name at the configured provider. */
  model: (name: string) => Model;
  cache: ToolCache;
  log: Log;
  /** How long deltas are gathered before they are written; the first goes at once, 0 gathers nothing. */
  coalesceMs: number;
  /** When what was gathered is written: every `coalesceMs`, for all runs at once. */
  beat: Beat;
  /** Longest a run may take; 0 is for ever. */
  runTimeout: number;
  aggregate: () => Aggregator;
  /** Threads in use, and a few that were lately. */
  live: Map<string, Live>;
  /** Of these the ones nobody holds, longest unused first. */
  idle: Map<string, Live>;
  /** Call ids given out whose rows are not in the index yet. */
  reserved: Set<string>;
  /** Set when the process is about to end: nothing new is begun. */
  stopping: boolean;
};

/** One line about something that happened: ids, sizes and codes, never bodies. */
export type Log = (line: { event: string; [field: string]: string | number | boolean | undefined }) => void;

/** Decides what becomes of a run's events on their way into the log; one for each run. */
export interface Aggregator {
  /** Events to write now; what is held back comes with a later call or with `flush`. */
  append(event: Event): Event[];
  flush(): Event[];
}
