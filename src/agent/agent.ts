import type { Clock } from "../core/clock.ts";
import type { Event, RunOptions } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Next } from "../core/step.ts";
import type { Call, Thread } from "../core/thread.ts";
import type { Model } from "../model/model.ts";
import type { Profile } from "../model/profile/profile.ts";
import type { GraphDefinition } from "./graph/definition.ts";
import type { Tool } from "./tool.ts";

/** Answers "what next?" for a thread and performs steps. It keeps nothing: all it needs is in the thread. */
export interface Agent {
  /** Its own tools by name. Those of a request come on top; where names clash, these win. */
  tools: ReadonlyMap<string, Tool>;
  /** Asked after every step, after every input, and after a crash: always the same question. */
  next(thread: Thread): Next;
  /**
   * Performs one step: `step.started` first, `step.ended` last. Throwing is the failure of the run. Several events in an array are
   * written in one append, and it is asked for more only when they are on disk; a step that made calls is ended by itself.
   */
  step(context: StepContext): AsyncIterable<Event | readonly Event[]>;
  /** Refuses options this agent will not take, before anything is written. */
  check?(options: RunOptions): void;
  /** How it would tell tools to its model with these options; none is native calls. */
  profile?(options: RunOptions): Profile | undefined;
  /** The names of the models a request may choose. */
  models?: readonly string[];
  /** What it looks like, where it is a graph. The thread's state is then the graph's own, and no client's to set. */
  definition?: GraphDefinition;
  /** What a new message does to calls that wait. Default: they are cancelled. */
  whilePending?: "cancel" | "reject";
}

/** What the engine lends an agent for one step. */
export type StepContext = {
  /** What the log adds up to: it changes as events are written. */
  thread: Thread;
  /** Whose thread it is, and what they call it. */
  key: ThreadKey;
  signal: AbortSignal;
  clock: Clock;
  mint(prefix: string): string;
  /** An id for a call: the provider's own where it is well-formed and free in this app. */
  callId(wanted: string): Promise<string>;
  /** Runs those of the server's calls that are ready and these, while the step goes on. */
  runCalls(mine: (call: Call) => boolean): Promise<void>;
  /** The model of this name at the configured provider. */
  model(name: string): Model;
  blob(id: string): Promise<{ mediaType: string; data: Uint8Array }>;
  saveBlob(mediaType: string, data: Uint8Array): Promise<string>;
};
