import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { EVENT_VERSION, type Event, type Outcome, type StoredEvent } from "../core/event.ts";
import type { ThreadKey } from "../core/ids.ts";
import type { Bus } from "./bus.ts";
import type { Store } from "./store.ts";

type Opened = {
  store: Store /** Closes the store and opens it again on the same data, where that is possible. */;
  reopen?: () => Promise<Store>;
};

/** The contract every store must keep. Call it from the adapter's own test file. */
export function testStore(name: string, open: () => Promise<Opened>): void {
  const fresh = async (t: TestContext): Promise<Store> => {
    const { store } = await open();
    t.after(() => store.close());
    return store;
  };

  describe(`${name}: the log`, () => {
    it("reads an unknown thread as empty", async (t) => {
      const store = await fresh(t);
      assert.deepEqual(await store.read(key("nobody"), { after: 0 }), []);
      assert.equal(await store.thread(key("nobody")), undefined);
      assert.deepEqual(await store.origin(key("nobody")), { seq: 0, epoch: 0 });
    });

    it("numbers events from 1 and returns them in order, as they were said", async (t) => {
      const store = await fresh(t);
      assert.equal(await store.append(key(), { seq: 0 }, [started(1), delta("a")], 100), 1);
      assert.equal(await store.append(key(), { seq: 2 }, [delta("b")], 101), 3);
      assert.deepEqual(await store.read(key(), { after: 0 }), [
        { ...started(1), seq: 1, at: 100, v: EVENT_VERSION },
        { ...delta("a"), seq: 2, at: 100, v: EVENT_VERSION },
        { ...delta("b"), seq: 3, at: 101, v: EVENT_VERSION },
      ]);
    });

    it("reads behind an offset, up to a limit, with and without deltas", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [started(1), delta("a"), delta("b"), ended(), changed("x"), delta("c")], 1);
      const seqs = async (query: { after: number; limit?: number; deltas?: boolean }) =>
        (await store.read(key(), query)).map(({ seq }) => seq);
      assert.deepEqual(await seqs({ after: 2 }), [3, 4, 5, 6]);
      assert.deepEqual(await seqs({ after: 1, limit: 2 }), [2, 3]);
      assert.deepEqual(await seqs({ after: 0, deltas: false }), [1, 4, 5]);
      assert.deepEqual(await seqs({ after: 1, deltas: false, limit: 1 }), [4]);
      assert.deepEqual(await seqs({ after: 6 }), []);
    });

    it("keeps every string a client can send", async (t) => {
      const store = await fresh(t);
      for (const text of [
        "\u0000 in \u0000 it",
        "\ud800 alone \udfff",
        "line\u2028and\u2029paragraph",
        "👩‍👩‍👧 中文 e\u0301",
        "'; DROP TABLE event; --",
      ]) {
        const { seq } = (await store.thread(key())) ?? { seq: 0 };
        await store.append(key(), { seq }, [message("m", text), custom({ [text]: text })], 1);
        const [first, second] = await store.read(key(), { after: seq });
        assert.equal(first?.type === "run.started" && first.messages[0]?.content, text);
        assert.deepEqual(second?.type === "custom.emitted" && second.value, { [text]: text });
      }
    });

    it("shares nothing with its callers", async (t) => {
      const store = await fresh(t);
      const value = { list: [1] };
      await store.append(key(), { seq: 0 }, [custom(value)], 1);
      value.list.push(2);
      const [read] = await store.read(key(), { after: 0 });
      assert.ok(read?.type === "custom.emitted");
      read.value = "changed";
      assert.deepEqual((await store.read(key(), { after: 0 })).map(bare), [custom({ list: [1] })]);
    });

    it("keeps the same thread id of another user or app apart", async (t) => {
      const store = await fresh(t);
      const [mine, theirs, elsewhere] = [key("t"), { ...key("t"), user: "bob" }, { ...key("t"), app: "other" }];
      await store.append(mine, { seq: 0 }, [message("m1", "mine")], 1);
      await store.append(theirs, { seq: 0 }, [message("m1", "theirs"), delta("x")], 1);
      assert.equal((await store.read(mine, { after: 0 })).length, 1);
      assert.equal((await store.read(theirs, { after: 0 })).length, 2);
      assert.deepEqual(await store.read(elsewhere, { after: 0 }), []);
    });

    it("takes an append without events as a question", async (t) => {
      const store = await fresh(t);
      assert.equal(await store.append(key(), { seq: 0 }, [], 1), 1);
      assert.equal(await store.thread(key()), undefined);
      await assert.rejects(store.append(key(), { seq: 3 }, [], 1), { code: "conflict" });
    });
  });

  describe(`${name}: who may write`, () => {
    it("refuses a decision that was made on an older log, and writes nothing of it", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [started(1)], 1);
      await assert.rejects(store.append(key(), { seq: 0 }, [message("m9", "late"), toolStarted("c9")], 2), { code: "conflict" });
      assert.equal((await store.read(key(), { after: 0 })).length, 1);
      assert.equal((await store.known(key(), { messages: ["m9"], waits: [] })).messages.size, 0);
      assert.equal((await store.taken("app", ["c9"])).size, 0);
      assert.equal((await store.thread(key()))?.updatedAt, 1);
    });

    it("refuses to leave a gap", async (t) => {
      const store = await fresh(t);
      await assert.rejects(store.append(key(), { seq: 5 }, [started(1)], 1), { code: "conflict" });
      await store.append(key(), { seq: 0 }, [started(1)], 1);
      await assert.rejects(store.append(key(), { seq: 2 }, [ended()], 1), { code: "conflict" });
    });

    it("lets exactly one of many racing decisions through", async (t) => {
      const store = await fresh(t);
      const racing = Array.from({ length: 20 }, (_, i) => store.append(key(), { seq: 0 }, [message(`m${i}`, "hi")], 1));
      const codes = (await Promise.allSettled(racing)).map((result) => (result.status === "fulfilled" ? "won" : result.reason.code));
      assert.deepEqual(codes.sort(), [...Array.from({ length: 19 }, () => "conflict"), "won"]);
      assert.equal((await store.read(key(), { after: 0 })).length, 1);
    });

    it("lets the driver of a run speak behind whatever is there", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [started(1)], 1);
      const [a, decision, b] = await Promise.all([
        store.append(key(), { epoch: 1 }, [delta("a")], 2),
        store.append(key(), { seq: 2 }, [{ type: "cancel.requested", runId: "r1", by: "user:alice" }], 2),
        store.append(key(), { epoch: 1 }, [delta("b"), delta("c")], 2),
      ]);
      assert.deepEqual([a, decision, b], [2, 3, 4]);
      assert.equal((await store.thread(key()))?.seq, 5);
    });

    it("silences a driver whose run was taken over, has ended or never was", async (t) => {
      const store = await fresh(t);
      const speak = (epoch: number) => store.append(key(), { epoch }, [delta("zombie")], 3);
      await assert.rejects(speak(0), { code: "conflict" });
      await store.append(key(), { seq: 0 }, [started(1)], 1);
      await assert.rejects(speak(0), { code: "conflict" });
      await assert.rejects(speak(2), { code: "conflict" });
      await store.append(key(), { seq: 1 }, [{ type: "run.recovered", runId: "r1", epoch: 2 }], 2);
      await assert.rejects(speak(1), { code: "conflict" });
      assert.equal(await speak(2), 3);
      await store.append(key(), { epoch: 2 }, [ended()], 4);
      await assert.rejects(speak(2), { code: "conflict" });
      assert.equal((await store.thread(key()))?.seq, 4);
    });

    it("writes many threads at once, and a refusal among them disturbs nobody", async (t) => {
      const store = await fresh(t);
      const keys = Array.from({ length: 30 }, (_, i) => key(`t${i}`));
      const expected = (i: number) => (i % 10 === 7 ? 99 : 0);
      const results = await Promise.allSettled(
        keys.map((k, i) => store.append(k, { seq: expected(i) }, [message("m", `${i}`), delta("x")], 1)),
      );
      for (const [i, result] of results.entries()) {
        assert.equal(result.status, expected(i) === 0 ? "fulfilled" : "rejected");
        assert.equal((await store.read(key(`t${i}`), { after: 0 })).length, expected(i) === 0 ? 2 : 0);
      }
    });

    it("keeps what one writer sends without waiting in the order it was sent", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [started(1)], 1);
      await Promise.all(Array.from({ length: 200 }, (_, i) => store.append(key(), { epoch: 1 }, [delta(`${i}`)], 2)));
      const said = (await store.read(key(), { after: 1 })).map((event) => event.type === "text.delta" && event.delta);
      assert.deepEqual(
        said,
        Array.from({ length: 200 }, (_, i) => `${i}`),
      );
    });
  });

  describe(`${name}: what is known`, () => {
    it("knows messages by the run that brought them, the last one when they came again", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [message("m1", "one"), ended(), message("m2", "two"), ended()], 1);
      assert.deepEqual([...(await store.known(key(), { messages: ["m1", "m2", "m3"], waits: [] })).messages], [["m1", 1], ["m2", 3]]); // biome-ignore format: a table
      await store.append(key(), { seq: 4 }, [{ type: "thread.rewound", to: 1, removed: ["m1", "m2"] }, message("m1", "once more")], 2);
      assert.deepEqual([...(await store.known(key(), { messages: ["m1"], waits: [] })).messages], [["m1", 6]]);
    });

    it("knows the last run with a label", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [started(1, "same"), ended(), started(2, "same"), ended(), started(3, "other")], 1);
      const run = async (runId: string) => (await store.known(key(), { messages: [], waits: [], runId })).run;
      assert.deepEqual([await run("same"), await run("other"), await run("none")], [3, 5, undefined]);
      assert.equal((await store.known(key(), { messages: [], waits: [] })).run, undefined);
    });

    it("knows how calls and questions were settled, and in which run", async (t) => {
      const store = await fresh(t);
      await store.append(
        key(),
        { seq: 0 },
        [started(1), toolStarted("c1"), offered("c1"), toolStarted("c2"), offered("c2"), raised("q1"), ended()],
        1,
      );
      assert.equal((await store.known(key(), { messages: [], waits: ["c1", "q1"] })).settled.size, 0);
      await store.append(key(), { seq: 7 }, [started(2), returned("c1", 42), answered("q1"), ended()], 2);
      const { settled } = await store.known(key(), { messages: [], waits: ["c1", "c2", "q1", "nothing"] });
      assert.deepEqual(
        [...settled].map(([id, { runSeq, event }]) => [id, runSeq, event.seq, bare(event)]),
        [
          ["c1", 8, 9, returned("c1", 42)],
          ["q1", 8, 10, answered("q1")],
        ],
      );
    });

    it("knows nothing of other threads, but every call id that is taken in the app", async (t) => {
      const store = await fresh(t);
      await store.append(key("a"), { seq: 0 }, [message("m1", "hi"), toolStarted("c1"), returned("c1", 1)], 1);
      await store.append(key("b"), { seq: 0 }, [started(1)], 1);
      const known = await store.known(key("b"), { messages: ["m1"], waits: ["c1"], runId: "r-m1" });
      assert.deepEqual(known, { messages: new Map(), settled: new Map(), run: undefined });
      assert.deepEqual(await store.taken("app", ["c1", "c2"]), new Set(["c1"]));
      assert.deepEqual(await store.taken("other", ["c1"]), new Set());
    });

    it("refuses a call id that somebody took first, and says which", async (t) => {
      const store = await fresh(t);
      const take = (threadId: string) => store.append(key(threadId), { seq: 0 }, [started(1), toolStarted("c1"), delta("x")], 1);
      const results = await Promise.allSettled([take("a"), take("b"), store.append(key("c"), { seq: 0 }, [started(1)], 1)]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
      await assert.rejects(take("b"), { code: "conflict", field: "callId", message: /c1/ });
      assert.equal(await store.thread(key("b")), undefined);
      await store.append({ ...key("b"), app: "other" }, { seq: 0 }, [started(1), toolStarted("c1")], 1);
    });

    it("answers for a hundred thousand ids at once", async (t) => {
      const store = await fresh(t);
      const ids = Array.from({ length: 100_000 }, (_, i) => `id-${i}`);
      const messages = ids.slice(0, 1000).map((id) => ({ id, content: "x" }));
      await store.append(key(), { seq: 0 }, [{ ...started(1), messages } as Event, toolStarted("id-7"), returned("id-7", 1)], 1);
      const began = performance.now();
      const known = await store.known(key(), { messages: ids, waits: ids });
      const taken = await store.taken("app", ids);
      assert.ok(performance.now() - began < 3000);
      assert.deepEqual([known.messages.size, known.settled.size, taken.size], [1000, 1, 1]);
    });
  });

  describe(`${name}: threads`, () => {
    it("shows what runs make of a thread", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [message("m1", " Hello\n there ")], 10);
      const row = {
        ...key(),
        seq: 1,
        epoch: 1,
        status: "running",
        title: "Hello there",
        metadata: {},
        agent: "demo",
        pending: 0,
        createdAt: 10,
      };
      assert.deepEqual(await store.thread(key()), { ...row, updatedAt: 10 });
      await store.append(key(), { epoch: 1 }, [toolStarted("c1"), offered("c1"), raised("q1"), ended({ type: "waiting", for: [] })], 20);
      assert.deepEqual(await store.thread(key()), { ...row, seq: 5, status: "waiting", pending: 2, updatedAt: 20 });
      const events = [started(2), returned("c1", 1), answered("q1"), ended(), { type: "thread.changed", metadata: { a: 1 } } as const];
      await store.append(key(), { seq: 5 }, events, 30);
      assert.deepEqual(await store.thread(key()), { ...row, seq: 10, epoch: 2, status: "idle", metadata: { a: 1 }, updatedAt: 30 });
    });

    it("names a thread after its first message, and after whoever renames it", async (t) => {
      const store = await fresh(t);
      const title = async () => (await store.thread(key()))?.title;
      await store.append(key(), { seq: 0 }, [started(1), ended()], 1);
      assert.equal(await title(), undefined);
      await store.append(key(), { seq: 2 }, [message("m1", "first"), ended(), message("m2", "second"), ended()], 1);
      assert.equal(await title(), "first");
      await store.append(key(), { seq: 6 }, [changed("mine"), message("m3", "third")], 1);
      assert.equal(await title(), "mine");
    });

    it("lists an app's threads newest first, page by page, each once, while others change", async (t) => {
      const store = await fresh(t);
      for (let i = 0; i < 7; i += 1) await store.append(key(`t${i}`), { seq: 0 }, [changed("x")], 100 + (i >> 1));
      await store.append({ ...key("theirs"), user: "bob" }, { seq: 0 }, [changed("x")], 1);
      await store.append({ ...key("elsewhere"), app: "other" }, { seq: 0 }, [changed("x")], 1);
      const listed: string[] = [];
      for (let before: string | undefined, pages = 0; pages < 9; pages += 1) {
        const page = await store.threads({ app: "app", limit: 3, ...(before !== undefined && { before }) });
        listed.push(...page.threads.map(({ threadId }) => threadId));
        if (pages === 0) await store.append(key("t6"), { seq: 1 }, [changed("newer")], 200);
        before = page.next;
        if (before === undefined) break;
      }
      assert.deepEqual(listed, ["t6", "t5", "t4", "t3", "t2", "t1", "t0", "theirs"]);
    });

    it("finds threads by user, status, and any part of title or id in any case", async (t) => {
      const store = await fresh(t);
      await store.append(key("first"), { seq: 0 }, [message("m1", "Wie ist das WETTER in Ägypten?")], 1);
      await store.append(key("second-Report"), { seq: 0 }, [message("m2", "100%_done"), ended()], 2);
      await store.append({ ...key("third"), user: "bob" }, { seq: 0 }, [started(1), ended({ type: "waiting", for: [] })], 3);
      const find = async (query: object) =>
        (await store.threads({ app: "app", limit: 10, ...query })).threads.map(({ threadId }) => threadId);
      assert.deepEqual(await find({ search: "wetter" }), ["first"]);
      assert.deepEqual(await find({ search: "ÄGYPT" }), ["first"]);
      assert.deepEqual(await find({ search: "REPORT" }), ["second-Report"]);
      assert.deepEqual(await find({ search: "0%_d" }), ["second-Report"]);
      assert.deepEqual(await find({ search: "%" }), ["second-Report"]);
      assert.deepEqual(await find({ user: "bob" }), ["third"]);
      assert.deepEqual(await find({ user: "alice", status: "idle" }), ["second-Report"]);
      assert.deepEqual(await find({ status: "waiting" }), ["third"]);
      assert.deepEqual(await find({ search: "wetter", user: "bob" }), []);
    });

    it("finds threads by what was said and called in them, in scripts without spaces too, and not once they are deleted", async (t) => {
      const store = await fresh(t);
      const spoken = (text: string): Event => ({ type: "text.ended", messageId: "m", text });
      await store.append(key("zh"), { seq: 0 }, [message("m1", "你好"), spoken("一千以内的素数之和")], 1);
      await store.append(key("en"), { seq: 0 }, [message("m2", "hello"), spoken("A Café in Zürich"), toolStarted("c1", "get_menu")], 2);
      await store.append({ ...key("theirs"), user: "bob" }, { seq: 0 }, [message("m3", "素数")], 3);
      const find = async (search: string, user = "alice") =>
        (await store.threads({ app: "app", user, search, limit: 10 })).threads.map(({ threadId }) => threadId);
      for (const [search, found] of [
        ["素数", "zh"],
        ["和", "zh"],
        ["素数之和 一千", "zh"],
        ["数素", ""],
        ["cafe zur", "en"],
        ["get_menu", "en"],
        ["café 素数", ""],
        ['素数" OR "cafe', ""],
      ] as const)
        assert.equal((await find(search)).join(), found, search);
      assert.deepEqual(await find("素数", "bob"), ["theirs"]);
      assert.equal((await store.threads({ app: "app", search: "素数", limit: 10 })).threads.length, 2);
      assert.equal((await store.threads({ app: "other", search: "素数", limit: 10 })).threads.length, 0);
      await store.remove(key("zh"));
      await store.append(key("zh"), { seq: 2 }, [message("m4", "reborn")], 4);
      assert.deepEqual(await find("素数"), []);
    });

    it("refuses a cursor it did not give out", async (t) => {
      const store = await fresh(t);
      for (const cursor of ["nonsense", "", "W10", "eyJhIjoxfQ"]) {
        await assert.rejects(store.threads({ app: "app", limit: 3, before: cursor }), { code: "invalid", field: "before" });
        await assert.rejects(store.waits({ app: "app", limit: 3, after: cursor }), { code: "invalid", field: "after" });
      }
    });

    it("names the threads whose runs nobody has ended", async (t) => {
      const store = await fresh(t);
      await store.append(key("a"), { seq: 0 }, [started(1)], 1);
      await store.append(key("b"), { seq: 0 }, [started(1), ended()], 1);
      await store.append({ ...key("c"), app: "other" }, { seq: 0 }, [started(1)], 1);
      await store.append(key("d"), { seq: 0 }, [started(1), ended({ type: "waiting", for: [] })], 1);
      assert.deepEqual(await store.running(), [key("a"), { ...key("c"), app: "other" }]);
    });
  });

  describe(`${name}: waits`, () => {
    it("follows a call from being taken to being settled", async (t) => {
      const store = await fresh(t);
      const wait = () => store.wait("app", "c1");
      assert.equal(await wait(), undefined);
      await store.append(key(), { seq: 0 }, [started(1), toolStarted("c1")], 1);
      assert.equal((await wait())?.status, "called");
      assert.deepEqual(await store.waits({ app: "app", limit: 10 }), { waits: [] });
      await store.append(key(), { epoch: 1 }, [offered("c1", { expiresAt: 99 })], 5);
      const row = { ...key(), id: "c1", kind: "call", name: "weather", owner: "external", input: { city: "Oslo" }, ordinal: 1 };
      const open = { ...row, status: "pending", createdAt: 5, expiresAt: 99 };
      assert.deepEqual(await wait(), open);
      await store.append(key(), { seq: 3 }, [claimed("c1", 1, "w1")], 6);
      assert.equal(await store.lease("app", "c1", 1, 50), true);
      assert.deepEqual(await wait(), { ...open, claim: { claim: 1, by: "w1", until: 50 } });
      await store.append(key(), { seq: 4 }, [returned("c1", 1)], 7);
      assert.deepEqual(await wait(), { ...open, claim: { claim: 1, by: "w1", until: 50 }, status: "completed", settledAt: 7 });
      assert.deepEqual(await store.waits({ app: "app", status: "pending", limit: 10 }), { waits: [] });
      assert.equal((await store.waits({ app: "app", status: "completed", limit: 10 })).waits.length, 1);
    });

    it("follows a question from being raised to being answered", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [started(1), raised("q1", { callId: "c1", schema: { type: "object" } })], 3);
      const row = {
        ...key(),
        id: "q1",
        kind: "interrupt",
        name: "approval",
        callId: "c1",
        input: "May I?",
        schema: { type: "object" },
        createdAt: 3,
      };
      assert.deepEqual(await store.wait("app", "q1"), { ...row, status: "pending" });
      await store.append(key(), { epoch: 1 }, [answered("q1")], 4);
      assert.deepEqual(await store.wait("app", "q1"), { ...row, status: "resolved", settledAt: 4 });
      await store.append(key(), { epoch: 1 }, [raised("q1")], 5);
      assert.equal((await store.wait("app", "q1"))?.status, "pending");
      assert.equal((await store.thread(key()))?.pending, 1);
    });

    it("counts what is pending, and not what the server runs itself", async (t) => {
      const store = await fresh(t);
      const pending = async () => (await store.thread(key()))?.pending;
      await store.append(key(), { seq: 0 }, [started(1), toolStarted("c1"), toolStarted("c2"), offered("c1")], 1);
      assert.equal(await pending(), 1);
      await store.append(key(), { epoch: 1 }, [returned("c2", "by the server")], 1);
      assert.equal(await pending(), 1);
      await store.append(key(), { epoch: 1 }, [offered("c1"), returned("c1", 1)], 1);
      assert.equal(await pending(), 0);
    });

    it("lists waits oldest first, page by page, by user, thread, kind, status and name", async (t) => {
      const store = await fresh(t);
      const calls = ["c1", "c2", "c3", "c4"];
      await store.append(key("a"), { seq: 0 }, [started(1), ...calls.flatMap((id) => [toolStarted(id), offered(id)])], 5);
      await store.append(
        { ...key("b"), user: "bob" },
        { seq: 0 },
        [started(1), toolStarted("c5", "mail"), offered("c5", {}, "mail"), raised("q1")],
        3,
      );
      await store.append({ ...key("a"), app: "other" }, { seq: 0 }, [started(1), toolStarted("c1"), offered("c1")], 1);
      await store.append(key("a"), { epoch: 1 }, [returned("c2", 1)], 9);
      const find = async (query: object) => (await store.waits({ app: "app", limit: 10, ...query })).waits.map(({ id }) => id);
      assert.deepEqual(await find({}), ["c5", "q1", "c1", "c2", "c3", "c4"]);
      assert.deepEqual(await find({ status: "pending" }), ["c5", "q1", "c1", "c3", "c4"]);
      assert.deepEqual(await find({ user: "bob", status: "pending" }), ["c5", "q1"]);
      assert.deepEqual(await find({ user: "alice", threadId: "a", kind: "call", status: "completed" }), ["c2"]);
      assert.deepEqual(await find({ threadId: "b", kind: "interrupt" }), ["q1"]);
      assert.deepEqual(await find({ names: ["mail", "fax"] }), ["c5"]);
      assert.deepEqual(await find({ names: [] }), []);
      const first = await store.waits({ app: "app", status: "pending", limit: 3 });
      const second = await store.waits({ app: "app", status: "pending", limit: 3, after: first.next ?? "" });
      assert.deepEqual(
        [first, second].map(({ waits }) => waits.map(({ id }) => id)),
        [
          ["c5", "q1", "c1"],
          ["c3", "c4"],
        ],
      );
      assert.equal(second.next, undefined);
    });

    it("names open waits whose deadline has passed, most overdue first", async (t) => {
      const store = await fresh(t);
      const deadlines: [string, number][] = [["c1", 30], ["c2", 10], ["c3", 20], ["c4", 40]]; // biome-ignore format: a table
      const calls = deadlines.flatMap(([id, expiresAt]) => [toolStarted(id), offered(id, { expiresAt })]);
      await store.append(key(), { seq: 0 }, [started(1), ...calls, toolStarted("c5"), offered("c5"), raised("q1", { expiresAt: 5 })], 1);
      const due = async (now: number, limit = 10) => (await store.due(now, limit)).map(({ id }) => id);
      assert.deepEqual(await due(30), ["q1", "c2", "c3", "c1"]);
      assert.deepEqual(await due(30, 2), ["q1", "c2"]);
      await store.append(key(), { epoch: 1 }, [returned("c2", 1), answered("q1")], 2);
      assert.deepEqual(await due(29), ["c3"]);
      assert.deepEqual(await due(4), []);
    });

    it("renews only the lease of the last claim, and only while the call is open", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [started(1), toolStarted("c1"), offered("c1")], 1);
      assert.equal(await store.lease("app", "c1", 1, 50), false);
      await store.append(key(), { epoch: 1 }, [claimed("c1", 1, "w1")], 1);
      assert.equal(await store.lease("app", "c1", 1, 50), true);
      assert.equal(await store.lease("other", "c1", 1, 50), false);
      await store.append(key(), { epoch: 1 }, [{ type: "call.released", callId: "c1", claim: 1, reason: "lapsed" }], 1);
      assert.equal((await store.wait("app", "c1"))?.claim, undefined);
      assert.equal(await store.lease("app", "c1", 1, 60), false);
      await store.append(key(), { epoch: 1 }, [claimed("c1", 2, "w2")], 1);
      assert.equal(await store.lease("app", "c1", 1, 60), false);
      assert.equal(await store.lease("app", "c1", 2, 70), true);
      await store.append(key(), { epoch: 1 }, [returned("c1", 1)], 1);
      assert.equal(await store.lease("app", "c1", 2, 80), false);
      assert.deepEqual((await store.wait("app", "c1"))?.claim, { claim: 2, by: "w2", until: 70 });
    });
  });

  describe(`${name}: beside the log`, () => {
    it("keeps the last snapshot of a thread, and none for a thread that is not there", async (t) => {
      const store = await fresh(t);
      await store.saveSnapshot(key(), { seq: 1, version: 1, data: "early" });
      await store.append(key(), { seq: 0 }, [started(1), ended()], 1);
      assert.equal(await store.snapshot(key()), undefined);
      await store.saveSnapshot(key(), { seq: 1, version: 1, data: "old" });
      await store.saveSnapshot(key(), { seq: 2, version: 3, data: '{"new":"中"}' });
      await store.saveSnapshot(key(), { seq: 9, version: 3, data: "of the future" });
      assert.deepEqual(await store.snapshot(key()), { seq: 2, version: 3, data: '{"new":"中"}' });
    });

    it("finds the checkpoints of a thread's own graph, the latest first", async (t) => {
      const store = await fresh(t);
      const reached = (checkpointId: string, superstep: number, more: object = {}): Event => ({
        type: "checkpoint.reached",
        checkpointId,
        lineageId: "t1",
        superstep,
        tasks: [{ taskId: `${checkpointId}:task`, node: "cook" }],
        ...more,
      });
      await store.append(key(), { seq: 0 }, [reached("c1", 0), reached("inner", 0, { parentTaskId: "x" })], 5);
      await store.append(key(), { seq: 2 }, [reached("c2", 1)], 6);
      await store.append(key("other"), { seq: 0 }, [reached("c1", 7)], 7);
      const row = (id: string, superstep: number, seq: number, createdAt: number) => ({
        checkpointId: id,
        lineageId: "t1",
        superstep,
        seq,
        createdAt,
        tasks: [{ taskId: `${id}:task`, node: "cook" }],
      });
      const [one, two] = [row("c1", 0, 1, 5), row("c2", 1, 3, 6)];
      assert.deepEqual(await store.checkpoints(key(), { limit: 5 }), { checkpoints: [two, one] });
      const page = await store.checkpoints(key(), { limit: 1 });
      assert.deepEqual(page.checkpoints, [two]);
      assert.deepEqual(await store.checkpoints(key(), { limit: 1, before: page.next ?? "" }), { checkpoints: [one] });
      assert.deepEqual([await store.checkpoint(key(), "c1"), await store.checkpoint(key(), "inner")], [one, undefined]);
      assert.equal((await store.checkpoint(key("other"), "c1"))?.superstep, 7);
      await assert.rejects(store.checkpoints(key(), { limit: 1, before: "x" }), { code: "invalid" });
      await store.remove(key());
      assert.deepEqual(await store.checkpoints(key(), { limit: 5 }), { checkpoints: [] });
    });

    it("keeps the first secret of a name, whoever asks", async (t) => {
      const store = await fresh(t);
      const [one, same] = await Promise.all([store.secret("calls", "first"), store.secret("calls", "second")]);
      assert.deepEqual(
        [one, same, await store.secret("calls", "third"), await store.secret("other", "fourth")],
        ["first", "first", "first", "fourth"],
      );
    });

    it("keeps grants until their owner takes them back", async (t) => {
      const store = await fresh(t);
      const always = { id: "g1", app: "app", user: "alice", tool: "mail", createdAt: 1, by: "user:alice" };
      const here = { ...always, id: "g2", threadId: "t", createdAt: 2 };
      const bobs = { ...always, id: "g3", user: "bob", createdAt: 3 };
      for (const grant of [here, always, bobs]) await store.addGrant(grant);
      assert.deepEqual(await store.grants({ app: "app" }), [always, here, bobs]);
      assert.deepEqual(await store.grants({ app: "app", user: "alice" }), [always, here]);
      assert.deepEqual(await store.grants({ app: "other" }), []);
      assert.equal(await store.removeGrant({ app: "app", user: "alice", id: "g3" }), false);
      assert.equal(await store.removeGrant({ app: "app", user: "alice", id: "g1" }), true);
      assert.equal(await store.removeGrant({ app: "app", id: "g3" }), true);
      assert.equal(await store.removeGrant({ app: "app", id: "g3" }), false);
      assert.deepEqual(await store.grants({ app: "app" }), [here]);
    });

    it("keeps files of a thread, also before its first message", async (t) => {
      const store = await fresh(t);
      const data = new Uint8Array([0, 255, 10, 13, 0]);
      await store.saveBlob(key(), { id: "b1", mediaType: "image/png", data });
      await store.saveBlob(key(), { id: "b1", mediaType: "image/png", data });
      assert.equal(await store.thread(key()), undefined);
      const read = await store.blob(key(), "b1");
      assert.deepEqual([read?.mediaType, [...(read?.data ?? [])]], ["image/png", [...data]]);
      assert.equal(await store.blob(key(), "b2"), undefined);
      assert.equal(await store.blob({ ...key(), user: "bob" }, "b1"), undefined);
      assert.equal(await store.blob(key("other"), "b1"), undefined);
    });
  });

  describe(`${name}: the outbox`, () => {
    const HOOK = "https://hooks.example.com/a";

    it("keeps one delivery for each external call of a thread with a callback", async (t) => {
      const store = await fresh(t);
      await store.append(key("quiet"), { seq: 0 }, [started(1), toolStarted("c0"), offered("c0")], 10);
      await store.append(key(), { seq: 0 }, [calledBack(HOOK), toolStarted("c1"), offered("c1")], 10);
      await store.append(key(), { seq: 3 }, [toolStarted("c2"), { ...offered("c2"), owner: "client" } as Event], 11);
      const pending = { ...key(), id: "c1", url: HOOK, status: "pending", attempts: 0, nextAt: 10, createdAt: 10, log: [] };
      assert.deepEqual(await store.deliveries({ app: "app", limit: 9 }), { deliveries: [pending] });
      assert.deepEqual(await store.dueDeliveries(10, 9), [pending]);
      assert.deepEqual(await store.dueDeliveries(9, 9), []);
      assert.deepEqual(await store.delivery("app", "c1"), pending);
      assert.equal(await store.delivery("app", "c0"), undefined);
      assert.deepEqual(await store.deliveries({ app: "app", user: "bob", limit: 9 }), { deliveries: [] });
    });

    it("logs attempts, and stops with the call, whatever an attempt still says", async (t) => {
      const store = await fresh(t);
      await store.append(key(), { seq: 0 }, [calledBack(HOOK), toolStarted("c1"), offered("c1")], 10);
      const attempt = { at: 10, ms: 3, status: 500 };
      await store.saveDelivery("app", "c1", { status: "pending", nextAt: 50, attempt });
      assert.deepEqual(await store.dueDeliveries(49, 9), []);
      const [due] = await store.dueDeliveries(50, 9);
      assert.deepEqual([due?.attempts, due?.log], [1, [attempt]]);
      await store.append(key(), { seq: 3 }, [returned("c1", 1)], 51);
      await store.saveDelivery("app", "c1", { status: "pending", nextAt: 60, attempt });
      const stopped = await store.delivery("app", "c1");
      assert.deepEqual([stopped?.status, stopped?.nextAt, stopped?.attempts], ["stopped", undefined, 2]);
    });

    it("stops everything to a receiver that is gone", async (t) => {
      const store = await fresh(t);
      const calls = [toolStarted("c1"), offered("c1"), toolStarted("c2"), offered("c2")];
      await store.append(key(), { seq: 0 }, [calledBack(HOOK), ...calls], 10);
      await store.saveDelivery("app", "c1", { status: "stopped", attempt: { at: 10, ms: 3, status: 410 }, disable: true });
      await store.append(key(), { seq: 5 }, [toolStarted("c3"), offered("c3")], 11);
      const { deliveries } = await store.deliveries({ app: "app", limit: 9 });
      assert.deepEqual(
        deliveries.map(({ id, status }) => [id, status]),
        [
          ["c2", "stopped"],
          ["c1", "stopped"],
        ],
      );
    });

    it("remembers a keyed request with its effect, for its owner and for a day", async (t) => {
      const store = await fresh(t);
      const alice = { app: "app", user: "alice" };
      const request = { key: "k", hash: "h", after: 0 };
      await store.append(key(), { seq: 0 }, [started(1), ended()], 100, request);
      const kept = { hash: "h", threadId: "t", after: 0, first: 1, seq: 2 };
      assert.deepEqual(await store.request(alice, "k", 99), kept);
      assert.equal(await store.request(alice, "k", 100), undefined);
      assert.equal(await store.request({ app: "app", user: "bob" }, "k", 0), undefined);
      await assert.rejects(store.append(key(), { seq: 0 }, [started(1)], 101, { ...request, key: "late" }), { code: "conflict" });
      assert.equal(await store.request(alice, "late", 0), undefined, "what was refused leaves no trace");
      await assert.rejects(store.append(key("other"), { seq: 0 }, [started(1)], 102, request), { code: "unprocessable" });
      assert.equal(await store.thread(key("other")), undefined);
      const tomorrow = 100 + 24 * 3_600_000;
      await store.append(key("other"), { seq: 0 }, [started(1)], tomorrow, { ...request, hash: "h2" });
      assert.equal((await store.request(alice, "k", 100))?.hash, "h2");
      await store.forgetRequests(tomorrow + 1);
      assert.equal(await store.request(alice, "k", 0), undefined);
    });

    it("goes with its thread", async (t) => {
      const store = await fresh(t);
      const events = [calledBack(HOOK), toolStarted("c1"), offered("c1")];
      await store.append(key(), { seq: 0 }, events, 1, { key: "k", hash: "h", after: 0 });
      await store.remove(key());
      assert.equal(await store.delivery("app", "c1"), undefined);
      assert.equal(await store.request({ app: "app", user: "alice" }, "k", 0), undefined);
      await store.append(key(), { seq: 3 }, [started(3), toolStarted("c1"), offered("c1")], 2);
      assert.equal(await store.delivery("app", "c1"), undefined, "the callback was the old life's");
    });
  });

  describe(`${name}: deletion`, () => {
    const filled = async (store: Store, k: ThreadKey) => {
      await store.append(k, { seq: 0 }, [message("m1", "secret"), toolStarted("c1"), offered("c1", { expiresAt: 5 })], 1);
      await store.saveSnapshot(k, { seq: 3, version: 1, data: "secret" });
      await store.saveBlob(k, { id: "b1", mediaType: "text/plain", data: new Uint8Array([1]) });
      await store.addGrant({ id: `g-${k.threadId}`, app: k.app, user: k.user, tool: "mail", threadId: k.threadId, createdAt: 1, by: "x" });
    };

    it("leaves nothing of a thread behind but where it stopped", async (t) => {
      const store = await fresh(t);
      await filled(store, key());
      await store.addGrant({ id: "everywhere", app: "app", user: "alice", tool: "mail", createdAt: 1, by: "x" });
      assert.equal(await store.remove(key()), true);
      assert.equal(await store.thread(key()), undefined);
      assert.deepEqual(await store.threads({ app: "app", limit: 9 }), { threads: [] });
      assert.deepEqual(await store.running(), []);
      assert.deepEqual(await store.read(key(), { after: 0 }), []);
      assert.equal((await store.known(key(), { messages: ["m1"], waits: ["c1"] })).messages.size, 0);
      assert.equal((await store.taken("app", ["c1"])).size, 0);
      assert.equal(await store.wait("app", "c1"), undefined);
      assert.deepEqual(await store.due(9, 9), []);
      assert.equal(await store.snapshot(key()), undefined);
      assert.equal(await store.blob(key(), "b1"), undefined);
      assert.deepEqual(
        (await store.grants({ app: "app" })).map(({ id }) => id),
        ["everywhere"],
      );
      assert.deepEqual(await store.origin(key()), { seq: 3, epoch: 2 });
      assert.equal(await store.remove(key()), false);
      assert.equal(await store.remove(key("nobody")), false);
    });

    it("lets no driver of the deleted thread bring it back", async (t) => {
      const store = await fresh(t);
      await filled(store, key());
      await store.remove(key());
      for (const epoch of [0, 1, 2]) await assert.rejects(store.append(key(), { epoch }, [delta("zombie")], 2), { code: "conflict" });
      await store.saveSnapshot(key(), { seq: 3, version: 1, data: "zombie" });
      assert.equal(await store.thread(key()), undefined);
    });

    it("begins a later life of the same id behind the old offsets, empty", async (t) => {
      const store = await fresh(t);
      await filled(store, key());
      await store.remove(key());
      await assert.rejects(store.append(key(), { seq: 0 }, [started(1)], 5), { code: "conflict" });
      const { seq, epoch } = await store.origin(key());
      assert.equal(await store.append(key(), { seq }, [started(epoch + 1)], 5), 4);
      await store.saveSnapshot(key(), { seq: 3, version: 1, data: "zombie" });
      assert.equal(await store.snapshot(key()), undefined);
      assert.deepEqual(
        (await store.read(key(), { after: 0 })).map((event) => event.seq),
        [4],
      );
      const row = { ...key(), seq: 4, epoch: 3, status: "running", metadata: {}, agent: "demo", pending: 0, createdAt: 5, updatedAt: 5 };
      assert.deepEqual(await store.thread(key()), row);
      assert.deepEqual(await store.origin(key()), { seq: 3, epoch: 2 });
      await store.remove(key());
      assert.deepEqual(await store.origin(key()), { seq: 4, epoch: 4 });
    });

    it("retires idle threads nobody touched for long, oldest first, and no others", async (t) => {
      const store = await fresh(t);
      for (const [i, id] of ["a", "b", "c", "d"].entries())
        await store.append(key(id), { seq: 0 }, [message(`m${i}`, "x"), ended()], 10 + i);
      await store.append(key("running"), { seq: 0 }, [started(1)], 1);
      await store.append(key("waiting"), { seq: 0 }, [started(1), ended({ type: "waiting", for: [] })], 1);
      await store.append(key("a"), { seq: 2 }, [changed("touched")], 50);
      assert.deepEqual(await store.retire(13, 1), [key("b")]);
      assert.deepEqual(await store.retire(13, 9), [key("c")]);
      assert.deepEqual(await store.retire(13, 9), []);
      const left = (await store.threads({ app: "app", limit: 9 })).threads.map(({ threadId }) => threadId);
      assert.deepEqual(left.sort(), ["a", "d", "running", "waiting"]);
      assert.deepEqual(await store.origin(key("b")), { seq: 2, epoch: 2 });
    });
  });

  describe(`${name}: its end`, () => {
    it("takes nothing more once it is closed, and can be closed twice", async () => {
      const { store } = await open();
      await store.append(key(), { seq: 0 }, [started(1)], 1);
      const last = store.append(key(), { epoch: 1 }, [delta("last words")], 2);
      await Promise.all([store.close(), store.close()]);
      assert.equal(await last, 2);
      await assert.rejects(store.append(key(), { seq: 2 }, [ended()], 3), { code: "unavailable" });
      await assert.rejects(store.read(key(), { after: 0 }), { code: "unavailable" });
    });

    it("has everything again after it was opened anew", async (t) => {
      const { store, reopen } = await open();
      if (!reopen) return store.close();
      await store.append(key(), { seq: 0 }, [message("m1", "hi"), toolStarted("c1"), offered("c1", { expiresAt: 7 }), delta("x")], 1);
      await store.append(key("gone"), { seq: 0 }, [started(1)], 1);
      await store.remove(key("gone"));
      const events = await store.read(key(), { after: 0 });
      const row = await store.thread(key());
      const again = await reopen();
      t.after(() => again.close());
      assert.deepEqual(await again.read(key(), { after: 0 }), events);
      assert.deepEqual(await again.thread(key()), row);
      assert.deepEqual(await again.running(), [key()]);
      assert.deepEqual(await again.origin(key("gone")), { seq: 1, epoch: 2 });
      assert.equal((await again.due(7, 9)).length, 1);
      assert.equal(await again.append(key(), { epoch: 1 }, [returned("c1", 1), ended()], 2), 5);
    });
  });
}

