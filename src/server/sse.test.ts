import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { after, beforeEach, describe, it } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import { type Context, Hono } from "hono";
import type { Clock } from "../core/clock.ts";
import { cors } from "./cors.ts";
import type { LogLine } from "./log.ts";
import { listen } from "./node.ts";
import { type Frames, frame, openStreams, sse } from "./sse.ts";

describe("frame", () => {
  it("is one line of data, with an id where there is one", () => {
    assert.equal(frame('{"a":1}'), 'data: {"a":1}\n\n');
    assert.equal(frame("1", 0), "id: 0\ndata: 1\n\n");
    assert.equal(frame("1", "a:12"), "id: a:12\ndata: 1\n\n");
  });

  it("keeps what was said apart from what frames say", () => {
    const hostile = "a\n\ndata: forged\r\rid: 9\u2028\0";
    assert.equal(frame(JSON.stringify(hostile), 1).split(/\r\n|[\r\n]/).length, 4);
    assert.throws(() => frame("1\n\ndata: 2"));
    assert.throws(() => frame("1", "1\rdata: 2"));
  });
});

const clock = fakeClock();
const logged: LogLine[] = [];
const streams = openStreams({ clock, log: (line) => void logged.push(line) });
let frames: (signal: AbortSignal) => Frames;
let before: (c: Context) => Promise<void> | void;
let stopped: PromiseWithResolvers<void>;

const app = new Hono();
app.use(async (c, next) => {
  await next();
  c.header("x-late", "copies the response"); // as many a middleware does
});
app.use(cors({ origins: ["https://shop.example"] }));
app.get("/", async (c) => {
  await before(c);
  return sse(c, watched, streams);
});
app.get("/open", (c) => sse(c, watched, streams, { open: true }));
const server = await listen(app, { port: 0 });
after(() => server.close(0));

async function* watched(signal: AbortSignal): Frames {
  try {
    yield* frames(signal);
  } finally {
    stopped.resolve();
  }
}

beforeEach(() => {
  logged.length = 0;
  stopped = Promise.withResolvers();
  frames = endless;
  before = () => {};
});

