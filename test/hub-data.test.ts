import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { describe, it, type TestContext } from "node:test";
import { type Handback as Client, connect, type Hub, type Store, type Thread, type ThreadView } from "../src/client/client.ts";
import { createHandback, type Handback } from "../src/handback.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store as Threads } from "../src/store/store.ts";
import { eventually } from "./support/eventually.ts";
import { obedient } from "./support/native.ts";
import { fakeBrowser } from "./support/tabs.ts";

// The console imports the library by its name, as any page would.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "handback/client" ? next(new URL("../src/client/client.ts", import.meta.url).href, context) : next(specifier, context),
});
const load = <T>(file: string): Promise<T> => import(new URL(`../console/src/data/${file}`, import.meta.url).href) as Promise<T>;

type Outgoing = { id: string; threadId: string; text: string; state: string; error?: { code: string } };
type Outbox = Store<readonly Outgoing[]> & {
  send(thread: string, message: string): Promise<{ ok: boolean; error?: { code: string } }>;
  queue(thread: string, message: string): string;
  requeue(id: string): void;
  discard(id: string): void;
  arrived(ids: string[]): void;
  close(): void;
};
type Removals = Store<readonly { threadId: string }[]> & { remove(thread: string): void; undo(thread: string): void; close(): void };
type Saved = { getItem(name: string): string | null; setItem(name: string, value: string): void; removeItem(name: string): void };
type Kept = { storage: Saved; name: string; undoMs?: number };
const { openOutbox } = await load<{ openOutbox(client: Client, hub: Hub, kept: Kept): Outbox }>("outbox.ts");
const { openRemovals } = await load<{ openRemovals(client: Client, hub: Hub, kept: Kept): Removals }>("removals.ts");
const { threadList } = await load<{
  threadList(
    client: Client,
    hub: Hub,
    query: object,
  ): Store<{ threads: readonly Thread[]; loading: boolean; more?: () => void }> & { close(): void };
}>("thread-list.ts");
type Shown = Store<ThreadView> & {
  seek(seq: number | "live"): void;
  play(speed?: number): void;
  pause(): void;
  playing: Store<{ seq?: number }>;
};
const { replays } = await load<{ replays(hub: Hub): { of(thread: string): Shown; close(): void } }>("replays.ts");

function storage(): Saved {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
  };
}

/** A server that can go away and come back, and a page that looks at it. */
async function page(t: TestContext) {
  const kept = memoryStore();
  const store: Threads = { ...kept, close: async () => {} };
  const make = () => createHandback({ agents: { default: obedient() }, store, coalesce: 0 });
  let handback: Handback = await make();
  const { url } = await handback.listen({ port: 0 });
  const client = connect({ url });
  const hub = client.hub({ page: fakeBrowser().tab().page });
  await eventually(() => hub.connection.getSnapshot().state === "live");
  t.after(async () => {
    hub.close();
    await handback.close({ grace: 0 });
    await kept.close();
  });
  return {
    client,
    hub,
    said: async (thread: string) => {
      const { events } = await client.log(thread);
      return events.flatMap((event) => (event.type === "run.started" ? event.messages.map(({ content }) => content) : []));
    },
    stop: () => handback.close({ grace: 0 }),
    async start() {
      handback = await make();
      await handback.listen({ port: Number(new URL(url).port) });
    },
  };
}

describe("the outbox", () => {
  it("shows a message at once, and keeps it until the log has it", async (t) => {
    const { client, hub } = await page(t);
    const outbox = openOutbox(client, hub, { storage: storage(), name: "o" });
    t.after(() => outbox.close());
    const sending = outbox.send("t", "hello");
    const [shown] = outbox.getSnapshot();
    assert.deepEqual([shown?.text, shown?.state], ["hello", "sending"]);
    assert.equal((await sending).ok, true);
    assert.equal(outbox.getSnapshot()[0]?.state, "sent");
    outbox.arrived([shown?.id ?? ""]);
    assert.deepEqual(outbox.getSnapshot(), []);
  });

  it("sends what was said without a connection when it is back, once, also after a reload", async (t) => {
    const { client, hub, said, stop, start } = await page(t);
    const saved = storage();
    await stop();
    const outbox = openOutbox(client, hub, { storage: saved, name: "o" });
    void outbox.send("t", "while offline");
    outbox.close(); // the page is reloaded before anything could be sent
    const again = openOutbox(client, hub, { storage: saved, name: "o" });
    t.after(() => again.close());
    assert.equal(again.getSnapshot()[0]?.text, "while offline");
    await start();
    hub.retry();
    await eventually(() => again.getSnapshot()[0]?.state === "sent");
    await eventually(async () => (await said("t")).length === 1);
    assert.deepEqual(await said("t"), ["while offline"]);
  });

  it("keeps what a busy thread refuses, and sends it when the thread is done", async (t) => {
    const { client, hub, said } = await page(t);
    const outbox = openOutbox(client, hub, { storage: storage(), name: "o" });
    t.after(() => outbox.close());
    await client.run("t", "hang");
    const refused = await outbox.send("t", "and me?");
    assert.deepEqual([refused.ok, refused.error?.code], [false, "conflict"]);
    const [kept] = outbox.getSnapshot();
    assert.deepEqual([kept?.state, kept?.error?.code], ["failed", "conflict"]);
    await eventually(() => hub.threads.getSnapshot().get("t")?.status === "running");
    outbox.requeue(kept?.id ?? "");
    const dropped = outbox.queue("t", "never mind");
    assert.equal(outbox.getSnapshot()[0]?.state, "queued");
    outbox.discard(dropped);
    await client.cancel("t");
    await eventually(async () => (await said("t")).includes("and me?"));
    assert.deepEqual(await said("t"), ["hang", "and me?"]);
  });
});

