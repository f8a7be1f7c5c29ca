import type { RunOptions, ToolSpec, Usage } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Entry } from "../core/thread.ts";

/** What a model is asked. `history` holds completed steps only, every call in it settled. */
export type ModelRequest = {
  instructions: string | undefined;
  history: readonly Entry[];
  tools: readonly ToolSpec[];
  options: RunOptions;
  /** Where the model shall stop, besides its own end. */
  stop?: readonly string[];
  /** The bytes of a file in `history`. */
  blob: (id: string) => Promise<{ mediaType: string; data: Uint8Array }>;
};

/** What a model says. Ids are its own and mean nothing outside this answer. */
export type ModelEvent =
  | { type: "text.started" | "reasoning.started"; id: string }
  | { type: "text.delta" | "reasoning.delta"; id: string; delta: string }
  | { type: "text.ended" | "reasoning.ended"; id: string; provider?: JsonObject }
  | { type: "tool.started"; id: string; name: string }
  | { type: "tool.delta"; id: string; delta: string }
  /** `input` as the model wrote it: text still to be parsed, or a value. `invalid`: why nobody may run it. */
  | {
      type: "tool.called";
      id: string;
      name: string;
      input: string | { value: Json };
      provider?: JsonObject;
      source?: string;
      invalid?: string;
    }
  | { type: "file"; mediaType: string; data: Uint8Array }
  | { type: "source"; id?: string; url?: string; title?: string }
  | { type: "finished"; reason: string; usage?: Usage };

/** A language model: a request in, speech out. Throws `AppError("model")` with a clear message when the provider fails. */
export type Model = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;
