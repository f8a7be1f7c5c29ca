import type { Model, ModelEvent } from "../model.ts";
import type { Found, Refusal } from "./calls.ts";
import { profileMachine } from "./machine.ts";
import type { Profile } from "./profile.ts";
import { type ProfileName, toProfile } from "./profiles.ts";
import { ToolContextBuilder } from "./tool-context-builder.ts";

export type WithProfileOptions = {
  /** Hears of everything that looked like a call or a result and is none. */
  onRefused?: (refusal: Refusal) => void;
  /** The model is told of its tools, but what it writes is passed on as it is. */
  raw?: boolean;
};

/** Reasons for which a model ends without having wanted to. */
const CUT = new Set(["length", "content-filter"]);

/**
 * Gives a model tools by prompt: the request it sees has none, and calls in its text come out as if it had them.
 *
 * @example
 * chatAgent({ model: withProfile("XML_Tag", deepseek), tools: [getMenu] })
 */
export function withProfile(profile: Profile | ProfileName, model: Model, { onRefused, raw }: WithProfileOptions = {}): Model {
  const builder = new ToolContextBuilder(toProfile(profile));
  return async function* (request, signal) {
    const { tools, instructions, history, stop = [] } = request;
    const asked = {
      ...request,
      instructions: builder.prompt(tools, instructions),
      history: builder.history(history),
      tools: [],
      stop: tools.length === 0 ? stop : [...stop, ...builder.profile.stop],
    };
    if (raw) {
      yield* model(asked, signal);
      return;
    }
    const machine = profileMachine(tools.length === 0 ? withoutCalls(builder.profile) : builder.profile, tools);
    const speech = speaker(onRefused);
    for await (const event of model(asked, signal)) {
      switch (event.type) {
        case "text.delta":
          yield* speech.say(machine.push(event.delta));
          break;
        case "text.started":
        case "text.ended":
          break; // its texts are cut anew
        case "finished": {
          yield* speech.say(machine.finish({ cut: CUT.has(event.reason) }));
          yield* speech.end();
          const reason = speech.called && event.reason === "stop" ? "tool-calls" : event.reason;
          yield { ...event, reason };
          break;
        }
        default:
          yield event;
      }
    }
  };
}

/** Without tools nothing is a call; thoughts are still told apart. */
function withoutCalls(profile: Profile): Profile {
  const { envelope, ...syntax } = profile.syntax;
  return { ...profile, syntax: { ...syntax, frames: [] } };
}

/** Turns what was found into speech: texts and thoughts begin and end around calls. */
function speaker(onRefused: WithProfileOptions["onRefused"]) {
  let opened = 0;
  let open: { type: "text" | "reasoning"; id: string } | undefined;
  let called = false;
  return {
    get called() {
      return called;
    },
    *say(found: readonly Found[]): Generator<ModelEvent> {
      for (const event of found) {
        if (event.type === "text" || event.type === "reasoning") {
          if (open?.type !== event.type) {
            yield* end();
            opened += 1;
            open = { type: event.type, id: `profile-${event.type}-${opened}` };
            yield { type: `${event.type}.started`, id: open.id };
          }
          yield { type: `${event.type}.delta`, id: open.id, delta: event.delta };
          continue;
        }
        yield* end();
        yield* toSpeech(event);
      }
    },
    end,
  };

  function* end(): Generator<ModelEvent> {
    if (open) yield { type: `${open.type}.ended`, id: open.id };
    open = undefined;
  }

  function* toSpeech(event: Exclude<Found, { type: "text" | "reasoning" }>): Generator<ModelEvent> {
    switch (event.type) {
      case "started":
        called = true;
        yield { type: "tool.started", id: event.id, name: event.name };
        return;
      case "arguments":
        yield { type: "tool.delta", id: event.id, delta: event.delta };
        return;
      case "called": {
        const { id, name, input, source, refusal } = event;
        if (refusal) onRefused?.(refusal);
        yield {
          type: "tool.called",
          id,
          name,
          input: { value: input },
          source,
          ...(refusal && { invalid: `${name}: ${refusal.message}` }),
        };
        return;
      }
      case "refused": {
        const { id, name = "", refusal } = event;
        onRefused?.(refusal);
        if (id !== undefined) {
          yield { type: "tool.called", id, name, input: { value: null }, source: refusal.source, invalid: `${name}: ${refusal.message}` };
        }
        return;
      }
      default:
        event satisfies never;
    }
  }
}