describe("removals", () => {
  it("can be undone, and are carried out by the next visit otherwise", async (t) => {
    const { client, hub } = await page(t);
    const saved = storage();
    for (const thread of ["a", "b"]) await client.run(thread, "hi");
    const exists = (thread: string) =>
      client.threads.get(thread).then(
        () => true,
        () => false,
      );
    const removals = openRemovals(client, hub, { storage: saved, name: "r", undoMs: 60 });
    removals.remove("a");
    removals.remove("b");
    removals.undo("a");
    assert.deepEqual(
      removals.getSnapshot().map(({ threadId }) => threadId),
      ["b"],
    );
    removals.close(); // the tab is closed before the time is up
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual([await exists("a"), await exists("b")], [true, true]);
    const next = openRemovals(client, hub, { storage: saved, name: "r", undoMs: 60 });
    t.after(() => next.close());
    await eventually(async () => !(await exists("b")));
    await eventually(() => next.getSnapshot().length === 0);
    assert.equal(await exists("a"), true);
  });
});

describe("the list of threads", () => {
  it("is live: new ones come, states change, deleted ones go", async (t) => {
    const { client, hub } = await page(t);
    await client.run("old", "hi");
    const list = threadList(client, hub, {});
    t.after(() => list.close());
    const names = () => list.getSnapshot().threads.map(({ threadId, status }) => `${threadId} ${status}`);
    await eventually(() => names().join() === "old idle");
    await client.run("new", "call get_menu");
    await eventually(() => names().join() === "new waiting,old idle");
    await client.threads.rename("old", "Renamed");
    await eventually(() => list.getSnapshot().threads[0]?.title === "Renamed");
    await client.threads.remove("new");
    await eventually(() => names().join() === "old idle");
  });

  it("searches on the server, and again when something happens", async (t) => {
    const { client, hub } = await page(t);
    await client.run("a", "咖啡菜单");
    const list = threadList(client, hub, { search: "咖啡" });
    t.after(() => list.close());
    await eventually(() => list.getSnapshot().threads.length === 1);
    await client.run("b", "还要咖啡");
    await client.run("c", "茶");
    await eventually(() => list.getSnapshot().threads.length === 2);
    assert.deepEqual(
      list.getSnapshot().threads.map(({ threadId }) => threadId),
      ["b", "a"],
    );
  });
});

describe("a replay", () => {
  it("shows a moment while the thread goes on, plays to the end, and is live again", async (t) => {
    const { client, hub } = await page(t);
    const shown = replays(hub);
    t.after(() => shown.close());
    const thread = shown.of("t");
    t.after(thread.subscribe(() => {}));
    await client.run("t", "long 20");
    await eventually(() => thread.getSnapshot().status === "idle" && thread.getSnapshot().messages.length === 2);
    const { seq } = thread.getSnapshot();
    thread.seek(3);
    assert.equal(thread.getSnapshot().seq, 3);
    assert.equal(thread.getSnapshot(), thread.getSnapshot(), "a snapshot is the same until something changes");
    await client.run("t", "more");
    await eventually(() => hub.thread("t").getSnapshot().view.seq > seq + 3);
    assert.equal(thread.getSnapshot().seq, 3);
    thread.play(8);
    await eventually(() => thread.playing.getSnapshot().seq === undefined);
    assert.equal(thread.getSnapshot(), hub.thread("t").getSnapshot().view);
  });
});
