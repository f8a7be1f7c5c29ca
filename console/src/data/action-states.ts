import type { HandbackError, Store } from "handback/client";
import { value } from "./value.ts";

/** How something that was asked for goes: a call, a question or a thread, by id. */
export type ActionState = { state: "idle" | "sending" | "failed"; error?: HandbackError };

export type ActionStates = Store<ReadonlyMap<string, ActionState>> & { set(key: string, state: ActionState): void };

export function actionStates(): ActionStates {
  const states = value<ReadonlyMap<string, ActionState>>(new Map());
  return {
    ...states,
    set(key, state) {
      const next = new Map(states.getSnapshot());
      if (state.state === "idle") next.delete(key);
      else next.set(key, state);
      states.set(next);
    },
  };
}
