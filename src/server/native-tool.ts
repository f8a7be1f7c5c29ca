import type { OnTimeout, Owner, ToolSpec } from "../core/event.ts";
import type { Engine } from "../engine/engine.ts";

type Agent = NonNullable<ReturnType<Engine["agents"]["get"]>>;
type Tool = NonNullable<ReturnType<Agent["tools"]["get"]>>;

/** A tool as a page shows it. */
export type ToolJson = ToolSpec & {
  owner: Owner;
  /** Whether a person is asked before it is run. */
  approval: "never" | "sometimes" | "always";
  /** How long the outside has, in milliseconds. */
  timeout?: number;
  onTimeout?: OnTimeout;
};

/** A tool of an agent on the wire. */
export function toolJson({ spec, owner, asks, timeout, onTimeout }: Tool): ToolJson {
  return { ...spec, owner, approval: asks, ...(timeout !== undefined && { timeout }), ...(onTimeout && { onTimeout }) };
}
