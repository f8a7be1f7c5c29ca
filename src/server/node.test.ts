import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Hono } from "hono";
import type { Clock } from "../core/clock.ts";
import { toFailure } from "../core/error.ts";
import { BODY_LIMITS, readJson } from "./body.ts";
import type { LogLine } from "./log.ts";
import { listen } from "./node.ts";

const logged: LogLine[] = [];
let slow = Promise.withResolvers<void>();
let arrived = Promise.withResolvers<void>();

const app = new Hono();
app.get("/", (c) => c.text("ok"));
app.post("/echo", async (c) => c.text(JSON.stringify(await readJson(c.req.raw, { ...BODY_LIMITS, bytes: 1000 }))));
app.get("/slow", async (c) => {
  arrived.resolve();
  await slow.promise;
  return c.text("done");
});
app.get("/big", (c) => c.body("x".repeat(20_000_000)));
app.get("/odd", () => {
  throw "not an Error";
});
app.notFound((c) => c.json({ error: "not here" }, 404));
app.onError((error, c) => c.json({ error: toFailure(error) }, 400));

const server = await listen(app, { port: 0, log: (line) => void logged.push(line) });
after(() => server.close(0));

describe("listen", () => {
  it("serves on loopback at a port of its own", async () => {
    assert.equal(server.url, `http://127.0.0.1:${server.port}`);
    assert.equal(await (await fetch(server.url)).text(), "ok");
  });

  it("says which port is taken and what to do", async () => {
    await assert.rejects(listen(app, { port: server.port }), {
      code: "unavailable",
      message: `Port ${server.port} is in use; choose another with --port`,
    });
    await assert.rejects(listen(app, { host: "203.0.113.1", port: 0 }), {
      code: "unavailable",
      message: /^Cannot listen on 203\.0\.113\.1:0/,
    });
  });

  it("answers HEAD, unknown routes and odd errors sanely", async () => {
    const head = await fetch(server.url, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
    assert.equal((await fetch(`${server.url}/nowhere`)).status, 404);
    assert.equal((await fetch(server.url, { method: "DELETE" })).status, 404);
    const odd = await fetch(`${server.url}/odd`);
    assert.deepEqual([odd.status, await odd.json()], [500, { error: { code: "internal", message: "Internal error" } }]);
    assert.deepEqual(logged, [{ event: "request.failed", error: "string" }]);
  });

  it("answers pipelined requests in order", async () => {
    const text = await talk(`${GET("/")}${GET("/nowhere")}${GET("/", "connection: close\r\n")}`);
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200"]);
  });

  it("reads bodies sent in pieces and refuses long ones", async () => {
    const post = (more: string) => `POST /echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n${more}`;
    assert.match(await talk(post('transfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n')), /200 OK.*\{"a":1\}/s);
    assert.match(await talk(post('content-length: 7\r\n\r\n{"a":1}')), /200 OK.*\{"a":1\}/s);
    assert.match(await talk(post("content-length: 1001\r\n\r\n")), /"too_large"/);
    assert.match(await talk(post(`transfer-encoding: chunked\r\n\r\n7d1\r\n${" ".repeat(2001)}\r\n0\r\n\r\n`)), /"too_large"/);
  });

  it("refuses what is not proper HTTP", async () => {
    const hostile = [
      "nonsense\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n", // no host
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(17_000)}\r\n\r\n`,
      "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "GET / HTTP/1.1\r\nhost: x\r\nfolded: a\r\n b\r\n\r\n",
    ];
    for (const text of hostile) assert.match(await talk(text), /^HTTP\/1\.1 4\d\d/, text.slice(0, 60));
    const malformed = [
      "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
      GET("/", "connection: close\r\n").replace("host: x", "host: a b/c"),
    ];
    for (const text of malformed) assert.match(await talk(text), /^HTTP\/1\.1 400.*"The request is malformed"/s);
    assert.match(await talk("GET / HTTP/1.0\r\n\r\n"), /200 OK.*ok/s);
  });

  it("survives clients that go away in the middle", async () => {
    const pieces = [
      "GET / HT",
      'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a',
      'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n',
      GET("/big"),
      GET("/slow"),
    ];
    arrived = Promise.withResolvers();
    for (const text of pieces) {
      const socket = connect(server.port, "127.0.0.1");
      await once(socket, "connect");
      await new Promise((resolve) => socket.write(text, resolve));
      if (text.includes("/slow")) await arrived.promise;
      socket.resetAndDestroy();
    }
    slow.resolve();
    await setImmediate();
    assert.equal(await (await fetch(server.url)).text(), "ok");
  });
});

describe("close", () => {
  it("hangs up on idle connections and lets answers finish", async () => {
    [slow, arrived] = [Promise.withResolvers(), Promise.withResolvers()];
    const server = await listen(app, { port: 0 });
    const idle = connect(server.port, "127.0.0.1");
    await once(idle, "connect");
    const answer = fetch(`${server.url}/slow`);
    await arrived.promise;
    const closed = server.close(60_000);
    await once(idle.resume(), "close");
    await assert.rejects(once(connect(server.port, "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
    slow.resolve();
    assert.equal(await (await answer).text(), "done");
    await closed;
  });

  it("delivers what a slow reader has not taken yet", async () => {
    const server = await listen(app, { port: 0 });
    const socket = connect(server.port, "127.0.0.1");
    socket.write(GET("/big"));
    await once(socket, "readable"); // the answer is complete, but most of it is still in our buffers
    const closed = server.close(60_000);
    let size = 0;
    for await (const chunk of socket) size += chunk.length;
    assert.ok(size > 20_000_000, `got ${size} bytes`);
    await closed;
  });

  it("cuts off what is not done in time", async () => {
    [slow, arrived] = [Promise.withResolvers(), Promise.withResolvers()];
    let timeUp = () => {};
    const clock: Clock = {
      now: () => 0,
      after(_, work) {
        timeUp = work;
        return () => {};
      },
    };
    const server = await listen(app, { port: 0, clock });
    const answer = fetch(`${server.url}/slow`);
    await arrived.promise;
    const closed = server.close(5_000);
    timeUp();
    await assert.rejects(answer, /fetch failed/);
    await closed;
    slow.resolve();
  });
});

function GET(path: string, more = ""): string {
  return `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;
}

/** All that comes back for these bytes until the server hangs up. */
async function talk(bytes: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(bytes);
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}
