import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantEntry, Entry } from "../core/thread.ts";
import { completed } from "./completed.ts";

let seq = 0;
const user = (): Entry => ({ role: "user", seq: ++seq, turnId: "t", id: `m${seq}`, content: "" });
const step = (state: AssistantEntry["state"]): AssistantEntry => ({
  role: "assistant",
  seq: ++seq,
  turnId: "t",
  stepId: "s",
  messageId: "m",
  state,
  parts: [],
});
const plainly = (history: readonly Entry[]) => history.filter((entry) => entry.role === "user" || entry.state === "completed");

describe("completed", () => {
  it("finds messages and completed steps as the history grows, is cut, and its steps end", () => {
    const history: Entry[] = [];
    const check = () => assert.deepEqual(completed(history), plainly(history));
    check();
    history.push(user());
    check();
    const [first, second] = [step("open"), step("open")];
    history.push(first, second);
    check();
    second.state = "completed"; // side by side: the later one may end first
    check();
    first.state = "abandoned";
    check();
    history.push(user(), step("completed"));
    check();
    history.length = 2;
    check();
    history.push(user(), step("completed"), user());
    check();
    history.length = 0;
    check();
    history.push(user());
    check();
  });

  it("gives everyone an array of their own", () => {
    const history: Entry[] = [user()];
    completed(history).length = 0;
    assert.equal(completed(history).length, 1);
  });
});