/** The contract every bus must keep. */
export function testBus(name: string, open: () => Promise<Bus>): void {
  describe(`${name}: the bus`, () => {
    it("wakes those who listen to a thread or to all, and nobody else", async () => {
      const bus = await open();
      const woken: string[] = [];
      bus.listen(key("a"), ({ threadId }) => woken.push(`a:${threadId}`));
      bus.listen(key("b"), ({ threadId }) => woken.push(`b:${threadId}`));
      bus.listen({ ...key("a"), user: "bob" }, () => woken.push("bob"));
      bus.listen("all", ({ threadId }) => woken.push(`all:${threadId}`));
      bus.publish(key("a"));
      await settled();
      assert.deepEqual(woken.sort(), ["a:a", "all:a"]);
    });

    it("leaves in peace whoever has stopped listening, also while it wakes others", async () => {
      const bus = await open();
      let [first, second] = [0, 0];
      const stop = bus.listen(key(), () => {
        first += 1;
        stop();
      });
      bus.listen(key(), () => {
        second += 1;
      });
      bus.publish(key());
      bus.publish(key());
      await settled();
      stop();
      bus.publish(key());
      await settled();
      assert.deepEqual([first, second], [1, 3]);
    });

    it("does not mind who stops listening twice", async () => {
      const bus = await open();
      let woken = 0;
      const wake = () => {
        woken += 1;
      };
      const stop = bus.listen(key(), wake);
      stop();
      bus.listen(key(), wake);
      stop();
      bus.publish(key());
      await settled();
      assert.equal(woken, 1);
    });
  });
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}

