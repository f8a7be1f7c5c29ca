import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { chatAgent } from "../src/agent/chat.ts";
import { createHandback, type Handback } from "../src/handback.ts";
import { says, scriptedBy } from "../src/model/scripted.ts";
import { type Browser, openBrowser } from "./aisdk/browser.ts";
import { FAULTS, VALUES } from "./sandbox/code.ts";
import { hostileFrame, POLITE, withoutCurtains } from "./sandbox/frames.ts";
import { type Attempt, type Evil, type Json, openTab, type Site, serveEvil, servePage, type Tab } from "./sandbox/site.ts";
import { WAYS_OUT } from "./sandbox/ways-out.ts";

const MS = 1_000;
/** A page that shares its process with a stuck frame stands still for seconds, and one that shares it with a heap bomb dies. */
const RESPONSIVE_MS = 600;

describe("the sandbox in Chromium", { timeout: 300_000 }, () => {
  let handback: Handback;
  let page: Awaited<ReturnType<typeof servePage>>;
  let evil: Evil;
  let open: Site;
  let browser: Browser;
  let tab: Tab;
  /** The same page, before a sandbox whose worker has all its functions. */
  let bare: Tab;

  before(async () => {
    handback = await createHandback({ data: ":memory:", agents: { default: chatAgent({ model: scriptedBy(() => says("hi")) }) } });
    const { url } = await handback.listen({ port: 0 });
    const { port } = new URL(url);
    page = await servePage(() => `http://127.0.0.1:${port}`);
    evil = await serveEvil();
    open = await withoutCurtains(url);
    browser = await openBrowser();
    tab = await openTab(browser, `http://localhost:${page.port}/?origin=http://localhost:${port}`);
    bare = await openTab(browser, `http://localhost:${page.port}/?origin=http://localhost:${open.port}`);
  });
  after(async () => {
    await browser?.close();
    for (const site of [page, evil, open]) await site?.[Symbol.asyncDispose]();
    await handback?.close({ grace: 0 });
  });

  /** However it ended: the page was there all the time, no frame is left, and the next run works. */
  const survived = ({ longest, frames }: Attempt) => {
    assert.ok(longest < RESPONSIVE_MS, `the page stood still for ${longest} ms`);
    assert.equal(frames, 0);
  };
  const resultOf = async (code: string, at = tab, options: object = {}): Promise<Json> => {
    const attempt = await at.attempt(code, options);
    survived(attempt);
    assert.ok(attempt.result.ok, `${code.slice(0, 80)}: ${JSON.stringify(attempt.result)}`);
    return attempt.result.value;
  };
  const errorOf = async (code: string, at = tab, options: object = {}): Promise<string> => {
    const attempt = await at.attempt(code, options);
    survived(attempt);
    assert.ok(!attempt.result.ok, `${code.slice(0, 80)}: ${JSON.stringify(attempt.result).slice(0, 200)}`);
    const { name, message } = attempt.result.error;
    assert.ok(name.length <= 100 && message.length <= 2000 && !/^ +at |sandbox\.ts/m.test(message), "no stack, no essay");
    return `${name}: ${message}`;
  };

  describe("gives the value of", () => {
    for (const [code, value] of VALUES) {
      it(code === "" ? "nothing" : code.slice(0, 90), async () => assert.deepEqual(await resultOf(code), value));
    }
  });

  describe("tells what is wrong with", () => {
    for (const [code, wrong] of FAULTS) {
      it(code.slice(0, 90), async () => assert.match(await errorOf(code), wrong));
    }
  });

  describe("stops", () => {
    for (const [name, code] of Object.entries({
      "an endless loop": "for (;;);",
      "a promise that never settles": "new Promise(() => {})",
      "endless microtasks": "(function again() { Promise.resolve().then(again); })(); new Promise(() => {})",
      "a result that never ends": "({ toJSON() { for (;;); } })",
      "a thenable that never ends": "({ get then() { for (;;); } })",
      "an error that never ends": "throw { get message() { for (;;); } }",
      "a regular expression that never ends": "/^(a+)+$/.test('a'.repeat(40) + 'b')",
      "a million timers": "for (let i = 0; i < 1e6; i++) setTimeout(() => { for (;;); }); new Promise(() => {})",
      "a flood of its own messages":
        "const { port1, port2 } = new MessageChannel(); port2.onmessage = () => { for (let i = 0; i < 10; i++) port1.postMessage(1); }; port1.postMessage(1); new Promise(() => {})",
    })) {
      it(name, async () => assert.equal(await errorOf(code, tab, { timeoutMs: MS }), `TimeoutError: Stopped after ${MS} ms`));
    }

    it("a flood of messages to the frame", async () => {
      await errorOf("const words = 'x'.repeat(1e4); for (;;) postMessage(words);", bare, { timeoutMs: MS });
      assert.equal(await resultOf("1", bare), 1);
    });

    it("a heap bomb, whether its process lives or not", async () => {
      // Playwright takes the death of a frame for that of its page, so the page itself tells how it went.
      const bomb = "const a = []; for (;;) a.push('x'.repeat(1e6).split(''))";
      const both = `Promise.all([attempt(${JSON.stringify(bomb)}, { timeoutMs: 4000 })]).then(async (all) => [...all, await attempt("1 + 1")])`;
      const own = await openTab(browser, `http://localhost:${page.port}/?origin=http://localhost:${open.port}`);
      own.evaluate(`${both}.then((all) => fetch("/report", { method: "POST", body: JSON.stringify(all) }))`).catch(() => {});
      const [bombed, next] = await page.reported;
      assert.ok(bombed && next);
      for (const attempt of [bombed, next]) survived(attempt);
      assert.ok(!bombed.result.ok && /^(Timeout|Sandbox)Error$/.test(bombed.result.error.name), JSON.stringify(bombed.result));
      assert.deepEqual(next.result, { ok: true, value: 2 });
      await own.close();
    });
  });

  describe("lets nothing out", () => {
    const reach = (hit: string) => evil.hits.filter((seen) => seen.includes(hit));
    const settle = () => new Promise((resolve) => setTimeout(resolve, 300));

    it("which the evil server would notice", async () => {
      await tab.evaluate(`fetch("http://127.0.0.1:${evil.port}/control").then((response) => response.text())`);
      assert.deepEqual(reach("control"), ["GET /control"]);
      evil.hits.length = 0;
    });

    for (const [name, way] of Object.entries(WAYS_OUT)) {
      it(`by ${name}`, async () => {
        const target = `http://127.0.0.1:${evil.port}/${encodeURIComponent(name)}?secret`;
        const code = `const TARGET = ${JSON.stringify(target)};\n${way.replaceAll("UDP", String(evil.udp))}`;
        for (const at of [tab, bare]) assert.doesNotMatch(await errorOf(code, at), /^(Timeout|Sandbox)Error/);
      });
    }

    it("after all of that", async () => {
      await settle();
      assert.deepEqual(evil.hits, []);
    });
  });

  describe("knows nothing of", () => {
    for (const name of [
      "document",
      "window",
      "parent",
      "top",
      "opener",
      "frameElement",
      "localStorage",
      "sessionStorage",
      "secret",
      "sandboxOf",
    ]) {
      it(name, async () => {
        for (const at of [tab, bare]) assert.equal(await resultOf(`typeof ${name}`, at), "undefined");
      });
    }

    it("the page's database, caches, cookies, locks and files", async () => {
      await tab.evaluate("new Promise((resolve) => { indexedDB.open('secrets').onsuccess = resolve; })");
      for (const code of [
        "return new Promise((resolve, reject) => { const r = indexedDB.open('secrets'); r.onsuccess = () => resolve(1); r.onerror = () => reject(r.error); })",
        "return (await indexedDB.databases()).length",
        "return (await caches.keys()).length",
        "return (await cookieStore.getAll()).length",
        "return (await navigator.locks.query()).held.length",
        "return (await navigator.storage.getDirectory()).name",
      ]) {
        for (const at of [tab, bare]) assert.doesNotMatch(await errorOf(code, at), /^(Timeout|Sandbox|Result)Error/);
      }
    });

    it("other tabs and the page, by broadcast", async () => {
      const heard = `new Promise((resolve) => { const c = new BroadcastChannel("x"); c.onmessage = () => resolve("heard"); setTimeout(resolve, 500, "silence"); })`;
      const [result] = await Promise.all([tab.evaluate(heard), resultOf("new BroadcastChannel('x').postMessage(1); 1", bare)]);
      assert.equal(result, "silence");
    });

    it("the run before it", async () => {
      await resultOf("self.left = 1; Array.prototype.left = 1; name = 'left'; 1");
      assert.deepEqual(await resultOf("[typeof left, typeof [].left, name]"), ["undefined", "undefined", ""]);
    });
  });

  describe("cannot be talked into something else by", () => {
    for (const [name, code, value] of [
      ["another postMessage of ports", "MessagePort.prototype.postMessage = function () { self.port = this; }; 5", 5],
      ["another JSON.stringify", `JSON.stringify = () => '{"ok":true,"value":"faked"}'; 5`, 5],
      ["another then", "Promise.prototype.then = () => { throw 1; }; Promise.resolve(5)", 5],
      ["another Promise", "Promise = class {}; (async () => 5)()", 5],
      ["another Reflect.apply", "Reflect.apply = Reflect.getPrototypeOf = () => 'faked'; 5", 5],
      ["another call and apply", "Function.prototype.call = Function.prototype.apply = () => 'faked'; 5", 5],
      ["another toString", "Object.prototype.toString = () => '[object Map]'; String = () => 'faked'; ({ a: 5 })", { a: 5 }],
      ["an iterator of its own", "Array.prototype[Symbol.iterator] = () => { throw 1; }; 5", 5],
      [
        "setters on the prototypes",
        "for (const p of [Object.prototype, Array.prototype]) for (const k of ['ok', 'value', '0']) Object.defineProperty(p, k, { __proto__: null, set() {}, get: () => 'faked' }); 5",
        5,
      ],
      ["a toJSON of all objects, but for its own value", "Object.prototype.toJSON = () => 'mine'; ({ a: 1 })", "mine"],
      [
        "listening for what started it",
        "let got = 'nothing'; addEventListener('message', () => { got = 'something'; }); self.onmessage = () => { got = 'something'; }; await new Promise((resolve) => setTimeout(resolve, 50)); return got",
        "nothing",
      ],
      ["returning twice", "new Promise((resolve) => { resolve(5); resolve(6); })", 5],
    ] as const) {
      it(name, async () => {
        for (const at of [tab, bare]) assert.deepEqual(await resultOf(code, at), value);
      });
    }

    it("a result before its result", async () => {
      const fake = `for (let i = 0; i < 100; i++) postMessage('{"ok":true,"value":"faked"}');`;
      assert.equal(
        await resultOf(`setTimeout(() => { ${fake} }); await new Promise((resolve) => setTimeout(resolve, 100)); return "true"`),
        "true",
      );
      assert.equal(await resultOf(`${fake} await new Promise((resolve) => setTimeout(resolve, 100)); return "true"`, bare), "true");
    });

    it("errors that grow while they are told", async () => {
      assert.match(await errorOf("String.prototype.slice = () => 'x'.repeat(1e7); throw new Error('x')"), /cannot be told/);
      assert.match(
        await errorOf("String.prototype.slice = () => ({ toJSON: () => 'x'.repeat(1e7) }); throw new Error('x')"),
        /cannot be told/,
      );
    });
  });

  describe("before a frame that is hostile itself", () => {
    const against = async (script: string, use: (tab: Tab) => Promise<void>, path = "/") => {
      await using frame = await hostileFrame(script);
      const own = await openTab(browser, `http://localhost:${page.port}${path}?origin=http://localhost:${frame.port}`);
      await use(own);
      await own.close();
    };

    it("takes the first word, and hears no second", async () => {
      const twice = `started.then((port) => { for (let i = 1; i < 1e5; i++) port.postMessage('{"ok":true,"value":' + i + '}'); }); ready();`;
      await against(POLITE + twice, async (own) => assert.equal(await resultOf("0", own), 1));
    });

    it("stops listening to one that floods", async () => {
      await against("for (let i = 0; i < 2e5; i++) parent.postMessage({ i }, '*');", async (own) => {
        assert.match(await errorOf("0", own), /^SandboxError: .* did not start/);
      });
    });

    it("takes no 50 MB, no objects and no nonsense", async () => {
      for (const said of ["'x'.repeat(50e6)", "{ ok: true, value: 1 }", "'{'", "null", "new Error('x')"]) {
        await against(`${POLITE} started.then((port) => port.postMessage(${said})); ready();`, async (own) => {
          const { result, frames } = await own.attempt("0", { timeoutMs: MS });
          assert.match(JSON.stringify(result), /"ok":false,"error":\{"name":"(Result|Sandbox)Error"/);
          assert.equal(frames, 0);
        });
      }
    });

    it("removes one that is stuck", async () => {
      await against(`${POLITE} started.then(() => { for (;;); }); ready();`, async (own) => {
        assert.match(await errorOf("0", own, { timeoutMs: 500 }), /^SandboxError: The sandbox gave no answer/);
      });
    });

    it("wants the nonce it gave", async () => {
      await against("parent.postMessage('handback sandbox ', '*')", async (own) => {
        assert.match(await errorOf("0", own), /^SandboxError: .* did not start/);
      });
    });

    it("lets it not read the page, nor move it", async () => {
      const spy = `let said = []; for (const look of [() => parent.document, () => parent.secret, () => top.location.href, () => { top.location = "about:blank"; }, () => document.cookie, () => localStorage.secret, () => open("about:blank").closed])
        { try { said.push(String(look())); } catch (error) { said.push(error.name); } }
        started.then((port) => port.postMessage(JSON.stringify({ ok: true, value: said }))); ready();`;
      await against(POLITE + spy, async (own) => {
        const seen = (await resultOf("0", own)) as string[];
        assert.deepEqual([...seen.slice(0, 3), ...seen.slice(4)], Array(6).fill("SecurityError").with(5, "TypeError"));
        assert.equal(await own.evaluate("document.cookie"), "secret=cookie");
      });
    });
  });
});
