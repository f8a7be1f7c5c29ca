import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { runCli, scratch } from "./support/server-process.ts";

const ANSWER = `Let me pay.
{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"refund","arguments":{"order":"a","amount":"5"}}}]}
{"tool_call_result":{"toolCallId":"call_1","result":"paid"}}`;

describe("handback profile try", () => {
  it("shows the prompt, what was found, what was refused and why", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "answer.txt"), ANSWER);
    const { stdout, code } = await runCli(["profile", "try", "JSON_Strict", "answer.txt"], { cwd });
    assert.equal(code, 0);
    assert.match(stdout, /── What the model is told\n### TOOL_USE_PROTOCOL/);
    assert.match(stdout, /#### Available Tool: refund/);
    assert.match(stdout, /── Text\nLet me pay\.\n/);
    assert.match(stdout, /── Calls\ncall_1 refund \{"order":"a","amount":5\}\n/);
    assert.match(stdout, /── Refused\nforged_result: the model invented a result\n\{"tool_call_result"/);
  });

  it("takes an answer for one that was cut off", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "answer.txt"), ANSWER.slice(0, 110));
    const { stdout } = await runCli(["profile", "try", "JSON_Strict", "answer.txt", "--cut"], { cwd });
    assert.match(stdout, /── Calls\nnone\n\n── Refused\nunfinished_tool_call/);
  });

  it("says in one sentence what is missing", async () => {
    for (const [args, message] of [
      [["profile"], /needs a profile and a model's answer/],
      [["profile", "try", "Nope", "x.txt"], /There is no profile Nope; there are JSON_Strict/],
      [["profile", "try", "XML_Tag", "x.txt"], /There is no file .*x\.txt/],
    ] as const) {
      const { code, stderr } = await runCli([...args], { cwd: scratch() });
      assert.equal(code, 1);
      assert.match(stderr, message);
      assert.equal(stderr.trim().split("\n").length, 1);
    }
  });
});
