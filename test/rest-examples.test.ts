import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { backend } from "./support/rest.ts";
import { scratch, startServer, until } from "./support/server-process.ts";

const run = promisify(execFile);
const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const WAIT = { mode: "outside", outsideConfig: { waitForResult: true, timeout: 20_000 } };

/** An example that stays: its process, once it has said this. */
async function started(args: string[], env: Record<string, string>, ready: RegExp): Promise<string> {
  const child = spawn(process.execPath, ["--conditions=handback-source", ...args], { env: { ...process.env, ...env } });
  after(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [, found = ""] = await until(() => ready.exec(output) ?? undefined, child);
  return found;
}

const hook = await started(["examples/rest/receiver.ts"], { PORT: "0", HANDBACK_WEBHOOK_SECRET: SECRET }, /(http:\S+)/);
const env = { HANDBACK_WEBHOOK_SECRET: SECRET, HANDBACK_WEBHOOK_ALLOW: hook };
const server = await startServer(["start", "--port=0", "--data", scratch()], { cwd: scratch(), env });

describe("the examples of the REST door", () => {
  const examples: [string, string[]][] = [
    [process.execPath, ["examples/rest/executor.ts"]],
    ["sh", ["examples/rest/flow.sh"]],
    ["python3", ["examples/rest/executor.py"]],
  ];
  for (const [command, args] of examples) {
    it(`${args[0]} hands a call to another system and brings its result back`, async () => {
      const { stdout, stderr } = await run(command, args, { env: { ...process.env, HANDBACK_URL: server.url } });
      assert.match(stdout + stderr, /Here is the menu.*美式咖啡/);
    });
  }

  it("receiver.ts answers webhooks with results", async () => {
    const config = { ...WAIT, outsideConfig: { ...WAIT.outsideConfig, callbackUrl: `${hook}/calls` } };
    const { json } = await backend(server.url).chat({ threadId: "hook", message: "menu", toolExecutionConfig: config });
    assert.match(json.data.content, /美式咖啡/);
    assert.equal((await fetch(`${hook}/calls`, { method: "POST", body: "{}" })).status, 401);
  });

  it("tools.ts runs in a worker", async () => {
    await started(["src/cli/main.ts", "worker", "examples/rest/tools.ts", "--url", server.url], {}, /(worker runs get_menu)/);
    const { json } = await backend(server.url).chat({ threadId: "worker", message: "menu", toolExecutionConfig: WAIT });
    assert.match(json.data.content, /美式咖啡/);
  });
});
