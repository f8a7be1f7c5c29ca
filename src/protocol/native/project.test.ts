import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StoredEvent } from "../../core/event.ts";
import { project } from "./project.ts";

const place = { seq: 1, at: 0, v: 1 };
const source = { by: "user:a", via: "native" };
const started: StoredEvent = {
  ...place,
  ...source,
  type: "run.started",
  runId: "r",
  turnId: "t",
  epoch: 1,
  cause: "message",
  agent: "a",
  messages: [],
  options: { instructions: "secret" },
};
const spoken: StoredEvent = { ...place, type: "text.ended", messageId: "m", text: "hi", provider: { secret: 1 } };
const called: StoredEvent = {
  ...place,
  type: "tool.called",
  callId: "c",
  name: "n",
  messageId: "m",
  stepId: "s",
  owner: "client",
  input: { secretless: true },
  provider: { secret: 1 },
};
const returned: StoredEvent = {
  ...place,
  ...source,
  type: "tool.returned",
  callId: "c",
  name: "n",
  owner: "client",
  messageId: "m",
  status: "completed",
  output: 1,
};

describe("project", () => {
  it("shows operators the log itself", () => {
    for (const event of [started, spoken, called, returned]) assert.equal(project(event, "operator"), event);
  });

  it("keeps options and provider metadata from users, and nothing else", () => {
    for (const event of [started, spoken, called]) {
      const shown = project(event, "user");
      const { options, provider, ...rest } = event as StoredEvent & { options?: unknown; provider?: unknown };
      assert.deepEqual(shown, rest);
    }
    assert.equal(project(returned, "user"), returned);
  });
});
