import type { Event } from "../core/event.ts";
import type { SignedCall } from "./call-signature.ts";

type Started = Extract<Event, { type: "tool.started" }>;
type Called = Extract<Event, { type: "tool.called" }>;

/**
 * Puts signatures into the ids of calls that go outside. An id comes before its input, and the signature is over both: such a
 * call is held back until it is whole. The requester is the only one outside there is, so all of them are its own.
 */
export function signCalls(sign: (call: SignedCall) => string): { push(event: Event): Event[]; flush(): Event[] } {
  const held = new Map<string, { started: Started; said: string[] }>();
  const release = (callId: string, { started, said }: { started: Started; said: string[] }): Event[] => [
    { ...started, callId },
    ...(said.length > 0 ? [{ type: "tool.delta" as const, callId, delta: said.join("") }] : []),
  ];

  return {
    push(event) {
      if (event.type === "tool.started" && event.owner !== "server") {
        held.set(event.callId, { started: { ...event, owner: "client" }, said: [] });
        return [];
      }
      if (event.type === "tool.delta") {
        const call = held.get(event.callId);
        if (!call) return [event];
        call.said.push(event.delta);
        return [];
      }
      if (event.type !== "tool.called") return [event];
      const call = held.get(event.callId);
      held.delete(event.callId);
      const checked = refused(event);
      if (!call) return [checked];
      const { name, input, invalid } = checked;
      const callId = invalid === undefined ? sign({ id: event.callId, name, input }) : event.callId;
      return [...release(callId, call), { ...checked, callId, owner: "client" }];
    },
    /** What the model began and never finished. */
    flush() {
      const rest = [...held].flatMap(([callId, call]) => release(callId, call));
      held.clear();
      return rest;
    },
  };
}

/** Nobody could be asked: the request is over before a person has decided. */
function refused({ approval, ...event }: Called): Called {
  if (!approval || event.invalid !== undefined) return event;
  return { ...event, invalid: `${event.name} needs the approval of a person, which only a thread that is kept can wait for` };
}
