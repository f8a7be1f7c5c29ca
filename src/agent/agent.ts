import type { Event, RunOptions } from "../core/event.ts";
import type { Next } from "../core/step.ts";
import type { Thread } from "../core/thread.ts";
import type { Model } from "../model/model.ts";
import type { Tool } from "./tool.ts";

/** Answers "what next?" for a thread and performs steps. It keeps nothing: all it needs is in the thread. */
export interface Agent {
  /** Its own tools by name. Those of a request come on top; where names clash, these win. */
  tools: ReadonlyMap<string, Tool>;
  /** Asked after every step, after every input, and after a crash: always the same question. */
  next(thread: Thread): Next;
  /** Performs one step: `step.started` first, `step.ended` last. Throwing is the failure of the run. */
  step(context: StepContext): AsyncIterable<Event>;
  /** Refuses options this agent will not take, before anything is written. */
  check?(options: RunOptions): void;
  /** What a new message does to calls that wait. Default: they are cancelled. */
  whilePending?: "cancel" | "reject";
}

/** What the engine lends an agent for one step. */
export type StepContext = {
  thread: Thread;
  signal: AbortSignal;
  mint(prefix: string): string;
  /** An id for a call: the provider's own where it is well-formed and free in this app. */
  callId(wanted: string): Promise<string>;
  /** The model of this name at the configured provider. */
  model(name: string): Model;
  blob(id: string): Promise<{ mediaType: string; data: Uint8Array }>;
  saveBlob(mediaType: string, data: Uint8Array): Promise<string>;
};
