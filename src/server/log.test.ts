import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { devLog, jsonLog, type Log, type LogLine } from "./log.ts";

const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5), after: () => () => {} };

describe("jsonLog", () => {
  const logged = (line: LogLine) => JSON.parse(said((write) => jsonLog(write, clock), line));

  it("writes one JSON object per line and leaves out what is undefined", () => {
    const line = said((write) => jsonLog(write, clock), { event: "run.ended", runId: "r1", ms: 12, ok: true, code: undefined });
    assert.equal(line, '{"at":"2026-01-02T03:04:05.000Z","event":"run.ended","runId":"r1","ms":12,"ok":true}\n');
  });

  it("drops values that are not plain", () => {
    const line = { event: "x", body: { text: "private" }, list: ["private"], work: () => 1 } as unknown as LogLine;
    assert.deepEqual(Object.keys(logged(line)), ["at", "event"]);
  });

  it("cannot be made to write a second line or to steer a terminal", () => {
    const text = said((write) => jsonLog(write, clock), { event: "x", id: 'a\r\n{"event":"forged"}\x1b[2J\x9b31m\u2028\u202eb' });
    for (const char of ["\r", "\x1b", "\x9b", "\u2028", "\u202e"]) assert.ok(!text.includes(char));
    assert.equal(text.indexOf("\n"), text.length - 1);
    assert.equal(JSON.parse(text).event, "x");
  });

  it("masks what looks like a secret and cuts what is long", () => {
    for (const secret of [
      "sk-proj-abcdef123456",
      "whsec_MfKQ9r8GKYqrTwjU",
      "Bearer abc.def-ghi",
      "hb_alice.c2VjcmV0c2VjcmV0",
      "eyJhbGciOi.eyJzdWIi.sig",
    ]) {
      const { id } = logged({ event: "x", id: `key ${secret}, then` });
      assert.match(id, /^key \S+\s?\*\*\*, then$/);
      assert.ok(!id.includes(secret.slice(-6)));
    }
    assert.equal(logged({ event: "x", id: "a".repeat(5000) }).id.length, 301);
    assert.equal(logged({ event: "run.ended", id: "task_1.2" }).id, "task_1.2");
  });
});

describe("devLog", () => {
  it("writes a readable line, with colours only where asked", () => {
    const line = { event: "run.failed", runId: "r1", reason: "no luck\x1b[0m" };
    assert.equal(
      said((write) => devLog(write, false, clock), line),
      '03:04:05 run.failed runId=r1 reason="no luck [0m"\n',
    );
    assert.ok(said((write) => devLog(write, true, clock), line).includes("\x1b[31mrun.failed"));
  });
});

function said(log: (write: (text: string) => void) => Log, line: LogLine): string {
  let text = "";
  log((more) => {
    text += more;
  })(line);
  return text;
}