describe("sse over a socket", () => {
  it("sends its headers, those of CORS and the frames, and ends with them", async () => {
    frames = () => chunks("data: 1\n\ndata: 2\n\n", "data: 3\n\n");
    const response = await open("/", { origin: "https://shop.example" });
    assert.deepEqual(
      ["content-type", "cache-control", "x-accel-buffering", "connection", "access-control-allow-origin", "vary"].map(
        (name) => response.headers[name],
      ),
      ["text/event-stream", "no-cache, no-transform", "no", "keep-alive", "https://shop.example", "Origin"],
    );
    assert.equal(await textOf(response), "data: 1\n\ndata: 2\n\ndata: 3\n\n");
    assert.equal(streams.size, 0);
  });

  it("sends headers before there is anything to say, and a comment where asked", async () => {
    const response = await open("/");
    assert.equal(response.statusCode, 200);
    response.destroy();
    await stopped.promise;
    stopped = Promise.withResolvers();
    const opened = await open("/open");
    assert.equal(String((await once(opened, "data"))[0]), ": open\n\n");
    opened.destroy();
    await stopped.promise;
  });

  it("sends a heartbeat into silence only", async () => {
    const more = Promise.withResolvers<void>();
    frames = async function* (signal) {
      await more.promise;
      yield bytes("data: 1\n\n");
      yield* endless(signal);
    };
    const response = await open("/");
    clock.advance(14_000);
    more.resolve();
    assert.equal(String((await once(response, "data"))[0]), "data: 1\n\n");
    clock.advance(14_000);
    clock.advance(1_000);
    assert.equal(String((await once(response, "data"))[0]), ": hb\n\n");
    response.destroy();
    await stopped.promise;
  });

  it("stops pulling when the reader goes away", async () => {
    const response = await open("/");
    assert.equal(streams.size, 1);
    response.destroy();
    await stopped.promise;
    assert.equal(streams.size, 0);
  });

  it("opens nothing for a reader that went away before it began", async () => {
    const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    before = async (c) => {
      arrived.resolve();
      await once(c.env.outgoing, "close");
      gone.resolve();
    };
    frames = () => assert.fail("nobody is there to read");
    const outgoing = get(server.url).on("error", () => {});
    await arrived.promise;
    outgoing.destroy();
    await gone.promise;
    await setImmediate();
    assert.equal(streams.size, 0);
    assert.deepEqual(logged, []);
  });

  it("pulls no faster than a slow reader reads, and loses nothing", async () => {
    const total = 1000;
    let pulled = 0;
    frames = async function* () {
      for (; pulled < total; pulled++) yield Buffer.alloc(65_536, 97 + (pulled % 26));
    };
    const response = await open("/");
    response.pause();
    for (let last = -1; last !== pulled; await setTimeout(20)) last = pulled;
    assert.ok(pulled < total / 2, `pulled ${pulled} chunks for a reader that reads none`);
    let at = 0;
    for await (const chunk of response) {
      for (let i = 0; i < chunk.length; i += 997) assert.equal(chunk[i], 97 + (Math.floor((at + i) / 65_536) % 26));
      at += chunk.length;
    }
    assert.equal(at, total * 65_536);
  });

  it("cuts off a reader that stopped reading", async () => {
    frames = async function* (signal) {
      while (!signal.aborted) yield Buffer.alloc(65_536);
    };
    const response = await open("/");
    response.pause();
    const failed = once(response, "error");
    while (logged.length === 0) {
      clock.advance(1000);
      await setImmediate();
    }
    assert.equal(logged[0]?.event, "stream.stalled");
    await stopped.promise;
    assert.equal(streams.size, 0);
    response.resume();
    assert.match(String((await failed)[0]), /aborted|ECONNRESET/);
  });

  it("ends a stream whose frames fail, and logs no more than the code", async () => {
    frames = async function* () {
      yield bytes("data: 1\n\n");
      throw new Error("secret");
    };
    assert.equal(await textOf(await open("/")), "data: 1\n\n");
    assert.deepEqual(logged, [{ event: "stream.failed", code: "internal", error: "Error" }]);
  });

  it("ends all streams when the server drains", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => open("/")));
    assert.equal(streams.size, 20);
    streams.endAll();
    assert.equal(streams.size, 0);
    for (const response of responses) assert.equal(await textOf(response), "");
  });

  it("answers HEAD with the headers alone", async () => {
    const response = await fetch(server.url, { method: "HEAD" });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(streams.size, 0);
  });

  it("lets go of streams queued behind another on one connection", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(3));
    while (streams.size < 3) await setImmediate();
    socket.destroy();
    while (streams.size > 0) await setImmediate();
  });
});

describe("sse elsewhere", () => {
  it("is a web stream with the same headers and frames", async () => {
    frames = () => chunks("data: 1\n\n", "data: 2\n\n");
    const response = await app.request("/open", { headers: { origin: "https://shop.example" } });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(response.headers.get("access-control-allow-origin"), "https://shop.example");
    assert.equal(await response.text(), ": open\n\ndata: 1\n\ndata: 2\n\n");
    assert.equal(streams.size, 0);
  });

  it("stops pulling when it is cancelled", async () => {
    const response = await app.request("/");
    await response.body?.cancel();
    await stopped.promise;
    assert.equal(streams.size, 0);
  });

  it("pulls one chunk ahead and gives up on a reader that stopped reading", async () => {
    let pulled = 0;
    frames = async function* (signal) {
      for (; !signal.aborted; pulled++) yield bytes("data: 1\n\n");
    };
    const response = await app.request("/");
    await setImmediate();
    assert.ok(pulled <= 1);
    clock.advance(31_000);
    await assert.rejects(response.text(), /stopped reading/);
    assert.equal(streams.size, 0);
  });
});

function open(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(`${server.url}${path}`, { headers }, resolve).on("error", reject));
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += chunk;
  return text;
}

async function* chunks(...texts: string[]): Frames {
  for (const text of texts) yield bytes(text);
}

// biome-ignore lint/correctness/useYield: it has nothing to say
async function* endless(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (!signal.aborted) await once(signal, "abort");
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

function fakeClock(): Clock & { advance(ms: number): void } {
  let now = 0;
  const timers = new Set<{ at: number; work: () => void }>();
  return {
    now: () => now,
    after(ms, work) {
      const timer = { at: now + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers]) if (timer.at <= now && timers.delete(timer)) timer.work();
    },
  };
}
