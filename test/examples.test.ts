import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, it } from "node:test";
import { until } from "./support/server-process.ts";

describe("the examples", () => {
  const mounted = [
    ["hono.ts", "/agents/agui"],
    ["node-http.ts", "/agui"],
  ] as const;
  for (const [file, path] of mounted) {
    it(`${file} serves an agent beside its own routes`, async (t) => {
      const child = spawn(process.execPath, ["--conditions=handback-source", `examples/mount/${file}`], {
        env: { ...process.env, PORT: "0" },
      });
      t.after(() => child.kill("SIGKILL"));
      let output = "";
      child.stdout.on("data", (chunk) => {
        output += chunk;
      });
      const url = await until(() => /http:\S+/.exec(output)?.[0], child);
      assert.equal(await (await fetch(url)).text(), "my app");
      const body = JSON.stringify({ threadId: "t", messages: [{ role: "user", content: "hi" }] });
      const response = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body });
      assert.equal(response.status, 200);
      const stream = await response.text();
      const said = [...stream.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join("");
      assert.equal(said, "Hello from inside.");
      assert.match(stream, /RUN_FINISHED/);
    });
  }
});
