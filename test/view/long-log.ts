import type { StoredEvent } from "../../src/client/client.ts";

/** So many events of a long conversation: a question, a text, a call and its result in every turn. */
export function longLog(count: number): StoredEvent[] {
  const events: unknown[] = [];
  const add = (event: object) => events.push({ ...event, seq: events.length + 1, at: 1_000 + events.length * 10, v: 1 });
  for (let t = 0; events.length < count; t += 1) {
    const call = { callId: `c${t}`, name: "get_menu", messageId: `a${t}`, stepId: `s${t}`, owner: "external" };
    const run = events.length + 1;
    const messages = [{ id: `m${t}`, content: `question ${t}` }];
    add({
      type: "run.started",
      runId: `r${t}`,
      turnId: `t${t}`,
      epoch: t,
      cause: "message",
      agent: "default",
      messages,
      by: "u",
      via: "native",
    });
    add({ type: "step.started", stepId: `s${t}`, name: "model", kind: "model", messageId: `a${t}` });
    add({ type: "text.started", messageId: `a${t}`, stepId: `s${t}` });
    for (let i = 0; i < 5; i += 1) add({ type: "text.delta", messageId: `a${t}`, delta: "word " });
    add({ type: "text.ended", messageId: `a${t}`, text: "word word word word word " });
    add({ type: "tool.started", ...call });
    add({ type: "tool.delta", callId: `c${t}`, delta: '{"a":1}' });
    add({ type: "tool.called", ...call, input: { a: 1 } });
    add({ type: "step.ended", stepId: `s${t}`, name: "model", completed: true });
    add({ type: "call.offered", ...call, input: { a: 1 }, ordinal: 1 });
    add({ type: "tool.returned", ...call, status: "completed", output: t, by: "u", via: "native" });
    add({ type: "run.ended", runId: `r${t}`, turnId: `t${t}`, run, outcome: { type: "done" } });
  }
  return events.slice(0, count) as StoredEvent[];
}
