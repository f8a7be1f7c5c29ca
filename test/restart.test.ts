import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { checkLog } from "./kill/check-log.ts";
import { type Command, startCommand } from "./kill/command.ts";
import { fillWithWaiting } from "./kill/fill.ts";
import { follow } from "./kill/follow.ts";
import { emptyHistory, emptyView, type View } from "./kill/history.ts";
import { send } from "./kill/send.ts";
import { pause, type World } from "./kill/world.ts";

function given(t: TestContext): { data: string; start: () => Command } {
  const data = mkdtempSync(join(tmpdir(), "handback-restart-"));
  const commands: Command[] = [];
  t.after(() => {
    for (const { child } of commands) child.kill("SIGKILL");
    rmSync(data, { recursive: true, force: true });
  });
  const start = () => {
    const command = startCommand(data);
    commands.push(command);
    return command;
  };
  return { data, start };
}

describe("10,000 threads that wait", () => {
  const COUNT = 10_000;

  it("are served as soon as a killed server is started again, and take no memory", { timeout: 120_000 }, async (t) => {
    const { data, start } = given(t);
    const empty = given(t).start();
    await listed(await empty.url);
    await fillWithWaiting(data, COUNT);

    const command = start();
    const url = await command.url;
    const up = command.age();
    const [call] = await listed(url);
    const first = command.age();
    const response = await post(`${url}/v1/calls/${call?.id}/result`, { output: "done" });
    const settled = command.age();
    assert.equal(response.status, 200);
    await until(async () => (await statusOf(url, call?.threadId)) === "idle");
    const [idle, full] = [empty.megabytes(), command.megabytes()];
    const times = `listening after ${up.toFixed(0)} ms, first page after ${first.toFixed(0)}, a call settled after ${settled.toFixed(0)}`;
    t.diagnostic(`${times}; ${full.toFixed(0)} MB, ${idle.toFixed(0)} with no threads`);
    // The aim is a second on a quiet machine.
    assert.ok(settled < 3_000, times);
    assert.ok(full < idle * 1.25, `${full} MB against ${idle}`);
  });
});

describe("SIGTERM", () => {
  it("ends an idle server at once", async (t) => {
    const { start } = given(t);
    const command = start();
    const world = worldOf(() => command.url);
    await send(world, { threadId: "t", door: "native", type: "message", id: "m", text: JSON.stringify({ words: 1, steps: [["look"]] }) });
    const view = emptyView("t");
    await seen(world, view, () => view.events.at(-1)?.type === "run.ended");
    assert.ok((await terminate(command)) < 1_500);
  });

  it("takes no more requests, ends in time, and leaves its run to the next start without losing an event", {
    timeout: 60_000,
  }, async (t) => {
    const { start } = given(t);
    let command = start();
    const world = worldOf(() => command.url);
    await send(world, { threadId: "t", door: "native", type: "message", id: "m", text: JSON.stringify({ words: 100_000, steps: [] }) });
    const view = emptyView("t");
    const closing = new AbortController();
    const following = follow(world, view, () => {}, closing.signal);
    await until(() => view.events.length > 100);
    const url = await command.url;
    const ending = terminate(command);
    await pause(100);
    const refused = await post(`${url}/v1/threads/other/runs`, { message: "hello" }).then(
      ({ status }) => status,
      () => "no connection",
    );
    assert.ok(refused === 503 || refused === "no connection", `a request while it ends got ${refused}`);
    const took = await ending;
    const before = view.events.length;
    t.diagnostic(`ended after ${took.toFixed(0)} ms`);
    assert.ok(took < 8_000, `it took ${took} ms`);

    command = start();
    await until(() => view.events.some(({ type }) => type === "run.recovered"));
    await until(() => view.events.length > before + 50);
    await send(world, { threadId: "t", door: "native", type: "cancel" });
    await until(() => view.events.at(-1)?.type === "run.ended");
    closing.abort();
    await following;
    assert.deepEqual(checkLog(view.events, []), []);
    const again = emptyView("t");
    await seen(world, again, () => again.events.length === view.events.length);
    assert.deepEqual(again.raw, view.raw);
  });
});

function worldOf(url: () => Promise<string>): World {
  return { url, history: emptyHistory(), saw: () => {} };
}

/** Follows a thread until `enough`. */
async function seen(world: World, view: View, enough: () => boolean): Promise<void> {
  const closing = new AbortController();
  const following = follow(world, view, () => enough() && closing.abort(), closing.signal);
  await following;
}

/** Sends SIGTERM and returns how long it took to end, which must be with code 0. */
async function terminate({ child }: Command): Promise<number> {
  const begun = performance.now();
  child.kill("SIGTERM");
  const [code, signal] = await once(child, "exit");
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  return performance.now() - begun;
}

async function listed(url: string): Promise<{ id: string; threadId: string }[]> {
  const response = await fetch(`${url}/v1/calls?status=pending`);
  assert.equal(response.status, 200);
  return ((await response.json()) as { calls: { id: string; threadId: string }[] }).calls;
}

async function statusOf(url: string, threadId: string | undefined): Promise<string> {
  return ((await (await fetch(`${url}/v1/threads/${threadId}`)).json()) as { status: string }).status;
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10);
}
