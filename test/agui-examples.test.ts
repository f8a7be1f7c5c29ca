import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { describe, it } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What each says when all its assertions hold. */
const SAYS: Record<string, RegExp> = {
  "custom-translator": /via callback/,
  "external-tool": /tomato now/,
  follow: /One two three/,
  report: /report: Tea/,
  "think-aggregator": /Tea or coffee/,
  "user-resolver": /alice's/,
  websocket: /Hello socket/,
};

describe("the AG-UI examples", () => {
  for (const [name, words] of Object.entries(SAYS)) {
    it(`${name} does what it says`, async () => {
      const { stdout, stderr } = await run(process.execPath, ["--conditions=handback-source", `examples/agui/${name}.ts`], {
        timeout: 30_000,
      });
      assert.match(stdout, words);
      assert.equal(stderr, "");
    });
  }

  it("are all looked at", () => {
    const files = globSync("examples/agui/*.ts").map((file) => file.slice("examples/agui/".length, -".ts".length));
    assert.deepEqual(files.toSorted(), Object.keys(SAYS));
  });
});
