import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { connect, type Hub, type Page, type ThreadSnapshot } from "../src/client/client.ts";
import { createHandback, type Handback } from "../src/handback.ts";
import { memoryStore } from "../src/store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { eventually } from "./support/eventually.ts";
import { authenticate, obedient } from "./support/native.ts";
import { type FakeTab, fakeBrowser } from "./support/tabs.ts";

/** A server in real time whose streams are counted, and that can be stopped and started at the same address. */
async function site(t: TestContext, config: { authenticate?: typeof authenticate } = {}) {
  const kept = memoryStore();
  const store: Store = { ...kept, close: async () => {} };
  const make = () => createHandback({ agents: { default: obedient() }, store, coalesce: 0, ...config });
  let handback: Handback = await make();
  let port = 0;
  let url = (await handback.listen({ port })).url;
  port = Number(new URL(url).port);
  const streams = { open: 0, opened: 0 };
  const requests: string[] = [];
  const counted: typeof fetch = async (input, init) => {
    const path = String(input).slice(url.length);
    requests.push(path);
    if (!path.startsWith("/v1/events")) return fetch(input, init);
    streams.open += 1;
    streams.opened += 1;
    let over = false;
    const end = () => {
      if (!over) streams.open -= 1;
      over = true;
    };
    init?.signal?.addEventListener("abort", end);
    try {
      const response = await fetch(input, init);
      const body = response.body?.pipeThrough(new TransformStream({ flush: end }));
      return new Response(body as ReadableStream, response);
    } catch (error) {
      end();
      throw error;
    }
  };
  const hubs: Hub[] = [];
  t.after(async () => {
    for (const hub of hubs) hub.close();
    await handback.close({ grace: 0 });
    await kept.close();
  });
  return {
    url,
    streams,
    requests,
    client: (who?: string) => connect({ url, fetch: counted, ...(who !== undefined && { headers: { authorization: `Bearer ${who}` } }) }),
    hub(page: Page, who?: string) {
      const hub = this.client(who).hub({ page, name: `test${who ?? ""}` });
      hubs.push(hub);
      return hub;
    },
    async stop() {
      await handback.close({ grace: 0 });
    },
    async start() {
      handback = await make();
      url = (await handback.listen({ port })).url;
    },
  };
}

/** Looks at a thread as a page would. */
function look(hub: Hub, thread: string): { now(): ThreadSnapshot; text(): string; stop(): void } {
  const store = hub.thread(thread);
  const stop = store.subscribe(() => {});
  return {
    now: store.getSnapshot,
    text: () =>
      store
        .getSnapshot()
        .view.messages.map((message) =>
          message.role === "user" ? message.text : message.parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
        )
        .join("|"),
    stop,
  };
}

const contiguous = ({ view }: ThreadSnapshot) => view.events.toArray().every(({ seq }, i) => seq === i + 1);