// --- events ---

function key(threadId = "t"): ThreadKey {
  return { app: "app", user: "alice", threadId };
}

function started(epoch: number, runId = `r${epoch}`): Event {
  return {
    type: "run.started",
    runId,
    turnId: "turn",
    epoch,
    cause: "message",
    agent: "demo",
    messages: [],
    by: "user:alice",
    via: "native",
  };
}

function message(id: string, content: string): Event {
  return { ...started(1, `r-${id}`), messages: [{ id, content }] } as Event;
}

function calledBack(callbackUrl: string): Event {
  return { ...started(1), options: { toolExecution: { mode: "outside", outsideConfig: { callbackUrl } } } } as Event;
}

function ended(outcome: Outcome = { type: "done" }): Event {
  return { type: "run.ended", runId: "r1", turnId: "turn", run: 1, outcome };
}

function delta(text: string): Event {
  return { type: "text.delta", messageId: "msg", delta: text };
}

function toolStarted(callId: string, name = "weather"): Event {
  return { type: "tool.started", callId, name, messageId: "msg", stepId: "s1", owner: "external" };
}

function offered(callId: string, more: { expiresAt?: number } = {}, name = "weather"): Event {
  return { type: "call.offered", callId, name, owner: "external", input: { city: "Oslo" }, ordinal: 1, ...more };
}

function claimed(callId: string, claim: number, by: string): Event {
  return { type: "call.claimed", callId, claim, by };
}

function returned(callId: string, output: string | number): Event {
  const from = { by: "executor:w1", via: "native" };
  return { type: "tool.returned", callId, name: "weather", owner: "external", messageId: "m", status: "completed", output, ...from };
}

function raised(interruptId: string, more: { callId?: string; schema?: { type: string }; expiresAt?: number } = {}): Event {
  return { type: "interrupt.raised", interruptId, reason: "approval", prompt: "May I?", ...more };
}

function answered(interruptId: string): Event {
  return { type: "interrupt.answered", interruptId, status: "resolved", value: true, by: "user:alice", via: "native" };
}

function changed(title: string): Event {
  return { type: "thread.changed", title };
}

function custom(value: Extract<Event, { type: "custom.emitted" }>["value"]): Event {
  return { type: "custom.emitted", name: "x", value };
}

function bare({ seq, at, v, ...event }: StoredEvent): Event {
  return event as Event;
}
