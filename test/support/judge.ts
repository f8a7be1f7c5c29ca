import assert from "node:assert/strict";
import { afterEach, mock } from "node:test";
import { type BaseEvent, HttpAgent, type HttpAgentConfig, type RunAgentParameters } from "@ag-ui/client";
import { types } from "./frames.ts";
import type { Served } from "./serve.ts";

/** What the official client made of one request. */
export type Judged = { events: Heard[]; types: string[]; pendingToolCallIds: string[] | undefined; outcome: string | undefined };
export type Heard = BaseEvent & Record<string, unknown>;

/** The unmodified `@ag-ui/client` as judge: what it warns of fails the test. */
export function judge(): void {
  const warn = mock.method(console, "warn", () => {});
  afterEach(() => {
    const warnings = warn.mock.calls.map((call) => call.arguments.join(" "));
    warn.mock.resetCalls();
    assert.deepEqual(warnings, []);
  });
}

/** An official client that shows these messages. */
export function client({ url }: Served, config: Partial<HttpAgentConfig> = {}): HttpAgent {
  return new HttpAgent({ url: `${url}/agui`, threadId: "t", ...config });
}

/** A client that is about to say this. */
export function asking(server: Served, content: string, config: Partial<HttpAgentConfig> = {}): HttpAgent {
  return client(server, { initialMessages: [{ id: "u1", role: "user", content }], ...config });
}

/** Sends what the client shows, and collects what it accepts of the answer. */
export async function runAgent(agent: HttpAgent, parameters: RunAgentParameters = {}): Promise<Judged> {
  const judged: Judged = { events: [], types: [], pendingToolCallIds: undefined, outcome: undefined };
  await agent.runAgent(parameters, {
    onEvent({ event }) {
      judged.events.push(event as Heard);
    },
    onRunFinishedEvent(finished) {
      judged.outcome = finished.outcome;
      if (finished.outcome === "success") judged.pendingToolCallIds = finished.pendingToolCallIds;
    },
  });
  return { ...judged, types: types(judged.events) };
}