describe("the hub", () => {
  it("shows ten tabs everything over one stream", async (t) => {
    const server = await site(t);
    const browser = fakeBrowser();
    await server.client().run("early", "before anybody looked");
    const hubs = Array.from({ length: 10 }, () => server.hub(browser.tab().page));
    const views = hubs.map((hub, i) => look(hub, i === 9 ? "early" : "t"));
    await eventually(() => views.every((view) => !view.now().loading));
    assert.equal(views[0]?.now().missing, true);
    assert.match(views[9]?.text() ?? "", /before anybody looked/);
    await server.client().run("t", "long 30");
    await eventually(() => views.slice(0, 9).every((view) => view.now().view.status === "idle" && /29/.test(view.text())));
    for (const view of views) assert.ok(contiguous(view.now()));
    assert.equal(new Set(views.slice(0, 9).map((view) => view.text())).size, 1);
    assert.equal(server.streams.open, 1);
    assert.equal(hubs.filter((hub) => hub.connection.getSnapshot().leads).length, 1);
    await eventually(() => hubs.every((hub) => hub.threads.getSnapshot().get("t")?.status === "idle"));
    assert.ok(hubs.every((hub) => hub.connection.getSnapshot().state === "live"));
  });

  it("shares what is open over all threads, and when it no longer is", async (t) => {
    const server = await site(t);
    const browser = fakeBrowser();
    const [one, two] = [server.hub(browser.tab().page), server.hub(browser.tab().page)];
    await eventually(() => one.calls.getSnapshot()?.length === 0 && two.calls.getSnapshot()?.length === 0);
    await server.client().run("a", "call get_menu");
    await server.client().run("b", "call pay");
    await eventually(() => two.calls.getSnapshot()?.length === 2);
    const late = server.hub(browser.tab().page); // hears from the others how things stand
    await eventually(() => late.calls.getSnapshot()?.length === 2 && late.threads.getSnapshot().size === 2);
    const menu = two.calls.getSnapshot()?.find(({ name }) => name === "get_menu");
    await server.client().calls.claim(menu?.id ?? "", { by: "me" });
    await eventually(() => late.calls.getSnapshot()?.find(({ id }) => id === menu?.id)?.claim?.by === "user:user/me");
    await server.client().calls.result(menu?.id ?? "", ["tea"]);
    await eventually(() => [one, two, late].every((hub) => hub.calls.getSnapshot()?.length === 1));
  });

  it("goes on in another tab when the leader closes or dies, and misses nothing", async (t) => {
    const server = await site(t);
    const browser = fakeBrowser();
    const tabs: FakeTab[] = Array.from({ length: 3 }, () => browser.tab());
    const hubs = tabs.map((tab) => server.hub(tab.page));
    const views = hubs.map((hub) => look(hub, "t"));
    await eventually(() => hubs[0]?.connection.getSnapshot().state === "live" && views.every((view) => !view.now().loading));
    await server.client().run("t", "one");
    await eventually(() => views.every((view) => /echo one/.test(view.text())));
    tabs[0]?.kill();
    hubs[0]?.close();
    const since = Date.now();
    await server.client().run("t", "two"); // while nobody listens, perhaps
    await eventually(() => views.slice(1).every((view) => /echo two/.test(view.text())));
    assert.ok(Date.now() - since < 2000);
    hubs[1]?.close();
    await server.client().run("t", "three");
    await eventually(() => /echo three/.test(views[2]?.text() ?? ""));
    assert.ok(contiguous(views[2]?.now() as ThreadSnapshot));
    assert.equal(server.streams.open, 1);
  });

  it("says when the connection is lost, what was caught up, and that the server is another", async (t) => {
    const server = await site(t);
    const browser = fakeBrowser();
    const [one, two] = [server.hub(browser.tab().page), server.hub(browser.tab().page)];
    const view = look(two, "t");
    await server.client().run("t", "call get_menu");
    await eventually(() => view.now().view.pending === 1 && two.calls.getSnapshot()?.length === 1);
    await server.stop();
    await eventually(() => one.connection.getSnapshot().state === "lost" && two.connection.getSnapshot().state === "lost");
    assert.ok((two.connection.getSnapshot().retryAt ?? 0) > Date.now() - 2500);
    await server.start();
    two.retry();
    await eventually(() => two.connection.getSnapshot().state === "live");
    assert.equal(two.connection.getSnapshot().restarted, true);
    assert.equal(two.calls.getSnapshot()?.length, 1);
    one.unplug(400);
    await eventually(() => two.connection.getSnapshot().state === "lost");
    await server.client().run("t", "long 20");
    await eventually(() => two.connection.getSnapshot().state === "live" && /19/.test(view.text()));
    const { caughtUp, restarted } = two.connection.getSnapshot();
    assert.ok(caughtUp >= 20 && !restarted, `${caughtUp}`);
    assert.ok(contiguous(view.now()));
  });

  it("fills what a tab has missed", async (t) => {
    const server = await site(t);
    const browser = fakeBrowser();
    const [leader, follower] = [browser.tab(), browser.tab()];
    const [one, two] = [server.hub(leader.page), server.hub(follower.page)];
    const views = [look(one, "t"), look(two, "t")];
    await eventually(() => views.every((view) => !view.now().loading) && one.connection.getSnapshot().state === "live");
    await server.client().run("t", "one");
    await eventually(() => views.every((view) => /echo one/.test(view.text())));
    follower.dead = true; // frozen: hears nothing for a while
    await server.client().run("t", "two");
    await eventually(() => /echo two/.test(views[0]?.text() ?? ""));
    follower.dead = false;
    await server.client().run("t", "three");
    await eventually(() => /echo two.*echo three/.test(views[1]?.text() ?? ""));
    assert.ok(contiguous(views[1]?.now() as ThreadSnapshot));
  });

  it("forgets a thread that is deleted, and shows its next life", async (t) => {
    const server = await site(t);
    const hub = server.hub(fakeBrowser().tab().page);
    const view = look(hub, "t");
    await eventually(() => !view.now().loading && hub.connection.getSnapshot().state === "live");
    await server.client().run("t", "one");
    await eventually(() => /echo one/.test(view.text()));
    const { seq } = view.now().view;
    await server.client().threads.remove("t");
    await eventually(() => view.now().missing && view.now().view.messages.length === 0);
    await eventually(() => !hub.threads.getSnapshot().has("t"));
    await server.client().run("t", "two");
    await eventually(() => view.text() === "two|echo two");
    assert.ok(view.now().view.seq > seq && !view.now().missing);
  });

  it("gives each tab that can be seen its own stream where there are no locks", async (t) => {
    const server = await site(t);
    const browser = fakeBrowser({ locks: false });
    const tabs = [browser.tab(), browser.tab()];
    const views = tabs.map((tab) => look(server.hub(tab.page), "t"));
    await eventually(() => server.streams.open === 2 && views.every((view) => !view.now().loading));
    tabs[0]?.hide(true);
    await eventually(() => server.streams.open === 1);
    await server.client().run("t", "long 20");
    await eventually(() => /19/.test(views[1]?.text() ?? ""));
    assert.doesNotMatch(views[0]?.text() ?? "", /19/);
    tabs[0]?.hide(false);
    await eventually(() => /19/.test(views[0]?.text() ?? ""));
    assert.ok(contiguous(views[0]?.now() as ThreadSnapshot));
  });

  it("stops watching what nobody looks at, and keeps what was left for a moment", async (t) => {
    const server = await site(t);
    const hub = server.hub(fakeBrowser().tab().page);
    const first = look(hub, "t");
    await eventually(() => !first.now().loading);
    await server.client().run("t", "one");
    await eventually(() => /echo one/.test(first.text()));
    const logs = () => server.requests.filter((path) => path.includes("/log")).length;
    const read = logs();
    first.stop();
    const again = look(hub, "t");
    assert.match(again.text(), /echo one/);
    assert.equal(logs(), read);
  });

  it("tells an operator's threads of two users apart, and shows nobody's to a stranger", async (t) => {
    const server = await site(t, { authenticate });
    await server.client("alice").run("t", "hers");
    await server.client("bob").run("t", "his");
    const operator = server.hub(fakeBrowser().tab().page, "op");
    const store = operator.thread({ threadId: "t", user: "alice" });
    const named = operator.thread("bob~t");
    t.after(store.subscribe(() => {}));
    t.after(named.subscribe(() => {}));
    await eventually(() => named.getSnapshot().view.messages.length === 2);
    assert.equal(named.getSnapshot().view.title, "his");
    await eventually(() => operator.threads.getSnapshot().size === 2 && store.getSnapshot().view.messages.length > 1);
    await server.client("alice").run("t", "again");
    await eventually(() => store.getSnapshot().view.messages.length === 4);
    const nobody = server.client().hub({ page: fakeBrowser().tab().page, name: "nobody" });
    t.after(() => nobody.close());
    await eventually(() => nobody.connection.getSnapshot().state === "refused");
    assert.equal(nobody.connection.getSnapshot().error?.code, "unauthorized");
  });
});
