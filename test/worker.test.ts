import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { after, describe, it } from "node:test";
import { connect, HandbackError } from "../src/client/client.ts";
import { backend, coffeeShop, OUTSIDE, waiting } from "./support/rest.ts";
import { eventually, serve } from "./support/serve.ts";
import { runCli, scratch, startServer, until } from "./support/server-process.ts";

const WAIT = { toolExecutionConfig: { mode: "outside", outsideConfig: { waitForResult: true, timeout: 20_000 } } };

async function startWorker(url: string, ...more: string[]) {
  const args = [
    "--conditions=handback-source",
    resolve("src/cli/main.ts"),
    "worker",
    "test/support/worker-tools.ts",
    "--url",
    url,
    ...more,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  after(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const exited = once(child, "close").then(([code]) => code as number | null);
  await until(() => /Handback worker runs .*\n/.exec(output)?.[0], child);
  return { child, exited, output: () => output };
}

describe("handback worker", () => {
  it("runs calls of its tools for a server elsewhere, retries them, and finishes what it has begun when it is told to end", async () => {
    const server = await startServer(["start", "--port=0", "--data", scratch(), "--config", "test/support/rest-config.ts"]);
    const worker = await startWorker(server.url);
    const { chat } = backend(server.url);
    const { json } = await chat({ message: "call get_menu place_order", ...WAIT });
    assert.equal(json.data.content, '这是我们的咖啡菜单：[["menu 0"],{"attempts":2}]');
    const held = chat({ threadId: "slow", message: "call brew", ...WAIT });
    const calls = connect({ url: server.url }).calls;
    await eventually(async () => (await calls.list({ status: "pending" })).calls.some(({ claim }) => claim));
    worker.child.kill("SIGTERM");
    assert.match((await held).json.data.content, /brewed/);
    assert.equal(await worker.exited, 0);
    assert.equal(await server.stop(), 0);
  });

  it("killed in the middle of a call loses it to the next one", async () => {
    const server = await startServer(["start", "--port=0", "--data", scratch(), "--config", "test/support/rest-config.ts"]);
    const first = await startWorker(server.url, "--lease", "1", "--name", "first");
    const held = backend(server.url).chat({ message: "call brew", ...WAIT });
    const { calls } = connect({ url: server.url });
    await eventually(async () => (await calls.list({ status: "pending" })).calls.some(({ claim }) => claim));
    first.child.kill("SIGKILL");
    await startWorker(server.url, "--lease", "1", "--name", "second");
    assert.match((await held).json.data.content, /brewed/);
    const log = await (await fetch(`${server.url}/v1/threads/t/export?deltas=false`)).text();
    const events = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const claims = events.filter(({ type }) => type === "call.claimed").map(({ claim, by }) => [claim, by.split("/")[1]]);
    assert.deepEqual(claims, [
      [1, "first"],
      [2, "second"],
    ]);
    await server.stop();
  });

  it("says in one sentence what it cannot use", async () => {
    for (const [args, why] of [
      [["worker"], /needs a file/],
      [["worker", "nowhere.ts"], /no file/],
      [["worker", "test/support/receiver.ts"], /holds no tools/],
      [["worker", "a.ts", "--concurrency", "0"], /--concurrency 0/],
    ] as const) {
      const { code, stderr } = await runCli([...args]);
      assert.equal(code, 1);
      assert.match(stderr, why);
      assert.equal(stderr.trim().split("\n").length, 1);
    }
  });
});

describe("an executor", () => {
  it("that is killed loses its claim, its call goes to another, and what it says later is refused", async () => {
    await using server = await serve({ agents: { default: coffeeShop() } });
    const [id = ""] = await waiting(server, "get_menu");
    const zombie = connect({ url: server.url });
    const { claim } = await zombie.calls.claim(id, { by: "zombie", seconds: 5 });
    await server.clock.advance(6_000);
    const stop = new AbortController();
    const next = connect({ url: server.url });
    const working = next.execute({ tools: { get_menu: () => "fresh" }, signal: stop.signal });
    await eventually(async () => (await server.thread())?.status === "idle");
    await assert.rejects(zombie.calls.result(id, "stale", { claim }), (error) => error instanceof HandbackError && error.status === 409);
    const rest = await backend(server.url).result({ toolResult: "stale", toolCallId: id, claim });
    assert.equal(rest.status, 409);
    const settled = (await server.events()).filter((event) => event.type === "tool.returned");
    assert.deepEqual(
      settled.map(({ output }) => output),
      ["fresh"],
    );
    stop.abort();
    await working;
  });

  it("runs so many calls at once and no more, tries again what fails, and takes no more when it is to finish", async () => {
    await using server = await serve({ agents: { default: coffeeShop() } });
    const { chat } = backend(server.url);
    await chat({ message: `call ${Array(7).fill("get_menu").join(" ")}`, ...OUTSIDE });
    const finish = new AbortController();
    const tried = new Map<string, number>();
    let running = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const working = connect({ url: server.url }).execute({
      concurrency: 3,
      retries: 2,
      finish: finish.signal,
      tools: {
        async get_menu(_: object, { callId, attempt }) {
          tried.set(callId, attempt);
          if (attempt < 2) throw new Error("not yet");
          running += 1;
          most = Math.max(most, running);
          await gate.promise;
          running -= 1;
          return attempt;
        },
      },
    });
    await eventually(() => running === 3);
    finish.abort();
    gate.resolve();
    await working;
    assert.deepEqual([most, tried.size], [3, 3]);
    assert.equal((await server.thread())?.pending, 4);
  });
});
